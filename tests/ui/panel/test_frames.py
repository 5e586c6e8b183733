"""Frames of a run: how they are called, which of them a result brings on view, and how they are drawn."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot
from tests.ui.panel.fake_desk import FakeDesk

from understudy_ui.panel.model.frame_view import FrameView
from understudy_ui.panel.model.plate import Plate, plate_of
from understudy_ui.panel.qt import QtGui
from understudy_ui.panel.widgets.minified import Minified
from understudy_ui.protocol import PairShown, Side


def pair(frame: int, path: str) -> PairShown:
    side: Side = {"label": f"AppendClip1 at frame {frame}", "path": path, "layer": ""}
    return {"frame": frame, "use": "train", "input": side, "target": side}


@pytest.mark.parametrize(
    ("paths", "plate"),
    [
        (["/s/plate.1001.exr", "/s/plate.1013.exr"], Plate("/s/plate.####.exr", (1001, 1013))),
        (["/s/plate.1013.exr", "/s/plate.1001.exr"], Plate("/s/plate.####.exr", (1001, 1013))),
        (["/s/plate.1001.exr", "/t/plate.1013.exr"], Plate("", (1, 2))),
        (["/s/clean.exr", "/s/clean.exr"], Plate("", (1, 2))),
        ([], Plate()),
    ],
)
def test_frames_are_called_as_the_plate_calls_them_where_there_is_one(paths: list[str], plate: Plate) -> None:
    assert plate_of([pair(number, path) for number, path in enumerate(paths, 1)]) == plate


@pytest.fixture
def view() -> FrameView:
    shown = FrameView(FakeDesk())
    shown.show("/runs/a", Plate("/s/plate.####.exr", (1001, 1013)))
    shown.watch()
    return shown


def asked_of(view: FrameView) -> tuple[object, ...]:
    """The one question that waits; it is answered."""
    desk = view._desk
    assert isinstance(desk, FakeDesk)
    desk.pass_time()
    (asked,) = desk.open("view")
    desk.answer("view", {"input": "", "target": "", "result": "", "difference": "", "psnr": None})
    return asked.about["frame"], asked.about["input"], asked.about["result"]


def test_a_result_brings_one_of_its_frames_on_view(view: FrameView) -> None:
    assert asked_of(view) == (1001, "/s/plate.####.exr", "")
    view.take_result("/r.####.exr", [1010, 1011])
    assert asked_of(view) == (1010, "/s/plate.####.exr", "/r.####.exr")
    view.take_result("/r.####.exr", [1011, 1012, 1013])
    assert asked_of(view)[0] == 1013, "a painted frame can be compared"
    view.take_result("/r.####.exr", list(range(1001, 1020)))
    assert asked_of(view)[0] == 1013, "what was looked at stays, where there is a result of it"


def test_a_result_that_was_made_again_is_looked_at_again(view: FrameView) -> None:
    view.take_result("/r.####.exr", [1001])
    first = asked_of(view)
    view.take_result("/r.####.exr", [1001])
    assert asked_of(view) == first


def test_a_picture_that_is_drawn_small_keeps_its_fine_lines(qtbot: QtBot) -> None:
    del qtbot  # pixmaps need its application
    lines = QtGui.QImage(640, 4, QtGui.QImage.Format.Format_RGB32)
    lines.fill(QtGui.QColor("black"))
    for x in range(0, 640, 8):
        for y in range(4):
            lines.setPixelColor(x, y, QtGui.QColor("white"))
    picture = Minified(QtGui.QPixmap.fromImage(lines))
    assert [picture.fitting(width).width() for width in (9000, 640, 320, 200, 100)] == [640, 640, 320, 320, 160]
    small = picture.fitting(160).toImage()
    means = [sum(small.pixelColor(x + part, 0).red() for part in (0, 1)) / 2 for x in range(0, 160, 2)]
    assert min(means) > 20, "no line is left out"
