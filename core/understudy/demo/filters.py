"""Array helpers that the textures, the lens and the grain share: noise, blur, edges, sampling."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from understudy.frames.image import FloatPixels


def float32(values: npt.ArrayLike) -> FloatPixels:
    """Values as single floats, copied only if they are not."""
    return np.asarray(values, np.float32)


def smooth_noise(rng: np.random.Generator, shape: tuple[int, int], cell: float, octaves: int) -> FloatPixels:
    """Fractal value noise, H W, about 0.5 and mostly within 0..1; `cell` is the largest grain in pixels."""
    total = np.zeros(shape, np.float32)
    weight, weights = 1.0, 0.0
    for octave in range(octaves):
        total += np.float32(weight) * _lattice_noise(rng, shape, cell / 2**octave)
        weights += weight
        weight *= 0.5
    return float32(0.5 + (total / np.float32(weights) - 0.5) * np.float32(1.6))


def _lattice_noise(rng: np.random.Generator, shape: tuple[int, int], cell: float) -> FloatPixels:
    cell = max(cell, 1.0)
    lattice = rng.random((int(shape[0] / cell) + 3, int(shape[1] / cell) + 3), np.float32)
    rows, row_part = _lattice_place(shape[0], cell)
    columns, column_part = _lattice_place(shape[1], cell)
    down = lattice[rows] + (lattice[rows + 1] - lattice[rows]) * row_part[:, None]  # H lattice columns
    across: FloatPixels = down[:, columns] + (down[:, columns + 1] - down[:, columns]) * column_part  # H W
    return across


def _lattice_place(length: int, cell: float) -> tuple[npt.NDArray[np.intp], FloatPixels]:
    place = (np.arange(length) + 0.5) / cell
    whole = np.floor(place).astype(np.intp)
    return whole, smoothstep(0.0, 1.0, (place - whole).astype(np.float32))


def smoothstep(low: float, high: float, values: FloatPixels) -> FloatPixels:
    """0 at `low` and 1 at `high` (which may be the smaller), smooth between."""
    part = np.clip((values - np.float32(low)) / np.float32(high - low), 0, 1)
    return float32(part * part * (3 - 2 * part))


def blur(pixels: FloatPixels, sigma_y: float, sigma_x: float) -> FloatPixels:
    """Gaussian blur of H W or H W C over rows and columns; sigmas in pixels, borders repeated."""
    for axis, sigma in ((0, sigma_y), (1, sigma_x)):
        if sigma > 0:
            pixels = _blur_axis(pixels, sigma, axis)
    return pixels


def _blur_axis(pixels: FloatPixels, sigma: float, axis: int) -> FloatPixels:
    reach = int(np.ceil(3 * sigma))
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    weights /= weights.sum()
    pads = [(reach, reach) if each == axis else (0, 0) for each in range(pixels.ndim)]
    padded = np.moveaxis(np.pad(pixels, pads, mode="edge"), axis, 0)
    length = pixels.shape[axis]
    total = np.zeros_like(padded[:length])
    for start, weight in enumerate(weights):
        total += np.float32(weight) * padded[start : start + length]
    return np.moveaxis(total, 0, axis)


def luminance(pixels: FloatPixels) -> FloatPixels:
    """Rec. 709 luminance of H W 3, as H W."""
    return pixels @ np.array([0.2126, 0.7152, 0.0722], np.float32)


def sample_bilinear(texels: FloatPixels, x: FloatPixels, y: FloatPixels) -> FloatPixels:
    """Values of an H W C texture at N texel coordinates (0.5 is the first texel's centre), as N C; edges repeated."""
    height, width, channels = texels.shape
    x0, x_part = _texel(x, width)
    y0, y_part = _texel(y, height)
    flat = texels.reshape(-1, channels)
    corner = y0 * width + x0
    low = flat[corner]
    low += (flat[corner + 1] - low) * x_part
    high = flat[corner + width]
    high += (flat[corner + width + 1] - high) * x_part
    low += (high - low) * y_part
    return float32(low)


def _texel(place: FloatPixels, length: int) -> tuple[npt.NDArray[np.intp], FloatPixels]:
    place = np.clip(place - np.float32(0.5), 0, length - 1.001)
    whole = place.astype(np.intp)
    return whole, (place - whole).astype(np.float32)[:, None]
