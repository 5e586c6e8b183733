"""What a channel's name says about its values."""

from __future__ import annotations

import re

_COLOUR = re.compile(r"(^|\.)(r|g|b|y|red|green|blue)$", re.IGNORECASE)
_MATTE = re.compile(r"(^|\.)(a|alpha|mask|matte)$", re.IGNORECASE)


def is_colour(channel: str) -> bool:
    """Light, which a display would encode: R, diffuse.G, rgba.blue, Y."""
    return bool(_COLOUR.search(channel))


def is_matte(channel: str) -> bool:
    """Coverage, 0 to 1: A, rgba.alpha, whitebarmask.mask."""
    return bool(_MATTE.search(channel))
