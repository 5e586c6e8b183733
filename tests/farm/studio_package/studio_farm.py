"""A studio's own back end: this machine again, but only with the time that nobody else wants."""

from __future__ import annotations

from collections.abc import Mapping

from understudy_farm.backend import Capabilities, FarmError, Option, Site
from understudy_farm.backends.local import LocalHabits
from understudy_farm.backends.watched import WatchedFarm
from understudy_farm.commands import COMMANDS, Command, Commands, to_text
from understudy_farm.spec import Job

LOWEST, HIGHEST = 0, 19


class IdleFarm(WatchedFarm):
    """Every task a process under `nice`."""

    name = "idle"
    doc = "this machine, when it has nothing else to do"
    options: tuple[Option, ...] = (Option(name="niceness", doc="0 to 19, 19 waits most", default="19"),)

    def capabilities(self, site: Site) -> Capabilities:
        del site
        return Capabilities(has_queue=False)

    def payload(self, job: Job, site: Site) -> Mapping[str, str]:
        if not site["niceness"].isdecimal() or not LOWEST <= int(site["niceness"]) <= HIGHEST:
            raise FarmError(f"-O niceness={site['niceness']}: give {LOWEST} to {HIGHEST}")
        tasks = tuple(
            Command(
                step=step.name,
                number=number,
                host="here",
                argv=("nice", "-n", site["niceness"], *step.argv_of(number)),
                environment=step.environment_of(number),
            )
            for step in job.steps
            for number in range(step.num_tasks)
        )
        return {COMMANDS: to_text(Commands(farm=self.name, options=dict(site.values), tasks=tasks))}

    def habits(self, job: Job, site: Site) -> LocalHabits:
        """For the watcher."""
        del job, site
        return LocalHabits()


class UnfinishedFarm:
    """Somebody began to write this one."""

    name = "unfinished"
    doc = "not yet"
    options: tuple[Option, ...] = ()

    def capabilities(self, site: Site) -> Capabilities:
        del site
        return Capabilities()
