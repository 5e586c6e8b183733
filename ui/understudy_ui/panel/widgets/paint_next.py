"""Paint Next: the frames that the model knows least."""

from __future__ import annotations

from typing import Callable

from understudy_ui.panel.model.frame_view import FrameView
from understudy_ui.panel.model.result import Result
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import Qt, QtGui, QtWidgets
from understudy_ui.panel.theme import GAP, Elided, airy, headline, paint_invitation, quieten


class PaintNext(QtWidgets.QWidget):
    """Title and button over a table: a click shows the frame, a double click goes there in the host."""

    def __init__(
        self, result: Result, frames: FrameView, pattern: Callable[[], str], go_to: Callable[[int], None]
    ) -> None:
        super().__init__()
        self._result, self._frames, self._pattern, self._go_to = result, frames, pattern, go_to
        self.suggest = QtWidgets.QPushButton(tr("Suggest Frames"))
        self.suggest.setToolTip(tr("Look through the whole shot for what the model knows least"))
        self.suggestions = _table()
        self.told = quieten(Elided())
        self._lay_out()
        self.suggest.clicked.connect(self._suggest)
        self.suggestions.itemSelectionChanged.connect(self._look_at_suggestion)
        self.suggestions.itemActivated.connect(lambda item, _column: self._go_to(_frame_of(item)))
        result.suggestions_changed.subscribe(self._show)

    def _lay_out(self) -> None:
        title, top = QtWidgets.QLabel(tr("Paint Next")), QtWidgets.QHBoxLayout()
        headline(title)
        top.addWidget(title)
        top.addWidget(self.told, 1)
        top.addWidget(self.suggest)
        column = QtWidgets.QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addLayout(top)
        column.addWidget(self.suggestions, 1)

    def _show(self) -> None:
        is_busy = bool(self._result.suggesting)
        self.suggest.setText(tr("Give Up") if is_busy else tr("Suggest Frames"))
        self.told.setText(self._result.suggesting)
        self.suggestions.clear()
        for found in self._result.suggestions:
            item = QtWidgets.QTreeWidgetItem([str(found["frame"]), f"{found['score']:.2f}", found["why"]])
            item.setData(0, Qt.ItemDataRole.UserRole, found["frame"])
            item.setToolTip(2, tr("{why}\nDouble click: go to this frame in the host").format(why=found["why"]))
            self.suggestions.addTopLevelItem(item)

    def _suggest(self) -> None:
        if self._result.suggesting:
            self._result.give_up_suggesting()
        else:
            self._result.suggest(self._pattern())

    def _look_at_suggestion(self) -> None:
        for item in self.suggestions.selectedItems():
            self._frames.go_to(_frame_of(item))


def _frame_of(item: QtWidgets.QTreeWidgetItem) -> int:
    return int(item.data(0, Qt.ItemDataRole.UserRole))


class _Suggestions(QtWidgets.QTreeWidget):
    """Says what it is for, while it is empty."""

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.topLevelItemCount():
            paint_invitation(self, tr("Frames that the model knows least, once they are suggested"))


def _table() -> QtWidgets.QTreeWidget:
    table = _Suggestions()
    table.setHeaderLabels([tr("Frame"), tr("Score"), tr("Why")])
    table.setRootIsDecorated(False)
    table.setAlternatingRowColors(True)
    table.setUniformRowHeights(True)
    table.setColumnWidth(0, 70)
    table.setColumnWidth(1, 60)
    table.setAccessibleName(tr("Frames to paint next"))
    airy(table)
    return table
