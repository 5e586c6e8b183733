"""The answers process, and the threads on which pictures are decoded: the one place of everything that takes time."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Callable, Dict, List, Mapping, Optional, cast

from understudy_ui.panel.host import PYTHON, Program
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.pictures import Gallery, Shown
from understudy_ui.panel.qt import QtCore
from understudy_ui.protocol import GIVE_UP, Json

DOES = frozenset({"submit", "stop", "resume", "requeue", "cancel", "trash", "rename", "apply", "export"})
"""Questions that change something: never asked a second time by themselves."""

MILLISECONDS_TO_END = 100_000
"""Of the process once its stdin is closed; then it is killed. It ends at once by itself, unless it is submitting:
half a submission would be nobody's."""


@dataclass
class _Open:
    """A question without an answer yet."""

    question: str
    about: Mapping[str, Json]
    then: Callable[[Json], None]
    faults: Callable[[List[str]], None]
    told: Callable[[str], None]


@dataclass
class _Channel:
    """What was read of the process and is no whole line yet."""

    rest: bytearray = field(default_factory=bytearray)

    def lines(self, data: bytes) -> List[bytes]:
        self.rest += data
        if b"\n" not in data:
            return []
        *whole, last = bytes(self.rest).split(b"\n")
        self.rest = bytearray(last)
        return whole


class Answers(QtCore.QObject):
    """Asks the answers process, starts it when it is needed, and once more if it dies."""

    said = QtCore.Signal(str)
    """About the process itself: one line for a person."""
    went_down = QtCore.Signal(str)
    """It is gone for good, until `start_again`: why, and what to do."""

    def __init__(self, program: Program, parent: Optional[QtCore.QObject] = None) -> None:
        super().__init__(parent)
        self._program = program
        self._process: Optional[QtCore.QProcess] = None
        self._channel = _Channel()
        self._last_line = ""
        self._open: Dict[int, _Open] = {}
        self._num_asked = 0
        self._deaths = 0
        self._down = ""
        self._gallery = Gallery(self)

    def ask(
        self,
        question: str,
        about: Mapping[str, Json],
        then: Callable[[Json], None],
        faults: Callable[[List[str]], None],
        told: Callable[[str], None],
    ) -> int:
        """Returns the number by which `give_up` knows it. The callbacks come from the event loop, never from here."""
        self._num_asked += 1
        number = self._num_asked
        self._open[number] = _Open(question, about, then, faults, told)
        if self._down:
            QtCore.QTimer.singleShot(0, self._fail_all)
            return number
        if self._process is None:
            self._start()
        self._send(number, question, about)
        return number

    def give_up(self, number: int) -> None:
        """Nobody wants it any more."""
        if self._open.pop(number, None) is not None:
            self._num_asked += 1
            self._send(self._num_asked, GIVE_UP, {"id": number})

    def load_picture(self, path: str, shown: Shown, width: int = 0, height: int = 0) -> Callable[[], None]:
        """Decode on a thread of the pool; call what is returned to give it up."""
        return self._gallery.load(path, shown, width, height)

    def start_again(self) -> None:
        """After it went down: the next question starts it."""
        self._down, self._deaths = "", 0

    def close(self) -> None:
        """End the process and the threads. The process gets a moment of its own, for which nobody waits."""
        self._open.clear()
        self._gallery.close()
        process, self._process = self._process, None
        self._down = tr("The panel is closed.")
        if process is None:
            return
        process.readyReadStandardOutput.disconnect(self._read)
        process.finished.disconnect(self._on_finished)
        process.errorOccurred.disconnect(self._on_error)
        process.setParent(QtCore.QCoreApplication.instance())
        process.finished.connect(process.deleteLater)
        process.closeWriteChannel()
        patience = QtCore.QTimer(process)
        patience.setSingleShot(True)
        patience.timeout.connect(process.kill)
        patience.start(MILLISECONDS_TO_END)

    def _start(self) -> None:
        process = QtCore.QProcess(self)
        environment = QtCore.QProcessEnvironment()
        for name, value in self._program.environment.items():
            environment.insert(name, value)
        process.setProcessEnvironment(environment)
        process.readyReadStandardOutput.connect(self._read)
        process.readyReadStandardError.connect(self._read_complaint)
        process.errorOccurred.connect(self._on_error)
        process.finished.connect(self._on_finished)
        self._process, self._channel = process, _Channel()
        process.start(self._program.words[0], list(self._program.words[1:]))

    def _send(self, number: int, question: str, about: Mapping[str, Json]) -> None:
        if self._process is not None:
            line = json.dumps({"id": number, "ask": question, "about": about})
            self._process.write(line.encode() + b"\n")

    def _read(self) -> None:
        if self._process is not None:
            data = self._process.readAllStandardOutput().data()
            for line in self._channel.lines(bytes(data)):
                self._hear(line)

    def _hear(self, line: bytes) -> None:
        try:
            said = cast("Dict[str, Json]", json.loads(line))
            number = cast(int, said["id"])
        except (ValueError, KeyError, TypeError):  # a library that prints
            self._last_line = line.decode(errors="replace")
            return
        asked = self._open.get(number)
        if asked is None:
            return
        if "told" in said:
            asked.told(str(said["told"]))
            return
        del self._open[number]
        if "faults" in said:
            asked.faults(cast("List[str]", said["faults"]))
        else:
            asked.then(said.get("answer"))

    def _read_complaint(self) -> None:
        if self._process is not None:
            lines = bytes(self._process.readAllStandardError().data()).decode(errors="replace").strip().splitlines()
            self._last_line = lines[-1] if lines else self._last_line

    def _on_error(self, error: QtCore.QProcess.ProcessError) -> None:
        if error == QtCore.QProcess.ProcessError.FailedToStart and self._process is not None:
            self._last_line = self._process.errorString()
            self._deaths += 1  # another try would fail as well
            self._on_finished()

    def _on_finished(self) -> None:
        """It died: once is answered by another start, in which what only looks is asked again."""
        if self._process is not None:
            self._read()
            self._read_complaint()
            self._process.deleteLater()
        self._process = None
        self._deaths += 1
        if self._deaths > 1:
            self._down = self._why_down()
            self.went_down.emit(self._down)
            QtCore.QTimer.singleShot(0, self._fail_all)
            return
        self.said.emit(tr("The helper process ended and was started again ({why}).").format(why=self._why_short()))
        self._start()
        for number, asked in list(self._open.items()):
            if asked.question in DOES:
                del self._open[number]
                asked.faults(
                    [tr("It is not known whether this was done: the helper process ended; look, then repeat.")]
                )
            else:
                self._send(number, asked.question, asked.about)

    def _fail_all(self) -> None:
        while self._open:
            _, asked = self._open.popitem()
            asked.faults([self._down])

    def _why_short(self) -> str:
        return self._last_line or tr("it said nothing")

    def _why_down(self) -> str:
        python = self._program.words[0]
        return tr(
            "{python} gives no answers ({why}). Set {name} to a Python that has understudy, then try again."
        ).format(python=python, why=self._why_short(), name=PYTHON)
