"""This machine as a farm: the contract, real ranks, and the ways in which a terminal may end."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.farm.jobs import RANKS, job_for

from understudy.errors import Problems
from understudy_farm.backend import Capabilities, FarmBackend, Site
from understudy_farm.backends.local import LocalFarm
from understudy_farm.choices import Choices
from understudy_farm.commands import COMMANDS, read_commands
from understudy_farm.folder import JobFolder
from understudy_farm.spec import Resources
from understudy_farm.tasks import JobRecord, name_of, read_job_record, write_job_record
from understudy_farm.testing import FAIL_ONCE, SLEEP, FarmContract, SentJob, python_step
from understudy_farm.watcher import TASKS


class TestLocalFarm(FarmContract):
    @pytest.fixture
    def farm(self) -> FarmBackend:
        return LocalFarm()

    def test_a_task_that_was_killed_is_started_again(self, sent: Callable[..., SentJob], tmp_path: Path) -> None:
        job = sent(python_step("train", SLEEP, str(tmp_path), num_tasks=1, retries=1))
        pid = tmp_path / "0.pid"
        job.wait_until(pid.exists)
        first = pid.read_text()
        os.kill(int(first), signal.SIGKILL)
        job.wait_until(lambda: pid.read_text() not in ("", first))
        os.kill(int(pid.read_text()), signal.SIGKILL)
        job.wait_until(lambda: job.states("train") == ["failed"])
        assert job.log("train", 0).count("asleep") == 2

    def test_a_task_that_takes_too_long_is_ended(self, sent: Callable[..., SentJob], tmp_path: Path) -> None:
        step = python_step("train", SLEEP, str(tmp_path), num_tasks=1, retries=3)
        job = sent(dataclasses.replace(step, resources=Resources(timeout_minutes=0.02)))
        job.wait_until_ended()
        assert [(task.state, task.note) for task in job.tasks()] == [("failed", "took longer than 0.02 minutes")]
        assert job.log("train", 0).count("--- train 0") == 1

    def test_a_requeue_is_not_lost_on_a_watcher_that_is_just_ending(
        self, sent: Callable[..., SentJob], tmp_path: Path
    ) -> None:
        job = sent(python_step("train", FAIL_ONCE, str(tmp_path)))
        job.wait_until(lambda: "failed" in job.states("train") and "running" not in job.states("train"))
        record = _record(job.job.run_directory)
        job.wait_until(lambda: record.watcher.alive() is None)
        with subprocess.Popen(["sleep", "1"]) as ending:
            path = JobFolder(job.job.run_directory).farm / TASKS
            write_job_record(path, dataclasses.replace(record, watcher=name_of(ending.pid)))
            job.requeue("train", 0, 1)
        job.wait_until(lambda: job.states("train") == ["done", "done"])

    def test_tasks_end_with_a_watcher_that_was_killed(self, sent: Callable[..., SentJob]) -> None:
        words = "from understudy.ranks.launch import end_with_parent; import time; end_with_parent(); time.sleep(600)"
        job = sent(python_step("train", words, num_tasks=1))
        job.wait_until(lambda: job.states("train") == ["running"])
        record = _record(job.job.run_directory)
        os.kill(record.watcher.pid, signal.SIGKILL)
        job.wait_until(lambda: record.tasks[0].process is not None and record.tasks[0].process.alive() is None)
        assert job.states("train") == ["failed"]
        assert "its watcher was lost" in job.tasks()[0].note


def test_what_only_a_queue_has_is_refused(tmp_path: Path) -> None:
    farm = LocalFarm()
    choices = Choices(pool="gpu", priority=70, depends_on=("41",), memory_per_task=4.0, comment="fine", retries=2)
    choices = dataclasses.replace(choices, bake="nuke", bake_limits=("nuke_r",))
    job = job_for(choices, Capabilities(), tmp_path / "v001")
    with pytest.raises(Problems) as refused:
        farm.payload(job, Site(values={"gpus": "0"}))
    assert [line.partition(":")[0] for line in refused.value.lines] == [
        *("--priority", "--pool", "--depends-on", "--memory-per-task", "--bake-limits")
    ]


def test_the_machine_is_divided_between_ranks_that_start_at_once(tmp_path: Path) -> None:
    farm = LocalFarm()
    site = Site(values={"gpus": "2"})
    job = job_for(RANKS, farm.capabilities(site), tmp_path / "v001")
    path = tmp_path / COMMANDS
    path.write_text(farm.payload(job, site)[COMMANDS])
    commands = read_commands(path)
    ranks = [commands.of("train", rank).environment for rank in range(3)]
    assert [rank["UNDERSTUDY_RANK_GPU"] for rank in ranks] == ["0", "1", "0"]
    assert {rank["UNDERSTUDY_RANKS_HERE"] for rank in ranks} == {"3"}


def _record(run_directory: Path) -> JobRecord:
    record = read_job_record(JobFolder(run_directory).farm / TASKS)
    assert record is not None
    return record
