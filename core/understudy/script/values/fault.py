"""Why a knob's text gives no value. Whoever knows the node and the knob makes an error of it."""

from __future__ import annotations


class Unreadable(Exception):
    """Says what is wrong with the text, as the end of a sentence that begins with the knob's name."""


class Moves(Unreadable):
    """The value changes with the frame, and one that holds at every frame was asked for."""


def shortened(text: str) -> str:
    """A part of a script as messages show it."""
    one_line = " ".join(text.split())
    return repr(one_line if len(one_line) <= 60 else one_line[:57] + "...")
