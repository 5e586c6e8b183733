"""The panel: three places, one line for messages, and the answers process behind all of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Mapping, Optional, Sequence

from understudy_ui.panel.asking import Answers
from understudy_ui.panel.host import Host
from understudy_ui.panel.model.export import Export
from understudy_ui.panel.model.frame_view import FrameView
from understudy_ui.panel.model.plate import plate_of
from understudy_ui.panel.model.remembered import Remembered, remembered_in
from understudy_ui.panel.model.result import Result
from understudy_ui.panel.model.run_view import RunView
from understudy_ui.panel.model.runs import Runs
from understudy_ui.panel.model.sheets import Sheets
from understudy_ui.panel.model.source import from_dropped
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.model.training import Training
from understudy_ui.panel.qt import QShortcut, QtCore, QtGui, QtWidgets
from understudy_ui.panel.view_desk import ViewDesk
from understudy_ui.panel.widgets.frame_panel import FramePanel
from understudy_ui.panel.widgets.message_line import MessageLine
from understudy_ui.panel.widgets.result_page import ResultPage
from understudy_ui.panel.widgets.runs_page import RunsPage
from understudy_ui.panel.widgets.train_page import TrainPage

CONTEXT = "understudy"
"""Of translations."""
NUM_DESKS = 7


class Panel(QtWidgets.QWidget):
    """A widget for a host's dock, or the inside of a window."""

    def __init__(
        self, host: Host, environment: Mapping[str, str] = os.environ, parent: Optional[QtWidgets.QWidget] = None
    ) -> None:
        super().__init__(parent)
        tr.learn(lambda text: QtCore.QCoreApplication.translate(CONTEXT, text))
        self.setWindowTitle("understudy")
        self._host = host
        self.answers = Answers(host.answers(), self)
        self.message = MessageLine()
        self._desks = [ViewDesk(self.answers) for _ in range(NUM_DESKS)]
        train_desk, thumbnails, runs_desk, sheet_pictures, frame_pictures, result_desk, result_pictures = self._desks
        self.training = Training(train_desk, Remembered(remembered_in(environment)), self.message)
        self.runs, self.run_view = Runs(runs_desk, self.message), RunView(runs_desk)
        self.frames, self.result_frames = FrameView(runs_desk), FrameView(result_desk)
        self.result = Result(result_desk, self.message)
        self.export = Export(result_desk, self.message, self.result)
        self.train_page = TrainPage(self.training, host, self.message, thumbnails)
        self.runs_page = RunsPage(
            self.runs, self.run_view, Sheets(runs_desk), self.frames, sheet_pictures, frame_pictures
        )
        self.result_page = ResultPage(
            self.result,
            self.export,
            host,
            self.message,
            lambda: self.training.shot.source.node,
            self.result_frames,
            FramePanel(self.result_frames, result_pictures),
        )
        self._lay_out()
        self._connect()
        self._is_closed = False
        self.training.start()

    def open(self, paths: Sequence[str]) -> None:
        """A script, a timeline, two sequences or a data directory; nothing: what was worked on last."""
        if not paths:
            self.training.open_newest()
        elif Path(paths[0]).is_dir():
            self.runs.open(paths[0])
            self.places.setCurrentWidget(self.runs_page)
        else:
            self.training.choose(from_dropped(paths, self.training.shot.source))

    def close_answers(self) -> None:
        """End everything that works for this panel, until it is shown again."""
        self._is_closed = True
        for desk in self._desks:
            desk.close()
        self.answers.close()

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        super().showEvent(event)
        if self._is_closed:
            self._is_closed = False
            self._try_again()

    def closeEvent(self, event: QtGui.QCloseEvent) -> None:
        self.training.note()
        self.close_answers()
        super().closeEvent(event)

    def _lay_out(self) -> None:
        self.places = QtWidgets.QTabWidget()
        self.places.setDocumentMode(True)
        pages = ((tr("Train"), self.train_page), (tr("Runs"), self.runs_page), (tr("Result"), self.result_page))
        for name, page in pages:
            self.places.addTab(page, name)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.places, 1)
        layout.addWidget(self.message)
        for number, (name, _) in enumerate(pages):
            self.places.setTabToolTip(number, tr("{place} (Ctrl+{number})").format(place=name, number=number + 1))
            shortcut = QShortcut(QtGui.QKeySequence(f"Ctrl+{number + 1}"), self)
            shortcut.activated.connect(lambda to=number: self.places.setCurrentIndex(to))
        self.places.currentChanged.connect(lambda _index: self._direct_keys())

    def _direct_keys(self) -> None:
        """Where Qt moved the focus into another place, it goes to what that place is about, if it names that."""
        page, focused = self.places.currentWidget(), self.window().focusWidget()
        if focused is not None and page.isAncestorOf(focused) and page.focusProxy() is not None:
            page.setFocus()

    def _connect(self) -> None:
        self.answers.said.connect(lambda line: self.message.complain([line]))
        self.answers.went_down.connect(lambda line: self.message.offer(line, tr("Try Again"), self._try_again))
        self.train_page.sent.connect(self._show_sent)
        self.training.shot.pairs_changed.subscribe(self._take_shot)
        self.run_view.changed.subscribe(self._take_run)
        self.result.applied_changed.subscribe(self._take_applied)

    def _try_again(self) -> None:
        self.message.clear()
        self.answers.start_again()
        self.training.start()
        self.training.shot.look_again()
        self.runs.look()

    def _take_shot(self) -> None:
        shown = self.training.shot.shown
        if shown is not None:
            self.runs.open(shown["data_directory"])
            self.result.frames_of_input = shown["frames_of_input"]

    def _take_run(self) -> None:
        run = self.run_view.run
        self.result.show(run)
        if run is not None:
            self.result_frames.show(run["row"]["place"], plate_of(run["pairs"]))

    def _take_applied(self) -> None:
        for view in (self.frames, self.result_frames):
            view.take_result(self.result.applied, self.result.applied_frames)

    def _show_sent(self, run_directory: str) -> None:
        """The new run comes first in its data directory."""
        self.runs.select([])
        self.runs.open(str(Path(run_directory).parent))
        self.places.setCurrentWidget(self.runs_page)
