"""Deadline by its Web Service, with the CommandLine plugin: the contract, faults, and what it is sent."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.core.cli.command import Command
from tests.core.train.shots import SmallShot
from tests.farm.backends.deadline.fake_farm import PASSWORD, USER, FakeFarm, fake_farm
from tests.farm.cli.test_submit import step_of, submit_words, wait_until
from tests.farm.golden_files import matches_golden
from tests.farm.jobs import EVERYTHING, RANKS, job_for

from understudy import __version__
from understudy_farm.backend import ENDED, FarmBackend, FarmError, Receipt, Site
from understudy_farm.backends.deadline import client
from understudy_farm.backends.deadline.farm import DeadlineFarm
from understudy_farm.choices import Choices
from understudy_farm.folder import JobFolder, read_sent, write_job
from understudy_farm.following import state_of, tasks_of
from understudy_farm.testing import FarmContract

DEFAULTS = {option.name: option.default for option in DeadlineFarm.options}
IDS = ("5b747b30c3ca512de42d01d2", "5d434e08c3ca51565c1b44cb")
ALL = replace(EVERYTHING, cores_per_task=0, memory_per_task=0.0, depends_on=IDS)


def site_of(**values: str) -> Site:
    return Site(values={**DEFAULTS, **values})


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeFarm]:
    monkeypatch.setenv("UNDERSTUDY_DEADLINE_PASSWORD", PASSWORD)
    with fake_farm() as farm:
        yield farm


class TestByRest(FarmContract):
    @pytest.fixture
    def farm(self) -> FarmBackend:
        return DeadlineFarm()

    @pytest.fixture
    def site(self, farm: FarmBackend, fake: FakeFarm) -> Site:
        del farm
        return site_of(url=fake.url, user=USER)


class TestByRestWithOurPlugin(TestByRest):
    @pytest.fixture
    def site(self, farm: FarmBackend, fake: FakeFarm) -> Site:
        del farm
        return site_of(url=fake.url, user=USER, plugin="Understudy")


class TestByCommand(FarmContract):
    @pytest.fixture
    def farm(self, fake: FakeFarm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FarmBackend:
        place, script = tmp_path / "bin", Path(__file__).with_name("deadlinecommand.py")
        (tmp_path / "reports").mkdir()
        place.mkdir()
        (place / "deadlinecommand").write_text(f'#!/bin/sh\nexec {sys.executable} {script} "$@"\n')
        (place / "deadlinecommand").chmod(0o755)
        monkeypatch.setenv("DEADLINE_PATH", str(place))
        monkeypatch.setenv("FAKE_DEADLINE_URL", fake.url)
        monkeypatch.setenv("FAKE_DEADLINE_REPORTS", str(tmp_path / "reports"))
        return DeadlineFarm()


@pytest.mark.slow
@pytest.mark.parametrize("plugin", ["CommandLine", "Understudy"])
def test_two_ranks_train_and_one_that_was_lost_comes_back(
    command: Command, shot: SmallShot, fake: FakeFarm, plugin: str
) -> None:
    words = ("--farm", "deadline", "-O", f"url={fake.url}", "-O", f"user={USER}", "-O", f"plugin={plugin}")
    submitted = submit_words(shot, "--ranks", "2", "--detach", "--silence-seconds", "2", *words, steps=400)
    assert command(*submitted).code == 0
    run_directory = shot.data / "v001"
    wait_until(lambda: (run_directory / "farm" / "sent.json").exists() and step_of(run_directory) > 0, run_directory)
    assert command("requeue", run_directory, "--rank", "1").code == 0
    wait_until(lambda: state_of(tasks_of(read_sent(run_directory))) in ENDED, run_directory)
    log = command("logs", run_directory).out
    assert state_of(tasks_of(read_sent(run_directory))) == "done", log
    assert "joined" in log


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
    version = f"UnderstudyVersion={__version__}"
    matches_golden(f"deadline/{name}", {n: text.replace(version, "UnderstudyVersion=0") for n, text in payload.items()})


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


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("500", r"refuses POST /api/jobs \(500\): Error: no database"),
        ("broken", "answers broken JSON; restart it; it may have taken in the job"),
        ("drop", "dropped the connection .*; it may have taken in the job"),
        ("sleep", "did not answer within 1 s; restart it; it may have taken in the job"),
    ],
)
def test_every_fault_of_the_service_is_named(
    fake: FakeFarm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, says: str
) -> None:
    monkeypatch.setattr(client, "SECONDS_TO_ANSWER", 1.0)
    fake.faults["POST", "/api/jobs"] = fault
    with pytest.raises(FarmError, match=says):
        send(tmp_path, site_of(url=fake.url, user=USER))


def test_a_wrong_user_and_a_closed_port_are_named(fake: FakeFarm, tmp_path: Path) -> None:
    with pytest.raises(FarmError, match=r"refuses user mallory \(401\); give -O user"):
        send(tmp_path, site_of(url=fake.url, user="mallory"))
    with pytest.raises(FarmError, match=r"cannot be reached \(Connection refused\)"):
        send(tmp_path, site_of(url="http://127.0.0.1:9", user=USER))


def test_a_job_that_was_sent_half_is_taken_back(fake: FakeFarm, tmp_path: Path) -> None:
    def refuse(body: dict[str, object]) -> dict[str, str]:
        fake.faults["POST", "/api/jobs"] = "500"
        return FakeFarm.submit(fake, body)

    fake.submit = refuse  # type: ignore[method-assign]
    with pytest.raises(FarmError, match=r"\(500\)"):
        send(tmp_path, site_of(url=fake.url, user=USER), replace(ALL, gpus_per_task=0, depends_on=()))
    assert not fake.jobs


def test_unknown_pools_groups_limits_and_machines_are_named(fake: FakeFarm) -> None:
    site = site_of(url=fake.url, user=USER)
    farm = DeadlineFarm()
    wrong = {"pool": "cpu", "group": "maya", "limits": ("x",), "machines": ("desk",)}
    for name, value in wrong.items():
        job = job_for(replace(RANKS, **{name: value}), farm.capabilities(site))  # type: ignore[arg-type]
        with pytest.raises(FarmError, match=rf"^--{name} \w+: Deadline has no"):
            farm.workers(job, site)
    assert len(farm.workers(job_for(RANKS, farm.capabilities(site)), site)) == 3
    assert len(farm.workers(job_for(replace(RANKS, pool="GPU"), farm.capabilities(site)), site)) == 2


def send(tmp_path: Path, site: Site, choices: Choices = RANKS) -> Receipt:
    farm = DeadlineFarm()
    job = job_for(choices, farm.capabilities(site), tmp_path / "v001")
    folder = JobFolder(job.run_directory)
    write_job(folder, job, farm.payload(job, site))
    return farm.send(job, folder.farm, site)
