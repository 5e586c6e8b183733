"""Deadline Cloud end to end: the `deadline` library, botocore's model of the service, and real sessions."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

pytest.importorskip("deadline.client", reason="needs deadline")
pytest.importorskip("openjd.sessions", reason="needs openjd-sessions")

from tests.core.cli.command import Command
from tests.core.train.shots import SmallShot
from tests.farm.backends.deadline_cloud.service import FARM, QUEUE, DeadlineCloud, deadline_cloud
from tests.farm.cli.test_submit import submit_words
from tests.farm.jobs import RANKS, job_for

from understudy.report.run_record import read_record
from understudy.runs import find_run
from understudy_farm.backend import FarmBackend, FarmError, Site, names_on
from understudy_farm.backends.deadline_cloud import DeadlineCloudFarm
from understudy_farm.folder import read_sent, write_payload
from understudy_farm.following import log_of, state_of, tasks_of
from understudy_farm.testing import SLEEP, FarmContract, SentJob, python_step


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DeadlineCloud]:
    """Deadline Cloud as this test's own configuration finds it."""
    from deadline.client.api import _session

    _session.invalidate_boto3_session_cache()
    _session.get_session_client.cache_clear()
    with deadline_cloud() as (address, service):
        for name, value in {
            "AWS_ENDPOINT_URL": address,
            "AWS_DISABLE_HOST_PREFIX_INJECTION": "true",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-west-2",
            "AWS_CONFIG_FILE": str(tmp_path / "aws"),
            "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "aws"),
            "DEADLINE_CONFIG_FILE_PATH": str(tmp_path / "deadline"),
            "DEADLINE_CLOUD_TELEMETRY_OPT_OUT": "true",
        }.items():
            monkeypatch.setenv(name, value)
        yield service


def _site(**values: str) -> Site:
    defaults = {option.name: option.default for option in DeadlineCloudFarm.options}
    return Site(values={**defaults, "farm_id": FARM, "queue_id": QUEUE, **values})


@pytest.mark.usefixtures("service")
class TestDeadlineCloudFarm(FarmContract):
    @pytest.fixture
    def farm(self) -> FarmBackend:
        return DeadlineCloudFarm()

    @pytest.fixture
    def site(self, farm: FarmBackend) -> Site:
        del farm
        return _site()

    def test_a_task_that_fails_is_started_again_as_often_as_allowed(
        self, sent: Callable[..., SentJob], tmp_path: Path
    ) -> None:
        count = "import pathlib, sys; pathlib.Path(sys.argv[2], 'tries').open('a').write('x'); sys.exit('no good')"
        job = sent(python_step("train", count, str(tmp_path), num_tasks=1, retries=2))
        job.wait_until_ended()
        assert (tmp_path / "tries").read_text() == "xxx"
        assert job.log("train", 0).splitlines().count("no good") == 3

    def test_a_task_that_runs_ends_before_it_is_started_again(
        self, sent: Callable[..., SentJob], tmp_path: Path
    ) -> None:
        job = sent(python_step("train", SLEEP, str(tmp_path), num_tasks=1))
        pid = tmp_path / "0.pid"
        job.wait_until(lambda: pid.exists() and job.states("train") == ["running"])
        first = pid.read_text()
        job.requeue("train", 0)
        job.wait_until(lambda: pid.read_text() not in ("", first) and job.states("train") == ["running"])
        assert not psutil.pid_exists(int(first))

    def test_tasks_of_a_part_are_told_apart(self, sent: Callable[..., SentJob]) -> None:
        job = sent(
            python_step("train", "print('trained')", num_tasks=1),
            python_step("apply", "import sys; print('part', sys.argv[1])", num_tasks=3, after=("train",)),
        )
        job.wait_until_ended()
        assert job.states("apply") == ["done"] * 3
        assert ["part 2" in job.log("apply", number) for number in range(3)] == [False, False, True]


def test_the_service_is_told_priority_retries_and_workers(service: DeadlineCloud, tmp_path: Path) -> None:
    farm, site = DeadlineCloudFarm(), _site(max_worker_count="5")
    choices = dataclasses.replace(RANKS, priority=70, suspended=True, retries=3)
    job = job_for(choices, farm.capabilities(site), tmp_path / "v001")
    sent = SentJob(farm, site, job)
    sent.send()
    told = next(iter(service.jobs.values())).arguments
    names = ("priority", "targetTaskRunStatus", "maxRetriesPerTask", "maxWorkerCount")
    assert [told[name] for name in names] == [70, "SUSPENDED", 3, 5]
    assert told["parameters"] == {"RunDirectory": {"path": str(tmp_path / "v001")}}
    assert "attachments" not in told
    assert sent.states("train") == ["waiting"] * 3


def test_an_exported_bundle_is_submitted_by_deadlines_own_command(service: DeadlineCloud, tmp_path: Path) -> None:
    farm, site = DeadlineCloudFarm(), _site()
    job = job_for(dataclasses.replace(RANKS, suspended=True), farm.capabilities(site), tmp_path / "v001")
    write_payload(tmp_path / "bundle", farm.payload(job, site))
    words = [sys.executable, "-m", "deadline", "bundle", "submit", str(tmp_path / "bundle"), "--yes"]
    words += ["--farm-id", FARM, "--queue-id", QUEUE]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [task.step for task in next(iter(service.jobs.values())).tasks] == ["Train-0", "Train-1", "Train-2"]


@pytest.mark.usefixtures("service")
def test_queues_are_listed() -> None:
    assert names_on(DeadlineCloudFarm(), _site()).pools == (QUEUE,)


@pytest.mark.usefixtures("service")
def test_without_a_farm_the_option_is_named(tmp_path: Path) -> None:
    farm, site = DeadlineCloudFarm(), _site(farm_id="", queue_id="")
    with pytest.raises(FarmError, match=r"no farm or queue; give -O farm_id="):
        SentJob(farm, site, job_for(RANKS, farm.capabilities(site), tmp_path / "v001")).send()


@pytest.mark.usefixtures("service")
def test_a_service_that_cannot_be_reached_is_told_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    farm, site = DeadlineCloudFarm(), _site()
    with pytest.raises(FarmError, match=r"^deadline-cloud: .*127\.0\.0\.1:9.*; see `deadline auth status`$"):
        SentJob(farm, site, job_for(RANKS, farm.capabilities(site), tmp_path / "v001")).send()


def test_without_the_library_the_way_to_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "deadline.client.api", None)
    farm, site = DeadlineCloudFarm(), _site()
    with pytest.raises(FarmError, match=r"pip install 'understudy\[deadline-cloud\]', or give --export DIR"):
        SentJob(farm, site, job_for(RANKS, farm.capabilities(site), tmp_path / "v001")).send()


@pytest.mark.slow
@pytest.mark.usefixtures("service")
def test_three_ranks_train_in_sessions_of_their_own(command: Command, shot: SmallShot) -> None:
    pytest.importorskip("torch")
    result = shot.folder / "result" / "r.####.exr"
    words = ["--ranks", "3", "--apply-output", str(result), "--apply-tasks", "2", "--farm", "deadline-cloud"]
    options = ["-O", f"farm_id={FARM}", "-O", f"queue_id={QUEUE}"]
    ending = command(*submit_words(shot, *words, *options))
    assert ending.code == 0, ending
    ending = command("wait", str(shot.data / "v001"))
    assert ending.code == 0, ending
    sent = read_sent(shot.data / "v001")
    assert state_of(tasks_of(sent)) == "done"
    assert read_record(find_run(shot.data / "v001").record).state == "finished"
    assert "openjd_progress: 100" in log_of(sent, "train", 0)
    assert len(list(result.parent.glob("*.exr"))) == 4
