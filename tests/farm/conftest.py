"""Every test submits as a user with an empty home and no studio."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.core.cli.command import Command
from tests.core.train.shots import SmallShot, make_shot


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERSTUDY_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("UNDERSTUDY_PRESETS", raising=False)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


@pytest.fixture
def shot(tmp_path: Path) -> SmallShot:
    return make_shot(tmp_path / "shot")
