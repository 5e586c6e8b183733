"""The panel before the real answers: a small shot trained on two ranks, watched, stopped, resumed and applied."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from tests.core.train.shots import SmallShot, make_shot
from tests.ui.panel.conftest import OpenPanel

from understudy_ui.panel.host import Alone
from understudy_ui.panel.model.source import SEQUENCES, Source
from understudy_ui.panel.qt import Qt
from understudy_ui.panel.widgets.preview_window import PreviewWindow
from understudy_ui.panel.window import Panel
from understudy_ui.protocol import Json

LEFT = Qt.MouseButton.LeftButton
MILLISECONDS = 120_000
SMALL: dict[str, Json] = {
    "crop_size": 32,
    "batch_size": 2,
    "model_size": "small",
    "checkpoint_interval": 20,
    "contact_sheet_interval": 20,
    "device": "cpu",
    "threads": 1,
    "ranks": 2,
}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_shot_goes_all_the_way(qtbot: QtBot, open_panel: OpenPanel, tmp_path: Path) -> None:
    shot = make_shot(tmp_path / "shot", painted=(1001, 1003, 1004))
    panel = open_panel(host=Alone({**os.environ, "UNDERSTUDY_HOME": str(tmp_path / "home")}))
    choose(qtbot, panel, shot)
    check_and_look(qtbot, panel)
    qtbot.mouseClick(panel.train_page.farm, LEFT)
    watch(qtbot, panel)
    stop_and_resume(qtbot, panel)
    apply(qtbot, panel, tmp_path / "result" / "result.####.exr")


def choose(qtbot: QtBot, panel: Panel, shot: SmallShot) -> None:
    panel.training.choose(Source(kind=SEQUENCES, input=shot.plate, target=shot.paint, validation_frames="1003"))
    qtbot.waitUntil(lambda: panel.training.shot.shown is not None, timeout=MILLISECONDS)
    for name, value in {**SMALL, "data_directory": str(shot.data), "steps": 100_000}.items():
        panel.training.form.set(name, value)
    qtbot.waitUntil(lambda: panel.training.estimate is not None, timeout=MILLISECONDS)
    pairs = panel.train_page.pairs._pairs
    qtbot.waitUntil(lambda: not pairs.picture(1004, "target").isNull(), timeout=MILLISECONDS)


def check_and_look(qtbot: QtBot, panel: Panel) -> None:
    qtbot.mouseClick(panel.train_page.check, LEFT)
    qtbot.waitUntil(lambda: panel.training.shot.is_checked, timeout=MILLISECONDS)
    assert panel.training.shot.problems == []
    qtbot.mouseClick(panel.train_page.dry_run, LEFT)
    qtbot.waitUntil(lambda: bool(panel.train_page.findChildren(PreviewWindow)), timeout=MILLISECONDS)
    window = panel.train_page.findChildren(PreviewWindow)[0]
    assert "--ranks 2" in window.command.toPlainText()
    qtbot.keyClick(window, Qt.Key.Key_Escape)


def watch(qtbot: QtBot, panel: Panel) -> None:
    """Until there is a curve, a contact sheet and both ranks."""
    page = panel.runs_page
    qtbot.waitUntil(lambda: panel.places.currentWidget() is page, timeout=MILLISECONDS)
    graph = page.graph.graph
    qtbot.waitUntil(lambda: any(len(curve["steps"]) > 2 for curve in graph.curves.values()), timeout=MILLISECONDS)
    qtbot.waitUntil(lambda: bool(page.sheet.picture._pictures), timeout=MILLISECONDS)
    qtbot.waitUntil(lambda: page.ranks.topLevelItemCount() == 2, timeout=MILLISECONDS)
    page.tabs.setCurrentWidget(page.log)
    qtbot.waitUntil(lambda: "Step:" in page.log.text.toPlainText(), timeout=MILLISECONDS)


def stop_and_resume(qtbot: QtBot, panel: Panel) -> None:
    header = panel.runs_page.header
    qtbot.mouseClick(header.buttons["stop"], LEFT)
    qtbot.waitUntil(lambda: header.state.text() == "stopped", timeout=MILLISECONDS)
    stopped_at = panel.runs.rows[0]["step"]
    qtbot.waitUntil(header.buttons["resume"].isEnabled, timeout=MILLISECONDS)
    qtbot.mouseClick(header.buttons["resume"], LEFT)
    qtbot.waitUntil(lambda: header.state.text() == "training", timeout=MILLISECONDS)
    qtbot.waitUntil(lambda: panel.runs.rows[0]["step"] > stopped_at, timeout=MILLISECONDS)
    qtbot.mouseClick(header.buttons["stop"], LEFT)
    qtbot.waitUntil(lambda: header.state.text() == "stopped", timeout=MILLISECONDS)


def apply(qtbot: QtBot, panel: Panel, output: Path) -> None:
    page = panel.result_page
    panel.places.setCurrentWidget(page)
    qtbot.waitUntil(page.output.isEnabled, timeout=MILLISECONDS)
    page.output.line.selectAll()
    qtbot.keyClicks(page.output.line, str(output))
    qtbot.keyClick(page.output.line, Qt.Key.Key_Return)
    qtbot.keyClick(page.passes, Qt.Key.Key_Down)
    qtbot.mouseClick(page.apply, LEFT)
    qtbot.waitUntil(lambda: "4 frames" in panel.message.text.text(), timeout=MILLISECONDS)
    assert len(list(output.parent.glob("result.*.exr"))) == 4
    qtbot.waitUntil(lambda: "difference" in page.picture._pictures, timeout=MILLISECONDS)
