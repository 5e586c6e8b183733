"""The one measure of closeness that training, reports, demo and benchmarks share."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.frames.image import FloatPixels
from understudy.frames.kinds import is_colour

LEAST_ERROR = 1e-12
"""Mean squared error of pictures called equal: 120 dB."""


class PooledPsnr:
    """Peak signal-to-noise ratio in dB, peak 1, over the pixels of any number of pictures together.

    Colour channels are clamped to 0..1 and sRGB-encoded first, as an eye would see them; mattes and data stay linear.
    """

    def __init__(self, channels: Sequence[str]) -> None:
        self._colour = [index for index, name in enumerate(channels) if is_colour(name)]
        self._squared = 0.0
        self._count = 0

    def add(self, answer: FloatPixels, truth: FloatPixels, valid: NDArray[np.bool_] | None = None) -> None:
        """Two pictures H W C, and which of their pixels H W count (None: all)."""
        error = self._seen(answer) - self._seen(truth)
        kept = error if valid is None else error[valid]
        self._squared += float(np.square(kept, dtype=np.float64).sum())
        self._count += kept.size

    def decibels(self) -> float:
        return -10 * math.log10(max(self._squared / max(self._count, 1), LEAST_ERROR))

    def _seen(self, pixels: FloatPixels) -> FloatPixels:
        seen = np.array(pixels, np.float32)  # H W C, a copy
        seen[..., self._colour] = srgb_encoded(seen[..., self._colour])
        return seen


def srgb_encoded(linear: FloatPixels) -> FloatPixels:
    """Clamp to 0..1 and apply the sRGB curve."""
    clamped = np.clip(linear, 0.0, 1.0)
    return np.where(clamped <= 0.0031308, 12.92 * clamped, 1.055 * clamped ** (1 / 2.4) - 0.055).astype(np.float32)
