"""Printed posters: paper, ink, weather."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from understudy.demo.filters import float32, smooth_noise, smoothstep
from understudy.demo.surface import Canvas, Colour
from understudy.frames.image import FloatPixels


@dataclass(frozen=True, kw_only=True)
class Print:
    """A poster's artwork."""

    art: Literal["disc", "cup", "stripes", "mountain"]
    paper: Colour
    ink: Colour


def poster(canvas: Canvas, u: float, v: float, size: tuple[float, float], design: Print) -> None:
    """A weathered print with bars of type, torn at the edges. (u, v) is its lower left corner, metres."""
    width, height = size
    ragged = (smooth_noise(canvas.rng, canvas.u.shape, 9.0, 3) - 0.5) * np.float32(0.03)
    edge = canvas.box(u, v, u + width, v + height) + np.maximum(ragged, 0)
    canvas.shade(0.45 * smoothstep(0.035, 0.0, edge))
    sheet = canvas.coverage(edge)
    creases = smooth_noise(canvas.rng, canvas.u.shape, 26.0, 3)
    canvas.paint(sheet, (np.asarray(design.paper, np.float32) * (0.75 + 0.5 * creases)[..., None]).astype(np.float32))
    canvas.flatten(sheet, 0.012)
    canvas.relief += sheet * (creases - 0.5) * np.float32(0.02)
    print_area = sheet * smoothstep(0.22, 0.42, creases)
    picture = canvas.box(u + width * 0.08, v + height * 0.36, u + width * 0.92, v + height * 0.94)
    canvas.paint(print_area * canvas.coverage(np.maximum(picture, _artwork(canvas, u, v, size, design))), design.ink)
    for line, length in enumerate((0.76, 0.5, 0.66, 0.36)):
        low = v + height * (0.25 - 0.062 * line)
        bar = canvas.box(
            u + width * 0.12, low, u + width * (0.12 + length), low + height * (0.045 if line == 0 else 0.026)
        )
        letters = np.sin((canvas.u - u) * (60 + 17 * line)) + np.sin((canvas.u - u) * (97 + 11 * line)) > -0.9
        canvas.paint(print_area * canvas.coverage(bar) * letters, design.ink)


def _artwork(canvas: Canvas, u: float, v: float, size: tuple[float, float], design: Print) -> FloatPixels:
    """Signed distance to the inked shape, metres, H W."""
    width, height = size
    x, y = (canvas.u - u) / width, (canvas.v - v) / height  # 0..1 over the sheet
    ring = np.hypot(x - 0.5, (y - 0.63) * height / width) - 0.28
    return float32(_ARTS[design.art](x, y, ring) * width)


def _disc(_x: FloatPixels, _y: FloatPixels, ring: FloatPixels) -> FloatPixels:
    return float32(np.minimum(np.abs(ring) - 0.05, ring + 0.16))


def _stripes(x: FloatPixels, y: FloatPixels, ring: FloatPixels) -> FloatPixels:
    return np.maximum(0.24 * np.abs(((x + 0.85 * y) / 0.24) % 1 - 0.5) - 0.06, -ring)


def _mountain(x: FloatPixels, y: FloatPixels, _ring: FloatPixels) -> FloatPixels:
    peaks = np.minimum(1.3 * np.abs(x - 0.36), 1.7 * np.abs(x - 0.7) + 0.1)
    sun = np.hypot(x - 0.74, (y - 0.82) * 1.42) - 0.1
    return float32(np.minimum(0.6 * (1.42 * (y - 0.76) + peaks), sun))


def _cup(x: FloatPixels, y: FloatPixels, _ring: FloatPixels) -> FloatPixels:
    down = (0.61 - y) * 1.42
    bowl = np.maximum(np.hypot(x - 0.5, down) - 0.26, -down)
    handle = np.abs(np.hypot(x - 0.77, down - 0.085) - 0.09) - 0.03
    saucer = np.maximum(np.abs(x - 0.5) - 0.3, np.abs(down - 0.28) - 0.018)
    steam = np.abs((x + 0.04 * np.sin(22 * y)) % 0.16 - 0.08) - 0.022
    cloud = np.maximum(np.abs(x - 0.5) - 0.22, np.abs(y - 0.75) - 0.09)
    return float32(np.minimum(np.minimum(np.minimum(bowl, handle), saucer), np.maximum(steam, cloud)))


_ARTS: dict[str, Callable[[FloatPixels, FloatPixels, FloatPixels], FloatPixels]] = {
    "disc": _disc,
    "cup": _cup,
    "stripes": _stripes,
    "mountain": _mountain,
}
"""Signed distances in sheet widths, from 0..1 over the sheet and the distance to a ring in its upper half."""
