"""Two things beside each other where there is room, else one over the other, as in a host's dock."""

from __future__ import annotations

from understudy_ui.panel.qt import Qt, QtCore, QtGui, QtWidgets

NARROW = 820
"""Pixels of width, below which things stand over each other."""


class Beside(QtWidgets.QSplitter):
    """Turns by itself."""

    def __init__(self, first: QtWidgets.QWidget, second: QtWidgets.QWidget, share_of_first: float) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._both = (first, second)
        self.addWidget(first)
        self.addWidget(second)
        self.setSizes([round(1000 * share_of_first), round(1000 * (1 - share_of_first))])
        self.setStretchFactor(0, round(100 * share_of_first))
        self.setStretchFactor(1, round(100 * (1 - share_of_first)))
        self.setChildrenCollapsible(False)

    def minimumSizeHint(self) -> QtCore.QSize:
        """As narrow as it can be once turned."""
        width = max(max(part.minimumSizeHint().width(), part.minimumWidth()) for part in self._both)
        return QtCore.QSize(width, super().minimumSizeHint().height())

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        is_narrow = self.width() < NARROW
        self.setOrientation(Qt.Orientation.Vertical if is_narrow else Qt.Orientation.Horizontal)
        super().resizeEvent(event)
