"""What a submission would send: the command line, and every file."""

from __future__ import annotations

from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import Qt, QtGui, QtWidgets
from understudy_ui.panel.theme import EDGE, GAP, airy, quieten
from understudy_ui.protocol import PreviewShown


class PreviewWindow(QtWidgets.QDialog):
    """Beside the panel, which goes on; ends with Escape."""

    def __init__(self, preview: PreviewShown, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent)
        self._files = preview["files"]
        self.setWindowTitle(tr("Dry run: this would be sent"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(820, 560)
        self.command = _plain(preview["command"])
        self.command.setLineWrapMode(QtWidgets.QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.command.setFixedHeight(60)
        self.files = QtWidgets.QListWidget()
        self.files.addItems(list(self._files))
        airy(self.files)
        self.files.setAccessibleName(tr("Files"))
        self.text = _plain("")
        self.files.currentTextChanged.connect(lambda name: self.text.setPlainText(self._files.get(name, "")))
        self.files.setCurrentRow(0)
        self._lay_out(preview)

    def _lay_out(self, preview: PreviewShown) -> None:
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(EDGE, EDGE, EDGE, EDGE)
        layout.setSpacing(GAP)
        layout.addWidget(quieten(QtWidgets.QLabel(tr("The same on the command line"))))
        layout.addWidget(self.command)
        where = tr("Files, as they would lie in {folder}").format(folder=preview["run_directory"])
        layout.addWidget(quieten(QtWidgets.QLabel(where)))
        beside = QtWidgets.QSplitter()
        beside.addWidget(self.files)
        beside.addWidget(self.text)
        beside.setStretchFactor(1, 1)
        beside.setSizes([200, 600])
        layout.addWidget(beside, 1)
        for line in preview["remarks"]:
            remark = quieten(QtWidgets.QLabel(line))
            remark.setWordWrap(True)
            layout.addWidget(remark)
        buttons = QtWidgets.QHBoxLayout()
        copy, close = QtWidgets.QPushButton(tr("Copy Command")), QtWidgets.QPushButton(tr("Close"))
        copy.clicked.connect(lambda: QtGui.QGuiApplication.clipboard().setText(self.command.toPlainText()))
        close.clicked.connect(self.close)
        close.setDefault(True)
        buttons.addWidget(quieten(QtWidgets.QLabel(tr("Nothing was sent."))))
        buttons.addStretch(1)
        buttons.addWidget(copy)
        buttons.addWidget(close)
        layout.addLayout(buttons)


def _plain(text: str) -> QtWidgets.QPlainTextEdit:
    edit = QtWidgets.QPlainTextEdit(text)
    edit.setReadOnly(True)
    edit.setLineWrapMode(QtWidgets.QPlainTextEdit.LineWrapMode.NoWrap)
    edit.setFont(QtGui.QFontDatabase.systemFont(QtGui.QFontDatabase.SystemFont.FixedFont))
    return edit
