"""What the keys go to is framed, and nothing else of it changes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from pytestqt.qtbot import QtBot
from tests.ui.panel.high_dpi import graph

from understudy_ui.panel.qt import Qt, QtCore, QtGui, QtWidgets
from understudy_ui.panel.widgets.picture_view import PictureView


def wipe() -> QtWidgets.QWidget:
    view = PictureView()
    view.set_wipes(True)
    picture = QtGui.QPixmap(64, 40)
    picture.fill(QtGui.QColor("#204060"))
    view.show_pictures([("input", picture), ("result", picture)])
    return view


@pytest.mark.parametrize("draw", [graph, wipe])
def test_a_click_frames_a_picture_and_leaves_it_as_it_is(qtbot: QtBot, draw: Callable[[], QtWidgets.QWidget]) -> None:
    widget = draw()
    qtbot.addWidget(widget)
    widget.resize(320, 200)
    widget.show()
    qtbot.waitUntil(widget.hasFocus)
    widget.clearFocus()
    qtbot.mouseMove(widget, QtCore.QPoint(160, 100))
    before = seen(widget)
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, pos=QtCore.QPoint(160, 100))
    qtbot.waitUntil(widget.hasFocus)
    is_other = seen(widget) != before  # H W
    assert is_other[0].all(), "the frame"
    assert not is_other[2:-2, 2:-2].any(), "what is framed"


def seen(widget: QtWidgets.QWidget) -> np.ndarray[tuple[int, ...], np.dtype[np.uint32]]:
    """Its pixels, H W."""
    image = widget.grab().toImage().convertToFormat(QtGui.QImage.Format.Format_RGB32)
    return np.array(np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width()))
