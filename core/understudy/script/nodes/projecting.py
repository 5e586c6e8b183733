"""The resampler in perspective: a pixel of the new picture covers more of the old one the farther away it is."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.frames.window import Window
from understudy.script.nodes.homography import box_around
from understudy.script.nodes.resample import Places, Resampling, Widths, upright_widths

_FAR = float(1 << 30)
"""Pixels. Nothing of any picture lies there."""


@dataclass(frozen=True, kw_only=True)
class Projecting(Resampling):
    """Each new pixel is read over what it covers by the slopes of the map at its middle.

    The old picture lies before the horizon, all of it.
    """

    there: Window
    """The old picture's data window."""

    @property
    def widths(self) -> tuple[float, float]:
        """At the corner that is farthest away."""
        if self.there.is_empty:
            return 1.0, 1.0
        across, down = self._corner_widths()
        return float(across.max()), float(down.max())

    def window(self, there: Window) -> Window:
        """Each corner is moved outwards as far as the filter reaches there."""
        if there.is_empty:
            return there
        forward, grown = self.back.inverse(), list[tuple[float, float]]()
        for (x, y), across, down in zip(_corners(there), *self._corner_widths(), strict=True):
            out_x, out_y = (self.kernel.radius * float(width) or 0.5 for width in (across, down))
            out_x, out_y = -out_x if x < there.x1 - 1 else out_x, -out_y if y < there.y1 - 1 else out_y
            w, loss = forward.w(x, y), -forward.wx * out_x - forward.wy * out_y
            share = min(1.0, 0.75 * w / loss) if loss > 0 else 1.0  # at the horizon there would be no end
            grown.append(forward.of(x + share * out_x, y + share * out_y))
        left, top, right, bottom = box_around(grown)
        return Window(floor(left), floor(top), ceil(right), ceil(bottom))

    def part(self, region: Window, there: Window) -> Window:
        centres = (region.x0 + 0.5, region.y0 + 0.5, region.x1 - 0.5, region.y1 - 0.5)
        return super().part(region, there) if self.back.nearest_w(*centres) > 0 else there

    def pixels(self, old: FloatPixels, part: Window, region: Window) -> FloatPixels:
        with np.errstate(all="ignore"):  # pixels may hold infinities and not-a-numbers
            return self.one_by_one(old, part, region)

    def read_places(self, columns: Places, rows: Places) -> tuple[Places, Places, Widths, Widths]:
        """What lies beyond the horizon is read far away, where it is black."""
        back, (widest, highest) = self.back, self.widths
        w = back.wx * columns + (back.wy * rows + back.w0)
        x = (back.xx * columns + (back.xy * rows + back.x0)) / w
        y = (back.yx * columns + (back.yy * rows + back.y0)) / w
        across, down = self._widths(x, y, w)
        return (
            np.where(w > 0, np.clip(x, -_FAR, _FAR), -_FAR),
            np.where(w > 0, np.clip(y, -_FAR, _FAR), -_FAR),
            np.where(w > 0, np.minimum(across, widest), 1.0),
            np.where(w > 0, np.minimum(down, highest), 1.0),
        )

    def _widths(self, x: Places, y: Places, w: Places) -> tuple[Places, Places]:
        """Of what is read at these places of the old picture, with that w of the way back."""
        back = self.back
        return upright_widths(
            (back.xx - x * back.wx) / w,
            (back.xy - x * back.wy) / w,
            (back.yx - y * back.wx) / w,
            (back.yy - y * back.wy) / w,
        )

    def _corner_widths(self) -> tuple[Places, Places]:
        """Of the pixels in the old picture's corners, in their order."""
        x, y = np.array(_corners(self.there)).T
        forward = self.back.inverse()
        return self._widths(x, y, 1 / (forward.wx * x + forward.wy * y + forward.w0))


def _corners(window: Window) -> list[tuple[float, float]]:
    """The middles of the pixels in its corners."""
    across, down = (window.x0 + 0.5, window.x1 - 0.5), (window.y0 + 0.5, window.y1 - 0.5)
    return [(x, y) for y in down for x in across]
