"""Jobs that are held, and submissions that end half-way: nothing stays unseen."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.core.cli.command import Command
from tests.core.train.shots import SmallShot
from tests.farm.backends.deadline.fake_farm import FakeFarm
from tests.farm.backends.deadline.fake_service import USER
from tests.farm.backends.deadline.lines import job_in, send, site_of
from tests.farm.cli.test_submit import submit_words
from tests.farm.jobs import EVERYTHING

from understudy_farm.backend import FarmError, Site, names_on
from understudy_farm.backends.deadline.farm import DeadlineFarm
from understudy_farm.folder import JobFolder, write_job
from understudy_farm.following import state_of
from understudy_farm.spec import Job, Placement
from understudy_farm.testing import SentJob, python_step

THREE_STEPS = replace(EVERYTHING, bake="", cores_per_task=0, memory_per_task=0.0, gpus_per_task=0, depends_on=())


@pytest.fixture
def site(fake: FakeFarm) -> Site:
    return site_of(url=fake.url, user=USER)


def two_steps(folder: Path, site: Site, placement: Placement) -> SentJob:
    steps = (python_step("train", ""), python_step("apply", "", after=("train",)))
    job = Job(
        name="n",
        batch="b",
        user="u",
        host="h",
        run_directory=folder / "v001",
        run_name="r",
        placement=placement,
        steps=steps,
    )
    write_job(JobFolder(job.run_directory), job, DeadlineFarm().payload(job, site))
    sent = SentJob(DeadlineFarm(), site, job)
    sent.receipt = sent.farm.send(job, JobFolder(job.run_directory).farm, site)
    return sent


def test_a_suspended_job_waits_until_it_is_resumed_in_the_monitor(fake: FakeFarm, site: Site, tmp_path: Path) -> None:
    """Its first step alone: the others follow by themselves."""
    job = two_steps(tmp_path, site, Placement(is_suspended=True))
    time.sleep(0.3)
    assert [task.note for task in job.tasks()] == ["Suspended", "Suspended", "Pending", "Pending"]
    assert state_of(job.tasks()) == "waiting"
    with fake.lock:
        fake.command_job(fake.jobs[job.receipt.ids["train"]], "resume")
    job.wait_until_ended()
    assert state_of(job.tasks()) == "done"


def test_a_suspended_job_can_be_started_and_cancelled_from_here(site: Site, tmp_path: Path) -> None:
    job = two_steps(tmp_path, site, Placement(is_suspended=True))
    job.requeue("train", 0)
    job.wait_until(lambda: job.states("train") == ["done", "waiting"])
    job.cancel()
    assert job.states("train") == ["done", "cancelled"]
    assert job.states("apply") == ["cancelled", "cancelled"]


def test_a_job_for_a_pool_that_nobody_is_in_waits_for_ever(site: Site, tmp_path: Path) -> None:
    """As Deadline takes it: it must not get that far."""
    job = two_steps(tmp_path, site, Placement(pool="cpu"))
    time.sleep(0.5)
    assert state_of(job.tasks()) == "waiting"


def test_only_workers_that_are_asked_for_take_tasks(site: Site, tmp_path: Path) -> None:
    asked = Placement(pool="gpu", secondary_pool="night", group="nuke", limits=("big",), machines=("render03",))
    job = two_steps(tmp_path, site, asked)
    job.wait_until_ended()
    assert {task.host for task in job.tasks()} == {"render03"}


def test_a_pool_that_the_farm_does_not_have_is_refused_before(
    command: Command, shot: SmallShot, fake: FakeFarm
) -> None:
    words = ("--farm", "deadline", "-O", f"url={fake.url}", "-O", f"user={USER}", "--pool", "cpu")
    assert "--pool cpu: Deadline has no pool of that name; it has none, gpu, night" in command.refused(
        *submit_words(shot, *words)
    )
    assert not fake.jobs


def test_a_farm_is_asked_for_its_names(site: Site) -> None:
    names = names_on(DeadlineFarm(), site)
    assert (names.pools, names.groups) == (("none", "gpu", "night"), ("none", "nuke"))
    assert (set(names.limits), names.machines) == ({"torch", "big"}, ("render01", "render02", "render03"))


def fault_after(fake: FakeFarm, number: int, fault: str) -> None:
    """So many jobs are taken in, then comes the fault."""

    def submit(body: Mapping[str, object]) -> dict[str, str]:
        answer = FakeFarm.submit(fake, body)
        if len(fake.jobs) == number:
            fake.faults["POST", "/api/jobs"] = fault
        return answer

    fake.submit = submit  # type: ignore[method-assign]
    fake.faults.update({} if number else {("POST", "/api/jobs"): fault})


def test_a_job_that_was_sent_half_is_taken_back(fake: FakeFarm, site: Site, tmp_path: Path) -> None:
    fault_after(fake, 1, "500")
    with pytest.raises(FarmError, match=r"refuses POST /api/jobs \(500\): Error: no database$"):
        send(tmp_path, site, THREE_STEPS)
    assert not fake.jobs


def test_jobs_that_cannot_be_taken_back_are_named(fake: FakeFarm, site: Site, tmp_path: Path) -> None:
    fault_after(fake, 1, "500")
    fake.faults["DELETE", "/api/jobs"] = "500"
    with pytest.raises(FarmError) as raised:
        send(tmp_path, site, THREE_STEPS)
    (left,) = fake.jobs.values()
    assert left.info["Name"] == "paint out markers train"
    assert f"no database; sent before and not deleted: {left.job_id} (" in str(raised.value)
    assert str(raised.value).endswith("; delete them by hand")


@pytest.mark.parametrize(("number", "step"), [(0, "train"), (1, "apply")])
def test_ctrl_c_on_the_way_takes_back_what_is_known_and_names_the_rest(
    fake: FakeFarm, site: Site, tmp_path: Path, number: int, step: str
) -> None:
    fault_after(fake, number, "sleep")
    job = job_in(tmp_path, site, THREE_STEPS)
    interrupt_when(lambda: len(fake.jobs) == number + 1)
    with pytest.raises(FarmError, match=f"was interrupted; it may have taken in the job 'paint out markers {step}'"):
        DeadlineFarm().send(job, JobFolder(job.run_directory).farm, site)
    assert [left.info["Name"] for left in fake.jobs.values()] == [f"paint out markers {step}"]


def test_ctrl_c_between_two_jobs_leaves_nothing(
    fake: FakeFarm, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_text(*_: object) -> None:
        raise KeyboardInterrupt

    job = job_in(tmp_path, site, THREE_STEPS)
    monkeypatch.setattr("understudy_farm.backends.deadline.farm.write_text", write_text)
    with pytest.raises(KeyboardInterrupt):
        DeadlineFarm().send(job, JobFolder(job.run_directory).farm, site)
    assert not fake.jobs


def interrupt_when(holds: object) -> None:
    """Ctrl-C, as soon as that is so."""
    assert callable(holds)
    main = threading.main_thread().ident
    assert main

    def wait() -> None:
        while not holds():
            time.sleep(0.02)
        time.sleep(0.1)
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=wait, daemon=True).start()
