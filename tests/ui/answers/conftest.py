"""Every test asks as a user with an empty home and no studio."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.core.cli.command import Command
from tests.core.train.shots import SmallShot, make_shot
from tests.ui.answers.panel import Panel

from understudy_ui.answers.asking import Asking
from understudy_ui.answers.table import answers_in
from understudy_ui.protocol import Json


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERSTUDY_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("UNDERSTUDY_PRESETS", raising=False)


@pytest.fixture
def shot(tmp_path: Path) -> SmallShot:
    return make_shot(tmp_path / "shot")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


@pytest.fixture
def panel() -> Iterator[Panel]:
    with Panel() as panel:
        yield panel


Answer = Callable[..., object]


@pytest.fixture
def answer(tmp_path: Path) -> Answer:
    """Asks the functions themselves, in this process."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    answers = answers_in(folder)

    def give(question: str, /, **about: Json) -> object:
        return answers[question].give(Asking(about))

    return give
