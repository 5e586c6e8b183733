"""Export by real clicks, before the answers' stand-in."""

from __future__ import annotations

from pytestqt.qtbot import QtBot
from tests.ui.panel.conftest import OpenPanel
from tests.ui.panel.test_result_page import LEFT, open_result
from tests.ui.panel.waiting import row

from understudy_ui.panel.qt import Qt
from understudy_ui.panel.widgets.export_box import ExportBox

FOLDER = "/show/sh010/comp/runs/Training.{step}.{host}"


def choose(qtbot: QtBot, box: ExportBox, host: str) -> None:
    box.host.setFocus()
    while box.host.currentText() != host:
        qtbot.keyClick(box.host, Qt.Key.Key_Down)


def test_the_folder_follows_checkpoint_and_host_until_one_is_typed(qtbot: QtBot, open_panel: OpenPanel) -> None:
    page = open_result(qtbot, open_panel).result_page
    box = page.export
    assert box.folder.line.text() == FOLDER.format(step=1500, host="nuke")
    choose(qtbot, box, "Houdini")
    assert box.folder.line.text() == FOLDER.format(step=1500, host="houdini")
    page.checkpoint.setCurrentIndex(1)
    assert box.folder.line.text() == FOLDER.format(step=2000, host="houdini")
    box.folder.line.selectAll()
    qtbot.keyClicks(box.folder.line, "/delivery/comp")
    choose(qtbot, box, "ONNX")
    assert box.folder.line.text() == "/delivery/comp"


def test_an_export_tells_what_it_does_and_how_well_it_agrees(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_result(qtbot, open_panel)
    box = panel.result_page.export
    assert box.proofs.isHidden()
    choose(qtbot, box, "Flame")
    qtbot.mouseClick(box.button, LEFT)
    qtbot.waitUntil(lambda: box.told.text().startswith("Exporting Training.1500"), timeout=20000)
    assert not box.host.isEnabled()
    qtbot.waitUntil(lambda: box.proofs.isVisible(), timeout=20000)
    where = FOLDER.format(step=1500, host="flame")
    assert panel.message.text.text() == f"Training.1500.safetensors was exported for flame: {where}"
    assert [row(box.proofs, 1).text(column) for column in range(3)] == [
        "torch 2.13.0, half",
        "3.1e-03",
        "plate.1048.exr",
    ]
    assert box.written.text().startswith("5 files: Training.nk, Training.pt")
    assert box.written.toolTip().splitlines()[0] == where
    assert (box.told.text(), box.button.text(), box.host.isEnabled()) == ("", "Export", True)


def test_an_export_is_given_up(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_result(qtbot, open_panel)
    box = panel.result_page.export
    qtbot.mouseClick(box.button, LEFT)
    assert box.button.text() == "Give Up"
    qtbot.mouseClick(box.button, LEFT)
    assert (box.button.text(), box.proofs.isHidden()) == ("Export", True)
    assert panel.message.text.text() == "Given up; nothing was put in place."


def test_a_place_that_is_taken_is_said(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_result(qtbot, open_panel)
    box = panel.result_page.export
    box.folder.line.selectAll()
    qtbot.keyClicks(box.folder.line, "/taken")
    qtbot.mouseClick(box.button, LEFT)
    qtbot.waitUntil(lambda: "choose another --folder" in panel.message.text.text(), timeout=20000)
    assert (box.button.text(), box.proofs.isHidden()) == ("Export", True)
