"""The graph with its switches: log or linear, smoothness, original curve, validation."""

from __future__ import annotations

from understudy_ui.panel.model.run_view import RunView
from understudy_ui.panel.model.runs import Runs
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import Qt, QtWidgets
from understudy_ui.panel.theme import GAP
from understudy_ui.panel.widgets.graph_painter import Look
from understudy_ui.panel.widgets.loss_graph import LossGraph


class GraphView(QtWidgets.QWidget):
    """Shows the curves of what is selected."""

    def __init__(self, view: RunView, runs: Runs) -> None:
        super().__init__()
        self._view, self._runs = view, runs
        self.graph = LossGraph()
        self.log_scale = _box(tr("Log Scale"), tr("Loss axis logarithmic"), True)
        self.original = _box(tr("Original"), tr("The unsmoothed loss, lowest to highest of each column"), True)
        self.validation = _box(
            tr("Validation"), tr("PSNR of what is kept out of training, on the axis at the right"), True
        )
        self.smoothness = QtWidgets.QSlider(Qt.Orientation.Horizontal)
        self.smoothness.setRange(0, 99)
        self.smoothness.setValue(round(view.smoothness * 100))
        self.smoothness.setMaximumWidth(120)
        self.smoothness.setToolTip(tr("Smoothness, as on CopyCat: 0 none"))
        self.smoothness.setAccessibleName(tr("Smoothness"))
        self.fit = QtWidgets.QToolButton()
        self.fit.setText(tr("Fit"))
        self.fit.setToolTip(tr("All steps (F, or double click). The wheel zooms, dragging moves."))
        self._lay_out()
        for box in (self.log_scale, self.original, self.validation):
            box.toggled.connect(self._show_look)
        self.smoothness.valueChanged.connect(lambda value: view.smooth(value / 100))
        self.fit.clicked.connect(self.graph.reset_zoom)
        self.graph.zoomed_to.connect(view.zoom)
        self.graph.widened.connect(view.fit)
        view.curves_changed.subscribe(self._show_curves)

    def _lay_out(self) -> None:
        row = QtWidgets.QHBoxLayout()
        row.setSpacing(GAP)
        label = QtWidgets.QLabel(tr("Smoothness"))
        label.setBuddy(self.smoothness)
        for widget in (self.log_scale, self.original, self.validation, label, self.smoothness):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self.fit)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(row)
        layout.addWidget(self.graph, 1)

    def _show_look(self) -> None:
        self.graph.show_look(Look(self.log_scale.isChecked(), self.original.isChecked(), self.validation.isChecked()))

    def _show_curves(self) -> None:
        if not self._view.curves or self._view.steps == (0, 0):
            self.graph.steps = (0, 0)
        order = [place for place in self._view.places if place in self._view.curves]
        names = {row["place"]: row["version"] or row["name"] for row in self._runs.selected_rows()}
        self.graph.show_curves({place: self._view.curves[place] for place in order}, names)


def _box(text: str, tip: str, is_on: bool) -> QtWidgets.QCheckBox:
    box = QtWidgets.QCheckBox(text)
    box.setToolTip(tip)
    box.setChecked(is_on)
    return box
