"""The Result place by real clicks, alone and in a host."""

from __future__ import annotations

from pytestqt.qtbot import QtBot
from tests.ui.panel.conftest import OpenPanel, StandInHost
from tests.ui.panel.waiting import row

from understudy_ui.panel.host import Alone
from understudy_ui.panel.model.source import Source
from understudy_ui.panel.qt import Qt
from understudy_ui.panel.window import Panel

LEFT = Qt.MouseButton.LeftButton


class Compositor(StandInHost):
    """A host that notes what it is asked to do."""

    def __init__(self) -> None:
        super().__init__("--state", "finished")
        self.name = "Nuke"
        self.did: list[tuple[object, ...]] = []

    def can_create_inference(self) -> bool:
        return True

    def create_inference(self, node: str, checkpoint: str) -> None:
        self.did.append(("inference", node, checkpoint))

    def show_result(self, pattern: str, first_frame: int, last_frame: int) -> None:
        self.did.append(("result", pattern, first_frame, last_frame))

    def go_to_frame(self, frame: int) -> None:
        self.did.append(("frame", frame))


def open_result(qtbot: QtBot, open_panel: OpenPanel, host: Alone | None = None) -> Panel:
    panel = open_panel("--state", "finished", host=host)
    panel.training.choose(Source(script="/show/sh010.nk", node="CopyCat1"))
    qtbot.waitUntil(lambda: panel.training.shot.shown is not None, timeout=20000)
    panel.places.setCurrentWidget(panel.runs_page)
    qtbot.waitUntil(lambda: panel.run_view.run is not None, timeout=20000)
    panel.places.setCurrentWidget(panel.result_page)
    return panel


def test_the_best_checkpoint_comes_first_and_the_shots_own_frames(qtbot: QtBot, open_panel: OpenPanel) -> None:
    page = open_result(qtbot, open_panel).result_page
    assert page.checkpoint.currentText() == "Best by validation: step 1\u2009500"
    assert page.input.line.text() == "/show/sh010/plate/plate.####.exr"
    assert page.output.line.text().endswith(".result/result.####.exr")
    assert page.inference.isHidden()


def test_apply_tells_how_far_it_is_and_shows_the_result(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_result(qtbot, open_panel)
    qtbot.mouseClick(panel.result_page.apply, LEFT)
    qtbot.waitUntil(lambda: "of 48 frames" in panel.result_page.progress.text(), timeout=20000)
    qtbot.waitUntil(lambda: panel.message.text.text() == "48 frames were written", timeout=20000)
    qtbot.waitUntil(lambda: "result" in panel.result_page.picture._pictures, timeout=20000)


def test_final_frames_are_made_in_four_passes(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_result(qtbot, open_panel)
    qtbot.keyClick(panel.result_page.passes, Qt.Key.Key_End)
    assert panel.result_page.passes.currentText() == "four: for final frames, four times as long"
    qtbot.mouseClick(panel.result_page.apply, LEFT)
    qtbot.waitUntil(lambda: panel.message.text.text() == "48 frames were written in 4 passes", timeout=20000)


def test_apply_is_given_up(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_result(qtbot, open_panel)
    qtbot.mouseClick(panel.result_page.apply, LEFT)
    assert panel.result_page.apply.text() == "Give Up"
    qtbot.mouseClick(panel.result_page.apply, LEFT)
    assert panel.result_page.apply.text() == "Apply"
    assert panel.message.text.text() == "Given up; frames that were written stay."


def test_a_host_goes_to_the_frame_to_paint_and_takes_the_model(qtbot: QtBot, open_panel: OpenPanel) -> None:
    host = Compositor()
    panel = open_result(qtbot, open_panel, host)
    page = panel.result_page
    qtbot.mouseClick(page.paint_next.suggest, LEFT)
    qtbot.waitUntil(lambda: page.paint_next.suggestions.topLevelItemCount() == 3, timeout=20000)
    place = page.paint_next.suggestions.visualItemRect(row(page.paint_next.suggestions, 0)).center()
    qtbot.mouseClick(page.paint_next.suggestions.viewport(), LEFT, pos=place)
    qtbot.mouseDClick(page.paint_next.suggestions.viewport(), LEFT, pos=place)
    assert panel.result_frames.frame == 1043
    qtbot.mouseClick(page.inference, LEFT)
    model = "/show/sh010/comp/runs/Training.1500.safetensors"
    assert host.did == [("frame", 1043), ("inference", "CopyCat1", model)]


def test_alone_says_what_to_do_instead(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_result(qtbot, open_panel)
    qtbot.mouseClick(panel.result_page.paint_next.suggest, LEFT)
    suggestions = panel.result_page.paint_next.suggestions
    qtbot.waitUntil(lambda: suggestions.topLevelItemCount() == 3, timeout=20000)
    suggestions.itemActivated.emit(row(suggestions, 0), 0)
    assert "1043" in panel.message.text.text()
