"""Export: the chosen checkpoint as files for another program, and how well these agree with it."""

from __future__ import annotations

from typing import Callable, List

from understudy_ui.panel.model.export import HOSTS, Export
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import Qt, QtWidgets
from understudy_ui.panel.theme import GAP, LABEL_WIDTH, Elided, airy, headline, quieten
from understudy_ui.panel.widgets.editors import PathEditor, QuietBox, browse_folder
from understudy_ui.protocol import ExportedShown


class ExportBox(QtWidgets.QWidget):
    """Two rows; below them, once something was exported, what was written and the proofs."""

    def __init__(self, export: Export, step: Callable[[], int]) -> None:
        super().__init__()
        self._export, self._step = export, step
        self.host = QuietBox()
        self.host.setAccessibleName(tr("Export for"))
        for name, spoken in HOSTS.items():
            self.host.addItem(spoken, name)
        self.button = QtWidgets.QPushButton()
        self.button.setToolTip(tr("Write the model's files for this program, and hold them against the model"))
        self.told, self.written = quieten(Elided()), Elided()
        self.folder = PathEditor(tr("Folder of the export"), browse_folder)
        self.proofs = _table()
        self._lay_out()
        self.host.currentIndexChanged.connect(lambda _index: self.show_model())
        self.button.clicked.connect(self._begin)
        export.changed.subscribe(self._show)
        self.show_model()

    def show_model(self) -> None:
        """Another checkpoint or another host: another folder, unless somebody chose one."""
        self.folder.propose(self._export.folder(self._step(), str(self.host.currentData())))
        self._show()

    def _lay_out(self) -> None:
        title, label = QtWidgets.QLabel(tr("Export")), QtWidgets.QLabel(tr("Folder"))
        headline(title)
        label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        label.setFixedWidth(LABEL_WIDTH)
        label.setBuddy(self.folder)
        top, low = QtWidgets.QHBoxLayout(), QtWidgets.QHBoxLayout()
        top.addWidget(title)
        top.addWidget(self.told, 1)
        top.addWidget(self.host)
        top.addWidget(self.button)
        low.setSpacing(GAP)
        low.addWidget(label)
        low.addWidget(self.folder, 1)
        column = QtWidgets.QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addLayout(top)
        column.addLayout(low)
        column.addWidget(self.written)
        column.addWidget(self.proofs)

    def _show(self) -> None:
        told, exported = self._export.exporting, self._export.exported
        has_model = self._step() > 0
        self.told.setText(told)
        self.button.setText(tr("Give Up") if told else tr("Export"))
        self.button.setEnabled(bool(told) or has_model)
        for widget in (self.host, self.folder):
            widget.setEnabled(has_model and not told)
        for part in (self.written, self.proofs):
            part.setVisible(exported is not None)
        if exported is not None:
            self._show_exported(exported)

    def _show_exported(self, exported: ExportedShown) -> None:
        files = exported["files"]
        self.written.setText(tr("{count} files: {names}").format(count=len(files), names=", ".join(files)))
        self.written.setToolTip("\n".join([exported["folder"], *files]))
        self.proofs.clear()
        for proof in exported["proofs"]:
            self._add([proof["by"], f"{proof['difference']:.1e}", proof["sample"]], "\n".join(exported["samples"]))
        for remark in exported["remarks"]:
            self._add([remark], remark).setFirstColumnSpanned(True)
        height = self.proofs.sizeHintForRow(0) * self.proofs.topLevelItemCount()
        self.proofs.setFixedHeight(self.proofs.header().sizeHint().height() + height + 2 * self.proofs.frameWidth())

    def _add(self, texts: List[str], tip: str) -> QtWidgets.QTreeWidgetItem:
        item = QtWidgets.QTreeWidgetItem(texts)
        for column in range(self.proofs.columnCount()):
            item.setToolTip(column, tip)
        self.proofs.addTopLevelItem(item)
        return item

    def _begin(self) -> None:
        if self._export.exporting:
            self._export.give_up()
        else:
            self._export.begin(self._step(), str(self.host.currentData()), self.folder.line.text().strip())


def _table() -> QtWidgets.QTreeWidget:
    table = QtWidgets.QTreeWidget()
    table.setHeaderLabels([tr("Held against the model by"), tr("Largest difference"), tr("In")])
    table.setRootIsDecorated(False)
    table.setAlternatingRowColors(True)
    table.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.NoSelection)
    table.setColumnWidth(0, 180)
    table.setColumnWidth(1, 120)
    table.setAccessibleName(tr("Differences of the export"))
    airy(table)
    return table
