"""What lenses and rough tools do to a picture."""

from __future__ import annotations

import numpy as np

from understudy.demo.filters import blur, float32
from understudy.frames.image import FloatPixels


def disk(radius: float) -> FloatPixels:
    """A round iris as weights that sum to 1, its edge smooth."""
    reach = int(np.ceil(radius))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    weights = np.clip(radius + 0.5 - np.hypot(x, y), 0, 1)
    return float32(weights / weights.sum())


def hexagon(radius: float) -> FloatPixels:
    """An iris of six straight blades."""
    reach = int(np.ceil(radius)) + 1
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    blades = [x * np.cos(angle) + y * np.sin(angle) for angle in np.arange(6) * np.pi / 3 + 0.2]
    weights = np.clip(radius + 0.5 - np.max(blades, axis=0), 0, 1)
    return float32(weights / weights.sum())


def behind_iris(pixels: FloatPixels, iris: FloatPixels) -> FloatPixels:
    """H W C with every point spread over the iris (odd sides); borders repeated."""
    height, width, _ = pixels.shape
    rows, columns = iris.shape
    padded = np.pad(pixels, ((rows // 2,) * 2, (columns // 2,) * 2, (0, 0)), mode="edge")
    spread = np.zeros_like(pixels)
    for row, column in np.argwhere(iris > 0):
        spread += iris[row, column] * padded[row : row + height, column : column + width]
    return spread


def segmented(rng: np.random.Generator, matte: FloatPixels, block: int) -> FloatPixels:
    """H W, as a program that works on a small picture would cut it: squares, a little off, some wrong."""
    height, width = matte.shape
    padded = np.pad(matte, ((0, -height % block), (0, -width % block)), mode="edge")
    squares = padded.reshape(padded.shape[0] // block, block, padded.shape[1] // block, block).mean(axis=(1, 3)) > 0.35
    inside = np.argwhere(squares)
    for row, column in inside[rng.integers(len(inside), size=4)] if len(inside) else ():
        squares[row : row + 2, column : column + 2] = False
    for row, column in zip(*(rng.integers(0, side, 4) for side in squares.shape), strict=True):
        squares[row : row + 3, column : column + 3] = True
    whole = np.kron(squares, np.ones((block, block)))[:height, :width]
    return float32(np.roll(blur(float32(whole), 0.6, 0.6), rng.integers(-2, 3, 2), axis=(0, 1)))


def halved(pixels: FloatPixels) -> FloatPixels:
    """H W C averaged to half its size; an odd row or column is left out."""
    height, width, channels = pixels.shape[0] // 2, pixels.shape[1] // 2, pixels.shape[2]
    return float32(pixels[: 2 * height, : 2 * width].reshape(height, 2, width, 2, channels).mean(axis=(1, 3)))


def with_matte(plate: FloatPixels, matte: FloatPixels) -> FloatPixels:
    """H W 3 and H W -> H W 4."""
    return float32(np.concatenate([plate, matte[..., None]], axis=2))
