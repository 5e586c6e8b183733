"""Formats as scripts state them: `2048 1556 0 0 2048 1556 1 2K`, or by one of the names that Nuke knows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from understudy.frames.window import Window
from understudy.script.graph import Script
from understudy.script.values.curves import NUMBER, number_of
from understudy.script.values.fault import Unreadable


@dataclass(frozen=True, kw_only=True)
class Format:
    """The size of a picture."""

    window: Window
    """Pixels."""
    pixel_aspect: float = 1.0
    """Width over height of one pixel."""
    is_all_picture: bool = True
    """Whether nothing of it is set aside, as for a sound track."""


_NAMED = {
    "PC_Video": (640, 480, 1.0),
    "NTSC": (720, 486, 0.91),
    "PAL": (720, 576, 1.09),
    "NTSC_16:9": (720, 486, 1.21),
    "PAL_16:9": (720, 576, 1.46),
    "HD_720": (1280, 720, 1.0),
    "HD_1080": (1920, 1080, 1.0),
    "UHD_4K": (3840, 2160, 1.0),
    "1K_Super_35(full-ap)": (1024, 778, 1.0),
    "1K_Cinemascope": (914, 778, 2.0),
    "2K_Super_35(full-ap)": (2048, 1556, 1.0),
    "2K_Cinemascope": (1828, 1556, 2.0),
    "2K_DCP": (2048, 1080, 1.0),
    "4K_Super_35(full-ap)": (4096, 3112, 1.0),
    "4K_Cinemascope": (3656, 3112, 2.0),
    "4K_DCP": (4096, 2160, 1.0),
    "square_256": (256, 256, 1.0),
    "square_512": (512, 512, 1.0),
    "square_1K": (1024, 1024, 1.0),
    "square_2K": (2048, 2048, 1.0),
}
_NUM_NUMBERS = 7
_DEFAULT_FORMAT = Format(window=Window(0, 0, 2048, 1556))
"""A root that states no format has Nuke's 2K."""


def format_of(text: str) -> Format | None:
    """What a knob states: width, height, image area x y r t, pixel aspect, and a name, which may stand alone.

    None for a name that is not known, and for a format that no picture has.
    """
    words = text.split()
    if len(words) == 1 and words[0] in _NAMED:
        width, height, pixel_aspect = _NAMED[words[0]]
        return Format(window=Window.of_size(width, height), pixel_aspect=pixel_aspect)
    try:
        numbers = [number_of(word) for word in takewhile(NUMBER.fullmatch, words[:_NUM_NUMBERS])]
        window = Window.of_size(*map(int, numbers[:2]))
    except (Unreadable, TypeError):
        return None
    pixel_aspect = numbers[-1] if len(numbers) in (3, _NUM_NUMBERS) else 1.0
    if window.is_empty or window.is_too_large or pixel_aspect <= 0:
        return None
    area = tuple(numbers[2:6]) if len(numbers) >= 6 else ()
    is_all_picture = area in ((), (0, 0, window.width, window.height))
    return Format(window=window, pixel_aspect=pixel_aspect, is_all_picture=is_all_picture)


def format_window(text: str) -> Window | None:
    """The window of a format, pixels; None where there is none."""
    stated = format_of(text)
    return stated.window if stated else None


def script_format(script: Script) -> Format:
    """The script's own."""
    return format_of(script.root.get("format", "")) or _DEFAULT_FORMAT


def root_format(script: Script) -> Window:
    """The window of the script's format, for pictures that no file gives a size."""
    return script_format(script).window
