"""Defocus: an even disc around each pixel.

`defocus` is the radius of the disc in pixels: public gizmos that put a Convolve or ZDefocus in its place give it half
the width of their filter. `ratio` makes it wider and not higher, `scale` does both. Each pixel of the disc weighs as
much as of it lies within the circle: `quality` and `method` are how near Nuke comes to that, and have no part here.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.graph import Node
from understudy.script.knobs import float_knob, knob_error, pair_knob
from understudy.script.nodes.base import Request, Tree
from understudy.script.nodes.filters import Around, FilterNode, Reach, too_far
from understudy.script.nodes.pixels import PixelNode
from understudy.script.nodes.sums import Weights, as_shares, summed_under
from understudy.script.values.moment import Moment

RADIUS = float_knob("defocus", 1.0)
RATIO = float_knob("ratio", 1.0)
SCALE = pair_knob("scale", (1.0, 1.0), parts=("w", "h"))

_MAX_RADIUS = 1024
_THINNEST = 1e-3
"""Pixels. Any radius below half a pixel means that only the middle row or column counts."""


class Defocus(FilterNode):
    names = ("Defocus",)
    page = "filter_nodes/defocus.html"
    knobs = (*PixelNode.knobs, RADIUS, RATIO, SCALE)

    def reach(self, tree: Tree, node: Node, moment: Moment) -> Reach:
        del tree
        height, width = self._disc(node, moment).shape
        return Reach.of(width // 2, height // 2)

    def filtered(self, tree: Tree, node: Node, request: Request, around: Around) -> FloatPixels:
        return summed_under(around.whole(), self._disc(node, tree.moment(request.frame)))

    def _disc(self, node: Node, moment: Moment) -> Weights:
        radius, ratio, scale = RADIUS.of(node, moment), RATIO.of(node, moment), SCALE.of(node, moment)
        for knob, value in ((RADIUS, radius), (RATIO, ratio), (SCALE, min(scale))):
            if value < 0:
                raise knob_error(node, knob.name, f"is {value:g}; make it 0 or more")
        across, down = radius * ratio * scale[0], radius * scale[1]
        if max(across, down) > _MAX_RADIUS:
            raise too_far(node, RADIUS.name, max(across, down), _MAX_RADIUS)
        return disc_weights(across, down)


@lru_cache(maxsize=64)
def disc_weights(across: float, down: float) -> Weights:
    """An odd number of rows and columns, which add up to 1, of a disc with these radii in pixels."""
    across, down = max(across, _THINNEST), max(down, _THINNEST)
    far_x, far_y = int(np.ceil(across - 0.5)), int(np.ceil(down - 0.5))
    x = np.arange(-far_x - 0.5, far_x + 1)[None, :] / across  # 1 W, edges of pixels in radii
    y = np.arange(-far_y - 0.5, far_y + 1)[:, None] / down  # H 1
    return as_shares(np.clip(np.diff(np.diff(_area_to(x, y), axis=0), axis=1), 0.0, None))


def _area_to(x: Weights, y: Weights) -> Weights:
    """The area that a circle of radius 1 shares with the rectangle from its middle to each point; signed."""
    right, top = np.minimum(np.abs(x), 1.0), np.minimum(np.abs(y), 1.0)
    knee = np.minimum(np.sqrt(1 - top**2), right)  # up to here the rectangle's top lies within the circle
    area: Weights = knee * top + _area_below_arc(right) - _area_below_arc(knee)
    return np.sign(x) * np.sign(y) * area


def _area_below_arc(x: Weights) -> Weights:
    """Of the circle's upper right quarter, up to x."""
    area: Weights = (x * np.sqrt(1 - x**2) + np.arcsin(x)) / 2
    return area
