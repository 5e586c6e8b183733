"""Deadline by each way that it can be asked, and with each plugin: the contract, and what it is sent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.core.cli.command import Command
from tests.core.train.shots import SmallShot
from tests.farm.backends.deadline.fake_farm import RENDERING, FakeFarm
from tests.farm.backends.deadline.fake_service import USER
from tests.farm.backends.deadline.lines import site_of
from tests.farm.cli.test_submit import step_of, submit_words, wait_until
from tests.farm.golden_files import matches_golden
from tests.farm.jobs import EVERYTHING, RANKS, job_for

from understudy import __version__
from understudy_farm.backend import ENDED, FarmBackend, FarmError, Site
from understudy_farm.backends.deadline.answers import Verb
from understudy_farm.backends.deadline.farm import DeadlineFarm
from understudy_farm.backends.deadline.thinkbox import ThinkboxService
from understudy_farm.choices import Choices
from understudy_farm.folder import read_sent
from understudy_farm.following import state_of, tasks_of
from understudy_farm.testing import FarmContract, SentJob, python_step

IDS = ("5b747b30c3ca512de42d01d2", "5d434e08c3ca51565c1b44cb")
ALL = replace(EVERYTHING, cores_per_task=0, memory_per_task=0.0, depends_on=IDS)
FAIL = "import pathlib, sys, time; time.sleep(0 if sys.argv[1] == '1' else 600); sys.exit('no good')"
COUNT = """
import pathlib, sys
mark = pathlib.Path(sys.argv[2], 'starts')
mark.write_text(mark.read_text() + 'x' if mark.exists() else 'x')
sys.exit(f'start {len(mark.read_text())}')
"""


class DeadlineContract(FarmContract):
    """What every farm promises, and what retries mean here."""

    @pytest.fixture
    def farm(self) -> FarmBackend:
        return DeadlineFarm()

    @pytest.fixture
    def site(self, farm: FarmBackend, fake: FakeFarm) -> Site:
        del farm
        return site_of(url=fake.url, user=USER)

    def test_a_task_is_started_as_often_as_retries_say(self, sent: Callable[..., SentJob], tmp_path: Path) -> None:
        job = sent(python_step("train", COUNT, str(tmp_path), num_tasks=1, retries=2))
        job.wait_until_ended()
        (task,) = job.tasks()
        assert (task.state, task.note) == ("failed", "Failed, 3 errors")
        log = job.log("train", 0)
        assert [log.count(f"start {number}") for number in range(1, 5)] == [1, 1, 1, 0]
        assert log.index("start 1") < log.index("start 2") < log.index("start 3")


class TestByRest(DeadlineContract):
    def test_a_task_that_keeps_failing_does_not_end_the_others(self, sent: Callable[..., SentJob]) -> None:
        job = sent(python_step("train", FAIL, retries=1))
        for num_errors in (2, 3, 4):
            job.wait_until(lambda n=num_errors: job.tasks()[1].note == f"Failed, {n} errors")  # type: ignore[misc]
            assert job.states("train") == ["running", "failed"]
            job.requeue("train", 1)

    def test_a_task_that_takes_too_long_is_ended(self, sent: Callable[..., SentJob]) -> None:
        step = python_step("train", "import time; time.sleep(600)", num_tasks=1)
        job = sent(replace(step, resources=replace(step.resources, timeout_minutes=0.01)))
        job.wait_until_ended()
        assert job.states("train") == ["failed"]


class TestByRestWithOurPlugin(DeadlineContract):
    @pytest.fixture
    def site(self, farm: FarmBackend, fake: FakeFarm) -> Site:
        del farm
        return site_of(url=fake.url, user=USER, plugin="Understudy")


class TestByThinkbox(DeadlineContract):
    """By Deadline.DeadlineConnect, which is used when it can be imported."""

    @pytest.fixture(autouse=True)
    def asked(self, thinkbox: None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        del thinkbox
        asked: list[str] = []
        ask = ThinkboxService.ask

        def note(service: ThinkboxService, verb: Verb, path: str, body: Mapping[str, object] | None = None) -> object:
            asked.append(verb)
            return ask(service, verb, path, body)

        monkeypatch.setattr(ThinkboxService, "ask", note)
        return asked

    def test_it_is_really_the_one_that_is_asked(self, sent: Callable[..., SentJob], asked: list[str]) -> None:
        sent(python_step("train", "")).wait_until_ended()
        assert {"POST", "GET"} <= {*asked}


class TestByCommand(DeadlineContract):
    @pytest.fixture
    def site(self, farm: FarmBackend, fake: FakeFarm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
        del farm
        place, script = tmp_path / "bin", Path(__file__).with_name("deadlinecommand.py")
        (tmp_path / "reports").mkdir()
        place.mkdir()
        (place / "deadlinecommand").write_text(f'#!/bin/sh\nexec {sys.executable} {script} "$@"\n')
        (place / "deadlinecommand").chmod(0o755)
        monkeypatch.setenv("DEADLINE_PATH", str(place))
        monkeypatch.setenv("FAKE_DEADLINE_URL", fake.url)
        monkeypatch.setenv("FAKE_DEADLINE_REPORTS", str(tmp_path / "reports"))
        return site_of()

    def test_it_knows_its_workers(self, farm: FarmBackend, site: Site) -> None:
        choices = replace(RANKS, pool="gpu", group="nuke", limits=("torch",))
        workers = farm.workers(job_for(choices, farm.capabilities(site)), site)
        assert [worker.name for worker in workers] == ["render01"]


@pytest.mark.slow
@pytest.mark.parametrize("plugin", ["CommandLine", "Understudy"])
def test_two_ranks_train_and_one_that_was_lost_comes_back(
    command: Command, shot: SmallShot, fake: FakeFarm, plugin: str
) -> None:
    """With one plugin a user requeues it, with the other its machine is lost, and nobody asks for anything."""
    words = ("--farm", "deadline", "-O", f"url={fake.url}", "-O", f"user={USER}", "-O", f"plugin={plugin}")
    submitted = submit_words(shot, "--ranks", "2", "--detach", "--silence-seconds", "2", *words, steps=300)
    assert command(*submitted).code == 0
    run_directory = shot.data / "v001"
    wait_until(lambda: (run_directory / "farm" / "sent.json").exists() and step_of(run_directory) > 0, run_directory)
    lost = tasks_of(read_sent(run_directory))[1].host
    if plugin == "Understudy":
        assert command("requeue", run_directory, "--rank", "1").code == 0
    else:
        fake.lose(lost)
    wait_until(lambda: state_of(tasks_of(read_sent(run_directory))) in ENDED, run_directory)
    tasks = tasks_of(read_sent(run_directory))
    log = command("logs", run_directory).out
    assert [task.state for task in tasks] == ["done", "done"], log
    assert "joined" in log
    if plugin == "CommandLine":
        assert tasks[1].host not in ("", lost)
        assert f"Requeued: Worker {lost} has stalled" in command("logs", run_directory, "--rank", "1").out
    assert not any(task.state == RENDERING for job in fake.jobs.values() for task in job.tasks)


@pytest.mark.parametrize(
    ("name", "choices", "plugin"),
    [
        ("command_line_all", replace(ALL, gpus_per_task=0), "CommandLine"),
        ("command_line_least", Choices(), "CommandLine"),
        ("understudy_all", ALL, "Understudy"),
        ("understudy_least", Choices(), "Understudy"),
    ],
)
def test_what_is_sent_is_as_it_was_looked_at(name: str, choices: Choices, plugin: str) -> None:
    site = site_of(plugin=plugin)
    payload = DeadlineFarm().payload(job_for(choices, DeadlineFarm().capabilities(site)), site)
    matches_golden(f"deadline/{name}", {n: text.replace(__version__, "0") for n, text in payload.items()})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"cores_per_task": 8}, "cores_per_task: Deadline gives a task a whole worker"),
        ({"memory_per_task": 24.0}, "memory_per_task: Deadline gives"),
        ({"depends_on": ("41",)}, "--depends-on 41: is no id"),
        ({"comment": "two\nlines"}, "Comment has several lines"),
    ],
)
def test_what_deadline_has_no_word_for_is_refused(change: dict[str, object], says: str) -> None:
    choices = replace(RANKS, **change)  # type: ignore[arg-type]
    with pytest.raises(FarmError, match=says):
        DeadlineFarm().payload(job_for(choices, DeadlineFarm().capabilities(site_of())), site_of())


def test_unknown_pools_groups_limits_and_machines_are_named(fake: FakeFarm) -> None:
    site = site_of(url=fake.url, user=USER)
    farm = DeadlineFarm()
    wrong = {"pool": "cpu", "group": "maya", "limits": ("x",), "machines": ("desk",)}
    for name, value in wrong.items():
        job = job_for(replace(RANKS, **{name: value}), farm.capabilities(site))  # type: ignore[arg-type]
        with pytest.raises(FarmError, match=rf"^--{name} \w+: Deadline has no"):
            farm.workers(job, site)
    job = job_for(replace(RANKS, bake="nuke", bake_limits=("nuke_r",)), farm.capabilities(site))
    with pytest.raises(FarmError, match=r"^--bake-limits nuke_r: Deadline has no limit of that name"):
        farm.workers(job, site)
    assert len(farm.workers(job_for(RANKS, farm.capabilities(site)), site)) == 3
    assert len(farm.workers(job_for(replace(RANKS, pool="GPU"), farm.capabilities(site)), site)) == 2
