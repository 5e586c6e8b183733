"""Runs: the table, and of what is selected the graph beside contact sheet, frames, ranks, log and settings."""

from __future__ import annotations

from typing import Optional

from understudy_ui.panel.model.frame_view import FrameView
from understudy_ui.panel.model.plate import plate_of
from understudy_ui.panel.model.run_view import RunView
from understudy_ui.panel.model.runs import Runs
from understudy_ui.panel.model.sheets import Sheets
from understudy_ui.panel.model.speech import spoken_count
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import Qt, QtGui, QtWidgets
from understudy_ui.panel.theme import EDGE, GAP, quieten
from understudy_ui.panel.view_desk import ViewDesk
from understudy_ui.panel.widgets.beside import Beside
from understudy_ui.panel.widgets.editors import PathEditor, browse_folder
from understudy_ui.panel.widgets.frame_panel import FramePanel
from understudy_ui.panel.widgets.graph_view import GraphView
from understudy_ui.panel.widgets.log_view import LogView
from understudy_ui.panel.widgets.ranks_table import RanksTable
from understudy_ui.panel.widgets.run_header import RunHeader
from understudy_ui.panel.widgets.runs_table import RunsTable
from understudy_ui.panel.widgets.settings_view import SettingsView
from understudy_ui.panel.widgets.sheet_view import SheetView
from understudy_ui.protocol import RunRow


class RunsPage(QtWidgets.QWidget):
    """Polls only while it is seen."""

    def __init__(
        self, runs: Runs, view: RunView, sheets: Sheets, frames: FrameView, desk: ViewDesk, pictures: ViewDesk
    ) -> None:
        super().__init__()
        self._runs, self._view, self._sheets, self._frames = runs, view, sheets, frames
        self.folder = PathEditor(tr("Data directory"), browse_folder)
        self.folder.edited.connect(lambda path: runs.open(str(path)))
        self.search = QtWidgets.QLineEdit()
        self.search.setPlaceholderText(tr("Filter"))
        self.search.setClearButtonEnabled(True)
        self.search.setMaximumWidth(180)
        self.table = RunsTable(runs)
        self.search.textChanged.connect(self.table.filter)
        self.count = quieten(QtWidgets.QLabel())
        self.ranks = RanksTable()
        self.header = RunHeader(runs, self.ranks.selected_rank)
        self.graph = GraphView(view, runs)
        self.sheet = SheetView(sheets, desk)
        self.frame = FramePanel(frames, pictures)
        self.log = LogView(view.log)
        self.settings = SettingsView()
        self.tabs, self.splitter = QtWidgets.QTabWidget(), QtWidgets.QSplitter()
        self._lay_out()
        runs.changed.subscribe(self._show_rows)
        runs.selection_changed.subscribe(lambda: view.show(runs.selected))
        runs.selection_changed.subscribe(self._show_run)
        view.changed.subscribe(self._show_run)
        self.tabs.currentChanged.connect(lambda _index: self._watch_tab())
        self._show_rows()

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        super().showEvent(event)
        self.folder.show_value(self._runs.folder)
        self._runs.watch()
        self._view.watch()
        self._watch_tab()

    def hideEvent(self, event: QtGui.QHideEvent) -> None:
        self._runs.rest()
        self._view.rest()
        self._view.log.rest()
        self._frames.rest()
        super().hideEvent(event)

    def _lay_out(self) -> None:
        top = QtWidgets.QHBoxLayout()
        top.setSpacing(GAP)
        label = QtWidgets.QLabel(tr("Data Directory"))
        label.setBuddy(self.folder)
        top.addWidget(label)
        top.addWidget(self.folder, 1)
        top.addWidget(self.count)
        top.addWidget(self.search)
        for name, widget in (
            (tr("Contact Sheet"), self.sheet),
            (tr("Frames"), self.frame),
            (tr("Ranks"), self.ranks),
            (tr("Log"), self.log),
            (tr("Settings"), self.settings),
        ):
            self.tabs.addTab(widget, name)
        self.tabs.setDocumentMode(True)
        low = QtWidgets.QWidget()
        column = QtWidgets.QVBoxLayout(low)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(self.header)
        column.addWidget(Beside(self.graph, self.tabs, 0.52), 1)
        self.splitter.setOrientation(Qt.Orientation.Vertical)
        self.splitter.addWidget(self.table)
        self.splitter.addWidget(low)
        self.splitter.setSizes([190, 560])
        self.splitter.setStretchFactor(1, 1)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(EDGE, EDGE, EDGE, EDGE)
        layout.setSpacing(GAP)
        layout.addLayout(top)
        layout.addWidget(self.splitter, 1)
        self.setFocusProxy(self.table)  # not the path above, into which a key would write

    def _show_rows(self) -> None:
        runs = self._runs
        self.folder.show_value(runs.folder)
        several = tr("{count} runs") if len(runs.rows) > 1 else tr("{count} run")
        self.count.setText(several.format(count=spoken_count(len(runs.rows))) if runs.rows else "")
        self.table.viewport().update()
        self._show_run()

    def _show_run(self) -> None:
        run, row = self._view.run, self._selected_row()
        self.header.show_run(row, run if row else None)
        self.tabs.setEnabled(row is not None)
        if run is None or row is None:
            self._sheets.show(row["place"] if row else "", [])
            return
        self._sheets.show(run["row"]["place"], run["sheets"])
        self._frames.show(run["row"]["place"], plate_of(run["pairs"]))
        self.ranks.show_run(run)
        self.log.show_ranks(len(run["ranks"]))
        self.settings.show_run(run)
        self.header.about.setToolTip(row["fault"])
        if self._view.fault:
            self.header.about.setText(self._view.fault)

    def _selected_row(self) -> Optional[RunRow]:
        rows = self._runs.selected_rows()
        if rows:
            return rows[0]
        return self._view.run["row"] if self._view.run is not None and self._runs.selected else None

    def _watch_tab(self) -> None:
        """Log and frames are asked for only while they are in front."""
        for widget, watched in ((self.log, self._view.log), (self.frame, self._frames)):
            if self.tabs.currentWidget() is widget and self.isVisible():
                watched.watch()
            else:
                watched.rest()
