"""What glass does to light: glare around what is brighter than white, and a darker rim."""

from __future__ import annotations

import numpy as np

from understudy.demo.filters import blur, sample_bilinear
from understudy.frames.image import FloatPixels

SHRINK = 3
"""Glare is worked out on a picture this many times smaller."""
GLARES = ((0.008, 0.060), (0.030, 0.035), (0.085, 0.014))
"""Gaussian sigma in picture widths, and the part of the light that it takes."""


def glare(pixels: FloatPixels) -> FloatPixels:
    """Light that the bright parts of an H W 3 picture spread over it, H W 3."""
    height, width, _ = pixels.shape
    small = _shrunk(np.maximum(pixels - np.float32(0.5), 0))
    spread = np.zeros_like(small)
    for sigma_widths, part in GLARES:
        sigma = sigma_widths * width / SHRINK
        spread += np.float32(part) * blur(small, sigma, sigma)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    at_x, at_y = (x.ravel() + 0.5) / SHRINK, (y.ravel() + 0.5) / SHRINK
    return sample_bilinear(spread, at_x, at_y).reshape(pixels.shape)


def _shrunk(pixels: FloatPixels) -> FloatPixels:
    height, width, channels = pixels.shape
    padded = np.pad(pixels, ((0, -height % SHRINK), (0, -width % SHRINK), (0, 0)), mode="edge")
    blocks = padded.reshape(padded.shape[0] // SHRINK, SHRINK, padded.shape[1] // SHRINK, SHRINK, channels)
    small: FloatPixels = blocks.mean(axis=(1, 3))
    return small


def vignette(height: int, width: int) -> FloatPixels:
    """Gain of the lens over the picture, H W 1."""
    y = (np.arange(height, dtype=np.float32) + 0.5 - height / 2) / width
    x = (np.arange(width, dtype=np.float32) + 0.5 - width / 2) / width
    squared = y[:, None] ** 2 + x[None, :] ** 2
    return (1 / (1 + 1.3 * squared) ** 2)[..., None].astype(np.float32)
