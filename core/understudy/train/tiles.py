"""Parts of a frame that the network can be given one by one, and still answer as if it had seen the whole frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from torch import nn

from understudy.frames.window import Window
from understudy.train.ends import BEYOND
from understudy.train.network import Understudy

MOVE = 5
"""Pixels right and down by which each pass moves the network's grid: odd, so that no level of it falls as before."""

Spans = list[tuple[int, int]]
"""Beginnings and ends of rows or of columns, half open."""


@dataclass(frozen=True, kw_only=True)
class Tiling:
    """How frames are cut up for one network."""

    multiple: int
    """Pixels: the network's coarsest step. What it is given must begin at a multiple of it; BEYOND is one."""
    halo: int
    """Pixels of surroundings that a part needs on every side; a multiple of `multiple`."""
    most_pixels: int
    """That are given to the network at once; 0: whole frames."""
    passes: int = 1
    """Answers of which the mean is taken, each with the network's grid at another place of the frame."""

    def parts(self, width: int, height: int) -> tuple[Window, ...]:
        """Windows that cover the frame once, row by row; `seen` says what is computed for each.

        Of all grids whose parts stay below `most_pixels` it is the one with the least to compute.
        """
        columns, rows = self._grid(width, height)
        return tuple(Window(x0, y0, x1, y1) for y0, y1 in rows for x0, x1 in columns)

    def seen(self, part: Window, width: int, height: int, number: int = 0) -> Window:
        """What the network must be given so that its answer within `part` is that of the whole frame, in that pass.

        It hangs over the frame by BEYOND pixels where it reaches that far; before the frame, where the grid begins, by
        as many fewer as that is moved.
        """
        move = self._moves[number]
        x0, x1 = self._stretch(part.x0, part.x1, width, move)
        y0, y1 = self._stretch(part.y0, part.y1, height, move)
        return Window(x0, y0, x1, y1)

    def work(self, width: int, height: int) -> float:
        """Pixels computed for a pixel of the frame in a pass: hardly more than 1 without tiles."""
        columns, rows = self._grid(width, height)
        return sum(self._lengths(columns, width)) * sum(self._lengths(rows, height)) / (width * height)

    def _grid(self, width: int, height: int) -> tuple[Spans, Spans]:
        """Columns and rows."""
        columns, rows = [(0, width)], [(0, height)]
        pixels = self._lengths(columns, width)[0] * self._lengths(rows, height)[0]
        if not self.most_pixels or pixels <= self.most_pixels:
            return columns, rows
        smallest = self._cut(width, self.multiple), self._cut(height, self.multiple)
        grids = list(self._grids(width, height)) or [smallest]
        return min(grids, key=lambda grid: sum(self._lengths(grid[0], width)) * sum(self._lengths(grid[1], height)))

    def _grids(self, width: int, height: int) -> Iterator[tuple[Spans, Spans]]:
        """For every width of a column the fewest rows that are allowed."""
        for part_width in dict.fromkeys(self._share(width, count) for count in range(1, width // self.multiple + 2)):
            columns = self._cut(width, part_width)
            tallest = self.most_pixels // max(self._lengths(columns, width))
            around = 2 * self.halo + (self.multiple if self.passes > 1 else 0)  # parts begin on the first pass's grid
            within = (tallest - around) // self.multiple * self.multiple
            enough = -(-height // within) if within > 0 else 2
            for count in range(max(1, enough - 2), enough + 1):  # at the frame's ends the halo is short
                rows = self._cut(height, self._share(height, count))
                if max(self._lengths(rows, height)) <= tallest:
                    yield columns, rows
                    break

    def _share(self, size: int, count: int) -> int:
        """The side divided by `count`, up to a multiple."""
        return -(-size // (count * self.multiple)) * self.multiple

    def _cut(self, size: int, length: int) -> Spans:
        return list(pairwise([*range(0, size, length), size]))

    def _lengths(self, spans: Spans, size: int) -> list[int]:
        """Of what must be seen for each, in the pass that sees most."""
        seen = [[self._stretch(*span, size, move) for move in self._moves] for span in spans]
        return [max(end - first for first, end in stretches) for stretches in seen]

    @property
    def _moves(self) -> list[int]:
        """Of the grid in each pass, in pixels."""
        return [number * MOVE % self.multiple for number in range(self.passes)]

    def _stretch(self, first: int, end: int, size: int, move: int) -> tuple[int, int]:
        aligned = (first - move) // self.multiple * self.multiple + move
        aligned_end = -((move - end) // self.multiple) * self.multiple + move
        return max(move - BEYOND, aligned - self.halo), min(size + BEYOND, aligned_end + self.halo)


def tiling_for(model: Understudy, most_pixels: int, passes: int = 1) -> Tiling:
    multiple: int = model.unet.multiple
    halo = -(-reach_of(model) // multiple) * multiple
    return Tiling(multiple=multiple, halo=halo, most_pixels=most_pixels, passes=passes)


def reach_of(model: Understudy) -> int:
    """How many pixels beyond a square of the network's coarsest grid its answer there can depend on; from the layers.

    Followed backwards: what a layer's answer over a span needs of what the layer is given.
    """
    unet = model.unet
    last: int = unet.multiple - 1
    wanted = _needed((0, last), model.leave)
    joined: list[tuple[int, int]] = []  # what is needed of each level's skip and of what comes up to it, finest first
    for up in reversed(unet.up):
        joined.append(_needed(wanted, up))
        wanted = joined[-1][0] // 2, joined[-1][1] // 2  # every coarse pixel stands for two
    for skip, down in zip(reversed(joined), reversed(unet.down), strict=True):
        below = _needed(wanted, down)
        wanted = min(skip[0], below[0]), max(skip[1], below[1])
    first, end = _needed(wanted, unet.enter)
    return max(-first, end - last)


def _needed(span: tuple[int, int], layers: nn.Module) -> tuple[int, int]:
    """Of what the layers are given, for their answer over the span; here both ends count."""
    first, last = span
    for conv in reversed([layer for layer in layers.modules() if isinstance(layer, nn.Conv2d)]):
        stride, padding, kernel = int(conv.stride[0]), int(conv.padding[0]), int(conv.kernel_size[0])
        first, last = first * stride - padding, last * stride - padding + kernel - 1
    return first, last
