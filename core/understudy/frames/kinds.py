"""What a channel's name says about its values."""

from __future__ import annotations

import re

_COLOUR = re.compile(r"(^|\.)(r|g|b|red|green|blue)$|^y$", re.IGNORECASE)
_MATTE = re.compile(r"(^|\.)(a|alpha|mask|matte)$", re.IGNORECASE)

_DEPTH = re.compile(r"^z$|(^|\.)depth(\.z)?$", re.IGNORECASE)


def is_colour(channel: str) -> bool:
    """Light, which a display would encode: R, diffuse.G, rgba.blue, Y alone (Normal.Y is none)."""
    return bool(_COLOUR.search(channel))


def is_matte(channel: str) -> bool:
    """Coverage, 0 to 1: A, rgba.alpha, whitebarmask.mask."""
    return bool(_MATTE.search(channel))


def may_hold_directions(channel: str) -> bool:
    """Motion, normals, positions: values that would have to change when the picture is mirrored."""
    return not (is_colour(channel) or is_matte(channel) or _DEPTH.search(channel))
