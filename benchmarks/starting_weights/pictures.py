"""Pictures of nothing in particular: leaves of all sizes before one another, textured, lit, with lamps, wires and type.

Photographs owe much of their statistics to things that hide each other at every scale; so do these. Scene-linear, from
near black to far above white.
"""

from __future__ import annotations

import numpy as np
from benchmarks.starting_weights.shapes import Generator, Shape, any_shape, coverage, stroke

from understudy.demo.filters import blur, float32, smooth_noise
from understudy.frames.image import FloatPixels

LEAVES = 260
SMALLEST_LEAF = 2.5
"""Pixels of radius."""
GLYPH_GRID = ((0, 0), (1, 0), (2, 0), (0, 2), (1, 2), (2, 2), (0, 4), (1, 4), (2, 4))
"""Where the strokes of made-up letters begin and end, in sixths of their height."""


def picture(rng: Generator, height: int, width: int) -> FloatPixels:
    """H W 3 float32, scene-linear, never negative."""
    albedo = _texture(rng, height, width)
    for _ in range(LEAVES):
        _lay(albedo, any_shape(rng, _anywhere(rng, height, width), _radius(rng, height, width)), rng)
    for _ in range(int(rng.integers(0, 5))):
        _hang_wire(albedo, rng)
    for _ in range(int(rng.integers(0, 6))):
        _write_line(albedo, rng)
    lit = albedo * _light(rng, height, width)
    for _ in range(int(rng.integers(0, 6))):
        _shine(lit, rng)
    softness = rng.uniform(0.0, 0.8)  # of a lens
    return blur(lit, softness, softness)


def colour(rng: Generator) -> FloatPixels:
    """An albedo, 3: dark ones as likely as bright ones, most of them dull."""
    grey = np.exp(rng.uniform(np.log(0.015), np.log(0.9)))
    return float32(np.clip(grey * np.exp(rng.normal(0, rng.uniform(0.02, 0.5), 3)), 0.003, 0.98))


def _lay(canvas: FloatPixels, leaf: Shape, rng: Generator) -> None:
    rows, columns = leaf.box(*canvas.shape[:2])
    part = canvas[rows, columns]
    if part.size:
        softness = 1.0 if rng.random() < 0.8 else rng.uniform(1.0, 7.0)
        cover = coverage(leaf.over(rows, columns), softness)[..., None]
        part += (_texture(rng, *part.shape[:2]) - part) * cover


def _texture(rng: Generator, height: int, width: int) -> FloatPixels:
    """H W 3: two colours, mixed flat, by a gradient, a fractal or a pattern."""
    one, other = colour(rng), colour(rng)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    angle, kind = rng.uniform(0, 2 * np.pi), rng.random()
    along = x * np.float32(np.cos(angle)) + y * np.float32(np.sin(angle))
    if kind < 0.3:
        mix = float32(np.full((height, width), rng.uniform(0, 0.1)))
    elif kind < 0.5:
        mix = float32((along - along.min()) / max(float(np.ptp(along)), 1.0))
    elif kind < 0.85:
        mix = smooth_noise(rng, (height, width), float(np.exp(rng.uniform(np.log(2), np.log(60)))), 5)
    else:
        across = y * np.float32(np.cos(angle)) - x * np.float32(np.sin(angle))
        period = np.float32(np.exp(rng.uniform(np.log(2.5), np.log(24))))
        waves = np.sin(along / period) * (1 if kind < 0.93 else np.sin(across / period))  # stripes or checks
        mix = float32(0.5 + 0.5 * np.clip(3 * waves, -1, 1))
    return float32(np.maximum(one + (other - one) * mix[..., None], 0.002))


def _light(rng: Generator, height: int, width: int) -> FloatPixels:
    """H W 3: a tinted exposure that drifts over the picture, and shadows with edges."""
    stops = rng.uniform(-3.5, 1.5) + rng.uniform(0, 4) * (smooth_noise(rng, (height, width), 0.7 * width, 2) - 0.5)
    light = np.exp2(stops)
    for _ in range(int(rng.integers(0, 4))):
        shadow = any_shape(rng, _anywhere(rng, height, width), rng.uniform(0.2, 0.6) * width)
        distance = shadow.over(slice(0, height), slice(0, width))
        light *= 1 - rng.uniform(0.4, 0.95) * coverage(distance, float(np.exp(rng.uniform(0, np.log(40)))))
    tint = np.exp(rng.normal(0, 0.15, 3))
    return float32(light[..., None] * tint)


def _shine(lit: FloatPixels, rng: Generator) -> None:
    """A lamp or a glint, far brighter than all else, and its glow."""
    height, width = lit.shape[:2]
    radius = float(np.exp(rng.uniform(np.log(0.8), np.log(14))))
    lamp = any_shape(rng, _anywhere(rng, height, width), radius)
    radiance = float32(np.exp2(rng.uniform(1, 7)) * np.exp(rng.normal(0, 0.3, 3)))
    distance = lamp.over(slice(0, height), slice(0, width))
    lit += coverage(distance)[..., None] * radiance
    glow = np.exp(rng.uniform(np.log(1e-4), np.log(1e-2))) / (1 + np.square(np.maximum(distance, 0) / (2 * radius)))
    lit += float32(glow)[..., None] * radiance


def _hang_wire(canvas: FloatPixels, rng: Generator) -> None:
    height, width = canvas.shape[:2]
    wire = stroke(_anywhere(rng, height, width), _anywhere(rng, height, width), rng.uniform(0.5, 2.5))
    _lay(canvas, wire, rng)


def _write_line(canvas: FloatPixels, rng: Generator) -> None:
    """Made-up letters in a row."""
    height, width = canvas.shape[:2]
    size, (x, y) = float(np.exp(rng.uniform(np.log(5), np.log(28)))), _anywhere(rng, height, width)
    ink, thickness = colour(rng), size * rng.uniform(0.08, 0.18)
    for letter in range(int(rng.integers(3, 14))):
        for _ in range(int(rng.integers(2, 5))):
            ends = [GLYPH_GRID[index] for index in rng.choice(len(GLYPH_GRID), 2, replace=False)]
            (x0, y0), (x1, y1) = ((x + size * (u / 6 + 0.55 * letter), y + size * v / 6) for u, v in ends)
            line = stroke((x0, y0), (x1, y1), thickness)
            rows, columns = line.box(height, width)
            part = canvas[rows, columns]
            part += (ink - part) * coverage(line.over(rows, columns))[..., None]


def _anywhere(rng: Generator, height: int, width: int) -> tuple[float, float]:
    return rng.uniform(0, width), rng.uniform(0, height)


def _radius(rng: Generator, height: int, width: int) -> float:
    """Many small, few large: as many of each scale as the picture has room for, and some more of the large ones."""
    largest = 0.4 * min(height, width)
    if rng.random() < 0.15:
        return float(SMALLEST_LEAF * (largest / SMALLEST_LEAF) ** rng.random())
    share = 1 - rng.random() * (1 - (SMALLEST_LEAF / largest) ** 2)
    return float(SMALLEST_LEAF / np.sqrt(share))
