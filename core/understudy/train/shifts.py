"""Crops moved by parts of a pixel: few painted frames show an edge in few of the places that it has between pixels.

Light and coverage blend alike, so that a plate and its matte stay true to each other. Between pixels is interpolated by
cubics: straight lines blur, and made mattes worse than they are without this.

Crops that are gathered are moved where they are cut out, one by one; those that a GPU cuts out, there, all at once.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from understudy.frames.image import FloatPixels

REACH = 2
"""Pixels to each side of a pixel that may be part of what is put in its place."""
STEEP = -0.75
"""Of the cubics, as of PyTorch's."""


def moved(
    pixels: NDArray[np.float16 | np.float32], shift: tuple[float, float], ends: tuple[float, float]
) -> FloatPixels:
    """What stands `shift` further down and right: h+2*REACH w+2*REACH C scene-linear -> h w C.

    No darker or brighter than `ends`, between which all of the frame lies that is not black.
    """
    height, width, channels = pixels.shape
    scene = torch.from_numpy(np.require(pixels, requirements="W")).float().numpy()  # NumPy takes twice as long for half
    rows = _between(scene.reshape(height, width * channels), shift[0], 1)
    both = _between(rows.T, shift[1], channels).T
    np.clip(both, min(ends[0], 0.0), max(ends[1], 0.0), out=both)
    crop: FloatPixels = both.reshape(height - 2 * REACH, width - 2 * REACH, channels)
    return crop


def all_count(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where all that a pixel of `moved` is made of counts: h+2*REACH w+2*REACH -> h w."""
    firsts, (height, width) = range(2 * REACH + 1), mask.shape
    rows = np.logical_and.reduce([mask[first : first + height - 2 * REACH] for first in firsts])
    both: NDArray[np.bool_] = np.logical_and.reduce([rows[:, first : first + width - 2 * REACH] for first in firsts])
    return both


def _between(lines: FloatPixels, part: float, step: int) -> FloatPixels:
    """`lines` moved on by `part` of a pixel, which is `step` of them; without the first and last REACH pixels."""
    whole = math.floor(part)
    past = part - whole
    count, first = len(lines) - 2 * REACH * step, (REACH + whole - 1) * step
    mean = _cubic(1 + past) * lines[first : first + count]
    scratch = np.empty_like(mean)
    for number, distance in enumerate((past, 1 - past, 2 - past), start=1):
        begin = first + number * step
        mean += np.multiply(lines[begin : begin + count], _cubic(distance), out=scratch)
    return mean


def _cubic(distance: float) -> float:
    """How much a pixel so far away, 0 to 2, counts."""
    if distance <= 1:
        return ((STEEP + 2) * distance - (STEEP + 3)) * distance**2 + 1
    return STEEP * (((distance - 5) * distance + 8) * distance - 4)


def shifted(pixels: Tensor, shifts: Tensor) -> Tensor:
    """What stands `shifts` further down and right: N C H W scene-linear -> the same, float32 at least.

    No darker or brighter than what each channel of a crop holds. `shifts`: N 2, rows and columns, -0.5 to 0.5; a crop
    with none stays as it is. What is beyond a crop is taken for what lies at its border.
    """
    pixels = pixels.to(torch.promote_types(pixels.dtype, torch.float32))
    least, most = pixels.amin((2, 3), keepdim=True), pixels.amax((2, 3), keepdim=True)  # N C 1 1
    places = _places(pixels.shape[2], pixels.shape[3], shifts.to(pixels))
    moved = functional.grid_sample(pixels, places, mode="bicubic", padding_mode="border", align_corners=False)
    moved = torch.minimum(torch.maximum(moved, least), most)
    return torch.where(_is_moved(shifts), moved, pixels).contiguous(memory_format=torch.channels_last)


def still_valid(valid: Tensor, shifts: Tensor) -> Tensor:
    """N 1 H W of 0 and 1, float32 at least: in crops that are moved, where all that a pixel is made of counts."""
    valid = valid.to(torch.promote_types(valid.dtype, torch.float32))
    side = 2 * REACH + 1
    all_count = -functional.max_pool2d(-valid, side, stride=1, padding=REACH)  # N 1 H W
    return torch.where(_is_moved(shifts), all_count, valid)


def _is_moved(shifts: Tensor) -> Tensor:
    """N 1 1 1."""
    return shifts.ne(0).any(dim=1)[:, None, None, None]


def _places(height: int, width: int, shifts: Tensor) -> Tensor:
    """N H W 2 as grid_sample wants them, across and down: -1 and 1 are the outer sides of the border's pixels."""
    rows, columns = (
        (torch.arange(size, device=shifts.device, dtype=shifts.dtype) + 0.5 + shifts[:, axis, None]) * (2 / size) - 1
        for axis, size in enumerate((height, width))
    )  # N H, N W
    across = columns[:, None].expand(-1, height, -1)
    return torch.stack((across, rows[..., None].expand(-1, -1, width)), dim=-1)
