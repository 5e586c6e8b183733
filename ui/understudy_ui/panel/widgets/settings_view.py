"""What a run was made with: its command, and every setting."""

from __future__ import annotations

from understudy_ui.panel.model.form import spoken_value
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import QtGui, QtWidgets
from understudy_ui.panel.theme import GAP, airy
from understudy_ui.protocol import RunShown


class SettingsView(QtWidgets.QWidget):
    """To read and to copy."""

    def __init__(self) -> None:
        super().__init__()
        self.command = QtWidgets.QPlainTextEdit()
        self.command.setReadOnly(True)
        self.command.setFixedHeight(64)
        self.command.setFont(QtGui.QFontDatabase.systemFont(QtGui.QFontDatabase.SystemFont.FixedFont))
        self.command.setAccessibleName(tr("Command"))
        self.table = QtWidgets.QTreeWidget()
        self.table.setHeaderLabels([tr("Setting"), tr("Value")])
        self.table.setRootIsDecorated(False)
        airy(self.table)
        self.table.setAlternatingRowColors(True)
        self.table.setUniformRowHeights(True)
        self.table.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.table.setColumnWidth(0, 200)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.setSpacing(GAP)
        layout.addWidget(self.command)
        layout.addWidget(self.table, 1)
        self._shown = ""

    def show_run(self, run: RunShown) -> None:
        if run["row"]["place"] == self._shown:
            return
        self._shown = run["row"]["place"]
        self.command.setPlainText(run["command"])
        self.table.clear()
        rows = [QtWidgets.QTreeWidgetItem([name, spoken_value(value)]) for name, value in run["settings"].items()]
        self.table.addTopLevelItems(rows)
