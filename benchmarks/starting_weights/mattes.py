"""A figure before a picture, its true matte, and the rough matte that somebody in a hurry would hand over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from benchmarks.starting_weights.pictures import picture
from benchmarks.starting_weights.shapes import Generator, Place, Shape, any_shape, coverage, stroke

from understudy.demo.filters import blur, float32, smooth_noise
from understudy.frames.image import FloatPixels

SUB_FRAMES = 6
"""Instants of an open shutter."""
FAR = 1e4


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Some shapes that belong together and move as one while the shutter is open."""

    shapes: tuple[Shape, ...]
    motion: Place
    """Pixels a frame."""
    softness: float
    """Pixels: how far the edge is out of focus."""

    def distance(self, height: int, width: int, shift: Place = (0.0, 0.0)) -> FloatPixels:
        """H W, signed, of all shapes together; FAR where none is near."""
        nearest = np.full((height, width), FAR, np.float32)
        for shape in self.shapes:
            rows, columns = shape.box(height, width, margin=60.0)
            part = nearest[rows, columns]
            np.minimum(part, shape.over(rows, columns, shift), out=part)
        return nearest

    def matte(self, height: int, width: int) -> FloatPixels:
        """H W, 0..1: half transparent where it was only for a part of the time."""
        times = (np.arange(SUB_FRAMES) + 0.5) / SUB_FRAMES - 0.5
        moved = [(time * self.motion[0], time * self.motion[1]) for time in times]
        return float32(np.mean([coverage(self.distance(height, width, m), self.softness) for m in moved], axis=0))


def any_figure(rng: Generator, height: int, width: int) -> Figure:
    """A body of a few shapes, perhaps with hair, perhaps in motion."""
    x, y = rng.uniform(0.2, 0.8) * width, rng.uniform(0.2, 0.8) * height
    size = rng.uniform(0.12, 0.32) * min(height, width)
    shapes = [any_shape(rng, (x, y), size)]
    for _ in range(int(rng.integers(0, 4))):
        away = rng.normal(0, size, 2)
        shapes.append(any_shape(rng, (x + away[0], y + away[1]), size * rng.uniform(0.2, 0.8)))
    for _ in range(int(rng.integers(0, 4))):
        shapes.append(stroke((x, y), _around(rng, (x, y), 2 * size), rng.uniform(2, max(3, 0.4 * size))))
    if rng.random() < 0.4:
        shapes += [_hair(rng, (x, y), size) for _ in range(int(rng.integers(5, 60)))]
    speed = rng.uniform(1, 16) if rng.random() < 0.5 else 0.0
    angle = rng.uniform(0, 2 * np.pi)
    softness = 1.0 if rng.random() < 0.7 else rng.uniform(1, 6)
    return Figure(shapes=tuple(shapes), motion=(speed * np.cos(angle), speed * np.sin(angle)), softness=softness)


def before(figure_pixels: FloatPixels, matte: FloatPixels, background: FloatPixels) -> FloatPixels:
    """The figure over the background, H W 3."""
    return float32(background + (figure_pixels - background) * matte[..., None])


def plate_and_matte(rng: Generator, height: int, width: int) -> tuple[FloatPixels, FloatPixels, Figure]:
    """H W 3, its true matte H W, and whose it is."""
    figure = any_figure(rng, height, width)
    matte = figure.matte(height, width)
    return before(picture(rng, height, width), matte, picture(rng, height, width)), matte, figure


def rough(rng: Generator, figure: Figure, height: int, width: int) -> FloatPixels:
    """H W, 0..1: too wide or too narrow, jagged, with holes and spill, coarse, noisy, and without motion blur."""
    jags = smooth_noise(rng, (height, width), float(np.exp(rng.uniform(np.log(2), np.log(24)))), 2) - 0.5
    distance = figure.distance(height, width) + rng.uniform(-4, 4) + rng.uniform(0, 12) * jags
    for _ in range(int(rng.integers(0, 5))):  # holes: not far from the figure's parts
        hole = any_shape(rng, _around(rng, _part_of(rng, figure), 12), rng.uniform(1.5, 12))
        distance = np.maximum(distance, -hole.over(slice(0, height), slice(0, width)))
    for _ in range(int(rng.integers(0, 5))):
        spill = any_shape(rng, (rng.uniform(0, width), rng.uniform(0, height)), rng.uniform(1.5, 14))
        distance = np.minimum(distance, spill.over(slice(0, height), slice(0, width)))
    matte = _coarse(rng, coverage(float32(distance), rng.uniform(1, 5)))
    softness = rng.uniform(0, 1.5)
    matte = blur(matte, softness, softness) * float32(rng.uniform(0.8, 1.0))
    noise = rng.standard_normal(matte.shape, np.float32) * float32(rng.uniform(0, 0.12) * (rng.random() < 0.5))
    return float32(np.clip(matte + noise, 0, 1))


def _coarse(rng: Generator, matte: FloatPixels) -> FloatPixels:
    """Perhaps of whole pixels or squares of them, as from a hard key or a small picture."""
    if rng.random() < 0.6:
        return matte
    block = int(rng.integers(1, 7))
    small = float32(matte[block // 2 :: block, block // 2 :: block] > 0.5)
    grown = np.repeat(np.repeat(small, block, axis=0), block, axis=1)
    missing = [(0, max(0, wanted - have)) for wanted, have in zip(matte.shape, grown.shape, strict=True)]
    return np.pad(grown, missing, mode="edge")[: matte.shape[0], : matte.shape[1]]


def _hair(rng: Generator, root: Place, size: float) -> Shape:
    start = _around(rng, root, 0.7 * size)
    end = (root[0] + 2.4 * (start[0] - root[0]), root[1] + 2.4 * (start[1] - root[1]))
    return stroke(start, _around(rng, end, 0.4 * size), rng.uniform(0.5, 1.6))


def _part_of(rng: Generator, figure: Figure) -> Place:
    return figure.shapes[int(rng.integers(len(figure.shapes)))].centre


def _around(rng: Generator, place: Place, spread: float) -> Place:
    return place[0] + rng.normal(0, spread / 2), place[1] + rng.normal(0, spread / 2)
