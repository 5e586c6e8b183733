"""A contact sheet, with a scrubber over the steps of which there is one."""

from __future__ import annotations

from typing import Optional

from understudy_ui.panel.model.desk import Newest
from understudy_ui.panel.model.sheets import Sheets
from understudy_ui.panel.model.speech import spoken_count
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import Qt, QtGui, QtWidgets
from understudy_ui.panel.theme import GAP
from understudy_ui.panel.view_desk import ViewDesk
from understudy_ui.panel.widgets.picture_view import PictureView


class SheetView(QtWidgets.QWidget):
    """Follows the newest sheet until the scrubber is moved away from the end."""

    def __init__(self, sheets: Sheets, desk: ViewDesk) -> None:
        super().__init__()
        self._sheets, self._desk, self._loading = sheets, desk, Newest()
        self._path: Optional[str] = None
        self.picture = PictureView()
        self.picture.setAccessibleName(tr("Contact sheet"))
        self.scrubber = QtWidgets.QSlider(Qt.Orientation.Horizontal)
        self.scrubber.setAccessibleName(tr("Step of the contact sheet"))
        self.scrubber.setToolTip(tr("Contact sheets by step; the end follows the training"))
        self.step = QtWidgets.QLabel()
        self.step.setMinimumWidth(92)
        self.step.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.scrubber.valueChanged.connect(self._scrub)
        row = QtWidgets.QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(self.scrubber, 1)
        row.addWidget(self.step)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.picture, 1)
        layout.addLayout(row)
        sheets.steps_changed.subscribe(self._show_steps)
        sheets.changed.subscribe(self._show)
        self._show_steps()
        self._show()

    def _scrub(self, place: int) -> None:
        if 0 <= place < len(self._sheets.steps):
            self._sheets.choose(self._sheets.steps[place])

    def _show_steps(self) -> None:
        steps = self._sheets.steps
        self.scrubber.blockSignals(True)
        self.scrubber.setEnabled(len(steps) > 1)
        self.scrubber.setRange(0, max(0, len(steps) - 1))
        self.scrubber.setValue(steps.index(self._sheets.step) if self._sheets.step in steps else len(steps) - 1)
        self.scrubber.blockSignals(False)
        self.step.setText(tr("step {step}").format(step=spoken_count(self._sheets.step)) if steps else "")

    def _show(self) -> None:
        path, note = self._sheets.path, self._sheets.fault or tr("No contact sheet yet; the first comes soon.")
        if not path:
            self._path = None
            self._loading.drop()
            self.picture.show_pictures([], note)
        elif path != self._path:
            self._path = path
            self._loading.put(self._desk.picture(path, self._take))

    def _take(self, image: QtGui.QImage) -> None:
        note = tr("{path}: this contact sheet cannot be read; take another step.").format(path=self._sheets.path)
        self.picture.show_pictures([("", QtGui.QPixmap.fromImage(image))], note)
