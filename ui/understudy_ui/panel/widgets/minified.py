"""A picture that is drawn smaller than it is: halved by averages first, so that fine lines and letters stay."""

from __future__ import annotations

from typing import List

from understudy_ui.panel.qt import Qt, QtGui


class Minified:
    """The picture, half of it, a quarter and so on; each is made when it is first needed."""

    def __init__(self, picture: QtGui.QPixmap) -> None:
        self._levels: List[QtGui.QPixmap] = [picture]

    def fitting(self, width: float) -> QtGui.QPixmap:
        """The smallest that has at least `width` pixels a row; the picture itself where it is too small for that."""
        while self._levels[-1].width() >= 2 * width and self._levels[-1].height() > 1:
            self._levels.append(_half(self._levels[-1]))
        return next((level for level in reversed(self._levels) if level.width() >= width), self._levels[0])


def _half(picture: QtGui.QPixmap) -> QtGui.QPixmap:
    width, height = max(1, (picture.width() + 1) // 2), max(1, (picture.height() + 1) // 2)
    ignore, smooth = Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    return picture.scaled(width, height, ignore, smooth)
