"""Weighted sums of pixels.

A few weights are added up one by one: the sums are then the same bit for bit whichever region is asked for. Both ways
infinities and not-a-numbers reach as far as the weights, and no further. OpenImageIO's convolution takes ten times as
long. A product of matrices would be as fast, but starts threads of its own among those that decode.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.frames.image import FloatPixels

Weights: TypeAlias = "NDArray[np.float64]"
"""Rows and columns of numbers."""

_FEW = 64
"""Weights that are added up one by one; for more of them a Fourier transform is faster."""
_NOISE = 1e-12
"""What a Fourier transform leaves where nothing is, as a part of the largest sum there could be."""
_ENDLESS = (np.inf, -np.inf, np.nan)


def as_shares(weights: Weights) -> Weights:
    """Divided by their sum, which must not be 0."""
    shares: Weights = weights / weights.sum()
    return shares


def summed_under(pixels: FloatPixels, weights: Weights) -> FloatPixels:
    """H W C of pixels that are larger by the weights' rows and columns less one: each is the sum of those under the
    weights, whose first row and column lie upon it.
    """
    height, width = pixels.shape[0] - weights.shape[0] + 1, pixels.shape[1] - weights.shape[1] + 1
    if np.count_nonzero(weights) > _FEW:
        return _by_fourier(pixels, weights, height, width)
    out = np.zeros((height, width, pixels.shape[2]), np.float32)  # H W C
    room = np.empty_like(out)
    for y, x in zip(*np.nonzero(weights), strict=True):  # what has no weight does not count, not even an infinity
        np.multiply(pixels[y : y + height, x : x + width], np.float32(weights[y, x]), out=room)
        out += room
    return out


def _by_fourier(pixels: FloatPixels, weights: Weights, height: int, width: int) -> FloatPixels:
    out = np.empty((height, width, pixels.shape[2]), np.float32)  # H W C
    for place in range(pixels.shape[2]):
        plane = pixels[..., place].astype(np.float64)  # H W
        is_plain = np.isfinite(plane)
        sums = _plane_sums(np.where(is_plain, plane, 0.0), weights)
        for value in _ENDLESS if not is_plain.all() else ():
            found = np.isnan(plane) if np.isnan(value) else plane == value
            for sign in (1.0, -1.0) if found.any() else ():
                reached = _plane_sums(found.astype(np.float64), (weights * sign > 0).astype(np.float64)) > 0.5
                sums += np.where(reached, sign * value, 0.0)
        out[..., place] = sums
    return out


def _plane_sums(plane: Weights, weights: Weights) -> Weights:
    """H W, one channel, of finite numbers."""
    axes = [axis for axis in (0, 1) if weights.shape[axis] > 1]
    sides = [_fast_length(plane.shape[axis]) for axis in axes]
    spectrum = np.fft.rfftn(plane, sides, axes)
    spectrum *= np.fft.rfftn(weights[::-1, ::-1], sides, axes)
    sums: Weights = np.fft.irfftn(spectrum, sides, axes)
    sums = sums[weights.shape[0] - 1 : plane.shape[0], weights.shape[1] - 1 : plane.shape[1]]
    sums[np.abs(sums) < _NOISE * np.abs(plane).max() * np.abs(weights).sum()] = 0.0
    return sums


def _fast_length(least: int) -> int:
    """The next number that has no factor but 2, 3 and 5."""
    length = least
    while True:
        rest = length
        for factor in (2, 3, 5):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return length
        length += 1
