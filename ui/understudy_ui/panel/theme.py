"""Colours: the host's palette where there is one, else a dark one of our own; and tones taken from it."""

from __future__ import annotations

from typing import List, TypeVar

from understudy_ui.panel.qt import Qt, QtGui, QtWidgets

GAP = 8
"""Pixels between things that belong together."""
EDGE = 12
"""Pixels between a place and its border."""
LABEL_WIDTH = 78
"""Pixels, of what stands left of a field under Result."""

ON_DARK = ("#56b4e9", "#e69f00", "#33c3a0", "#cc79a7", "#f0e442", "#ff7f50", "#b9b9ff", "#d0d0d0")
ON_LIGHT = ("#0072b2", "#d55e00", "#009e73", "#a64d86", "#8a6d00", "#56b4e9", "#5b5bb5", "#444444")
"""Colours of lines that people with any eyes tell apart (after Okabe and Ito)."""

_DARK = {
    "Window": "#333333",
    "WindowText": "#d6d6d6",
    "Base": "#1d1d1d",
    "AlternateBase": "#232323",
    "Text": "#dcdcdc",
    "PlaceholderText": "#7d7d7d",
    "Button": "#444444",
    "ButtonText": "#dcdcdc",
    "BrightText": "#ffffff",
    "Highlight": "#2f6f9f",
    "HighlightedText": "#ffffff",
    "Link": "#6cbcf0",
    "ToolTipBase": "#3a3a3a",
    "ToolTipText": "#e6e6e6",
    "Light": "#565656",
    "Midlight": "#4a4a4a",
    "Mid": "#262626",
    "Dark": "#1b1b1b",
    "Shadow": "#101010",
}
_OF_DISABLED = {"WindowText": "#757575", "Text": "#757575", "ButtonText": "#757575", "Highlight": "#444444"}


def dark_palette() -> QtGui.QPalette:
    palette = QtGui.QPalette()
    for name, colour in _DARK.items():
        palette.setColor(getattr(QtGui.QPalette.ColorRole, name), QtGui.QColor(colour))
    for name, colour in _OF_DISABLED.items():
        role = getattr(QtGui.QPalette.ColorRole, name)
        palette.setColor(QtGui.QPalette.ColorGroup.Disabled, role, QtGui.QColor(colour))
    return palette


class Tones:
    """Colours that a palette lacks, fitting to it."""

    def __init__(self, palette: QtGui.QPalette) -> None:
        self.ground = palette.color(QtGui.QPalette.ColorRole.Base)
        self.text = palette.color(QtGui.QPalette.ColorRole.Text)
        self.accent = palette.color(QtGui.QPalette.ColorRole.Highlight)
        self.is_dark = self.ground.lightness() < 128
        self.faint = mixed(self.text, self.ground, 0.45)
        self.rule = mixed(self.text, self.ground, 0.84)
        self.bad = QtGui.QColor("#ff7a6b" if self.is_dark else "#b3261e")
        self.warn = QtGui.QColor("#e6a23c" if self.is_dark else "#8f5a00")
        self.good = QtGui.QColor("#58c29a" if self.is_dark else "#0b7a53")
        self.lines: List[QtGui.QColor] = [QtGui.QColor(name) for name in (ON_DARK if self.is_dark else ON_LIGHT)]

    def of_state(self, state: str) -> QtGui.QColor:
        """Of a run or a rank."""
        groups = {
            self.good.name(): ("finished", "done"),
            self.lines[0].name(): ("training", "running", "joining"),
            self.warn.name(): ("stopped", "cancelled", "unknown"),
            self.bad.name(): ("failed", "lost"),
        }
        return QtGui.QColor(next((name for name, states in groups.items() if state in states), self.faint.name()))


def mixed(one: QtGui.QColor, other: QtGui.QColor, share_of_other: float) -> QtGui.QColor:
    """Between two colours."""
    share = share_of_other

    def channel(first: int, second: int) -> int:
        return round(first * (1 - share) + second * share)

    return QtGui.QColor(
        channel(one.red(), other.red()), channel(one.green(), other.green()), channel(one.blue(), other.blue())
    )


Label = TypeVar("Label", bound=QtWidgets.QLabel)


def quieten(label: Label) -> Label:
    """Text that stands back."""
    palette = label.palette()
    palette.setColor(QtGui.QPalette.ColorRole.WindowText, Tones(palette).faint)
    label.setPalette(palette)
    return label


def headline(label: QtWidgets.QWidget) -> None:
    font = label.font()
    font.setBold(True)
    label.setFont(font)


def primary(button: QtWidgets.QPushButton) -> None:
    """The one that a place is about."""
    palette, own = button.palette(), Tones(button.palette())
    roles, groups = QtGui.QPalette.ColorRole, QtGui.QPalette.ColorGroup
    for group in (groups.Active, groups.Inactive):
        palette.setColor(group, roles.Button, own.accent)
        palette.setColor(group, roles.ButtonText, palette.color(roles.HighlightedText))
    button.setPalette(palette)


def airy(view: QtWidgets.QAbstractItemView) -> None:
    """Rows with room, as in a table."""
    view.setStyleSheet("QAbstractItemView::item { padding: 3px 2px; }")


def paint_focus(painter: QtGui.QPainter, widget: QtWidgets.QWidget) -> None:
    """A frame around what the keys go to, after everything else was painted."""
    if widget.hasFocus():
        painter.setClipping(False)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QtGui.QPen(Tones(widget.palette()).accent, 1))
        painter.drawRect(widget.rect().adjusted(0, 0, -1, -1))


def paint_invitation(view: QtWidgets.QAbstractScrollArea, text: str) -> None:
    """What an empty view waits for, in its middle; call it from its paintEvent."""
    painter = QtGui.QPainter(view.viewport())
    painter.setPen(Tones(view.palette()).faint)
    flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
    painter.drawText(view.viewport().rect().adjusted(EDGE, EDGE, -EDGE, -EDGE), flags, text)
    painter.end()


class Elided(QtWidgets.QLabel):
    """A line that gives way: too long for its place, it ends in dots, and its tooltip has all of it."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Preferred)
        self.setMinimumWidth(20)

    def setText(self, text: str) -> None:
        super().setText(text)
        self.setToolTip(text)

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        painter = QtGui.QPainter(self)
        painter.setPen(self.palette().color(QtGui.QPalette.ColorRole.WindowText))
        shown = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), shown)
        painter.end()
