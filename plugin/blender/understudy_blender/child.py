"""A command that runs beside Blender: started at once, read by threads, asked from time to time, never waited for."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import IO

from . import problems

SECONDS_TO_END = 5.0


class Child:
    """One process. Its words gather while it runs; no method waits for it but `end`."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        """Raises Problem when it cannot be started."""
        try:
            self._process = subprocess.Popen(
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
            raise problems.not_started(words[0], error) from error
        self._output, self._errors = _Ear(self._process.stdout), _Ear(self._process.stderr)

    @property
    def output(self) -> str:
        """Everything printed so far."""
        return self._output.heard

    @property
    def errors(self) -> str:
        return self._errors.heard

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs, or while something of it is still unread."""
        is_heard = not (self._output.is_alive() or self._errors.is_alive())
        return self._process.poll() if is_heard else None

    def end(self) -> None:
        """Let it end, if it has not. Waits a moment only."""
        if self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()


class _Ear(threading.Thread):
    """Hears one pipe to its end. A pipe cannot be asked without waiting on Windows, so a thread waits."""

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
