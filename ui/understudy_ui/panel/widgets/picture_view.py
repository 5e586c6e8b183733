"""Pictures side by side, one over the other or with a wipe; zoomed by the wheel, moved by dragging."""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Tuple

from understudy_ui.panel.qt import Qt, QtCore, QtGui, QtWidgets, place_of
from understudy_ui.panel.theme import paint_focus
from understudy_ui.panel.widgets.minified import Minified

WHEEL_FACTOR = 1.25
GREATEST_ZOOM = 32.0
GRIP = 8
"""Pixels around the wipe's line in which it is taken by the mouse."""
BETWEEN = 6
"""Pixels between pictures side by side."""


class PictureView(QtWidgets.QWidget):
    """Shows named pictures. `wipes`: the first left of a line, the second right of it."""

    def __init__(self) -> None:
        super().__init__()
        self._pictures: List[Tuple[str, QtGui.QPixmap]] = []
        self._minified: Dict[int, Minified] = {}
        """By the picture's key."""
        self._note = ""
        self.wipes = False
        self.wipe = 0.5
        """Where the line is, as a share of the picture's width."""
        self.zoom = 1.0
        """1: fitted."""
        self._offset = QtCore.QPointF(0, 0)
        self._dragged_from: Optional[QtCore.QPointF] = None
        self._moves_wipe = False
        self.setMinimumSize(160, 120)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_pictures(self, pictures: Sequence[Tuple[str, QtGui.QPixmap]], note: str = "") -> None:
        """`note` is said while there is none."""
        self._pictures = [(name, picture) for name, picture in pictures if not picture.isNull()]
        keys = {picture.cacheKey(): picture for _, picture in self._pictures}
        self._minified = {key: self._minified.get(key, Minified(picture)) for key, picture in keys.items()}
        self._note = note
        self.update()

    def set_wipes(self, wipes: bool) -> None:
        self.wipes = wipes
        self.update()

    def fit(self) -> None:
        self.zoom, self._offset = 1.0, QtCore.QPointF(0, 0)
        self.update()

    def zoom_at(self, place: QtCore.QPointF, factor: float) -> None:
        """What is under `place` stays there."""
        zoom = min(max(self.zoom * factor, 1.0), GREATEST_ZOOM)
        cell = self._cell_at(place)
        from_middle = place - QtCore.QRectF(cell).center() - self._offset
        self._offset += from_middle - from_middle * (zoom / self.zoom)
        self.zoom = zoom
        if zoom == 1.0:
            self._offset = QtCore.QPointF(0, 0)
        self.update()

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        painter = QtGui.QPainter(self)
        painter.fillRect(self.rect(), QtGui.QColor("#161616"))
        painter.setRenderHint(QtGui.QPainter.RenderHint.SmoothPixmapTransform, self.zoom < 4)
        if not self._pictures:
            painter.setPen(QtGui.QColor("#9a9a9a"))
            flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
            painter.drawText(self.rect().adjusted(24, 12, -24, -12), flags, self._note)
        elif self.wipes and len(self._pictures) > 1:
            self._paint_wipe(painter)
        else:
            for cell, (name, picture) in zip(self._cells(), self._pictures):
                painter.setClipRect(cell)
                self._paint_picture(painter, self._place(cell, picture), picture)
                self._paint_name(painter, cell, name, Qt.AlignmentFlag.AlignLeft)
        paint_focus(painter, self)
        painter.end()

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        self.zoom_at(place_of(event), WHEEL_FACTOR ** (event.angleDelta().y() / 120))
        event.accept()

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        self._dragged_from = place_of(event)
        self._moves_wipe = self._is_on_wipe(place_of(event))

    def mouseReleaseEvent(self, _event: QtGui.QMouseEvent) -> None:
        self._dragged_from, self._moves_wipe = None, False

    def mouseDoubleClickEvent(self, _event: QtGui.QMouseEvent) -> None:
        self.fit()

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        place = place_of(event)
        if self._moves_wipe:
            frame = self._place(self.rect(), self._pictures[0][1])
            self.wipe = min(max((place.x() - frame.left()) / max(1.0, frame.width()), 0.0), 1.0)
            self.update()
        elif self._dragged_from is not None and self.zoom > 1.0:
            self._offset += place - self._dragged_from
            self._dragged_from = place
            self.update()
        is_split = self._moves_wipe or self._is_on_wipe(place)
        self.setCursor(Qt.CursorShape.SplitHCursor if is_split else Qt.CursorShape.ArrowCursor)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        key, middle = Qt.Key(event.key()), QtCore.QPointF(self.rect().center())
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom_at(middle, WHEEL_FACTOR)
        elif key == Qt.Key.Key_Minus:
            self.zoom_at(middle, 1 / WHEEL_FACTOR)
        elif key == Qt.Key.Key_F:
            self.fit()
        elif self.wipes and key in (Qt.Key.Key_Comma, Qt.Key.Key_Period):
            self.wipe = min(max(self.wipe + (0.02 if key == Qt.Key.Key_Period else -0.02), 0.0), 1.0)
            self.update()
        else:
            super().keyPressEvent(event)

    def _paint_wipe(self, painter: QtGui.QPainter) -> None:
        frame = self._place(self.rect(), self._pictures[0][1])
        line = round(frame.left() + frame.width() * self.wipe)
        left, right = QtCore.QRect(self.rect()), QtCore.QRect(self.rect())
        left.setRight(line - 1)
        right.setLeft(line)
        for side, (name, picture), align in zip(
            (left, right), self._pictures, (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight)
        ):
            painter.setClipRect(side)
            self._paint_picture(painter, frame, picture)
            self._paint_name(painter, self.rect(), name, align)
        painter.setClipping(False)
        painter.setPen(QtGui.QPen(QtGui.QColor("#ffffff"), 1))
        painter.drawLine(line, self.rect().top(), line, self.rect().bottom())
        painter.setBrush(QtGui.QColor("#ffffff"))
        painter.drawEllipse(QtCore.QPointF(line + 0.5, self.rect().center().y()), 5, 5)

    def _paint_picture(self, painter: QtGui.QPainter, frame: QtCore.QRectF, picture: QtGui.QPixmap) -> None:
        drawn = self._minified[picture.cacheKey()].fitting(frame.width() * self.devicePixelRatioF())
        painter.drawPixmap(frame, drawn, QtCore.QRectF(drawn.rect()))

    def _paint_name(self, painter: QtGui.QPainter, cell: QtCore.QRect, name: str, align: Qt.AlignmentFlag) -> None:
        if not name:
            return
        width = painter.fontMetrics().horizontalAdvance(name) + 14
        height = painter.fontMetrics().height() + 4
        left = cell.left() + 6 if align == Qt.AlignmentFlag.AlignLeft else cell.right() - width - 6
        label = QtCore.QRect(left, cell.top() + 6, width, height)
        painter.fillRect(label, QtGui.QColor(0, 0, 0, 170))
        painter.setPen(QtGui.QColor("#e8e8e8"))
        painter.drawText(label, int(Qt.AlignmentFlag.AlignCenter), name)

    def _cells(self) -> List[QtCore.QRect]:
        """Side by side, or below each other where that shows them larger."""
        count = max(1, 1 if self.wipes else len(self._pictures))
        width, height = self.width(), self.height()
        shape = self._pictures[0][1] if self._pictures else QtGui.QPixmap()
        aspect = shape.width() / shape.height() if not shape.isNull() else 1.0
        is_row = min((width / count) / aspect, height) >= min(width / aspect, height / count)
        cells = []
        for number in range(count):
            if is_row:
                room = (width - BETWEEN * (count - 1)) // count
                cells.append(QtCore.QRect(number * (room + BETWEEN), 0, room, height))
            else:
                room = (height - BETWEEN * (count - 1)) // count
                cells.append(QtCore.QRect(0, number * (room + BETWEEN), width, room))
        return cells

    def _cell_at(self, place: QtCore.QPointF) -> QtCore.QRect:
        cells = self._cells()
        return next((cell for cell in cells if cell.contains(place.toPoint())), cells[0])

    def _place(self, cell: QtCore.QRect, picture: QtGui.QPixmap) -> QtCore.QRectF:
        """Where a picture lies, fitted, zoomed and moved."""
        size = QtCore.QSizeF(picture.size()).scaled(QtCore.QSizeF(cell.size()), Qt.AspectRatioMode.KeepAspectRatio)
        size = size * self.zoom
        frame = QtCore.QRectF(QtCore.QPointF(0, 0), size)
        frame.moveCenter(QtCore.QRectF(cell).center() + self._offset)
        return frame

    def _is_on_wipe(self, place: QtCore.QPointF) -> bool:
        if not self.wipes or len(self._pictures) < 2:
            return False
        frame = self._place(self.rect(), self._pictures[0][1])
        return abs(place.x() - (frame.left() + frame.width() * self.wipe)) <= GRIP
