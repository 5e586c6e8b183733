"""metrics.jsonl while it is being written: each look reads only what is new since the one before."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.report.metrics import History, Metrics, parsed_line

_BYTES_KNOWN_AGAIN = 256
"""Before the place where the last look ended: a file that says something else there was replaced."""


@dataclass(frozen=True, kw_only=True)
class DamagedLine:
    """A line that was left out."""

    number: int
    """From 1."""
    step: int
    """The last one recorded before it."""


class GrowingMetrics:
    """One run's history for those who ask again and again. Any thread may ask."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._begin_anew()

    def look(self) -> tuple[Metrics, tuple[DamagedLine, ...]]:
        """The history so far, and what could not be read of it; a last line that is still being written is left out.

        A file that shrank or was replaced is read from its beginning; none at all is no history yet.
        Raises UnderstudyError when it cannot be read.
        """
        with self._lock:
            try:
                self._read_on()
            except FileNotFoundError:
                self._begin_anew()
            except OSError as error:
                raise UnderstudyError(f"{self._path}: cannot be read ({error.strerror}); check the folder") from error
            return self._history.metrics(), tuple(self._damaged)

    def _begin_anew(self) -> None:
        self._history = History()
        self._damaged: list[DamagedLine] = []
        self._offset = 0
        self._before = b""
        """The bytes that end at the offset."""
        self._num_lines = 0
        self._step = 0

    def _read_on(self) -> None:
        with self._path.open("rb") as file:
            file.seek(self._offset - len(self._before))
            if file.read(len(self._before)) != self._before:
                self._begin_anew()
                file.seek(0, os.SEEK_SET)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        for raw in whole.split(b"\n")[:-1]:
            self._add(raw)
        self._offset += len(whole)
        self._before = (self._before + whole)[-_BYTES_KNOWN_AGAIN:]

    def _add(self, raw: bytes) -> None:
        self._num_lines += 1
        try:
            line = parsed_line(raw)
        except UnderstudyError:
            self._damaged.append(DamagedLine(number=self._num_lines, step=self._step))
            return
        step = line.get("step")
        self._step = step if isinstance(step, int) else self._step
        self._history.add(line)
