"""The answers process: started when needed, once more when it dies, given up when it cannot be."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from tests.ui.panel.conftest import STAND_IN
from tests.ui.panel.waiting import settle

from understudy_ui.panel.asking import Answers
from understudy_ui.panel.host import Program
from understudy_ui.panel.qt import QtGui
from understudy_ui.panel.view_desk import ViewDesk
from understudy_ui.protocol import Json


class Ear:
    """Hears everything."""

    def __init__(self, *words: str) -> None:
        self.answers = Answers(Program(words or (sys.executable, str(STAND_IN)), os.environ))
        self.desk = ViewDesk(self.answers)
        self.heard: list[Json] = []
        self.faults: list[str] = []
        self.told: list[str] = []
        self.said: list[str] = []
        self.down: list[str] = []
        self.answers.said.connect(self.said.append)
        self.answers.went_down.connect(self.down.append)

    def ask(self, question: str, **about: Json) -> None:
        self.desk.ask(question, about, self.heard.append, self.faults.extend, self.told.append)


@pytest.fixture
def ears(qtbot: QtBot) -> Iterator[list[Ear]]:
    del qtbot
    built: list[Ear] = []
    yield built
    for ear in built:
        ear.desk.close()
        ear.answers.close()
    settle(0.1)


def test_answers_come_in_any_order_and_tell(qtbot: QtBot, ears: list[Ear]) -> None:
    ears.append(ear := Ear())
    ear.ask("check", words=["shot.nk"])
    qtbot.waitUntil(lambda: len(ear.heard) == 1, timeout=20000)
    assert ear.told == [f"{number} of 5 pairs" for number in range(1, 6)]
    assert not ear.faults


def test_a_closed_view_hears_nothing(qtbot: QtBot, ears: list[Ear]) -> None:
    ears.append(ear := Ear())
    ear.ask("check", words=["shot.nk"])
    ear.desk.close()
    others: list[Json] = []
    ViewDesk(ear.answers).ask("farms", {}, others.append)
    qtbot.waitUntil(lambda: len(others) == 1, timeout=20000)
    assert (ear.heard, ear.told) == ([], [])


def test_faults_are_lines(qtbot: QtBot, ears: list[Ear]) -> None:
    ears.append(ear := Ear())
    ear.ask("source", words=["nowhere.nk"])
    qtbot.waitUntil(lambda: bool(ear.faults), timeout=20000)
    assert ear.faults == ["nowhere.nk: there is no such file; choose another script"]


def test_it_is_started_once_more_and_what_only_looks_is_asked_again(
    qtbot: QtBot, ears: list[Ear], tmp_path: Path
) -> None:
    dies_once = "import os, sys; os.path.exists(sys.argv[1]) or (open(sys.argv[1], 'w').close(), sys.exit('bang'))"
    again = f"{dies_once}; os.execv(sys.executable, [sys.executable, {str(STAND_IN)!r}])"
    ears.append(ear := Ear(sys.executable, "-c", again, str(tmp_path / "mark")))
    ear.ask("farms")
    ear.ask("stop", place="/runs/v006/0")
    qtbot.waitUntil(lambda: len(ear.heard) == 1, timeout=20000)
    assert ear.said == ["The helper process ended and was started again (bang)."]
    assert len(ear.faults) == 1, "a stop is never asked twice by itself"
    assert "look, then repeat" in ear.faults[0]


def test_a_second_death_ends_it_until_somebody_tries_again(qtbot: QtBot, ears: list[Ear]) -> None:
    ears.append(ear := Ear(sys.executable, str(STAND_IN), "--die-at", "farms"))
    ear.ask("farms")
    qtbot.waitUntil(lambda: bool(ear.faults), timeout=20000)
    assert "Segmentation fault" in ear.down[0]
    assert ear.faults == ear.down
    ear.ask("fields")
    qtbot.waitUntil(lambda: len(ear.faults) == 2, timeout=20000)
    ear.answers.start_again()
    ear.ask("fields")
    qtbot.waitUntil(lambda: bool(ear.heard), timeout=20000)


def test_a_python_that_is_not_there_is_named_with_where_to_set_it(qtbot: QtBot, ears: list[Ear]) -> None:
    ears.append(ear := Ear("/nowhere/python", "-m", "understudy_ui.answers"))
    ear.ask("fields")
    qtbot.waitUntil(lambda: bool(ear.faults), timeout=20000)
    assert "/nowhere/python" in ear.faults[0]
    assert "UNDERSTUDY_PYTHON" in ear.faults[0]
    assert not ear.said


def test_a_python_without_understudy_is_named(qtbot: QtBot, ears: list[Ear]) -> None:
    ears.append(ear := Ear(sys.executable, "-I", "-S", "-m", "understudy_ui.answers"))
    ear.ask("fields")
    qtbot.waitUntil(lambda: bool(ear.faults), timeout=20000)
    assert "understudy_ui" in ear.faults[0]


def test_a_picture_is_decoded_elsewhere_and_a_broken_one_is_null(qtbot: QtBot, ears: list[Ear], tmp_path: Path) -> None:
    path = tmp_path / "grey.png"
    image = QtGui.QImage(400, 200, QtGui.QImage.Format.Format_RGB32)
    image.fill(0x808080)
    image.save(str(path))
    half = path.with_name("half.png")
    half.write_bytes(path.read_bytes()[:60])
    ears.append(ear := Ear())
    shown: list[QtGui.QImage] = []
    ear.desk.picture(str(path), shown.append, 100, 100)
    qtbot.waitUntil(lambda: len(shown) == 1, timeout=20000)
    assert (shown[0].width(), shown[0].height()) == (100, 50)
    ear.desk.picture(str(half), shown.append)
    qtbot.waitUntil(lambda: len(shown) == 2, timeout=20000)
    assert shown[1].isNull()
