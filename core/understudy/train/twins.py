"""Whether what stands at a place of a painted frame stands in another one too, wherever it has moved to.

That places look alike on the whole (rarity.py) is not enough. A blemish beside a lamp, in the corner of the last
painted frame, looked like others; withheld as a validation square it was learnt from nowhere, and stayed in the answer
to the very frame that it had been painted out of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from understudy.dataset import DecodedPair, StoredPixels
from understudy.frames.window import Window

MOST_APART = 0.6
"""Squared difference of two places over the deviation within one. The same thing in two frames of a shot has 0 to 0.5,
with grain in it and between whole cells; the nearest of what stands nowhere else has 0.7 to 1.7."""
GRAIN = 0.01
"""Difference that says nothing, where a place is even."""
CELLS = 8
"""A side of a place, at least, when it is compared: the mean of a few pixels each."""
MOST_FRAMES = 4
"""That are searched for each place: the nearest, as subjects come and go."""
SEARCHES = 24
"""After which it is clear whether the frames show different things: of those of a shot most places have twins."""

Place = tuple[int, Window]
"""Of one pair, by its number, in pixels of its arrays."""


class Twins:
    """Searches the painted frames, in frame order, for places of one of them."""

    def __init__(self, pairs: Sequence[DecodedPair]) -> None:
        self._pairs = pairs
        self._reduced: dict[tuple[int, int], Tensor] = {}
        self._num_searched = 0
        self._num_found = 0

    @property
    def are_hopeless(self) -> bool:
        """Whether hardly any are found, as in a set of photographs."""
        return self._num_searched >= SEARCHES and self._num_found < self._num_searched / 4

    def twin(self, place: Place, withheld: Iterable[Place]) -> Place | None:
        """The same thing in another frame; None where it is not found, or lies in what is `withheld`.

        A place's corner lies on whole blocks (crops.BLOCK).
        """
        pair, window = place
        size = 1 << (window.width // CELLS).bit_length() - 1  # of a cell, pixels: 2 to 8 for squares of 16 to 64
        sought = _within(self._small(pair, size), window, size)  # 1 C h w
        others = sorted({*range(len(self._pairs))} - {pair}, key=lambda other: abs(other - pair))
        self._num_searched += 1
        for other in others[:MOST_FRAMES]:
            taken = [window for number, window in withheld if number == other]
            if corner := _found(sought, self._small(other, size), taken, size):
                self._num_found += 1
                return other, Window.of_size(window.width, window.height, *corner)
        return None

    def _small(self, pair: int, size: int) -> Tensor:
        """1 Cin+Cout h w: plate and ground truth, cell by cell."""
        if (pair, size) not in self._reduced:
            sides = (self._pairs[pair].input, self._pairs[pair].target)
            self._reduced[pair, size] = torch.cat([_cells(side, size) for side in sides], dim=1)
        return self._reduced[pair, size]


def _cells(pixels: StoredPixels, size: int) -> Tensor:
    """H W C -> 1 C H/size W/size, about as bright as it looks.

    Four pixels of each cell are looked at: to go over all those of a large set would take seconds.
    """
    some = np.asarray(pixels[size // 4 :: size // 2, size // 4 :: size // 2], np.float32)  # 2h 2w C
    height, width = (length // 2 * 2 for length in some.shape[:2])
    rows = some[0:height:2] + some[1:height:2]
    means = torch.from_numpy((rows[:, 0:width:2] + rows[:, 1:width:2]) / 4)  # h w C
    return torch.copysign(means.abs().log1p_(), means).permute(2, 0, 1)[None]


def _within(cells: Tensor, window: Window, size: int) -> Tensor:
    y, x = window.y0 // size, window.x0 // size
    return cells[:, :, y : y + window.height // size, x : x + window.width // size]


def _found(sought: Tensor, cells: Tensor, taken: Sequence[Window], size: int) -> tuple[int, int] | None:
    """x and y, in pixels, of the place most like what is sought, if it is enough so and touches nothing `taken`."""
    height, width = sought.shape[2:]
    if cells.shape[2] < height or cells.shape[3] < width:
        return None
    squares = cells.square().sum(dim=1, keepdim=True)  # 1 1 h w
    own = functional.avg_pool2d(squares, (height, width), stride=1) * (height * width)
    apart = (own - 2 * functional.conv2d(cells, sought) + sought.square().sum())[0, 0]  # y x
    for window in taken:
        rows = slice(max(0, window.y0 // size - height + 1), -(-window.y1 // size))
        apart[rows, max(0, window.x0 // size - width + 1) : -(-window.x1 // size)] = torch.inf
    deviation = (sought - sought.mean(dim=(2, 3), keepdim=True)).square().sum()
    hundredths = (apart * (100 / (MOST_APART * deviation + GRAIN**2 * sought.numel()))).round()
    if not hundredths.min() <= 100:
        return None
    y, x = divmod(int(hundredths.argmin()), apart.shape[1])  # the first of those: machines round otherwise
    return x * size, y * size
