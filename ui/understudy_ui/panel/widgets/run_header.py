"""The run on view in two lines: what it is and how far, and what can be done with it."""

from __future__ import annotations

from typing import Callable, Dict, List, Optional

from understudy_ui.panel.model.runs import LIVE, Runs
from understudy_ui.panel.model.speech import (
    BETWEEN,
    spoken_count,
    spoken_loss,
    spoken_seconds,
    spoken_state,
)
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import QShortcut, Qt, QtCore, QtGui, QtWidgets
from understudy_ui.panel.theme import GAP, Elided, Tones, headline, quieten
from understudy_ui.protocol import Json, RunRow, RunShown

ROOM_TO_TYPE = 60
"""Pixels beside a name that is changed."""


class RunHeader(QtWidgets.QWidget):
    """Name, state, progress, buttons."""

    def __init__(self, runs: Runs, selected_rank: Callable[[], int]) -> None:
        super().__init__()
        self._runs, self._selected_rank = runs, selected_rank
        self._row: Optional[RunRow] = None
        self._link = ""
        self.name, self.state, self.about = QtWidgets.QLabel(), QtWidgets.QLabel(), quieten(Elided())
        self.progress = QtWidgets.QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(6)
        self.progress.setRange(0, 1000)
        self.new_name = QtWidgets.QLineEdit()
        self.new_name.setAccessibleName(tr("New name"))
        self.new_name.hide()
        self.new_name.returnPressed.connect(self._rename)
        escape = QShortcut(QtGui.QKeySequence("Escape"), self.new_name)
        escape.setContext(Qt.ShortcutContext.WidgetShortcut)
        escape.activated.connect(self._end_rename)
        self.link = QtWidgets.QToolButton()
        self.link.setText(tr("Farm Monitor"))
        self.link.setToolTip(tr("Open the job in the farm's own monitor"))
        self.link.clicked.connect(lambda: QtGui.QDesktopServices.openUrl(QtCore.QUrl(self._link)))
        self.buttons = self._make_buttons()
        self._lay_out()
        self.show_run(None, None)

    def show_run(self, row: Optional[RunRow], run: Optional[RunShown]) -> None:
        other = (row["place"] if row else "") != (self._row["place"] if self._row else "")
        self._row, self._link = row, _address(run["link"] if run else "")
        if other:
            self._end_rename()
        self.link.setVisible(bool(self._link))
        self.progress.setVisible(row is not None and bool(row["total_steps"]))
        state = row["state"] if row else ""
        is_live, is_sent = state in LIVE, bool(row and row["farm"])
        can = {"stop": is_live, "resume": bool(row) and not is_live, "rename": bool(row) and not is_live}
        can.update(trash=bool(row) and not is_live, requeue=is_sent, cancel=is_sent and is_live)
        for what, button in self.buttons.items():
            button.setEnabled(can[what])
        self.name.setText(row["name"] if row else tr("No run is selected"))
        self.state.setText(spoken_state(state))
        palette = self.state.palette()
        palette.setColor(QtGui.QPalette.ColorRole.WindowText, Tones(self.palette()).of_state(state))
        self.state.setPalette(palette)
        self.about.setText(BETWEEN.join([*_facts(row), *_judged(run)]) if row else "")
        if row is not None:
            self.progress.setValue(round(_share_done(row) * self.progress.maximum()))

    def _make_buttons(self) -> Dict[str, QtWidgets.QPushButton]:
        about = {
            "stop": (tr("Stop"), tr("End the training early, with a checkpoint; what follows it goes on")),
            "resume": (tr("Resume"), tr("Go on from the newest checkpoint")),
            "requeue": (tr("Requeue"), tr("Start again the rank that is selected under Ranks, or all that failed")),
            "cancel": (tr("Cancel Job"), tr("Give the whole job up, with all that follows the training")),
            "rename": (tr("Rename"), tr("Another name for the run and its files")),
            "trash": (tr("Move to Trash"), tr("Move the run's files to the trash of the data directory")),
        }
        buttons = {}
        for what, (text, tip) in about.items():
            buttons[what] = QtWidgets.QPushButton(text)
            buttons[what].setToolTip(tip)
        for what in ("stop", "resume"):
            buttons[what].clicked.connect(lambda _on=False, do=what: self._do(do))
        buttons["requeue"].clicked.connect(self._requeue)
        buttons["rename"].clicked.connect(self._begin_rename)
        cancel_text = tr("Give up this job and all that follows the training?")
        trash_text = tr("Move all files of this run to the trash?")
        buttons["cancel"].clicked.connect(lambda: self._confirm("cancel", cancel_text))
        buttons["trash"].clicked.connect(lambda: self._confirm("trash", trash_text))
        return buttons

    def _lay_out(self) -> None:
        headline(self.name)
        self.name.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        top, low = QtWidgets.QHBoxLayout(), QtWidgets.QHBoxLayout()
        for widget in (self.name, self.new_name, self.state):
            top.addWidget(widget)
        top.addWidget(self.about, 1)
        top.addWidget(self.link)
        for what in ("stop", "resume", "requeue", "cancel"):
            low.addWidget(self.buttons[what])
        low.addStretch(1)
        for what in ("rename", "trash"):
            low.addWidget(self.buttons[what])
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, GAP, 0, 0)
        layout.setSpacing(6)
        top.setSpacing(GAP + 4)
        low.setSpacing(6)
        layout.addLayout(top)
        layout.addWidget(self.progress)
        layout.addLayout(low)

    def _do(self, what: str, **more: Json) -> None:
        if self._row is not None:
            self._runs.do(what, {"place": self._row["place"], **more})

    def _requeue(self) -> None:
        rank = self._selected_rank()
        self._do("requeue", rank=rank if rank >= 0 else None)

    def _begin_rename(self) -> None:
        if self._row is not None:
            self.new_name.setText(self._row["name"])
            self.new_name.setMinimumWidth(self.name.sizeHint().width() + ROOM_TO_TYPE)
            self.name.hide()
            self.new_name.show()
            self.new_name.setFocus()
            self.new_name.selectAll()

    def _end_rename(self) -> None:
        self.new_name.hide()
        self.name.show()

    def _rename(self) -> None:
        self._end_rename()
        name = self.new_name.text().strip()
        if self._row is not None and name and name != self._row["name"]:
            self._do("rename", name=name)

    def _confirm(self, what: str, question: str) -> None:
        """What destroys is asked once more, without holding anything up."""
        box = QtWidgets.QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setText(question)
        box.setInformativeText(self._row["name"] if self._row else "")
        yes = box.addButton(self.buttons[what].text(), QtWidgets.QMessageBox.ButtonRole.AcceptRole)
        keep = box.addButton(tr("Keep"), QtWidgets.QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(keep)
        box.setEscapeButton(keep)
        yes.clicked.connect(lambda: self._do(what))
        box.open()


def _address(link: str) -> str:
    """Empty for a farm without a monitor of its own: it gives a command line instead."""
    return link if "://" in link else ""


def _share_done(row: RunRow) -> float:
    """By steps or by the clock, whichever is further."""
    if row["state"] == "finished":
        return 1.0
    by_steps = row["step"] / max(1, row["total_steps"])
    left, minutes = row["seconds_left"], row["minutes"]
    by_clock = 1 - left / (60 * minutes) if minutes and left is not None else 0.0
    return min(max(by_steps, by_clock), 1.0)


def _judged(run: Optional[RunShown]) -> List[str]:
    """What validation says of the run so far."""
    if run is None or run["best_psnr"] is None:
        return []
    facts = [tr("best {psnr} dB").format(psnr=f"{run['best_psnr']:.1f}")]
    if run["is_settled"]:
        facts.append(tr("settled"))
    if run["good_enough_seconds"] is not None:
        facts.append(tr("good enough after {time}").format(time=spoken_seconds(run["good_enough_seconds"])))
    return facts


def _facts(row: RunRow) -> List[str]:
    facts = []
    if row["minutes"]:
        facts.append(tr("step {step}").format(step=spoken_count(row["step"])))
    elif row["total_steps"]:
        step, total = spoken_count(row["step"]), spoken_count(row["total_steps"])
        facts.append(tr("step {step} of {total}").format(step=step, total=total))
    if row["loss"] is not None:
        facts.append(tr("loss {loss}").format(loss=spoken_loss(row["loss"])))
    if row["seconds_left"] is not None:
        facts.append(tr("{time} left").format(time=spoken_seconds(row["seconds_left"])))
    if row["farm"]:
        facts.append(row["farm"])
    return facts
