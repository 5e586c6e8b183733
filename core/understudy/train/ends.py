"""How a picture goes on past its ends, in training and ever after: mirrored, its outermost pixels twice.

Beyond what the network is given its layers see zeros. In crops these lie next to anything, at the end of a frame always
next to the same few rows, which crops within the frame hardly ever hold: mattes had spots there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from understudy.frames.window import Window

BEYOND = 16
"""Pixels by which a crop may hang over its frame, and by which a whole picture is carried on for the network."""

Number = TypeVar("Number", bound=np.generic)


def part_of(pixels: NDArray[Number], window: Window) -> NDArray[Number]:
    """H W or H W C pixels -> those in the window, h w or h w C: a view, or a copy where it hangs over."""
    rows = _places(window.y0, window.y1, pixels.shape[0])
    columns = _places(window.x0, window.x1, pixels.shape[1])
    # in this order nothing outside the window is copied, but for what lies beside a corner
    return pixels[:, columns][rows] if isinstance(columns, slice) else pixels[rows].take(columns, 1)


def _places(first: int, end: int, size: int) -> slice | NDArray[np.int64]:
    """Of rows or columns."""
    return slice(first, end) if first >= 0 and end <= size else _turned_back(first, end, size)


@lru_cache(maxsize=256)
def _turned_back(first: int, end: int, size: int) -> NDArray[np.int64]:
    places: NDArray[np.int64] = mirrored(first, end, size, torch.device("cpu")).numpy()
    return places


def carried_on(picture: Tensor, beyond: int = BEYOND) -> Tensor:
    """N C H W -> N C H+2*beyond W+2*beyond."""
    height, width = picture.shape[2], picture.shape[3]
    rows = mirrored(-beyond, height + beyond, height, picture.device)
    columns = mirrored(-beyond, width + beyond, width, picture.device)
    return picture.index_select(2, rows).index_select(3, columns)


def without_ends(picture: Tensor, beyond: int = BEYOND) -> Tensor:
    """What `carried_on` has added taken away: N C H+2*beyond W+2*beyond -> N C H W."""
    height, width = picture.shape[2] - 2 * beyond, picture.shape[3] - 2 * beyond
    return picture.narrow(2, beyond, height).narrow(3, beyond, width)


def mirrored(first: int, end: int, size: int, device: torch.device) -> Tensor:
    """The rows of a picture, 0 to before `size`, that stand at the places from `first` to before `end`."""
    places = torch.arange(first, end, device=device)
    return turned_back(places, torch.zeros_like(places) + size)  # by a number of unknown size ONNX cannot divide


def turned_back(places: Tensor, sizes: Tensor) -> Tensor:
    """The rows of pictures, 0 to before `sizes`, that stand at places inside or beyond."""
    turns = 2 * sizes
    places = torch.remainder(places, turns)
    return torch.min(places, turns - 1 - places)
