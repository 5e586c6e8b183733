"""Faults that a user can mend. The message is shown verbatim, the process ends with exit code 2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

EXIT_DONE = 0
EXIT_BUG = 1
"""A traceback was printed: the fault is ours."""
EXIT_USER = 2
"""The message says which file, frame, node or knob is wrong and what to do."""
EXIT_STOPPED = 3
"""Stopped on request (signal or stop file) after writing a checkpoint: `understudy resume` goes on."""
EXIT_RANKS = 4
"""Ranks of the run were missing for longer than allowed, or rank 0 ended: every other rank ends with this."""


class UnderstudyError(Exception):
    """A fault outside the program: says which file, frame, node or knob is wrong and what to do."""

    exit_code = EXIT_USER


class RanksMissing(UnderstudyError):
    """The other ranks did not come, or did not come back, in time."""

    exit_code = EXIT_RANKS


class Problems(UnderstudyError):
    """Several faults of one kind, reported together, one line each."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = tuple(lines)
        super().__init__("\n".join(self.lines))


class ProblemList:
    """Collects faults while a whole set is looked at; `raise_if_any` ends the look."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, line: str) -> None:
        self.lines.append(line)

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Turn an UnderstudyError inside the block into collected lines."""
        try:
            yield
        except Problems as several:
            self.lines.extend(several.lines)
        except UnderstudyError as one:
            self.lines.append(str(one))

    def raise_if_any(self) -> None:
        if self.lines:
            raise Problems(dict.fromkeys(self.lines))
