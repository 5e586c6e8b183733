"""Who trains: ranks and the tasks that follow, with their machines."""

from __future__ import annotations

from typing import List

from understudy_ui.panel.model.speech import spoken_state
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import Qt, QtCore, QtGui, QtWidgets
from understudy_ui.panel.theme import Tones, airy
from understudy_ui.protocol import RankShown, RunShown


class RanksTable(QtWidgets.QTreeWidget):
    """A row for each rank, then for each task."""

    requeue_wanted = QtCore.Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setHeaderLabels([tr("Rank"), tr("State"), tr("Machine"), tr("Note")])
        self.setRootIsDecorated(False)
        airy(self)
        self.setAlternatingRowColors(True)
        self.setUniformRowHeights(True)
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Ranks"))
        for column, width in enumerate((90, 90, 150)):
            self.setColumnWidth(column, width)
        self._shown: List[RankShown] = []

    def selected_rank(self) -> int:
        """-1: none, or a task that is no rank."""
        items = self.selectedItems()
        return int(items[0].data(0, Qt.ItemDataRole.UserRole)) if items else -1

    def show_run(self, run: RunShown) -> None:
        rows = [*run["ranks"], *run["tasks"]]
        if rows == self._shown:
            return
        self._shown = rows
        selected = self.selected_rank()
        self.clear()
        for rank in run["ranks"]:
            item = self._add(str(rank["number"]), rank, rank["number"])
            item.setSelected(rank["number"] == selected)
        for task in run["tasks"]:
            self._add(task["note"], {**task, "note": ""}, -1)

    def _add(self, name: str, rank: RankShown, number: int) -> QtWidgets.QTreeWidgetItem:
        item = QtWidgets.QTreeWidgetItem([name, spoken_state(rank["state"]), rank["host"], rank["note"]])
        item.setData(0, Qt.ItemDataRole.UserRole, number)
        item.setForeground(1, QtGui.QBrush(Tones(self.palette()).of_state(rank["state"])))
        self.addTopLevelItem(item)
        return item
