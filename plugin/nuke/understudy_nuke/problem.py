"""What the artist can mend, said in one line in Nuke's own window, and what is our fault, said there too."""

from __future__ import annotations

import traceback
from typing import Callable

import nuke


class Problem(Exception):
    """One line that names the node, knob or file and says what to do."""


def guarded(action: Callable[[], None]) -> Callable[[], None]:
    """The action as a menu or button calls it: nothing that goes wrong in it leaves it."""

    def call() -> None:
        try:
            action()
        except Problem as problem:
            nuke.message(str(problem))
        except Exception as error:
            nuke.message(fault_line(error))

    return call


def fault_line(error: Exception) -> str:
    """What is said of a fault of ours; the traceback goes to the terminal."""
    traceback.print_exc()
    return f"understudy: a fault of the plugin ({error!r}); please report the traceback in the terminal"
