"""The rows of a form: label, a mark where the value is not the default, editor, and a way back."""

from __future__ import annotations

from typing import Callable, Dict, List, Sequence

from understudy_ui.panel.model.form import Form
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import Qt, QtCore, QtGui, QtWidgets
from understudy_ui.panel.theme import GAP, Tones
from understudy_ui.panel.widgets.editors import Editor, editor_of
from understudy_ui.protocol import Field

LABEL_WIDTH = 170
"""Pixels, the least; every fold of a form takes that of its longest label, so that all stand in one column."""


class FormView(QtWidgets.QWidget):
    """Some fields of a form, each a row."""

    complained = QtCore.Signal(str)

    def __init__(self, form: Form, fields: Sequence[Field], suggestions: Callable[[Field], List[str]]) -> None:
        super().__init__()
        self._form, self._fields, self._suggestions = form, list(fields), suggestions
        self.editors: Dict[str, Editor] = {}
        self.resets: Dict[str, QtWidgets.QToolButton] = {}
        self._marks: Dict[str, Mark] = {}
        self._grid = QtWidgets.QGridLayout(self)
        self._grid.setContentsMargins(0, 2, 0, GAP)
        self._grid.setHorizontalSpacing(5)
        self._grid.setVerticalSpacing(3)
        longest = max(self.fontMetrics().horizontalAdvance(field["label"]) for field in form.fields)
        self._grid.setColumnMinimumWidth(0, max(LABEL_WIDTH, longest))
        self._grid.setColumnStretch(2, 1)
        for row, field in enumerate(self._fields):
            self._add(row, field)
        form.changed.subscribe(self.refresh)
        self.refresh()

    def forget(self) -> None:
        """It goes, while its form stays."""
        self._form.changed.unsubscribe(self.refresh)

    def num_chosen(self) -> int:
        return sum(self._form.is_chosen(field["name"]) for field in self._fields)

    def refresh(self) -> None:
        for field in self._fields:
            name = field["name"]
            self.editors[name].show_value(self._form.value(name))
            self._marks[name].show_state(self._form.is_chosen(name), self._form.is_of_node(name))
            self.resets[name].setEnabled(self._form.is_chosen(name))
            self.resets[name].setText("\u21ba" if self._form.is_chosen(name) else "")
            for widget in (self.editors[name], self._marks[name]):
                widget.setToolTip(self._form.tooltip(name))

    def refresh_suggestions(self) -> None:
        for field in self._fields:
            self.editors[field["name"]].suggest(self._suggestions(field))

    def _add(self, row: int, field: Field) -> None:
        name = field["name"]
        editor, mark, reset = editor_of(field), Mark(), QtWidgets.QToolButton()
        label = QtWidgets.QLabel(field["label"])
        label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        label.setBuddy(editor)
        label.setToolTip(self._form.tooltip(name))
        reset.setAutoRaise(True)
        reset.setFixedSize(22, 22)
        reset.setToolTip(tr("Back to {label}'s default").format(label=field["label"]))
        reset.setAccessibleName(tr("Reset {label}").format(label=field["label"]))
        reset.clicked.connect(lambda: self._form.reset(name))
        editor.edited.connect(lambda value: self._form.set(name, value))
        editor.complained.connect(self.complained)
        editor.suggest(self._suggestions(field))
        editor.add_beside(reset)
        for column, widget in enumerate((label, mark, editor)):
            self._grid.addWidget(widget, row, column)
        self.editors[name], self._marks[name], self.resets[name] = editor, mark, reset


class Mark(QtWidgets.QWidget):
    """A dot: chosen by hand. A ring: said by the node. Nothing: the default."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(10, 22)
        self.is_chosen = self.is_of_node = False

    def show_state(self, is_chosen: bool, is_of_node: bool) -> None:
        self.is_chosen, self.is_of_node = is_chosen, is_of_node
        self.update()

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        if not self.is_chosen and not self.is_of_node:
            return
        painter = QtGui.QPainter(self)
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        colour = Tones(self.palette()).lines[1]
        painter.setPen(QtGui.QPen(colour, 1.4))
        painter.setBrush(QtGui.QBrush(colour) if self.is_chosen else QtGui.QBrush(Qt.BrushStyle.NoBrush))
        painter.drawEllipse(QtCore.QPointF(self.width() / 2, self.height() / 2), 3, 3)
        painter.end()
