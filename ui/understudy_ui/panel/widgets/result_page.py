"""Result: the checkpoint, what it makes of the shot, what to paint next, its export; beside it, how that looks."""

from __future__ import annotations

from pathlib import PurePath
from typing import Callable, Dict

from understudy_ui.panel.host import Host, HostFault
from understudy_ui.panel.model.export import Export
from understudy_ui.panel.model.frame_view import FrameView
from understudy_ui.panel.model.result import BEST, LATEST, Result, fraction_told
from understudy_ui.panel.model.speech import BETWEEN, spoken_count, spoken_loss, spoken_state
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.model.voice import Voice
from understudy_ui.panel.qt import Qt, QtGui, QtWidgets
from understudy_ui.panel.theme import EDGE, GAP, LABEL_WIDTH, Elided, headline, primary, quieten
from understudy_ui.panel.widgets.beside import Beside
from understudy_ui.panel.widgets.editors import PathEditor, QuietBox, browse_file
from understudy_ui.panel.widgets.export_box import ExportBox
from understudy_ui.panel.widgets.frame_panel import WIPE, FramePanel
from understudy_ui.panel.widgets.paint_next import PaintNext
from understudy_ui.protocol import Json, RunRow

PASSES = {1: "one", 2: "two: nearer, twice as long", 4: "four: for final frames, four times as long"}
"""Answers to each frame, whose mean is taken."""


class ResultPage(QtWidgets.QWidget):
    """Of the run that is shown in full under Runs."""

    def __init__(
        self,
        result: Result,
        export: Export,
        host: Host,
        voice: Voice,
        node: Callable[[], str],
        frames: FrameView,
        picture: FramePanel,
    ) -> None:
        super().__init__()
        self._result, self._host, self._voice, self._node, self._frames = result, host, voice, node, frames
        self.picture = picture
        self.picture.manner.setCurrentIndex(WIPE)
        self.name, self.about = QtWidgets.QLabel(), quieten(Elided())
        self.checkpoint = QuietBox()
        self.checkpoint.setAccessibleName(tr("Checkpoint"))
        self.input = PathEditor(tr("Frames to apply to"), browse_file)
        self.output = PathEditor(tr("Where the result goes"), browse_file)
        self.frames = QtWidgets.QLineEdit()
        self.frames.setPlaceholderText(tr("all, or 1001-1048"))
        self.frames.setAccessibleName(tr("Frames"))
        self.passes = QuietBox()
        self.passes.setAccessibleName(tr("Passes"))
        for passes, meaning in PASSES.items():
            self.passes.addItem(tr(meaning), passes)
        self.apply = QtWidgets.QPushButton(tr("Apply"))
        self.apply.setToolTip(tr("Make these frames on this machine"))
        primary(self.apply)
        self.progress = QtWidgets.QProgressBar()
        self.progress.setFixedHeight(20)
        self.inference = QtWidgets.QPushButton(tr("Create Inference"))
        self.read_back = QtWidgets.QPushButton(tr("Read Result"))
        self.paint_next = PaintNext(result, frames, lambda: self.input.line.text().strip(), self._go_to)
        self.export = ExportBox(export, self._step)
        self._lay_out()
        self._connect()
        self._show()

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        super().showEvent(event)
        self._frames.watch()

    def hideEvent(self, event: QtGui.QHideEvent) -> None:
        self._frames.rest()
        super().hideEvent(event)

    def _lay_out(self) -> None:
        headline(self.name)
        top, buttons = QtWidgets.QHBoxLayout(), QtWidgets.QHBoxLayout()
        top.setSpacing(GAP + 4)
        top.addWidget(self.name)
        top.addWidget(self.about, 1)
        buttons.addSpacing(LABEL_WIDTH + GAP)
        for button in (self.apply, self.inference, self.read_back):
            buttons.addWidget(button)
        buttons.addStretch(1)
        form = QtWidgets.QWidget()
        column = QtWidgets.QVBoxLayout(form)
        column.setContentsMargins(0, 0, GAP, 0)
        column.setSpacing(GAP)
        column.addLayout(top)
        column.addLayout(self._fields())
        column.addLayout(buttons)
        column.addWidget(self.progress)
        column.addSpacing(EDGE)
        column.addWidget(self.paint_next, 1)
        column.addSpacing(EDGE)
        column.addWidget(self.export)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(EDGE, EDGE, EDGE, EDGE)
        layout.addWidget(Beside(form, self.picture, 0.42))

    def _fields(self) -> QtWidgets.QGridLayout:
        grid = QtWidgets.QGridLayout()
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(4)
        grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        grid.setColumnStretch(1, 1)
        fields = {
            tr("Checkpoint"): self.checkpoint,
            tr("Input"): self.input,
            tr("Output"): self.output,
            tr("Frames"): self.frames,
            tr("Passes"): self.passes,
        }
        for row, (text, widget) in enumerate(fields.items()):
            label = QtWidgets.QLabel(text)
            label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            label.setBuddy(widget)
            grid.addWidget(label, row, 0)
            grid.addWidget(widget, row, 1)
        return grid

    def _connect(self) -> None:
        self.apply.clicked.connect(self._apply)
        self.inference.clicked.connect(self._create_inference)
        self.read_back.clicked.connect(self._show_in_host)
        self.output.edited.connect(lambda _path: self._show())
        self.input.edited.connect(lambda _path: self._show())
        self._result.changed.subscribe(self._show)
        self._result.apply_changed.subscribe(self._show_applying)
        self.checkpoint.currentIndexChanged.connect(lambda _index: self.export.show_model())

    def _show(self) -> None:
        run = self._result.run
        row = run["row"] if run else None
        has_model = bool(self._result.checkpoints())
        self.name.setText(row["name"] if row else tr("Choose a run under Runs."))
        self.about.setText(_facts(row, has_model) if row else "")
        self._show_checkpoints()
        if row is not None:
            self.input.propose(self._result.input_pattern())
            self.output.propose(_output_of(row))
            self.export.show_model()
        can_host = self._host.can_create_inference()
        self.inference.setVisible(can_host)
        self.read_back.setVisible(can_host)
        self.inference.setEnabled(has_model)
        self.read_back.setEnabled(bool(self._result.applied))
        for widget in (self.checkpoint, self.input, self.output, self.frames, self.passes):
            widget.setEnabled(has_model)
        self.paint_next.suggest.setEnabled(has_model)
        self._show_applying()

    def _show_checkpoints(self) -> None:
        named = self._result.checkpoints()
        said = {BEST: tr("Best by validation: step {step}"), LATEST: tr("Latest: step {step}")}
        texts = [said.get(name, tr("Step {step}")).format(step=spoken_count(step)) for name, step in named.items()]
        if texts == [self.checkpoint.itemText(index) for index in range(self.checkpoint.count())]:
            return
        self.checkpoint.clear()
        for text, step in zip(texts, named.values()):
            self.checkpoint.addItem(text, step)

    def _show_applying(self) -> None:
        told = self._result.applying
        is_ready = bool(self._result.checkpoints() and self.output.line.text().strip())
        self.apply.setText(tr("Give Up") if told else tr("Apply"))
        self.apply.setEnabled(bool(told) or is_ready)
        self.progress.setVisible(bool(told))
        fraction = fraction_told(told)
        self.progress.setRange(0, 0 if fraction is None else 1000)
        self.progress.setValue(round((fraction or 0) * 1000))
        self.progress.setFormat(told)

    def _step(self) -> int:
        """Of the chosen checkpoint; 0: there is none."""
        return int(self.checkpoint.currentData() or 0)

    def _apply(self) -> None:
        if self._result.applying:
            self._result.give_up_applying()
            return
        about: Dict[str, Json] = {
            "input": self.input.line.text().strip(),
            "output": self.output.line.text().strip(),
            "frames": self.frames.text().strip(),
            "passes": int(self.passes.currentData()),
            "checkpoint": self._step(),
        }
        self._result.apply(about, lambda _pattern: self._show())

    def _create_inference(self) -> None:
        self._in_host(lambda: self._host.create_inference(self._node(), self._result.model_of(self._step())))

    def _show_in_host(self) -> None:
        frames = self._result.frames_of_input
        first, last = (frames[0], frames[-1]) if frames else (1, 1)
        self._in_host(lambda: self._host.show_result(self._result.applied, first, last))

    def _go_to(self, frame: int) -> None:
        self._in_host(lambda: self._host.go_to_frame(frame))

    def _in_host(self, do: Callable[[], None]) -> None:
        try:
            do()
        except HostFault as fault:
            self._voice.complain([str(fault)])


def _facts(row: RunRow, has_model: bool) -> str:
    facts = [spoken_state(row["state"]), tr("loss {loss}").format(loss=spoken_loss(row["loss"]))]
    return BETWEEN.join(facts if has_model else [*facts, tr("no checkpoint yet")])


def _output_of(row: RunRow) -> str:
    """Beside the run's files, under its name, so that no result goes over another's."""
    folder = PurePath(row["place"]).parent
    return str(folder / f"{row['name']}.result" / "result.####.exr")
