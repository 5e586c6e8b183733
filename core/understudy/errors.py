"""Faults that a user can mend. The message is shown verbatim, the process ends with exit code 2."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Iterator, Sequence
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

MOST_PROBLEMS = 1000
"""Lines that are listed of one look; a person reads fewer."""
_MOST_NAMES = 40
_MOST_LETTERS = 400
_OBEYED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_BRIEF = reprlib.Repr()
_BRIEF.maxstring = _BRIEF.maxother = _BRIEF.maxlong = 60


class UnderstudyError(Exception):
    """A fault outside the program: says which file, frame, node or knob is wrong and what to do."""

    exit_code = EXIT_USER

    def __init__(self, message: str) -> None:
        super().__init__(_one_line(message))


def quoted(value: object) -> str:
    """What a file says, as messages show it: in quotes where it is text, and cut where it is long."""
    return _BRIEF.repr(value)


def listed(names: Sequence[str]) -> str:
    """Names with commas; of very many the first, and how many more."""
    shown = names[:_MOST_NAMES]
    while len(shown) > 1 and sum(map(len, shown)) > _MOST_LETTERS:
        shown = shown[:-1]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return ", ".join(shown) + more


def _one_line(message: str) -> str:
    """Names and values come from files, and a terminal obeys control characters: they are shown as `?`."""
    return _OBEYED.sub("?", " ".join(message.splitlines()))


class RanksMissing(UnderstudyError):
    """The other ranks did not come, or did not come back, in time."""

    exit_code = EXIT_RANKS


class Problems(UnderstudyError):
    """Several faults of one kind, reported together, one line each."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = tuple(map(_one_line, lines))
        Exception.__init__(self, "\n".join(self.lines))


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

    @property
    def are_enough(self) -> bool:
        """Whether looking for more is of no use."""
        return len(self.lines) > MOST_PROBLEMS

    def raise_if_any(self) -> None:
        if self.lines:
            listed = [*dict.fromkeys(self.lines)]
            more = len(listed) - MOST_PROBLEMS
            raise Problems([*listed[:MOST_PROBLEMS], *([f"and at least {more} more like these"] if more > 0 else [])])
