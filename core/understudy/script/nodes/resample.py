"""The one resampler: the pixels of a picture that an affine map has moved. projecting.py adds perspective.

As in Nuke each pixel is read over an upright rectangle, by one filter across and one down, and never narrower than a
pixel. ImageBufAlgo's warp has not all of Nuke's filters, places pixels by single precision, spreads infinities to
where they count nothing, and takes ten times as long; so numpy does it, along one axis after the other where it can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from understudy.frames.image import FloatPixels
from understudy.frames.window import Window
from understudy.script.nodes.edges import nearest_part
from understudy.script.nodes.homography import Homography
from understudy.script.nodes.kernels import IMPULSE, Kernel

Places = NDArray[np.float64]
Widths = float | Places

_STEPS = float(1 << 20)
"""Places are rounded to this part of a pixel: what should be a whole pixel is one, in spite of sines and products."""
_UPRIGHT = 1e-12
"""A slope below it moves no pixel of any picture by one of those steps."""
_PIXELS_AT_ONCE = 1 << 14
WIDEST = 1024
"""Old pixels a side that may become one. Of a picture that is made smaller still, nothing is seen."""


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """How the pixels of a new picture are made of those of an old one."""

    back: Homography
    """From display coordinates of the new picture to those of the old one; its determinant is not 0."""
    kernel: Kernel
    repeats_edges: bool
    """Whether the old picture's edges go on beyond it; else it is black there."""

    def window(self, there: Window) -> Window:
        """Where the new picture is not black if the old one's pixels are there."""
        if there.is_empty:
            return there
        across, down = (reach or 0.5 + 2 / _STEPS for reach in self._reach)
        left, top, right, bottom = self.back.inverse().bounds(
            there.x0 + 0.5 - across, there.y0 + 0.5 - down, there.x1 - 0.5 + across, there.y1 - 0.5 + down
        )
        first, end = 0.5 + 1 / _STEPS, -0.5 - 1 / _STEPS  # pixels with their middle on the border itself get nothing
        return Window(floor(left + first), floor(top + first), ceil(right + end), ceil(bottom + end))

    def part(self, region: Window, there: Window) -> Window:
        """The old pixels, among those that are there, of which the region's are made; empty where it is black."""
        left, top, right, bottom = self.back.bounds(region.x0 + 0.5, region.y0 + 0.5, region.x1 - 0.5, region.y1 - 0.5)
        across, down = (reach + 0.5 for reach in self._reach)
        needed = Window(floor(left - across), floor(top - down), floor(right + across) + 1, floor(bottom + down) + 1)
        if self.repeats_edges and not there.is_empty:
            return nearest_part(needed, there)
        return needed.intersect(there)

    def pixels(self, old: FloatPixels, part: Window, region: Window) -> FloatPixels:
        """New pixels, H W C of the region; `old`: H W C of the part."""
        back, columns, rows = self.back, _centres(region.x0, region.x1), _centres(region.y0, region.y1)
        wide, high = self.widths
        with np.errstate(all="ignore"):  # pixels may hold infinities and not-a-numbers
            if abs(back.xy) < _UPRIGHT and abs(back.yx) < _UPRIGHT:
                x, y = back.xx * columns + back.x0, back.yy * rows + back.y0
                return _along(_along(old, 0, self._down(y, high, part)), 1, self._across(x, wide, part))
            if abs(back.xx) < _UPRIGHT and abs(back.yy) < _UPRIGHT:
                x, y = back.xy * rows + back.x0, back.yx * columns + back.y0
                turned = old.transpose(1, 0, 2)  # W H C
                return _along(_along(turned, 0, self._across(x, wide, part)), 1, self._down(y, high, part))
            return self.one_by_one(old, part, region)

    @property
    def _reach(self) -> tuple[float, float]:
        """How far from the place that is read pixels still count, across and down."""
        across, down = self.widths
        return self.kernel.radius * across, self.kernel.radius * down

    @property
    def widths(self) -> tuple[float, float]:
        """Old pixels that a new one covers, at least 1; of a slanting one the upright rectangle of the same area.

        Where new ones differ, those of the one that covers most.
        """
        back = self.back
        across, down = upright_widths(*(np.float64(slope) for slope in (back.xx, back.xy, back.yx, back.yy)))
        return float(across), float(down)

    def read_places(self, columns: Places, rows: Places) -> tuple[Places, Places, Widths, Widths]:
        """Where the new pixels at these places, 1 W and H 1, are read: x and y, and their widths; each H W or one."""
        back = self.back
        x, y = back.xx * columns + (back.xy * rows + back.x0), back.yx * columns + (back.yy * rows + back.y0)
        return x, y, *self.widths

    def _across(self, x: Places, width: Widths, part: Window) -> _Taps:
        return _taps(x, width, self.kernel, upwards=True).within(part.x0, part.x1, self.repeats_edges)

    def _down(self, y: Places, width: Widths, part: Window) -> _Taps:
        return _taps(y, width, self.kernel, upwards=False).within(part.y0, part.y1, self.repeats_edges)

    def one_by_one(self, old: FloatPixels, part: Window, region: Window) -> FloatPixels:
        """As `pixels`, whatever the map: each new pixel has a place of its own."""
        columns = _centres(region.x0, region.x1)[None, :]
        planes = np.ascontiguousarray(old.transpose(2, 0, 1)).reshape(old.shape[2], -1)  # C HW
        out = np.empty((region.height, region.width, old.shape[2]), np.float32)  # H W C
        rows_at_once = max(1, _PIXELS_AT_ONCE // region.width)
        for first in range(0, region.height, rows_at_once):
            some = out[first : first + rows_at_once]
            rows = _centres(region.y0 + first, region.y0 + first + len(some))[:, None]
            x, y, wide, high = self.read_places(columns, rows)
            across, down = self._across(x.ravel(), np.ravel(wide), part), self._down(y.ravel(), np.ravel(high), part)
            new = _weighted_sum(partial(_crossed, planes, part.width, across, down))  # C N
            some[:] = new.T.reshape(some.shape)
        return out


@dataclass(frozen=True, kw_only=True)
class _Taps:
    """Old pixels along one axis, and how much each counts: K of them for each of N new ones."""

    places: NDArray[np.int64]
    """K N"""
    weights: FloatPixels
    """K N; what one new pixel is made of comes to 1, or less where some of it is black."""

    def within(self, first: int, end: int, repeats_edges: bool) -> _Taps:
        """Counted from `first`, none before it or from `end` on; without those that count for no pixel."""
        weights = self.weights
        if not repeats_edges and not (self.places.min() >= first and self.places.max() < end):
            weights = np.where((self.places >= first) & (self.places < end), weights, np.float32(0))
        kept = np.flatnonzero(weights.any(axis=1))
        kept = kept if kept.size else np.zeros(1, np.intp)
        return _Taps(places=self.places[kept].clip(first, end - 1) - first, weights=weights[kept])

    def __iter__(self) -> Iterator[tuple[NDArray[np.int64], FloatPixels]]:
        return zip(self.places, self.weights, strict=True)

    @property
    def are_copies(self) -> bool:
        return len(self.weights) == 1 and bool((self.weights == 1).all())


def _centres(first: int, end: int) -> Places:
    return np.arange(first, end, dtype=np.float64) + 0.5


def upright_widths(xx: Places, xy: Places, yx: Places, yy: Places) -> tuple[Places, Places]:
    """Old pixels across and down that a new one covers, by the slopes of the way back; any shape."""
    across, down = np.hypot(xx, xy), np.hypot(yx, yy)
    same_area = np.sqrt(np.abs(xx * yy - xy * yx) / (across * down))
    return np.maximum(1.0, np.round(across * same_area, 9)), np.maximum(1.0, np.round(down * same_area, 9))


def _taps(at: Places, width: Widths, kernel: Kernel, *, upwards: bool) -> _Taps:
    """The pixels that count where a picture is read at these places of an axis; pixel 0 reaches from 0 to 1."""
    centres = np.rint((at - 0.5) * _STEPS) / _STEPS  # the middle of pixel 0 is 0
    if kernel is IMPULSE:  # between two pixels the one to the right or above
        nearest = np.floor(centres + 0.5) if upwards else np.ceil(centres - 0.5)
        return _Taps(places=nearest.astype(np.int64)[None], weights=np.ones((1, len(at)), np.float32))
    reach = kernel.radius * width
    first = np.floor(centres - reach) + 1
    offsets = (first - centres) + np.arange(ceil(2 * np.max(reach)))[:, None]  # K N
    weights = kernel.weight((np.abs(offsets) / width).astype(np.float32))
    weights /= weights.sum(axis=0)
    places: NDArray[np.int64] = first.astype(np.int64) + np.arange(len(weights))[:, None]
    return _Taps(places=places, weights=weights)


def _along(pixels: FloatPixels, axis: int, taps: _Taps) -> FloatPixels:
    """H W C with that axis resampled."""
    if taps.are_copies:
        copied: FloatPixels = pixels.take(taps.places[0], axis=axis)
        return copied

    def shares() -> Iterator[tuple[FloatPixels, FloatPixels]]:
        for places, weights in taps:
            # numpy is slow to multiply three or four numbers by the same one
            by = weights[:, None, None] if axis == 0 else weights.repeat(pixels.shape[2]).reshape(len(weights), -1)
            yield pixels.take(places, axis=axis), by

    return _weighted_sum(shares)


def _crossed(planes: FloatPixels, width: int, across: _Taps, down: _Taps) -> Iterator[tuple[FloatPixels, FloatPixels]]:
    """Old pixels, C N, and how much each counts, N; `planes`: C HW of pictures so wide."""
    for row, by_row in down:
        for column, by_column in across:
            yield planes.take(row * width + column, axis=1), by_row * by_column


def _weighted_sum(shares: Callable[[], Iterable[tuple[FloatPixels, FloatPixels]]]) -> FloatPixels:
    """Values times weights, added up; a value that counts nothing is left out, even an infinity or not-a-number."""
    total = _added(values * weights for values, weights in shares())
    if np.isfinite(total).all():
        return total
    return _added(np.where(weights == 0, np.float32(0), values * weights) for values, weights in shares())


def _added(parts: Iterable[FloatPixels]) -> FloatPixels:
    rest = iter(parts)
    total: FloatPixels = next(rest)
    for part in rest:
        total += part
    return total
