"""What the host has selected, good and bad; and where the studio's Python is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from tests.ui.panel.conftest import OpenPanel, StandInHost

from understudy_ui.panel.host import Alone, TrainingNode, answers_of
from understudy_ui.panel.qt import Qt


class Compositor(StandInHost):
    """A host with a script of which some nodes are selected."""

    def __init__(self, script: str, *nodes: TrainingNode, snapshot: str = "/show/sh010.snapshot.nk") -> None:
        super().__init__()
        self.name, self._script, self._nodes, self._snapshot = "Nuke", script, list(nodes), snapshot

    def script_path(self) -> str:
        return self._script

    def selected_nodes(self) -> list[TrainingNode]:
        return self._nodes

    def save_snapshot(self) -> str:
        if not self._snapshot:
            raise PermissionError(13, "Permission denied", self._script)
        return self._snapshot


COPYCAT, OTHER = TrainingNode("CopyCat1"), TrainingNode("CopyCat2")


@pytest.mark.parametrize(
    ("host", "fault"),
    [
        (Compositor("/s.nk"), "No training node is selected"),
        (Compositor("/s.nk", COPYCAT, OTHER), "CopyCat1, CopyCat2 are selected; select one of them"),
        (Compositor("/s.nk", TrainingNode("C", ("Input", "Ground Truth"))), "C: connect Input and Ground Truth"),
        (Compositor("", COPYCAT), "save it"),
        (Compositor("/s.nk", COPYCAT, snapshot=""), "Permission denied"),
    ],
)
def test_what_cannot_be_trained_is_said_once(qtbot: QtBot, open_panel: OpenPanel, host: Compositor, fault: str) -> None:
    panel = open_panel(host=host)
    qtbot.mouseClick(panel.train_page.source.take_selected, Qt.MouseButton.LeftButton)
    problems = panel.train_page.problems
    assert [fault in problems.item(row).text() for row in range(problems.count())] == [True]
    assert not panel.train_page.farm.isEnabled()


def test_the_selected_node_is_taken_from_a_snapshot(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_panel(host=Compositor("/show/sh010.nk", COPYCAT))
    qtbot.mouseClick(panel.train_page.source.take_selected, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.training.shot.shown is not None, timeout=20000)
    assert panel.training.words() == ["-X", "CopyCat1", "/show/sh010.snapshot.nk"]
    assert panel.train_page.source.editors["script"].findChildren(type(panel.result_page.input.line))[0].text() == (
        "/show/sh010.nk"
    )


def test_wrong_python_is_offered_to_be_tried_again(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_panel(host=Alone({"UNDERSTUDY_PYTHON": "/nowhere/python"}))
    assert "/nowhere/python" in panel.message.text.text()
    assert "UNDERSTUDY_PYTHON" in panel.message.text.text()
    qtbot.mouseClick(panel.message.remedy, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not panel.message.isHidden(), timeout=20000)


def test_a_hosts_own_python_does_not_leak_into_the_studios() -> None:
    environment = {"PYTHONHOME": "/host", "PYTHONPATH": "/host/lib", "OCIO": "aces.ocio", "UNDERSTUDY_PYTHON": "py"}
    program = answers_of(environment)
    assert program.words == ("py", "-m", "understudy_ui.answers")
    assert dict(program.environment) == {"OCIO": "aces.ocio", "UNDERSTUDY_PYTHON": "py"}
    assert Alone({}).answers().words[0] == sys.executable


def test_a_dock_that_was_closed_opens_again(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_panel(host=Compositor("/show/sh010.nk", COPYCAT))
    panel.close()
    panel.show()
    panel.train_page.take_selected()
    qtbot.waitUntil(lambda: panel.training.shot.shown is not None, timeout=20000)


def test_values_are_remembered_between_windows(qtbot: QtBot, open_panel: OpenPanel, home: Path) -> None:
    panel = open_panel(host=Compositor("/show/sh010.nk", COPYCAT))
    panel.train_page.take_selected()
    qtbot.waitUntil(lambda: panel.training.shot.shown is not None, timeout=20000)
    panel.training.form.set("crop_size", 64)
    panel.close()
    assert (home / "panel.json").exists()
    again = open_panel()
    again.open([])
    assert again.training.form.value("crop_size") == 64
