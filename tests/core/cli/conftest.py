"""A small shot and a run of it, shared by the tests of the command line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.core.cli.command import Command
from tests.core.train.shots import SmallShot, make_shot

from understudy.cli.main import main


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


@pytest.fixture
def shot(tmp_path: Path) -> SmallShot:
    folder = tmp_path / "shot"
    folder.mkdir()
    return make_shot(folder)


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a shot with a run called `first`, checkpoints at steps 2 and 4. Never changed: see `trained`."""
    folder = tmp_path_factory.mktemp("trained")
    words = make_shot(folder).train_words("--run-name", "first", "--checkpoint-interval", "2", steps=4)
    assert main(words) == 0
    return folder


@pytest.fixture
def trained(finished_run: Path, tmp_path: Path) -> SmallShot:
    """A copy of the finished run's data directory, to be damaged; its frames stay where they are."""
    shutil.copytree(finished_run, tmp_path / "trained")
    return SmallShot(tmp_path / "trained")
