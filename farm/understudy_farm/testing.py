"""The contract that every back end keeps, as tests: for ours, and for those that a studio writes.

    class TestOurFarm(FarmContract):
        @pytest.fixture
        def farm(self) -> FarmBackend: ...
        @pytest.fixture
        def site(self) -> Site: ...

The farm must be able to run this machine's Python in `tmp_path`, which its workers must see. Not checked here: that a
submission which fails half-way leaves nothing behind, and what the farm says when it cannot be reached.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from understudy.frames.colour import ColourRules
from understudy.orders import Order
from understudy.report.run_record import read_record
from understudy.runs import find_run
from understudy.settings import Settings
from understudy.sources.sequences import SequenceSource
from understudy_farm.backend import ENDED, FarmBackend, Receipt, Site, TaskState, TaskStatus, site_of
from understudy_farm.choices import Choices
from understudy_farm.folder import JobFolder, write_job
from understudy_farm.spec import NUMBER, Job, Step
from understudy_farm.submission import Request, send

DEADLINE_SECONDS = 120.0
"""For what should have happened long ago: a test fails instead of hanging."""
SECONDS_BETWEEN_LOOKS = 0.2

HELLO = """
import os, sys
print('task', sys.argv[1], 'sees', os.environ['US_WORD'], 'and', sys.argv[2:])
"""
SLEEP = """
import os, pathlib, sys, time
pathlib.Path(sys.argv[2], sys.argv[1] + '.pid').write_text(str(os.getpid()))
print('asleep', flush=True)
time.sleep(600)
"""
FAIL_ONCE = """
import pathlib, sys
mark = pathlib.Path(sys.argv[2], sys.argv[1] + '.mark')
if sys.argv[1] == '1' and not mark.exists():
    mark.touch()
    sys.exit('this task fails for the first time')
print('well done')
"""
BAKE = """
import pathlib, sys
import numpy as np
from understudy.frames.image import Image
from understudy.frames.window import Window
from understudy.frames.write import write_image
number, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
mark = folder / 'mark'
if number == 1 and not mark.exists():
    mark.touch()
    sys.exit('no licence')
window = Window.of_size(48, 48)
for name, level in (('plate', 0.2), ('paint', 0.4)):
    pixels = np.full((48, 48, 3), level * (number + 1), np.float32)
    picture = Image(pixels=pixels, channels=('R', 'G', 'B'), data_window=window, display_window=window)
    write_image(folder / f'{name}.{1001 + number}.exr', picture)
"""


@dataclass
class SentJob:
    """A job that the farm under test has, and the questions about it."""

    farm: FarmBackend
    site: Site
    job: Job
    receipt: Receipt = field(default_factory=lambda: Receipt(ids={}))

    def send(self) -> None:
        folder = JobFolder(self.job.run_directory)
        write_job(folder, self.job, self.farm.payload(self.job, self.site))
        self.receipt = self.farm.send(self.job, folder.farm, self.site)

    def tasks(self) -> tuple[TaskStatus, ...]:
        return self.farm.status(self.job, self.receipt, self.site)

    def states(self, step: str) -> list[TaskState]:
        return [task.state for task in self.tasks() if task.step == step]

    def log(self, step: str, number: int) -> str:
        return self.farm.log(self.job, self.receipt, step, number, self.site)

    def cancel(self) -> None:
        self.farm.cancel(self.job, self.receipt, self.site)

    def requeue(self, step: str, *numbers: int) -> None:
        self.receipt = self.farm.requeue(self.job, self.receipt, step, numbers, self.site)

    def wait_until(self, holds: Callable[[], bool]) -> None:
        give_up = time.monotonic() + DEADLINE_SECONDS
        while not holds():
            if time.monotonic() > give_up:
                logs = [self.log(step.name, number) for step in self.job.steps for number in range(step.num_tasks)]
                raise AssertionError(f"too late: {self.tasks()}\n{logs}")
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def wait_until_ended(self) -> None:
        self.wait_until(lambda: all(task.state in ENDED for task in self.tasks()))


def python_step(
    name: str,
    program: str,
    *words: str,
    num_tasks: int = 2,
    after: tuple[str, ...] = (),
    environment: Mapping[str, str] | None = None,
    retries: int = 0,
) -> Step:
    """Tasks that run a Python program, told their number first."""
    return Step(
        name=name,
        argv=(sys.executable, "-c", program, NUMBER, *words),
        environment=tuple((environment or {}).items()),
        num_tasks=num_tasks,
        after=after,
        retries=retries,
    )


class FarmContract:
    """Derive from it, and give the fixtures `farm` and `site`."""

    @pytest.fixture
    def farm(self) -> FarmBackend:
        raise NotImplementedError("give the fixture `farm`: the back end under test")

    @pytest.fixture
    def site(self, farm: FarmBackend) -> Site:
        return site_of(farm, {})

    @pytest.fixture
    def sent(self, farm: FarmBackend, site: Site, tmp_path: Path) -> Iterator[Callable[..., SentJob]]:
        """Sends a job of these steps; what still runs at the end of the test is cancelled."""
        jobs: list[SentJob] = []

        def send(*steps: Step) -> SentJob:
            job = Job(
                name="contract",
                batch="contract",
                user="tester",
                host="here",
                run_directory=tmp_path / f"v{len(jobs) + 1:03}",
                run_name="contract",
                steps=steps,
            )
            jobs.append(SentJob(farm, site, job))
            jobs[-1].send()
            return jobs[-1]

        yield send
        for job in jobs:
            job.cancel()

    def test_the_payload_is_text_and_the_same_each_time(self, farm: FarmBackend, site: Site) -> None:
        step = python_step("train", HELLO, environment={"US_WORD": "a b"})
        job = Job(
            name="n", batch="b", user="u", host="h", run_directory=Path("/x/v001"), run_name="r", steps=(step,)
        )  # fmt: skip
        payload = farm.payload(job, site)
        assert payload
        assert all(isinstance(text, str) and text for text in payload.values())
        assert farm.payload(job, site) == payload

    def test_every_task_runs_with_its_number_and_its_variables(self, sent: Callable[..., SentJob]) -> None:
        hard = "it's $HOME, two  spaces & more"
        job = sent(python_step("train", HELLO, hard, "", num_tasks=3, environment={"US_WORD": hard}))
        job.wait_until_ended()
        assert job.states("train") == ["done"] * 3
        for number in range(3):
            assert f"task {number} sees {hard} and {[hard, '']}" in job.log("train", number)

    def test_a_step_waits_for_the_one_before(self, sent: Callable[..., SentJob], tmp_path: Path) -> None:
        slow = "import pathlib, sys, time; time.sleep(1); pathlib.Path(sys.argv[2], 'done').touch()"
        see = "import pathlib, sys; sys.exit(0 if pathlib.Path(sys.argv[2], 'done').exists() else 9)"
        job = sent(
            python_step("train", slow, str(tmp_path), num_tasks=1),
            python_step("apply", see, str(tmp_path), after=("train",)),
        )
        job.wait_until_ended()
        assert job.states("apply") == ["done", "done"], job.log("apply", 0)

    def test_nothing_follows_a_step_that_failed(self, sent: Callable[..., SentJob], tmp_path: Path) -> None:
        touch = "import pathlib, sys; pathlib.Path(sys.argv[2], 'never').touch()"
        job = sent(
            python_step("train", "import sys; sys.exit('no good')", num_tasks=1),
            python_step("apply", touch, str(tmp_path), after=("train",)),
        )
        job.wait_until(lambda: job.states("train") == ["failed"])
        assert "no good" in job.log("train", 0)
        job.wait_until(lambda: "running" not in job.states("apply"))
        assert "done" not in job.states("apply")
        assert not (tmp_path / "never").exists()

    def test_a_cancelled_job_leaves_no_process(self, sent: Callable[..., SentJob], tmp_path: Path) -> None:
        job = sent(python_step("train", SLEEP, str(tmp_path)))
        job.wait_until(lambda: all((tmp_path / f"{number}.pid").exists() for number in range(2)))
        job.wait_until(lambda: job.states("train") == ["running", "running"])
        pids = [int((tmp_path / f"{number}.pid").read_text()) for number in range(2)]
        job.cancel()
        job.wait_until(lambda: not any(map(_is_running, pids)))
        job.wait_until(lambda: job.states("train") == ["cancelled", "cancelled"])
        job.cancel()

    def test_a_task_that_failed_can_be_started_again(self, sent: Callable[..., SentJob], tmp_path: Path) -> None:
        job = sent(python_step("train", FAIL_ONCE, str(tmp_path)))
        job.wait_until(lambda: "failed" in job.states("train") and "running" not in job.states("train"))
        lacking = [number for number, state in enumerate(job.states("train")) if state != "done"]
        job.requeue("train", *(lacking if job.farm.capabilities(job.site).can_requeue_one else (0, 1)))
        job.wait_until(lambda: job.states("train") == ["done", "done"])
        assert "well done" in job.log("train", 1)

    def test_ranks_train_on_what_is_baked_as_soon_as_all_of_it_is(
        self, farm: FarmBackend, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("torch")
        monkeypatch.setenv("LOGNAME", "tester")  # some farms take no jobs of root
        sent = send(_with_bake(farm, site, tmp_path), print)
        job, record = SentJob(farm, site, sent.job, sent.receipt), find_run(sent.job.run_directory).record
        try:
            job.wait_until(lambda: "failed" in job.states("bake") and "running" not in job.states("bake"))
            assert "no licence" in job.log("bake", 1)
            job.wait_until(lambda: job.states("train") in (["waiting"], ["cancelled"]))
            assert read_record(record).state == "submitted"
            lacking = [number for number, state in enumerate(job.states("bake")) if state != "done"]
            job.requeue("bake", *(lacking if farm.capabilities(site).can_requeue_one else (0, 1)))
            job.wait_until(lambda: job.states("train") == ["done"])
        finally:
            job.cancel()
        assert job.states("bake") == ["done", "done"]
        assert (read_record(record).state, len(read_record(record).pairs)) == ("finished", 2)

    def test_a_command_that_does_not_exist_is_a_failed_task(self, sent: Callable[..., SentJob]) -> None:
        job = sent(Step(name="train", argv=("/nowhere/understudy", NUMBER), num_tasks=1, retries=0))
        job.wait_until_ended()
        assert job.states("train") == ["failed"]
        assert "/nowhere/understudy" in job.log("train", 0)


def _with_bake(farm: FarmBackend, site: Site, folder: Path) -> Request:
    """One rank for two steps, on two frames of which the second cannot be baked at the first time."""
    plate, paint = (str(folder / f"{name}.####.exr") for name in ("plate", "paint"))
    settings = Settings(
        data_directory=folder / "runs", steps=2, crop_size=32, batch_size=2, model_size="small", device="cpu", threads=1
    )
    bake = shlex.join([sys.executable, "-c", BAKE, NUMBER, str(folder)])
    return Request(
        order=Order(
            settings=settings,
            source=SequenceSource(input=plate, target=paint, frames=(1001, 1002)),
            colour=ColourRules(),
        ),
        choices=Choices(name="contract", bake=bake, bake_tasks=2, retries=0),
        farm=farm,
        site=site,
        command="",
    )


def _is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
