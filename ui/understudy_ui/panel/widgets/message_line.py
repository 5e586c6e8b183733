"""One line under everything: what was done, what is to be mended. It takes no focus and asks for nothing."""

from __future__ import annotations

from typing import Callable, List, Optional

from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import Qt, QtGui, QtWidgets
from understudy_ui.panel.theme import EDGE, GAP, Tones, mixed


class MessageLine(QtWidgets.QFrame):
    """Implements `Voice`; hidden while there is nothing to say."""

    def __init__(self, parent: Optional[QtWidgets.QWidget] = None) -> None:
        super().__init__(parent)
        self._complaint: List[str] = []
        self._remedy: Callable[[], None] = self.clear
        self.text = QtWidgets.QLabel()
        self.text.setWordWrap(True)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.remedy = QtWidgets.QPushButton()
        self.remedy.clicked.connect(lambda: self._remedy())
        self.close_button = QtWidgets.QToolButton()
        self.close_button.setText("\u2715")
        self.close_button.setAutoRaise(True)
        self.close_button.setToolTip(tr("Dismiss this message"))
        self.close_button.setAccessibleName(tr("Dismiss"))
        self.close_button.clicked.connect(self.clear)
        layout = QtWidgets.QHBoxLayout(self)
        layout.setContentsMargins(EDGE, 5, GAP, 5)
        layout.addWidget(self.text, 1)
        layout.addWidget(self.remedy)
        layout.addWidget(self.close_button)
        self.setAutoFillBackground(True)
        self.clear()

    def say(self, line: str) -> None:
        self._complaint = []
        self._show([line] if line else [], False, "")

    def complain(self, lines: List[str]) -> None:
        if lines and lines != self._complaint:
            self._complaint = list(lines)
            self._show(lines, True, "")

    def withdraw(self, lines: List[str]) -> None:
        if lines == self._complaint:
            self.say("")

    def offer(self, line: str, remedy_name: str, remedy: Callable[[], None]) -> None:
        """A complaint with a button that mends it."""
        self._complaint, self._remedy = [line], remedy
        self._show([line], True, remedy_name)

    def clear(self) -> None:
        """Dismissed. The complaint is kept, so that it does not come back by itself."""
        self._show([], False, "")

    def _show(self, lines: List[str], is_complaint: bool, remedy_name: str) -> None:
        tones = Tones(self.palette())
        tint = mixed(tones.bad if is_complaint else tones.lines[0], tones.ground, 0.82)
        palette = QtGui.QPalette(self.palette())
        palette.setColor(QtGui.QPalette.ColorRole.Window, tint)
        self.setPalette(palette)
        self.text.setText("\n".join(lines))
        self.remedy.setText(remedy_name)
        self.remedy.setVisible(bool(remedy_name))
        self.setVisible(bool(lines))
