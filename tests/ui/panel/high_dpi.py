"""What is drawn where a unit of length has several pixels: prints by name how much finer than a unit it is.

    QT_SCALE_FACTOR=2 python high_dpi.py

A share of the blocks of 2 x 2 pixels: those that are not of one colour.
"""

from __future__ import annotations

import json
import sys

import numpy as np
from tests.ui.panel.waiting import settle

from understudy_ui.panel.qt import QtGui, QtWidgets
from understudy_ui.panel.widgets.loss_graph import LossGraph
from understudy_ui.panel.widgets.picture_view import PictureView
from understudy_ui.protocol import CurveShown

WIDTH, HEIGHT = 320, 200
"""Units."""
LOSSES = [1.0, 0.2, 0.5, 0.1]
CURVE: CurveShown = {
    "steps": [1, 30, 60, 100],
    "lowest": LOSSES,
    "highest": LOSSES,
    "smooth": LOSSES,
    "validation_steps": [],
    "validation_psnrs": [],
    "stages": [1],
    "stage_names": ["full"],
    "events": [],
    "event_steps": [],
}


def graph() -> QtWidgets.QWidget:
    drawn = LossGraph()
    drawn.show_curves({"a": CURVE}, {"a": "v001"})
    return drawn


def picture() -> QtWidgets.QWidget:
    """Lines of one pixel, as many as there are on the screen."""
    lines = np.zeros((2 * HEIGHT, 2 * WIDTH), np.uint8)
    lines[:, ::2] = 255
    image = QtGui.QImage(lines.data, 2 * WIDTH, 2 * HEIGHT, 2 * WIDTH, QtGui.QImage.Format.Format_Grayscale8)
    view = PictureView()
    view.show_pictures([("", QtGui.QPixmap.fromImage(image))])
    return view


def share_of_fine_blocks(widget: QtWidgets.QWidget) -> float:
    widget.resize(WIDTH, HEIGHT)
    widget.show()
    settle(0.1)
    widget.clearFocus()  # its frame is fine in any case
    image = widget.grab().toImage().convertToFormat(QtGui.QImage.Format.Format_RGB32)
    assert (image.width(), image.height()) == (2 * WIDTH, 2 * HEIGHT)
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(HEIGHT, 2, WIDTH, 2)
    return float((pixels != pixels[:, :1, :, :1]).any(axis=(1, 3)).mean())


if __name__ == "__main__":
    application = QtWidgets.QApplication([])
    json.dump({draw.__name__: share_of_fine_blocks(draw()) for draw in (graph, picture)}, sys.stdout)
