"""The log file of one rank: who ran where and on what, then every line and warning with its time."""

from __future__ import annotations

import logging
import os
import platform
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from understudy.files import naming_the_file
from understudy.report.progress import Progress
from understudy.report.versions import versions

LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)
"""What the terminal shows at -V 0, 1 and 2."""

_LOG = logging.getLogger("understudy")
_WARNINGS = logging.getLogger("py.warnings")


@dataclass(frozen=True, kw_only=True)
class LogHeading:
    """What the first lines of a log say about the process that writes it."""

    rank: int
    """0 to world size - 1."""
    world_size: int = 1
    address: str = ""
    """What the rank's traffic uses; empty: it has none."""
    device: str
    """As people call it: cpu, NVIDIA H200, mps."""
    torch_version: str
    command: str
    """The command line as it was typed."""


class RunLog:
    """Collects the logger `understudy` and Python's warnings in a file, and shows some of it on the terminal.

    A log file that can no longer be written to is given up with one line; training goes on.
    """

    def __init__(self, path: Path, *, heading: LogHeading, progress: Progress, verbosity: int = 0) -> None:
        """Append to `path`. `verbosity` is -V's level, 0 to 2: the terminal shows warnings, information, everything.

        Raises UnderstudyError naming `path` if it cannot be written.
        """
        level = LEVELS[min(max(verbosity, 0), len(LEVELS) - 1)]
        with naming_the_file(path):
            self._file = _FileHandler(path, progress)
        self._file.setLevel(min(level, logging.INFO))
        self._terminal = _TerminalHandler(progress)
        self._terminal.setLevel(level)
        for line in _first_lines(heading):  # before other threads, which may have something to tell already
            self._file.handle(_LOG.makeRecord(_LOG.name, logging.INFO, "", 0, line, (), None))
        self._previous_level = _LOG.level
        _LOG.setLevel(min(level, logging.INFO))
        for logger in (_LOG, _WARNINGS):
            logger.addHandler(self._file)
            logger.addHandler(self._terminal)
        logging.captureWarnings(True)

    def close(self) -> None:
        """Stop collecting. May be called twice."""
        logging.captureWarnings(False)
        for logger in (_LOG, _WARNINGS):
            logger.removeHandler(self._file)
            logger.removeHandler(self._terminal)
        _LOG.setLevel(self._previous_level)
        with suppress(OSError):  # a full disk has been told of already
            self._file.close()

    def __enter__(self) -> RunLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _FileHandler(logging.FileHandler):
    def __init__(self, path: Path, progress: Progress) -> None:
        super().__init__(path, mode="a", encoding="utf-8")
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        self._progress = progress
        self._given_up = False

    def emit(self, record: logging.LogRecord) -> None:
        if not self._given_up:
            super().emit(record)

    def handleError(self, _record: logging.LogRecord) -> None:
        self._given_up = True
        self._progress.show(f"warning: {self.baseFilename}: the log cannot be written any more; training goes on")


class _TerminalHandler(logging.Handler):
    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self._progress = progress
        # Progress has printed its own lines; the edge that ends the process prints failures
        self.addFilter(lambda record: record.name != "understudy.progress")

    def emit(self, record: logging.LogRecord) -> None:
        self._progress.show(f"{record.levelname.lower()}: {record.getMessage()}")


def _first_lines(heading: LogHeading) -> list[str]:
    at = f", address {heading.address}" if heading.address else ""
    return [
        f"host {platform.node()}, rank {heading.rank} of {heading.world_size}{at}, device {heading.device}, "
        f"pid {os.getpid()}, {platform.platform()}",
        ", ".join(f"{name} {version}" for name, version in versions(heading.torch_version).items()),
        f"command: {heading.command}",
    ]
