"""Train: what is trained on, how, where; what it will take; and the buttons that begin it."""

from __future__ import annotations

from typing import Callable

from understudy_ui.panel.host import Host, HostFault
from understudy_ui.panel.model.source import SCRIPT, Source, from_dropped
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.model.training import LOCAL, Training
from understudy_ui.panel.model.voice import Voice
from understudy_ui.panel.qt import QtCore, QtGui, QtWidgets
from understudy_ui.panel.theme import EDGE, GAP, headline, primary, quieten
from understudy_ui.panel.view_desk import ViewDesk
from understudy_ui.panel.widgets.beside import Beside
from understudy_ui.panel.widgets.editors import dropped_paths
from understudy_ui.panel.widgets.knobs_view import KnobsView
from understudy_ui.panel.widgets.pairs_view import Pairs, PairsView
from understudy_ui.panel.widgets.preview_window import PreviewWindow
from understudy_ui.panel.widgets.problems_view import ProblemsView
from understudy_ui.panel.widgets.source_box import SourceBox
from understudy_ui.protocol import PreviewShown, SentShown


class TrainPage(QtWidgets.QWidget):
    """One training that is being prepared."""

    sent = QtCore.Signal(str)
    """Run directory of a training that is on its way."""

    def __init__(self, training: Training, host: Host, voice: Voice, thumbnails: ViewDesk) -> None:
        super().__init__()
        self._training, self._host, self._voice = training, host, voice
        self.source = SourceBox(training.shot, self._choose, host.name)
        self.source.take_selected.clicked.connect(self.take_selected)
        self.pairs = PairsView(Pairs(training.shot, thumbnails))
        self.problems = ProblemsView(training.shot)
        self.problems.frame_chosen.connect(self.pairs.show_frame)
        self.knobs = KnobsView(training)
        self._knob_fault = ""
        self.knobs.complained.connect(self._complain_of_knob)
        self.summary, self.estimate = QtWidgets.QLabel(), QtWidgets.QLabel()
        self._make_buttons()
        self._lay_out()
        self.setAcceptDrops(True)
        shot = training.shot
        for changes in (shot.pairs_changed, shot.check_changed, shot.source_changed, training.form_known):
            changes.subscribe(self._show)
        for changes in (training.sending_changed, training.estimate_changed, training.farm_changed):
            changes.subscribe(self._show)
        training.form_known.subscribe(self._watch_form)
        self._show()

    def take_selected(self) -> None:
        """Train the node that is selected in the host."""
        try:
            source = self._selected()
            self._training.choose(source, self._host.save_snapshot())
        except (HostFault, OSError) as fault:
            self._training.shot.refuse(str(fault))

    def dragEnterEvent(self, event: QtGui.QDragEnterEvent) -> None:
        if dropped_paths(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QtGui.QDropEvent) -> None:
        self._training.choose(from_dropped(dropped_paths(event), self._training.shot.source))
        event.acceptProposedAction()

    def _watch_form(self) -> None:
        self._training.form.changed.subscribe(self._show)
        self._training.form.changed.subscribe(lambda: self._voice.withdraw([self._knob_fault]))

    def _complain_of_knob(self, fault: str) -> None:
        """Until a knob is given a value that can be taken."""
        self._knob_fault = fault
        self._voice.complain([fault])

    def _selected(self) -> Source:
        """Raises HostFault for a selection that cannot be trained."""
        nodes, script = self._host.selected_nodes(), self._host.script_path()
        if not nodes:
            raise HostFault(tr("No training node is selected; select a CopyCat or Understudy node."))
        if len(nodes) > 1:
            names = ", ".join(node.name for node in nodes)
            raise HostFault(tr("{names} are selected; select one of them.").format(names=names))
        if nodes[0].unconnected:
            inputs = tr(" and ").join(nodes[0].unconnected)
            raise HostFault(tr("{node}: connect {inputs}.").format(node=nodes[0].name, inputs=inputs))
        if not script:
            raise HostFault(tr("The script was never saved; save it, so that its paths have a place."))
        return Source(kind=SCRIPT, script=script, node=nodes[0].name)

    def _choose(self, source: Source) -> None:
        """By hand: the host's snapshot is of its own script alone."""
        shot = self._training.shot
        self._training.choose(source, shot.snapshot if source.script == shot.source.script else "")

    def _make_buttons(self) -> None:
        self.check = _button(tr("Check"), tr("Decode every pair as training would (Ctrl+K)"), "Ctrl+K", self._check)
        self.dry_run = _button(
            tr("Dry Run"), tr("Show the files and the command line; send nothing (Ctrl+D)"), "Ctrl+D", self._dry_run
        )
        self.here = _button(
            tr("Train Here"), tr("One process on this machine (Ctrl+Shift+Return)"), "Ctrl+Shift+Return", self._here
        )
        self.farm = _button("", tr("All ranks, on the chosen farm (Ctrl+Return)"), "Ctrl+Return", self._on_farm)
        primary(self.farm)

    def _lay_out(self) -> None:
        left = QtWidgets.QWidget()
        column = QtWidgets.QVBoxLayout(left)
        column.setContentsMargins(0, 0, GAP, 0)
        column.setSpacing(GAP)
        column.addWidget(self.source)
        column.addWidget(self.summary)
        column.addWidget(self.pairs, 1)
        column.addWidget(self.problems)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(EDGE, EDGE, EDGE, EDGE)
        layout.setSpacing(GAP)
        layout.addWidget(Beside(left, self.knobs, 0.5), 1)
        quieten(self.estimate).setWordWrap(True)
        headline(self.summary)
        self.summary.setWordWrap(True)
        layout.addWidget(self.estimate)
        row = QtWidgets.QHBoxLayout()
        row.addWidget(self.check)
        row.addWidget(self.dry_run)
        row.addStretch(1)
        row.addWidget(self.here)
        row.addWidget(self.farm)
        layout.addLayout(row)

    def _show(self) -> None:
        training, shot = self._training, self._training.shot
        self.summary.setText(shot.summary())
        self.estimate.setText(training.sending or training.spoken_estimate())
        is_checking = bool(shot.check_progress)
        told = tr("Stop Checking ({told})").format(told=shot.check_progress)
        self.check.setText(told if is_checking else tr("Check"))
        is_sending = bool(training.sending)
        name = tr("Train on This Machine") if training.farm == LOCAL else training.farm
        self.farm.setText(
            tr("Give Up Sending")
            if is_sending
            else name
            if training.farm == LOCAL
            else tr("Train on {farm}").format(farm=name)
        )
        for button in (self.check, self.dry_run, self.here):
            button.setEnabled(training.is_ready())
        self.farm.setEnabled(training.is_ready() or is_sending)

    def _check(self) -> None:
        if self._training.shot.check_progress:
            self._training.shot.give_up_check()
        elif self._is_fresh():
            self._training.check()

    def _dry_run(self) -> None:
        if self._is_fresh():
            self._training.preview(self._show_preview)

    def _show_preview(self, preview: PreviewShown) -> None:
        PreviewWindow(preview, self).show()

    def _here(self) -> None:
        if self._is_fresh():
            self._training.send(self._training.words_here(), self._on_sent)

    def _on_farm(self) -> None:
        if self._training.sending:
            self._training.give_up_sending()
        elif self._is_fresh():
            self._training.send(self._training.words(), self._on_sent)

    def _is_fresh(self) -> bool:
        """The snapshot that is read is the script as it is now."""
        if not self._training.shot.snapshot:
            return True
        try:
            self._host.save_snapshot()
        except (HostFault, OSError) as fault:
            self._voice.complain([str(fault)])
            return False
        return True

    def _on_sent(self, sent: SentShown) -> None:
        self._voice.say(tr("Sent to {farm}: {place}").format(farm=sent["farm"], place=sent["run_directory"]))
        self.sent.emit(sent["run_directory"])


def _button(text: str, tip: str, keys: str, press: Callable[[], None]) -> QtWidgets.QPushButton:
    button = QtWidgets.QPushButton(text)
    button.setToolTip(tip)
    button.setShortcut(QtGui.QKeySequence(keys))
    button.clicked.connect(lambda: press())
    return button
