"""Pictures whose edge pixels go on for ever."""

from __future__ import annotations

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.frames.window import Window


def nearest_part(region: Window, kept: Window) -> Window:
    """The pixels of `kept`, which is not empty, that the region shows when the edges of `kept` are repeated."""
    x0, y0 = (min(max(low, first), end - 1) for low, first, end in _sides(region.x0, region.y0, kept))
    x1, y1 = (min(max(high, first + 1), end) for high, first, end in _sides(region.x1, region.y1, kept))
    return Window(x0, y0, x1, y1)


def with_repeated_edges(pixels: FloatPixels, part: Window, region: Window) -> FloatPixels:
    """H W C of the region; `pixels`: H W C of `part`, whose edges are repeated where the region goes beyond it."""
    if part == region:
        return pixels
    columns = np.clip(np.arange(region.x0, region.x1), part.x0, part.x1 - 1) - part.x0
    rows = np.clip(np.arange(region.y0, region.y1), part.y0, part.y1 - 1) - part.y0
    return pixels[rows[:, None], columns[None, :]]


def _sides(x: int, y: int, kept: Window) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    return (x, kept.x0, kept.x1), (y, kept.y0, kept.y1)
