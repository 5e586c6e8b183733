"""Formats as scripts state them: `2048 1556 0 0 2048 1556 1 2K`."""

from __future__ import annotations

from understudy.frames.window import Window
from understudy.script.graph import Script
from understudy.script.values.curves import number_of
from understudy.script.values.fault import Unreadable

_DEFAULT_FORMAT = Window(0, 0, 2048, 1556)
"""A root that states no format has Nuke's 2K."""


def format_window(text: str) -> Window | None:
    """The window of a format, pixels; None for a name alone."""
    words = text.split()[:2]
    try:
        width, height = map(number_of, words)
    except (Unreadable, ValueError):
        return None
    window = Window.of_size(int(width), int(height))
    return None if window.is_empty or window.is_too_large else window


def root_format(script: Script) -> Window:
    """The script's format, for pictures that no file gives a size."""
    return format_window(script.root.get("format", "")) or _DEFAULT_FORMAT
