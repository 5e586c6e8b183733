"""Plates for filters, and what filters come to by plain loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.core.script.fixtures import write_exr

from understudy.frames.image import FloatPixels

Chosen = Callable[[list[float]], float]


def read(folder: Path, name: str, pixels: object, channels: str = "R", knobs: str = "") -> str:
    """A Read of H W or H W C pixels; its name is the file's."""
    stored = np.asarray(pixels, np.float32)
    stored = stored.reshape(*stored.shape[:2], -1)
    write_exr(folder / f"{name}.exr", stored, tuple(channels))
    return f'Read {{ inputs 0 file "{folder.as_posix()}/{name}.exr" name {name} {knobs} }}\n'


def noise(height: int, width: int, channels: int = 1) -> FloatPixels:
    """Numbers between -0.5 and 1.5, the same each time."""
    numbers = np.random.default_rng(height * 1000 + width).random((height, width, channels))
    return (numbers * 2 - 0.5).astype(np.float32)


def spot(height: int, width: int, y: int, x: int, value: float = 1.0) -> FloatPixels:
    pixels = np.zeros((height, width), np.float32)
    pixels[y, x] = value
    return pixels


def chosen_around(plane: FloatPixels, reach_y: int, reach_x: int, choose: Chosen) -> FloatPixels:
    """Of one channel, H W, whose edges are repeated: what `choose` makes of all values around each pixel."""
    height, width = plane.shape
    out = np.zeros_like(plane)
    for y in range(height):
        for x in range(width):
            rows = [min(max(y + step, 0), height - 1) for step in range(-reach_y, reach_y + 1)]
            columns = [min(max(x + step, 0), width - 1) for step in range(-reach_x, reach_x + 1)]
            out[y, x] = choose([float(plane[row, column]) for row in rows for column in columns])
    return out


def weighted_around(plane: FloatPixels, weights: FloatPixels) -> FloatPixels:
    """Of one channel, H W, whose edges are repeated: the sum of the values around each pixel by these weights."""
    flat = [float(weight) for weight in weights.ravel()]
    reach_y, reach_x = weights.shape[0] // 2, weights.shape[1] // 2
    return chosen_around(plane, reach_y, reach_x, lambda values: sum(a * b for a, b in zip(values, flat, strict=True)))
