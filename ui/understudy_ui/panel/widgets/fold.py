"""A part of a form that opens and closes under its title."""

from __future__ import annotations

from typing import Optional

from understudy_ui.panel.qt import Qt, QtCore, QtGui, QtWidgets
from understudy_ui.panel.theme import GAP, Tones, headline, quieten


class Fold(QtWidgets.QWidget):
    """Title with an arrow; beside it, in few words, what is inside."""

    toggled = QtCore.Signal(bool)

    def __init__(
        self, title: str, body: QtWidgets.QWidget, is_open: bool = True, parent: Optional[QtWidgets.QWidget] = None
    ) -> None:
        super().__init__(parent)
        self.body = body
        self.button = QtWidgets.QToolButton()
        self.button.setText(title)
        self.button.setAutoRaise(True)
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        headline(self.button)
        self._note = quieten(QtWidgets.QLabel())
        top = QtWidgets.QHBoxLayout()
        top.setContentsMargins(0, 0, 0, 0)
        top.setSpacing(GAP)
        top.addWidget(self.button)
        top.addWidget(Rule(), 1)
        top.addWidget(self._note)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addLayout(top)
        layout.addWidget(body)
        self.button.clicked.connect(lambda: self.open(self.body.isHidden()))
        self.open(is_open)

    def open(self, is_open: bool) -> None:
        self.button.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
        self.body.setVisible(is_open)
        self.toggled.emit(is_open)

    def set_note(self, note: str) -> None:
        self._note.setText(note)


class Rule(QtWidgets.QWidget):
    """A thin line that leads the eye from a title to the end of its row."""

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        painter = QtGui.QPainter(self)
        painter.setPen(Tones(self.palette()).rule)
        middle = self.height() // 2
        painter.drawLine(0, middle, self.width(), middle)
        painter.end()
