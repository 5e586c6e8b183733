"""Crops moved by parts of a pixel: few painted frames show an edge in few of the places that it has between pixels.

Light and coverage blend alike, so that a plate and its matte stay true to each other. Between pixels is interpolated by
cubics: straight lines blur, and made mattes worse than they are without this.

Crops are cut out with REACH pixels more on each side and moved several at once, as an operation takes longer to begin
than to go over one of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

REACH = 2
"""Pixels to each side of a pixel that may be part of what is put in its place."""
STEEP = -0.75
"""Of the cubics."""


def cubics(shifts: Sequence[tuple[float, float]]) -> Tensor:
    """How much each of the pixels beside one counts in its place: N shifts -> N 2 2*REACH+1, of rows and of columns.

    What is seen then stands so much further down and right: -0.5 to 0.5 pixels.
    """
    places = range(-REACH, REACH + 1)
    weights = [[[_cubic(abs(place - shift)) for place in places] for shift in both] for both in shifts]
    return torch.from_numpy(np.array(weights, np.float32))


def moved(pixels: Tensor, weights: Tensor, ends: Tensor) -> Tensor:
    """N C H+2*REACH W+2*REACH scene-linear -> N C H W, float32 at least; by `cubics` of no shift exactly as it is.

    `weights`: `cubics`. `ends`: N 2, the least and the greatest value of each frame, which nothing gets beyond.
    """
    scene = pixels.to(torch.promote_types(pixels.dtype, torch.float32))
    both = _mean(_mean(scene, weights[:, 0], 2), weights[:, 1], 3)
    least, greatest = ends.to(scene)[..., None, None, None].unbind(dim=1)  # N 1 1 1 each
    torch.maximum(both, least, out=both)  # clamp_, of ends that are tensors, takes six times as long
    return torch.minimum(both, greatest, out=both)


def all_count(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where all that a pixel of `moved` is made of counts: h+2*REACH w+2*REACH -> h w."""
    firsts, (height, width) = range(2 * REACH + 1), mask.shape
    rows = np.logical_and.reduce([mask[first : first + height - 2 * REACH] for first in firsts])
    both: NDArray[np.bool_] = np.logical_and.reduce([rows[:, first : first + width - 2 * REACH] for first in firsts])
    return both


def _cubic(distance: float) -> float:
    """How much a pixel so far away counts. Number by number, of which there are too few for arrays to be quicker."""
    if distance <= 1:
        return ((STEEP + 2) * distance - (STEEP + 3)) * distance**2 + 1
    return STEEP * (((distance - 5) * distance + 8) * distance - 4) if distance < 2 else 0.0


def _mean(pixels: Tensor, weights: Tensor, axis: int) -> Tensor:
    """Of every pixel and those beside it on that axis, by N 2*REACH+1 weights; without the first and last REACH."""
    size = pixels.shape[axis] - 2 * REACH
    first, *others = weights.to(pixels)[..., None, None, None].unbind(dim=1)  # N 1 1 1 each
    mean = pixels.narrow(axis, 0, size) * first
    for begin, weight in enumerate(others, start=1):
        mean.addcmul_(pixels.narrow(axis, begin, size), weight)
    return mean
