"""Rectangles in display coordinates, as OpenEXR has them: x to the right, y down, half open."""

from __future__ import annotations

from dataclasses import dataclass

MAX_SIDE = 1 << 16
"""Pixels. A longer side is a slip or damage, no picture's."""
MAX_PIXELS = 1 << 28
"""A square of 16384."""
LIMITS = f"{MAX_SIDE} pixels, or {MAX_PIXELS} in all"
"""As messages state them."""


@dataclass(frozen=True)
class Window:
    """The pixels x0 <= x < x1, y0 <= y < y1. May lie anywhere, also at negative coordinates."""

    x0: int
    y0: int
    x1: int
    y1: int

    @staticmethod
    def of_size(width: int, height: int, x: int = 0, y: int = 0) -> Window:
        return Window(x, y, x + width, y + height)

    @property
    def width(self) -> int:
        return max(0, self.x1 - self.x0)

    @property
    def height(self) -> int:
        return max(0, self.y1 - self.y0)

    @property
    def is_empty(self) -> bool:
        return self.x1 <= self.x0 or self.y1 <= self.y0

    @property
    def is_too_large(self) -> bool:
        """Whether it is beyond any picture, so that it must not be made room for."""
        return max(self.width, self.height) > MAX_SIDE or self.width * self.height > MAX_PIXELS

    def union(self, other: Window) -> Window:
        """The smallest window that holds both; an empty window adds nothing."""
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        return Window(min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1))

    def intersect(self, other: Window) -> Window:
        """What both share; empty when they are disjoint."""
        return Window(max(self.x0, other.x0), max(self.y0, other.y0), min(self.x1, other.x1), min(self.y1, other.y1))

    def moved(self, x: int, y: int) -> Window:
        """This window so many pixels to the right and down."""
        return Window(self.x0 + x, self.y0 + y, self.x1 + x, self.y1 + y)

    def contains(self, other: Window) -> bool:
        return self.intersect(other) == other

    def grown_to(self, width: int, height: int, within: Window) -> Window:
        """This window made at least width x height where `within` has room, moved as little as possible."""
        x0, x1 = _grow_span(self.x0, self.x1, width, within.x0, within.x1)
        y0, y1 = _grow_span(self.y0, self.y1, height, within.y0, within.y1)
        return Window(x0, y0, x1, y1)

    def as_size(self) -> str:
        """How people call a format: 1920x1080, and where it begins if that is not 0, 0."""
        return f"{self.width}x{self.height}" if (self.x0, self.y0) == (0, 0) else str(self)

    def __str__(self) -> str:
        return f"{self.width}x{self.height}{self.x0:+d}{self.y0:+d}"


def _grow_span(low: int, high: int, wanted: int, floor: int, ceiling: int) -> tuple[int, int]:
    floor, ceiling = min(floor, low), max(ceiling, high)
    missing = min(wanted, ceiling - floor) - (high - low)
    if missing <= 0:
        return low, high
    low = min(max(low - missing // 2, floor), ceiling - (high - low) - missing)
    return low, low + min(wanted, ceiling - floor)
