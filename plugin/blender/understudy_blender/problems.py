"""What went wrong, in words for the panel: one line for each fault, with what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

EXIT_DONE = 0
EXIT_FAULT = 1
FAULT_TEXT = "Understudy fault"
"""Name of the text block that holds what a fault printed."""
_PREFIX = "understudy: "
_RETRIED = "; asking again"
"""Ends a complaint of a command that has not given up."""
_PIXELS_OF_A_LETTER = 6.5


class Problem(Exception):
    """Something that the artist, or whoever set the studio up, can mend."""

    def __init__(self, lines: str | Iterable[str], details: str = "") -> None:
        self.lines = (lines,) if isinstance(lines, str) else tuple(lines)
        self.details = details
        """All that was printed, where the lines are not enough."""
        super().__init__("; ".join(self.lines))


def not_started(program: str, error: OSError) -> Problem:
    return Problem(
        f"{program}: cannot be started ({error.strerror}); set the path of understudy, or of its Python, in "
        "Edit > Preferences > Add-ons > Understudy"
    )


def of_errors(code: int, errors: str) -> Problem:
    """Why a command ended with another exit code than 0."""
    told = [line for line in _told(errors) if not line.endswith(_RETRIED)]
    last = next((line.strip() for line in reversed(errors.splitlines()) if line.strip()), "it said nothing")
    if told and code != EXIT_FAULT:
        return Problem(told)
    if "No module named" in last and "understudy" in last:
        return Problem(
            f"this Python has no understudy ({last}); set another in Edit > Preferences > Add-ons > Understudy"
        )
    line = f"the command ended with exit code {code} ({last}); the text block '{FAULT_TEXT}' holds the rest"
    return Problem(told or line, details=errors)


def of_fault(trace: str) -> Problem:
    """A fault of the add-on itself."""
    last = trace.strip().splitlines()[-1]
    return Problem(f"a fault of the add-on ({last}); please report the text block '{FAULT_TEXT}'", details=trace)


def newest_warning(errors: str) -> str:
    """The last thing that a command which still runs complained about."""
    return next(reversed(_told(errors)), "")


def _told(errors: str) -> list[str]:
    """What understudy itself said, among whatever else was printed."""
    return [line[len(_PREFIX) :] for line in errors.splitlines() if line.startswith(_PREFIX)]


def wrapped(line: str, width_pixels: float) -> list[str]:
    """The line in parts that fit a panel: Blender's labels do not wrap. Paths are broken where they must be."""
    return textwrap.wrap(line, max(20, int(width_pixels / _PIXELS_OF_A_LETTER)))
