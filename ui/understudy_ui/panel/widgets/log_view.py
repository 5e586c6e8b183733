"""A rank's log, followed. Long texts are laid out in pieces, so that the window stays awake."""

from __future__ import annotations

from typing import List

from understudy_ui.panel.model.log_tail import LogTail
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import QtCore, QtGui, QtWidgets
from understudy_ui.panel.theme import GAP, quieten
from understudy_ui.panel.widgets.editors import QuietBox

MAX_LINES = 20000
"""Kept; a log of days is read with a pager."""
LINES_A_PIECE = 100


class LogView(QtWidgets.QWidget):
    """Shows a LogTail; scrolls along unless somebody scrolled up."""

    def __init__(self, tail: LogTail) -> None:
        super().__init__()
        self._tail = tail
        self._lines: List[str] = []
        self.rank = QuietBox()
        self.rank.setToolTip(tr("Whose log"))
        self.follow = QtWidgets.QCheckBox(tr("Follow"))
        self.follow.setChecked(True)
        self.fault = quieten(QtWidgets.QLabel())
        self.text = QtWidgets.QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setMaximumBlockCount(MAX_LINES)
        self.text.setLineWrapMode(QtWidgets.QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(QtGui.QFontDatabase.systemFont(QtGui.QFontDatabase.SystemFont.FixedFont))
        self.text.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.text.setAccessibleName(tr("Log"))
        self._pieces = QtCore.QTimer(self)
        self._pieces.setInterval(0)
        self._pieces.timeout.connect(self._append_piece)
        row = QtWidgets.QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(self.rank)
        row.addWidget(self.follow)
        row.addWidget(self.fault, 1)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(row)
        layout.addWidget(self.text, 1)
        self.rank.activated.connect(lambda index: tail.follow(tail.place, index))
        tail.began_anew.subscribe(self._begin)
        tail.grew.subscribe(self._take)

    def show_ranks(self, num_ranks: int) -> None:
        names = [tr("Rank {number}").format(number=number) for number in range(max(1, num_ranks))]
        if self.rank.count() != len(names):
            self.rank.clear()
            self.rank.addItems(names)
            self.rank.setCurrentIndex(min(self._tail.rank, len(names) - 1))

    def hideEvent(self, event: QtGui.QHideEvent) -> None:
        self._pieces.stop()
        super().hideEvent(event)

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        if self._lines:
            self._pieces.start()
        super().showEvent(event)

    def _begin(self) -> None:
        self._lines = []
        self._pieces.stop()
        self.text.clear()
        self.rank.setCurrentIndex(self._tail.rank)

    def _take(self) -> None:
        self.fault.setText(self._tail.fault)
        self._lines += self._tail.take().splitlines()
        del self._lines[:-MAX_LINES]
        if self._lines and self.isVisible():
            self._pieces.start()

    def _append_piece(self) -> None:
        piece, self._lines = self._lines[:LINES_A_PIECE], self._lines[LINES_A_PIECE:]
        bar = self.text.verticalScrollBar()
        place = bar.value()
        self.text.appendPlainText("\n".join(piece))
        bar.setValue(bar.maximum() if self.follow.isChecked() else place)
        if not self._lines:
            self._pieces.stop()
