"""The Runs place by real clicks."""

from __future__ import annotations

from typing import cast

from pytestqt.qtbot import QtBot
from tests.ui.panel.conftest import OpenPanel
from tests.ui.panel.fake_desk import FakeDesk, FakeVoice
from tests.ui.panel.stand_in_answers import StandIn, parse
from tests.ui.panel.waiting import row, settle

from understudy_ui.panel.model.runs import Runs
from understudy_ui.panel.qt import Qt, QtCore, QtGui, QtWidgets
from understudy_ui.panel.widgets.runs_table import STEP, RunsModel
from understudy_ui.panel.window import Panel
from understudy_ui.protocol import RunRow

LEFT = Qt.MouseButton.LeftButton


def open_runs(qtbot: QtBot, open_panel: OpenPanel, *words: str) -> Panel:
    panel = open_panel(*words)
    panel.runs.open("/show/runs")
    panel.places.setCurrentWidget(panel.runs_page)
    qtbot.waitUntil(lambda: panel.run_view.run is not None and bool(panel.run_view.curves), timeout=20000)
    return panel


def turn_wheel(widget: QtWidgets.QWidget, x: float, y: float, notches: int) -> None:
    place = QtCore.QPointF(x, y)
    none, button = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.NoButton
    turned, phase = QtCore.QPoint(0, 120 * notches), Qt.ScrollPhase.NoScrollPhase
    QtCore.QCoreApplication.sendEvent(
        widget, QtGui.QWheelEvent(place, place, QtCore.QPoint(), turned, button, none, phase, False)
    )


def test_the_newest_run_is_shown_in_full(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_runs(qtbot, open_panel)
    page = panel.runs_page
    assert page.header.state.text() == "training"
    assert row(page.ranks, 2).text(1) == "lost"
    assert page.header.buttons["stop"].isEnabled()
    assert not page.header.buttons["resume"].isEnabled()
    qtbot.waitUntil(lambda: bool(page.sheet.picture._pictures), timeout=20000)


def test_a_run_by_the_clock_has_no_last_step() -> None:
    runs = Runs(FakeDesk(), FakeVoice())
    by_steps = cast("list[RunRow]", StandIn(parse(["--num-runs", "1"])).answer("runs", {"folder": "/show"}))[0]
    runs.rows = [{**by_steps, "step": 242, "total_steps": 100_000, "minutes": minutes} for minutes in (0.0, 5.0)]
    table = RunsModel(runs)
    runs.changed.tell()
    assert [table.index(number, STEP).data() for number in (0, 1)] == ["242 / 100\u2009000", "242"]


def test_stop_resume_and_requeue_are_asked(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_runs(qtbot, open_panel)
    buttons = panel.runs_page.header.buttons
    qtbot.mouseClick(buttons["stop"], LEFT)
    qtbot.waitUntil(lambda: panel.runs_page.header.state.text() == "stopped", timeout=20000)
    assert "resume goes on" in panel.message.text.text()
    qtbot.mouseClick(buttons["resume"], LEFT)
    qtbot.waitUntil(lambda: panel.runs_page.header.state.text() == "training", timeout=20000)
    row(panel.runs_page.ranks, 2).setSelected(True)
    qtbot.mouseClick(buttons["requeue"], LEFT)
    qtbot.waitUntil(lambda: "Rank 2" in panel.message.text.text(), timeout=20000)


def test_what_destroys_is_asked_once_more(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_runs(qtbot, open_panel, "--state", "finished")
    qtbot.mouseClick(panel.runs_page.header.buttons["trash"], LEFT)
    box = panel.findChildren(QtWidgets.QMessageBox)[0]
    keep = next(button for button in box.buttons() if button.text() == "Keep")
    assert isinstance(keep, QtWidgets.QPushButton)
    assert keep.isDefault(), "Return keeps"
    qtbot.mouseClick(keep, LEFT)
    settle(0.1)
    assert len(panel.runs.rows) == 6
    qtbot.mouseClick(panel.runs_page.header.buttons["trash"], LEFT)
    box = panel.findChildren(QtWidgets.QMessageBox)[-1]
    qtbot.mouseClick(next(button for button in box.buttons() if button.text() != "Keep"), LEFT)
    qtbot.waitUntil(lambda: len(panel.runs.rows) == 5, timeout=20000)
    qtbot.waitUntil(lambda: "trash" in panel.message.text.text(), timeout=20000)


def test_a_run_is_renamed_in_place(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_runs(qtbot, open_panel, "--state", "finished")
    qtbot.mouseClick(panel.runs_page.header.buttons["rename"], LEFT)
    line = panel.runs_page.header.new_name
    qtbot.keyClicks(line, "not so")
    qtbot.keyClick(line, Qt.Key.Key_Escape)
    assert line.isHidden()
    qtbot.mouseClick(panel.runs_page.header.buttons["rename"], LEFT)
    qtbot.keyClicks(line, "wire_removal")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.runs_page.header.name.text() == "wire_removal", timeout=20000)


def test_runs_are_filtered_compared_and_stay_selected(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_runs(qtbot, open_panel, "--num-runs", "3000")
    table = panel.runs_page.table
    assert table.model().rowCount() == 3000
    qtbot.keyClicks(panel.runs_page.search, "v2999")
    assert table.model().rowCount() == 1
    panel.runs_page.search.clear()
    for number, keys in ((0, Qt.KeyboardModifier.NoModifier), (2, Qt.KeyboardModifier.ControlModifier)):
        place = table.visualRect(table.model().index(number, 0)).center()
        qtbot.mouseClick(table.viewport(), LEFT, keys, place)
    qtbot.waitUntil(lambda: len(panel.runs_page.graph.graph.curves) == 2, timeout=20000)
    selected = list(panel.runs.selected)
    settle(2.5)
    assert panel.runs.selected == selected
    assert len(table.selectionModel().selectedRows()) == 2


def test_the_graph_zooms_by_the_wheel_pans_and_reads(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_runs(qtbot, open_panel, "--state", "finished")
    graph = panel.runs_page.graph.graph
    turn_wheel(graph, graph.plot().center().x(), graph.plot().center().y(), 5)
    first, last = graph.steps
    assert 600 < first < 1000 < last < 1400
    qtbot.waitUntil(lambda: panel.run_view.curves[panel.runs.selected[0]]["steps"][0] >= first, timeout=20000)
    qtbot.mouseMove(graph, graph.plot().center())
    qtbot.waitUntil(lambda: graph.hovered is not None, timeout=20000)
    qtbot.keyClick(graph, Qt.Key.Key_Right)
    assert graph.steps[0] > first
    qtbot.mouseClick(panel.runs_page.graph.fit, LEFT)
    assert graph.steps == (0, 0)


def test_sheets_are_scrubbed(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_runs(qtbot, open_panel, "--state", "finished")
    sheet = panel.runs_page.sheet
    qtbot.waitUntil(lambda: sheet.step.text() == "step 2\u2009000", timeout=20000)
    sheet.scrubber.setFocus()
    qtbot.keyClick(sheet.scrubber, Qt.Key.Key_Home)
    assert sheet.step.text() == "step 100"
    turn_wheel(sheet.picture, 50, 50, 2)
    assert sheet.picture.zoom > 1


def test_frames_are_wiped_and_lit(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_runs(qtbot, open_panel, "--state", "finished")
    page = panel.runs_page
    page.tabs.setCurrentWidget(page.frame)
    panel.frames.take_result("/show/result.####.exr", [1001])
    qtbot.waitUntil(lambda: len(page.frame._pictures) == 4, timeout=20000)
    page.frame.manner.setCurrentIndex(1)
    picture = page.frame.picture
    start = QtCore.QPoint(round(picture.width() * 0.5), picture.height() // 2)
    qtbot.mousePress(picture, LEFT, pos=start)
    qtbot.mouseMove(picture, start - QtCore.QPoint(60, 0))
    qtbot.mouseRelease(picture, LEFT, pos=start - QtCore.QPoint(60, 0))
    qtbot.waitUntil(lambda: picture.wipe < 0.45, timeout=20000)
    qtbot.mouseClick(page.frame.after, LEFT)
    assert panel.frames.frame == 1013
    page.frame.exposure.setValue(15)
    assert panel.frames.exposure == 1.5


def test_a_log_is_followed(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_runs(qtbot, open_panel)
    page = panel.runs_page
    page.tabs.setCurrentWidget(page.log)
    qtbot.waitUntil(lambda: "[Step:1300/2000]" in page.log.text.toPlainText(), timeout=20000)
    assert page.log.rank.count() == 3
    bar = page.log.text.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.value() == bar.maximum(), timeout=20000)


def test_nothing_is_polled_while_nobody_sees_it(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_runs(qtbot, open_panel)
    panel.places.setCurrentWidget(panel.train_page)
    settle(0.3)
    num_asked = panel.answers._num_asked
    settle(2.6)
    assert panel.answers._num_asked == num_asked


def test_a_run_that_is_deleted_while_shown_is_said_and_the_next_goes_on(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_runs(qtbot, open_panel, "--state", "finished")
    place = panel.runs.selected[0]
    panel.runs.do("trash", {"place": place})
    qtbot.waitUntil(lambda: "gone" in panel.runs_page.header.about.text(), timeout=20000)
    assert panel.runs_page.header.name.text()
    table = panel.runs_page.table
    qtbot.mouseClick(table.viewport(), LEFT, pos=table.visualRect(table.model().index(0, 0)).center())
    qtbot.waitUntil(lambda: panel.runs_page.header.state.text() == "stopped", timeout=20000)


def test_a_folder_that_is_not_there_is_said_in_the_table(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_panel("--state", "empty")
    panel.runs.open("/nowhere")
    panel.places.setCurrentWidget(panel.runs_page)
    qtbot.waitUntil(lambda: bool(panel.runs.fault), timeout=20000)
    assert panel.runs_page.header.name.text() == "No run is selected"
