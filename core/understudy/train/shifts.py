"""Crops moved by parts of a pixel: few painted frames show an edge in few of the places that it has between pixels.

Light and coverage blend alike, so that a plate and its matte stay true to each other. Between pixels is interpolated by
cubics: straight lines blur, and made mattes worse than they are without this.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

REACH = 2
"""Pixels to each side of a pixel that may be part of what is put in its place."""


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
