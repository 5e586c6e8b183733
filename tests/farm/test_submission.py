"""A submission that fails on its way leaves no job, no process and no folder, or names what stays."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from tests.core.cli.command import Command
from tests.core.train.shots import SmallShot

from understudy.errors import UnderstudyError
from understudy.settings import ModelSize
from understudy.train.network import NetworkSpec, Understudy
from understudy_farm import submission
from understudy_farm.backend import FarmError, Receipt, Site
from understudy_farm.backends import watched
from understudy_farm.backends.local import LocalFarm
from understudy_farm.folder import Sent
from understudy_farm.spec import Job
from understudy_farm.submission import MEBIBYTES_OF_A_CHECKPOINT


def submit_words(shot: SmallShot) -> list[str]:
    return ["submit", *shot.train_words("--skip-check", "--detach")[1:]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the farm was asked; it takes every job, and nobody can write down where."""
    asked: list[str] = []

    def send(_farm: LocalFarm, job: Job, _folder: Path, _site: Site) -> Receipt:
        asked.append("send")
        return Receipt(ids={step.name: "4711" for step in job.steps})

    def cancel(_farm: LocalFarm, _job: Job, receipt: Receipt, _site: Site) -> None:
        asked.append(f"cancel {receipt.ids['train']}")

    def write_sent(sent: Sent) -> None:
        raise UnderstudyError(f"{sent.folder.sent}: cannot be written (No space left on device)")

    monkeypatch.setattr(LocalFarm, "send", send)
    monkeypatch.setattr(LocalFarm, "cancel", cancel)
    monkeypatch.setattr(submission, "write_sent", write_sent)
    return asked


def test_a_job_that_cannot_be_found_again_is_cancelled(command: Command, shot: SmallShot, asked: list[str]) -> None:
    assert "No space left on device" in command.refused(*submit_words(shot))
    assert asked == ["send", "cancel 4711"]
    assert not shot.data.exists()


def test_a_job_that_stays_on_the_farm_is_named(
    command: Command, shot: SmallShot, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancel(*_: object) -> None:
        raise FarmError("farm: does not answer")

    monkeypatch.setattr(LocalFarm, "cancel", cancel)
    said = command.refused(*submit_words(shot))
    assert said.endswith("the farm has the job, 4711: cancel it by hand (farm: does not answer)")
    assert asked == ["send"]


def test_a_watcher_that_does_not_come_up_in_time_is_ended(
    command: Command, shot: SmallShot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched, "SECONDS_TO_BEGIN", -1.0)
    assert "the watcher of the job did not come up" in command.refused(*submit_words(shot))
    assert all(process.poll() is not None for process in watched._STARTED)
    assert not shot.data.exists()


@pytest.mark.parametrize("size", get_args(ModelSize))
def test_the_disk_that_is_asked_for_holds_a_checkpoint(size: ModelSize) -> None:
    spec = NetworkSpec(input_channels=("r", "g", "b", "a"), target_channels=("r", "g", "b", "a"), model_size=size)
    needed = sum(weight.nbytes for weight in Understudy(spec).parameters()) * 4  # two moments, and the average
    allowed = MEBIBYTES_OF_A_CHECKPOINT[size] << 20
    assert needed <= allowed < needed * 2
