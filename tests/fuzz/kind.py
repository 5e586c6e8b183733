"""What a kind of file is to the fuzzer, and what may come of reading a damaged one."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from understudy.errors import MOST_PROBLEMS, Problems, UnderstudyError

LONGEST_LINE = 800
"""Characters, besides long words, which are paths: more is nothing that a person reads."""
MOST_LINES = MOST_PROBLEMS + 1
_LONG_WORD = re.compile(r"\S{100,}")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


class FaultElsewhere(Exception):
    """A fault of the program that it told of itself: what, where, and in which words."""

    def __init__(self, what: str, where: str, said: str) -> None:
        super().__init__(what)
        self.what, self.where, self.said = what, where, said


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Files of one kind, made whole, damaged, and read as the commands read them. All paths are relative."""

    name: str
    cases: int
    """In one run of the tests."""
    lay_out: Callable[[], Sequence[Path]]
    """Makes the files in the current folder, with all that reading them takes; returns those that are damaged."""
    damage: Callable[[Path, bytes, random.Random], bytes]
    """The path says what the content is."""
    read: Callable[[Path], None]
    """May raise UnderstudyError. The path is the damaged file's."""
    names: tuple[str, ...] = ()
    """Besides a file of the corpus: words, one of which a clear line has."""
    is_sealed: bool = False
    """Nothing but the whole file may be taken for whole."""
    is_forgiving: bool = False
    """Damage is put up with: nothing is refused."""


def damaged_case(kind: Kind, files: Sequence[tuple[Path, bytes]], seed: int) -> tuple[Path, bytes, bytes]:
    """The file that case `seed` damages, its whole content, and what becomes of it."""
    chance = random.Random(f"{kind.name} {seed}")
    path, whole = chance.choice(files)
    return path, whole, kind.damage(path, whole, chance)


def unclear(error: UnderstudyError, kind: Kind, files: Sequence[Path]) -> str:
    """What is wrong with the error's words; empty when they are clear."""
    lines = error.lines if isinstance(error, Problems) else (str(error),)
    known = [*kind.names, *(path.name for path in files)]
    if len(lines) > MOST_LINES:
        return f"{len(lines)} lines at once"
    for line in lines[:MOST_PROBLEMS]:
        if len(line.splitlines()) != 1:
            return "a line that is none or several"
        if _CONTROL.search(line):
            return "a line with control characters"
        if len(_LONG_WORD.sub("...", line)) > LONGEST_LINE:
            return f"a line of {len(line)} characters"
        if not any(name in line for name in known):
            return "a line that names no file, frame, node or knob"
        if "; " not in line:
            return "a line that says not what to do"
    return "memory that ran out" if _ran_out(error) else ""


def _ran_out(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False
