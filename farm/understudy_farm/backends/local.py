"""local: this machine; its cores and GPUs are divided between the ranks, and no terminal need stay open."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Mapping

from understudy.ranks.contract import RANK_GPU, RANKS_HERE
from understudy_farm.backend import Capabilities, Option, Site
from understudy_farm.backends.watched import WatchedFarm
from understudy_farm.commands import COMMANDS, Command, Commands, to_text
from understudy_farm.spec import Job, Step

AUTO = "auto"


class LocalFarm(WatchedFarm):
    """Every task a process of this machine."""

    name = "local"
    doc = "this machine: one process a rank"
    options: tuple[Option, ...] = (Option(name="gpus", doc="how many GPUs the tasks share; auto: all", default=AUTO),)

    def capabilities(self, site: Site) -> Capabilities:
        del site
        return Capabilities(can_gang=True, has_queue=False)

    def payload(self, job: Job, site: Site) -> Mapping[str, str]:
        self.refuse_what_has_no_place(job)
        num_gpus = _gpus_here() if site["gpus"] == AUTO else int(site["gpus"])
        tasks = tuple(_command(step, number, num_gpus) for step in job.steps for number in range(step.num_tasks))
        return {COMMANDS: to_text(Commands(farm=self.name, options=dict(site.values), tasks=tasks))}

    def habits(self, job: Job, site: Site) -> LocalHabits:
        """For the watcher."""
        del job, site
        return LocalHabits()


class LocalHabits:
    """Nothing has to be fetched or brought back."""

    def is_worth_another_start(self, code: int) -> bool:
        return code < 0

    def prepare(self) -> None: ...

    def look(self) -> None: ...

    def task_ended(self) -> None: ...


def _command(step: Step, number: int, num_gpus: int) -> Command:
    share = {RANKS_HERE: str(step.num_tasks)} if step.at_once else {}
    gpu = {RANK_GPU: str(number % num_gpus)} if num_gpus and step.at_once else {}
    return Command(
        step=step.name,
        number=number,
        host=platform.node(),
        argv=step.argv_of(number),
        environment={**step.environment_of(number), **share, **gpu},
    )


def _gpus_here() -> int:
    """CUDA devices, as the driver's own tool lists them; torch is not asked, it takes seconds to come."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return 0
    listed = subprocess.run([tool, "-L"], capture_output=True, text=True, check=False, timeout=30)
    return sum(line.startswith("GPU ") for line in listed.stdout.splitlines())
