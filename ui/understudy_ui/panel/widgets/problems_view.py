"""What is wrong, and what is worth knowing: each said once, with what to do."""

from __future__ import annotations

from typing import Dict

from understudy_ui.panel.model.shot import Shot
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import Qt, QtCore, QtGui, QtWidgets
from understudy_ui.panel.theme import Tones, airy

MAX_LINES_SHOWN = 6


class ProblemsView(QtWidgets.QListWidget):
    """As high as its lines, up to a limit; hidden when there is nothing to say."""

    frame_chosen = QtCore.Signal(int)

    def __init__(self, shot: Shot) -> None:
        super().__init__()
        self._shot = shot
        self.setWordWrap(True)
        airy(self)
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Problems"))
        self.itemActivated.connect(self._choose)
        self.itemClicked.connect(self._choose)
        shot.pairs_changed.subscribe(self._show)
        shot.check_changed.subscribe(self._show)
        self._show()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _show(self) -> None:
        self.clear()
        tones = Tones(self.palette())
        problems: Dict[str, int] = {}
        for problem in self._shot.problems:
            problems.setdefault(problem["line"], problem["frame"] or 0)
        for line in self._shot.faults:
            self._add(line, 0, tones.bad, "\u26a0")
        for line, frame in problems.items():
            self._add(line, frame, tones.bad, "\u26a0")
        for line in self._shot.remarks:
            self._add(line, 0, tones.warn, "\u2022")
        if self._shot.is_checked and not problems:
            self._add(tr("Every pair can be trained on."), 0, tones.good, "\u2713")
        self.setVisible(self.count() > 0)
        self._fit()

    def _add(self, line: str, frame: int, colour: QtGui.QColor, sign: str) -> None:
        item = QtWidgets.QListWidgetItem(f"{sign}  {line}")
        item.setForeground(QtGui.QBrush(colour))
        item.setData(Qt.ItemDataRole.UserRole, frame)
        item.setToolTip(line)
        self.addItem(item)

    def _choose(self, item: QtWidgets.QListWidgetItem) -> None:
        frame = item.data(Qt.ItemDataRole.UserRole)
        if frame:
            self.frame_chosen.emit(frame)

    def _fit(self) -> None:
        heights = [self.sizeHintForRow(row) for row in range(min(self.count(), MAX_LINES_SHOWN))]
        self.setFixedHeight(sum(heights) + 4)
