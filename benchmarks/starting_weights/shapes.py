"""Outlines of things: signed distances in pixels, negative inside, from which coverage, mattes and lines are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from understudy.demo.filters import float32
from understudy.frames.image import FloatPixels

Generator = np.random.Generator
Place = tuple[float, float]
"""Pixels: x to the right, y down."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """One outline, in a box of its own beyond which it is far away."""

    centre: Place
    reach: float
    """Pixels from the centre within which all of it lies."""
    distance: Callable[[FloatPixels, FloatPixels], FloatPixels]
    """From x and y relative to the centre, pixels."""

    def box(self, height: int, width: int, margin: float = 2.0) -> tuple[slice, slice]:
        """Rows and columns of a picture that it can touch; empty when it lies outside."""
        x, y = self.centre
        reach = self.reach + margin
        rows = slice(max(0, int(y - reach)), max(0, min(height, int(y + reach) + 2)))
        return rows, slice(max(0, int(x - reach)), max(0, min(width, int(x + reach) + 2)))

    def over(self, rows: slice, columns: slice, shift: Place = (0.0, 0.0)) -> FloatPixels:
        """Signed distance at the centres of these pixels, h w; the shape moved by `shift`."""
        y = np.arange(rows.start, rows.stop, dtype=np.float32)[:, None] + np.float32(0.5 - self.centre[1] - shift[1])
        x = np.arange(columns.start, columns.stop, dtype=np.float32)[None] + np.float32(0.5 - self.centre[0] - shift[0])
        return self.distance(*np.broadcast_arrays(x, y))


def coverage(distance: FloatPixels, softness: float = 1.0) -> FloatPixels:
    """0..1 from a signed distance; the edge is softened over so many pixels."""
    return float32(np.clip(0.5 - distance / np.float32(max(softness, 1.0)), 0, 1))


def any_shape(rng: Generator, centre: Place, radius: float) -> Shape:
    """An ellipse, a blob, a polygon or a box of about this size, turned anyhow."""
    kinds = (_ellipse, _blob, _blob, _polygon, _box)
    return kinds[int(rng.integers(len(kinds)))](rng, centre, radius)


def stroke(start: Place, end: Place, thickness: float) -> Shape:
    """A straight line with round ends."""
    along_x, along_y = end[0] - start[0], end[1] - start[1]
    squared = max(along_x**2 + along_y**2, 1e-6)
    centre = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)

    def distance(x: FloatPixels, y: FloatPixels) -> FloatPixels:
        part = np.clip((x * along_x + y * along_y) / squared, -0.5, 0.5)
        return float32(np.hypot(x - part * along_x, y - part * along_y) - thickness / 2)

    return Shape(centre=centre, reach=(squared**0.5 + thickness) / 2, distance=distance)


def _ellipse(rng: Generator, centre: Place, radius: float) -> Shape:
    narrow, turned = radius * rng.uniform(0.3, 1.0), _turning(rng)

    def distance(x: FloatPixels, y: FloatPixels) -> FloatPixels:
        u, v = turned(x, y)
        return float32((np.hypot(u / radius, v / narrow) - 1) * narrow)

    return Shape(centre=centre, reach=radius, distance=distance)


def _blob(rng: Generator, centre: Place, radius: float) -> Shape:
    waves = [(count, rng.uniform(0, 0.4 / count), rng.uniform(0, 2 * np.pi)) for count in range(2, 7)]

    def distance(x: FloatPixels, y: FloatPixels) -> FloatPixels:
        angle = np.arctan2(y, x)
        edge = radius * (1 + sum(height * np.cos(count * angle + phase) for count, height, phase in waves))
        return float32(np.hypot(x, y) - edge)

    return Shape(centre=centre, reach=1.7 * radius, distance=distance)


def _polygon(rng: Generator, centre: Place, radius: float) -> Shape:
    corners = int(rng.integers(3, 8))
    angles = (np.arange(corners) + rng.uniform(-0.3, 0.3, corners)) * 2 * np.pi / corners + rng.uniform(0, 2 * np.pi)
    sides = radius * rng.uniform(0.5, 0.9, corners)

    def distance(x: FloatPixels, y: FloatPixels) -> FloatPixels:
        away = [x * np.cos(angle) + y * np.sin(angle) - side for angle, side in zip(angles, sides, strict=True)]
        return float32(np.max(away, axis=0))

    return Shape(centre=centre, reach=4 * radius, distance=distance)


def _box(rng: Generator, centre: Place, radius: float) -> Shape:
    narrow, turned = radius * rng.uniform(0.1, 1.0), _turning(rng)

    def distance(x: FloatPixels, y: FloatPixels) -> FloatPixels:
        u, v = turned(x, y)
        return float32(np.maximum(np.abs(u) - radius, np.abs(v) - narrow))

    return Shape(centre=centre, reach=1.5 * radius, distance=distance)


def _turning(rng: Generator) -> Callable[[FloatPixels, FloatPixels], tuple[FloatPixels, FloatPixels]]:
    """A rotation by a random angle, about zero."""
    angle = rng.uniform(0, np.pi)
    cosine, sine = np.float32(np.cos(angle)), np.float32(np.sin(angle))
    return lambda x, y: (x * cosine + y * sine, y * cosine - x * sine)
