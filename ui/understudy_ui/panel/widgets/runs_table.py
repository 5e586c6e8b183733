"""The runs of a data directory as a table that stays fluid with thousands of them."""

from __future__ import annotations

from typing import List, Tuple, Union

from understudy_ui.panel.model.runs import Runs
from understudy_ui.panel.model.speech import spoken_count, spoken_loss, spoken_seconds, spoken_state
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import Qt, QtCore, QtGui, QtWidgets
from understudy_ui.panel.theme import Tones, paint_invitation
from understudy_ui.protocol import RunRow

Index = Union[QtCore.QModelIndex, QtCore.QPersistentModelIndex]
BETWEEN_NAMES = "  "
PLACE = int(Qt.ItemDataRole.UserRole)

NAME, STATE, STEP, LOSS, LEFT, FARM, STARTED = range(7)
NUMBERS = (STEP, LOSS, LEFT)
WIDTHS = (30, 11, 17, 11, 13, 10, 17)
"""Of the columns, in digits of the font."""


class RunsModel(QtCore.QAbstractTableModel):
    """Only rows that are other than before are drawn anew."""

    def __init__(self, runs: Runs) -> None:
        super().__init__()
        self._runs = runs
        self._rows: List[RunRow] = []
        self._sorted_by, self._descends, self._filter = STARTED, True, ""
        self._tones = Tones(QtGui.QPalette())
        self._titles = (tr("Run"), tr("State"), tr("Step"), tr("Loss"), tr("Time Left"), tr("Farm"), tr("Started"))
        runs.changed.subscribe(self._take)

    def set_tones(self, tones: Tones) -> None:
        self._tones = tones

    def rowCount(self, parent: Index = QtCore.QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QtCore.QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._titles)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section in NUMBERS else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return self._titles[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        row, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return _said(row, column)
        if role == PLACE:
            return row["place"]
        if role == Qt.ItemDataRole.ForegroundRole and column == STATE:
            return QtGui.QBrush(self._tones.of_state(row["state"]))
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(filter(None, [row["name"], row["fault"]]))
        if role == Qt.ItemDataRole.TextAlignmentRole and column in NUMBERS:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def row_of(self, place: str) -> int:
        """-1: there is none, or the filter hides it."""
        return next((number for number, row in enumerate(self._rows) if row["place"] == place), -1)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Here, not in a proxy: that one would ask Python twice for every comparison of thousands."""
        self._sorted_by, self._descends = column, order == Qt.SortOrder.DescendingOrder
        self._take()

    def filter(self, text: str) -> None:
        self._filter = text.strip().lower()
        self._take()

    def _arranged(self) -> List[RunRow]:
        rows = [row for row in self._runs.rows if self._filter in _searched(row)] if self._filter else self._runs.rows
        return sorted(rows, key=lambda row: _sorted_by(row, self._sorted_by), reverse=self._descends)

    def _take(self) -> None:
        rows = self._arranged()
        if [row["place"] for row in rows] != [row["place"] for row in self._rows]:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()
            return
        others = [number for number, (old, new) in enumerate(zip(self._rows, rows)) if old != new]
        self._rows = rows
        for number in others:
            self.dataChanged.emit(self.index(number, 0), self.index(number, len(self._titles) - 1))


class RunsTable(QtWidgets.QTableView):
    """Sorted and filtered; what is selected is told to `Runs`, and stays selected when rows come and go."""

    def __init__(self, runs: Runs) -> None:
        super().__init__()
        self._runs = runs
        self._is_restoring = False
        self.rows = RunsModel(runs)
        self.rows.set_tones(Tones(self.palette()))
        self.setModel(self.rows)
        self._set_up()
        self.rows.modelReset.connect(self._restore)
        runs.selection_changed.subscribe(self._restore)
        self.selectionModel().selectionChanged.connect(lambda _new, _old: self._take_selection())

    def filter(self, text: str) -> None:
        self.rows.filter(text)

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.rows.rowCount():
            paint_invitation(self, self._invitation())

    def changeEvent(self, event: QtCore.QEvent) -> None:
        if event.type() == QtCore.QEvent.Type.PaletteChange:
            self.rows.set_tones(Tones(self.palette()))
        super().changeEvent(event)

    def _invitation(self) -> str:
        if self._runs.fault or not self._runs.folder:
            return self._runs.fault or tr("Choose a data directory, or train something.")
        if self._runs.rows:
            return tr("No run fits the filter.")
        return tr("No runs in this data directory yet.") if self._runs.is_known else tr("Looking ...")

    def _set_up(self) -> None:
        self.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSortingEnabled(True)
        self.sortByColumn(STARTED, Qt.SortOrder.DescendingOrder)
        self.setShowGrid(False)
        self.setStyleSheet("QTableView::item { padding: 0 6px; } QHeaderView::section { padding: 2px 6px; }")
        self.setAlternatingRowColors(True)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setAccessibleName(tr("Runs"))
        self.setVerticalScrollMode(QtWidgets.QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QtWidgets.QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 8)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setStretchLastSection(True)
        digit = self.fontMetrics().horizontalAdvance("0")
        for column, num_digits in enumerate(WIDTHS):
            self.setColumnWidth(column, num_digits * digit)

    def _restore(self) -> None:
        """Select what `Runs` has selected."""
        self._is_restoring = True
        chosen = QtCore.QItemSelection()
        for place in self._runs.selected:
            row = self.rows.index(self.rows.row_of(place), 0)
            if row.isValid():
                chosen.select(row, row)
        flags = QtCore.QItemSelectionModel.SelectionFlag
        self.selectionModel().select(chosen, flags.ClearAndSelect | flags.Rows)
        self._is_restoring = False
        if chosen.indexes():
            self.scrollTo(chosen.indexes()[0])

    def _take_selection(self) -> None:
        if self._is_restoring:
            return
        places = [str(index.data(PLACE)) for index in self.selectionModel().selectedRows()]
        current = str(self.currentIndex().data(PLACE)) if self.currentIndex().isValid() else ""
        places.sort(key=lambda place: place != current)
        if places:
            self._runs.select(places)


def _said(row: RunRow, column: int) -> str:
    if column == NAME:
        return BETWEEN_NAMES.join(filter(None, [row["version"], row["name"]])) + ("  \u26a0" if row["fault"] else "")
    if column == STATE:
        return spoken_state(row["state"])
    if column == STEP:
        return _said_steps(row)
    if column == LOSS:
        return spoken_loss(row["loss"])
    if column == LEFT:
        return spoken_seconds(row["seconds_left"]) if row["seconds_left"] is not None else ""
    if column == FARM:
        return row["farm"]
    return row["started"][:16].replace("T", "  ")


def _said_steps(row: RunRow) -> str:
    """Of a run by the clock nobody knows how many there will be."""
    if row["minutes"]:
        return spoken_count(row["step"])
    return f"{spoken_count(row['step'])} / {spoken_count(row['total_steps'])}" if row["total_steps"] else "\u2013"


def _searched(row: RunRow) -> str:
    return " ".join((row["version"], row["name"], spoken_state(row["state"]), row["farm"])).lower()


def _sorted_by(row: RunRow, column: int) -> Tuple[float, str]:
    numbers = {STEP: float(row["step"]), LOSS: row["loss"] if row["loss"] is not None else 1e9}
    numbers[LEFT] = row["seconds_left"] or 0.0
    return (
        (numbers[column], "")
        if column in numbers
        else (0.0, row["started"] if column == STARTED else _said(row, column))
    )
