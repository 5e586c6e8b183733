"""Work beside Nuke: a thread that waits for files and processes, so that the artist never does.

Only the main thread may touch the graph. What a piece of work gives comes back there, through `ended`.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, Callable, NamedTuple, TypeVar

import nuke

from .problem import Problem, fault_line, guarded

Result = TypeVar("Result")

_SECONDS_BETWEEN_LOOKS = 0.1
_SECONDS_TO_END = 5.0


class Ending(NamedTuple):
    """How a process ended."""

    code: int
    output: str
    errors: str


class Task:
    """One piece of work as Nuke's progress window shows it; the artist may cancel it there."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._window = nuke.ProgressTask(title)

    def say(self, line: str) -> None:
        self._window.setMessage(line)

    def run(self, words: Sequence[str], environment: Mapping[str, str]) -> Ending:
        """Run a command to its end. Raises Problem when it cannot be started or was cancelled."""
        process = _started(words, environment)
        outputs = _Ear(process.stdout), _Ear(process.stderr)
        while any(ear.is_alive() for ear in outputs):
            if self._window.isCancelled():
                _end(process)
                raise Problem(f"{self._title}: cancelled")
            if outputs[0].newest:
                self.say(outputs[0].newest)
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        return Ending(process.wait(), outputs[0].heard, outputs[1].heard)


def start(title: str, work: Callable[[Task], Result], ended: Callable[[Result], None]) -> threading.Thread:
    """Begin `work` in a thread of its own and come back at once; a Problem that it raises is told to the artist."""

    def run() -> None:
        try:
            result = work(Task(title))
        except Problem as problem:
            nuke.executeInMainThread(nuke.message, (str(problem),))
        except Exception as error:
            nuke.executeInMainThread(nuke.message, (fault_line(error),))
        else:
            nuke.executeInMainThread(guarded(lambda: ended(result)))

    # A thread that keeps Nuke from ending would be worse than a submission that is cut off.
    thread = threading.Thread(target=run, name=title, daemon=True)
    thread.start()
    return thread


def _started(words: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            list(words),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except OSError as error:
        raise Problem(f"{words[0]}: cannot be started ({error.strerror}); choose another program") from error


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()


class _Ear(threading.Thread):
    """Hears one pipe to its end: Windows cannot ask a pipe without waiting."""

    def __init__(self, pipe: IO[str] | None) -> None:
        super().__init__(daemon=True)
        assert pipe is not None
        self._pipe = pipe
        self._lines: list[str] = []
        self.start()

    def run(self) -> None:
        with self._pipe:
            for line in self._pipe:
                self._lines.append(line)

    @property
    def heard(self) -> str:
        return "".join(self._lines)

    @property
    def newest(self) -> str:
        return self._lines[-1].strip() if self._lines else ""
