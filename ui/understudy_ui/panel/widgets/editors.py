"""One editor for each kind of field. All of them hand over what was typed once it is done, never half of it."""

from __future__ import annotations

from typing import Callable, List, Optional, Union

from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import Qt, QtCore, QtGui, QtWidgets
from understudy_ui.panel.theme import Tones
from understudy_ui.protocol import Field, Json

NUMBER_WIDTH = 110
"""Pixels."""
WORD_WIDTH = 170
"""Pixels."""


class Editor(QtWidgets.QWidget):
    """Shows a value, and says when a hand changed it."""

    edited = QtCore.Signal(object)
    complained = QtCore.Signal(str)

    def show_value(self, value: Json) -> None:
        """Every kind of editor has its own."""
        raise NotImplementedError(type(self).__name__)

    def suggest(self, words: List[str]) -> None:
        """Words that could be meant, where a text is asked for."""

    def fill(self, *widgets: QtWidgets.QWidget, stretches: bool) -> None:
        layout = QtWidgets.QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        for place, widget in enumerate(widgets):
            layout.addWidget(widget, 1 if stretches and place == 0 else 0)
        self._num_own = len(widgets)
        if not stretches:
            layout.addStretch(1)
        self.setFocusProxy(widgets[0])

    def add_beside(self, widget: QtWidgets.QWidget) -> None:
        """Right of the editor itself."""
        layout = self.layout()
        assert isinstance(layout, QtWidgets.QHBoxLayout)
        layout.insertWidget(self._num_own, widget)


class FlagEditor(Editor):
    """Yes or no."""

    def __init__(self, field: Field) -> None:
        super().__init__()
        self.box = QtWidgets.QCheckBox()
        self.box.setAccessibleName(field["label"])
        self.box.clicked.connect(lambda is_on: self.edited.emit(bool(is_on)))
        self.fill(self.box, stretches=False)

    def show_value(self, value: Json) -> None:
        self.box.setChecked(bool(value))


class NumberEditor(Editor):
    """A whole or broken number within its limits; the unit stands beside it."""

    def __init__(self, field: Field) -> None:
        super().__init__()
        self._field = field
        self._shown: Json = None
        self.line = QtWidgets.QLineEdit()
        self.line.setMaximumWidth(NUMBER_WIDTH)
        self.line.setAccessibleName(field["label"])
        self.line.editingFinished.connect(self._take)
        unit = QtWidgets.QLabel("" if field["unit"].lower() in field["label"].lower() else field["unit"])
        unit.setEnabled(False)
        self.fill(self.line, unit, stretches=False)

    def show_value(self, value: Json) -> None:
        self._shown = value
        self.line.setText(f"{value:.10g}" if isinstance(value, float) else str(value))

    def _take(self) -> None:
        text = self.line.text().strip().replace("\u2009", "").replace(" ", "")
        value = _number(text, self._field["kind"] == "whole")
        fault = self._fault(value, text)
        if fault:
            self.show_value(self._shown)
            self.complained.emit(fault)
        elif value != self._shown:
            self._shown = value
            self.edited.emit(value)

    def _fault(self, value: Optional[Union[int, float]], text: str) -> str:
        label, low, high = self._field["label"], self._field["low"], self._field["high"]
        if value is None:
            return tr("{label}: {text} is no number; the last one was kept").format(label=label, text=text or "\u2013")
        if low is not None and value < low:
            return tr("{label}: {text} is too low; give at least {low:g}").format(label=label, text=text, low=low)
        if high is not None and value > high:
            return tr("{label}: {text} is too high; give at most {high:g}").format(label=label, text=text, high=high)
        return ""


class WordEditor(Editor):
    """One of a list."""

    def __init__(self, field: Field) -> None:
        super().__init__()
        self.box = QuietBox()
        self.box.addItems(field["choices"])
        self.box.setMinimumWidth(WORD_WIDTH)
        self.box.setAccessibleName(field["label"])
        self.box.activated.connect(lambda _index: self.edited.emit(self.box.currentText()))
        self.fill(self.box, stretches=False)

    def show_value(self, value: Json) -> None:
        if self.box.findText(str(value)) < 0:
            self.box.addItem(str(value))
        self.box.setCurrentText(str(value))

    def suggest(self, words: List[str]) -> None:
        shown = self.box.currentText()
        if words and words != [self.box.itemText(index) for index in range(self.box.count())]:
            self.box.clear()
            self.box.addItems(words)
            self.show_value(shown)


class TextEditor(Editor):
    """A text, or several by commas; a button lists the words that could be meant."""

    def __init__(self, field: Field) -> None:
        super().__init__()
        self._is_list = field["kind"] == "words"
        self._shown = ""
        self.line = QtWidgets.QLineEdit()
        self.line.setPlaceholderText(tr("several, separated by commas") if self._is_list else "")
        self.line.setAccessibleName(field["label"])
        self.line.editingFinished.connect(self._take)
        self.names = QtWidgets.QToolButton()
        self.names.setText("\u2026")
        self.names.setToolTip(tr("Names that the farm knows"))
        self.names.setPopupMode(QtWidgets.QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QtWidgets.QMenu(self.names)
        self.names.setMenu(self._menu)
        self.fill(self.line, self.names, stretches=True)
        self.suggest(field["choices"])

    def show_value(self, value: Json) -> None:
        self._shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
        self.line.setText(self._shown)
        self.line.setCursorPosition(0)

    def suggest(self, words: List[str]) -> None:
        self.names.setVisible(bool(words))
        self._menu.clear()
        for word in words:
            self._menu.addAction(word).triggered.connect(lambda _on=False, name=word: self._pick(name))

    def _pick(self, name: str) -> None:
        words = self._words()
        if self._is_list:
            words = [word for word in words if word != name] if name in words else [*words, name]
        self.line.setText(", ".join(words) if self._is_list else name)
        self._take()

    def _words(self) -> List[str]:
        return [word.strip() for word in self.line.text().split(",") if word.strip()]

    def _take(self) -> None:
        if self.line.text() != self._shown:
            self._shown = self.line.text()
            self.edited.emit(self._words() if self._is_list else self._shown.strip())


class PathEditor(Editor):
    """A path, typed, dropped or chosen."""

    def __init__(self, label: str, browse: Callable[[QtWidgets.QWidget, str, Callable[[str], None]], None]) -> None:
        super().__init__()
        self._shown, self._proposed = "", ""
        self.line = PathLine()
        self.line.setAccessibleName(label)
        self.line.editingFinished.connect(self._take)
        self.button = QtWidgets.QToolButton()
        self.button.setText("\u2026")
        self.button.setToolTip(tr("Choose {label}").format(label=label))
        self.button.clicked.connect(lambda: browse(self, self.line.text(), self._choose))
        self.fill(self.line, self.button, stretches=True)

    def show_value(self, value: Json) -> None:
        self._shown = str(value or "")
        if self.line.text() != self._shown:
            self.line.setText(self._shown)

    def propose(self, path: str) -> None:
        """Fill in, unless somebody typed something of his own."""
        if path and self.line.text() in ("", self._proposed):
            self._proposed = path
            self.show_value(path)

    def _choose(self, path: str) -> None:
        self.line.setText(path)
        self._take()

    def _take(self) -> None:
        text = self.line.text().strip()
        if text != self._shown:
            self._shown = text
            self.edited.emit(text)


class PathLine(QtWidgets.QLineEdit):
    """Takes a dropped file. Too narrow for its path, it shows the end while nobody types: there paths differ."""

    def dragEnterEvent(self, event: QtGui.QDragEnterEvent) -> None:
        if dropped_paths(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QtGui.QDropEvent) -> None:
        self.setText(dropped_paths(event)[0])
        self.editingFinished.emit()
        event.acceptProposedAction()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        metrics = self.fontMetrics()
        room = self.width() - 14
        if self.hasFocus() or metrics.horizontalAdvance(self.text()) <= room:
            super().paintEvent(event)
            return
        option = QtWidgets.QStyleOptionFrame()
        self.initStyleOption(option)
        painter = QtGui.QPainter(self)
        self.style().drawPrimitive(QtWidgets.QStyle.PrimitiveElement.PE_PanelLineEdit, option, painter, self)
        painter.setPen(
            self.palette().color(QtGui.QPalette.ColorRole.Text) if self.isEnabled() else Tones(self.palette()).faint
        )
        shown = metrics.elidedText(self.text(), Qt.TextElideMode.ElideLeft, room)
        place = self.rect().adjusted(6, 0, -6, 0)
        painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), shown)
        painter.end()


class QuietBox(QtWidgets.QComboBox):
    """Scrolling a form past it changes nothing: the wheel counts only when it has the focus."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


def dropped_paths(event: QtGui.QDropEvent) -> List[str]:
    return [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]


def editor_of(field: Field) -> Editor:
    kind = field["kind"]
    if kind == "flag":
        return FlagEditor(field)
    if kind in ("whole", "number"):
        return NumberEditor(field)
    if kind == "word":
        return WordEditor(field)
    if kind == "path":
        return PathEditor(field["label"], browse_folder if "directory" in field["name"] else browse_file)
    return TextEditor(field)


def browse_file(parent: QtWidgets.QWidget, path: str, then: Callable[[str], None]) -> None:
    _browse(parent, path, then, QtWidgets.QFileDialog.FileMode.AnyFile)


def browse_folder(parent: QtWidgets.QWidget, path: str, then: Callable[[str], None]) -> None:
    _browse(parent, path, then, QtWidgets.QFileDialog.FileMode.Directory)


def _browse(
    parent: QtWidgets.QWidget, path: str, then: Callable[[str], None], mode: QtWidgets.QFileDialog.FileMode
) -> None:
    """A dialog that holds up nothing but its own window."""
    dialog = QtWidgets.QFileDialog(parent, tr("Choose"), path)
    dialog.setFileMode(mode)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(then)
    dialog.open()


def _number(text: str, is_whole: bool) -> Optional[Union[int, float]]:
    try:
        return int(text) if is_whole else float(text)
    except ValueError:
        return None
