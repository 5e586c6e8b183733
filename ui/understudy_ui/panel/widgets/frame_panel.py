"""One frame: input, result and ground truth side by side, under a wipe, or their difference; exposure and gamma."""

from __future__ import annotations

from functools import partial
from typing import Dict, List, Tuple

from understudy_ui.panel.model.frame_view import FrameView
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import Qt, QtGui, QtWidgets
from understudy_ui.panel.theme import GAP, quieten
from understudy_ui.panel.view_desk import ViewDesk
from understudy_ui.panel.widgets.editors import QuietBox
from understudy_ui.panel.widgets.picture_view import PictureView

SIDE_BY_SIDE, WIPE, DIFFERENCE = range(3)
STOPS, GAMMAS = 60, (20, 300)
"""Exposure from -6 to 6 in tenths of a stop; gamma in hundredths."""


class FramePanel(QtWidgets.QWidget):
    """Shows a FrameView."""

    def __init__(self, view: FrameView, desk: ViewDesk) -> None:
        super().__init__()
        self._view, self._desk = view, desk
        self._pictures: Dict[str, QtGui.QPixmap] = {}
        self._paths: Dict[str, str] = {}
        self.picture = PictureView()
        self.picture.setAccessibleName(tr("Frame"))
        self.manner = QuietBox()
        self.manner.addItems([tr("Side by Side"), tr("Wipe"), tr("Difference x4")])
        self.manner.setToolTip(tr("How the pictures are compared; drag the line of the wipe, or press , and ."))
        self.frame = QtWidgets.QSpinBox()
        self.frame.setRange(-999999, 9999999)
        self.frame.setKeyboardTracking(False)
        self.frame.setToolTip(tr("Any frame of the shot"))
        self.before, self.after = _arrow("\u25c0", tr("The pair before")), _arrow("\u25b6", tr("The next pair"))
        self.exposure, self.exposure_shown = _slider(-STOPS, STOPS, 0, tr("Exposure")), QtWidgets.QLabel()
        self.gamma, self.gamma_shown = _slider(*GAMMAS, 100, tr("Gamma")), QtWidgets.QLabel()
        self.psnr = quieten(QtWidgets.QLabel())
        self._lay_out()
        self._connect()
        self._show()

    def _lay_out(self) -> None:
        top, low = QtWidgets.QHBoxLayout(), QtWidgets.QHBoxLayout()
        for widget in (self.before, self.frame, self.after, self.manner):
            top.addWidget(widget)
        top.addStretch(1)
        top.addWidget(self.psnr)
        self.manner.setMinimumWidth(120)
        for name, slider, shown in (
            (tr("Exposure"), self.exposure, self.exposure_shown),
            (tr("Gamma"), self.gamma, self.gamma_shown),
        ):
            low.addWidget(QtWidgets.QLabel(name))
            low.addWidget(slider, 1)
            shown.setMinimumWidth(40)
            low.addWidget(shown)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.setSpacing(4)
        top.setSpacing(GAP // 2)
        low.setSpacing(GAP)
        layout.addLayout(top)
        layout.addWidget(self.picture, 1)
        layout.addLayout(low)

    def _connect(self) -> None:
        self.manner.currentIndexChanged.connect(lambda _index: self._show_pictures())
        self.frame.valueChanged.connect(self._view.go_to)
        self.before.clicked.connect(lambda: self._view.step(-1))
        self.after.clicked.connect(lambda: self._view.step(1))
        self.exposure.valueChanged.connect(lambda _value: self._light())
        self.gamma.valueChanged.connect(lambda _value: self._light())
        self._view.frames_changed.subscribe(self._show)
        self._view.changed.subscribe(self._show)
        self._light()

    def _light(self) -> None:
        exposure, gamma = self.exposure.value() / 10, self.gamma.value() / 100
        self.exposure_shown.setText(f"{exposure:+.1f}")
        self.gamma_shown.setText(f"{gamma:.2f}")
        self._view.light(exposure, gamma)

    def _show(self) -> None:
        self.frame.blockSignals(True)
        self.frame.setValue(self._view.frame)
        self.frame.blockSignals(False)
        shown = self._view.shown
        paths = (
            {}
            if shown is None
            else {
                name: path
                for name, path in (
                    ("input", shown["input"]),
                    ("result", shown["result"]),
                    ("target", shown["target"]),
                    ("difference", shown["difference"]),
                )
                if path
            }
        )
        self.psnr.setText(tr("{psnr:.1f} dB").format(psnr=shown["psnr"]) if shown and shown["psnr"] else "")
        if paths != self._paths:
            self._load(paths)
        self._show_pictures()

    def _load(self, paths: Dict[str, str]) -> None:
        """What is shown stays until the new pictures have come."""
        self._desk.close()
        self._paths = paths
        self._pictures = {name: picture for name, picture in self._pictures.items() if name in paths}
        for name, path in paths.items():
            self._desk.picture(path, partial(self._take, name))

    def _take(self, name: str, image: QtGui.QImage) -> None:
        self._pictures[name] = QtGui.QPixmap.fromImage(image)
        self._show_pictures()

    def _show_pictures(self) -> None:
        manner = self.manner.currentIndex()
        self.picture.set_wipes(manner == WIPE)
        names = {"input": tr("input"), "result": tr("result"), "target": tr("ground truth")}
        wanted = ["input", "result", "target"]
        note = self._view.fault or tr("Nothing to show of this frame.")
        if manner == WIPE:
            wanted = ["input", "result" if "result" in self._pictures else "target"]
        if manner == DIFFERENCE:
            wanted, names = ["difference"], {"difference": tr("difference of result and ground truth, x4")}
            missing = tr("This frame is not painted, or no result was made of it.")
            first = tr("Apply the model first: the difference is that of result and ground truth.")
            note = self._view.fault or (missing if self._view.result else first)
        pictures: List[Tuple[str, QtGui.QPixmap]] = [
            (names[name], self._pictures[name]) for name in wanted if name in self._pictures
        ]
        self.picture.show_pictures(pictures, note)


def _arrow(text: str, tip: str) -> QtWidgets.QToolButton:
    button = QtWidgets.QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    return button


class Knob(QtWidgets.QSlider):
    """Double click: back to where it was."""

    def __init__(self, low: int, high: int, home: int) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._home = home
        self.setRange(low, high)
        self.setValue(home)

    def mouseDoubleClickEvent(self, _event: QtGui.QMouseEvent) -> None:
        self.setValue(self._home)


def _slider(low: int, high: int, home: int, name: str) -> Knob:
    slider = Knob(low, high, home)
    slider.setToolTip(tr("{name}; double click for none").format(name=name))
    slider.setAccessibleName(name)
    return slider
