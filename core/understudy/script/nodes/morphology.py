"""Filters that choose among pixels: Dilate (in Nuke's menu: Erode (fast)), FilterErode (Erode (filter)), Median."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.graph import Node
from understudy.script.knobs import Knob, Pair, bool_knob, channels_knob, enum_knob, knob_error, pair_knob
from understudy.script.nodes.base import Request, Tree
from understudy.script.nodes.filters import MAX_REACH, Around, FilterNode, Line, Reach, too_far
from understudy.script.nodes.pixels import INPUT_MASK, OWN_MASK, RGB, PixelNode
from understudy.script.values.moment import Moment

GROWN_BY = pair_knob("size", (0.0, 0.0), parts=("w", "h"))
SHRUNK_BY = pair_knob("size", (1.0, 1.0), parts=("w", "h"))
MEDIAN_SIZE = pair_knob("size", (3.0, 3.0), parts=("w", "h"))
BOX_FILTER = enum_knob("filter", ("box", "triangle", "quadratic", "gaussian"), "box")
IGNORE_TOP_LINE = bool_knob("ignore_top_line", True)
ALPHA_AT_LEAST = channels_knob("channels", "alpha")

_WIDEST_MEDIAN: Final = 16
_AT_ONCE: Final = 1 << 22
"""Numbers that are sorted at once."""


class Dilate(FilterNode):
    """The brightest pixel of a rectangle that reaches so far to each side; of a negative size the darkest."""

    names = ("Dilate",)
    page = "filter_nodes/erode_fast.html"
    size_knob: Knob[Pair] = GROWN_BY
    knobs = (*PixelNode.knobs, GROWN_BY)

    def spread(self, node: Node, moment: Moment) -> Pair:
        """By how many pixels what is bright grows across and down; negative: what is dark."""
        width, height = self.size_knob.of(node, moment)
        if width % 1 or height % 1:  # Nuke's takes whole steps, but which way it rounds is not published
            raise knob_error(node, self.size_knob.name, f"is {width:g} {height:g}, and it takes whole pixels; round it")
        return width, height

    def reach(self, tree: Tree, node: Node, moment: Moment) -> Reach:
        del tree
        far = [abs(size) for size in self.spread(node, moment)]
        if max(far) > MAX_REACH:
            raise too_far(node, self.size_knob.name, max(far))
        return Reach.of(*(int(np.ceil(size)) for size in far))

    def growth(self, tree: Tree, node: Node, moment: Moment) -> Reach:
        del tree
        return Reach.of(*(int(np.ceil(max(size, 0.0))) for size in self.spread(node, moment)))

    def filtered(self, tree: Tree, node: Node, request: Request, around: Around) -> FloatPixels:
        across, down = self.spread(node, tree.moment(request.frame))
        return around.separately(_grown(down), _grown(across))


class FilterErode(Dilate):
    """The darkest pixel of a rectangle; of a negative size the brightest. Sizes between two are a mix of both."""

    names = ("FilterErode",)
    page = "filter_nodes/erode_filter.html"
    size_knob = SHRUNK_BY
    # The page says that new ones take no channel, but public scripts that leave the knob out rely on alpha at least.
    channels_knob = ALPHA_AT_LEAST
    channels_default_is_known = False
    knobs = (*PixelNode.knobs, SHRUNK_BY)
    still = (ALPHA_AT_LEAST, OWN_MASK, INPUT_MASK)
    fixed = (*FilterNode.fixed, BOX_FILTER)

    def spread(self, node: Node, moment: Moment) -> Pair:
        width, height = self.size_knob.of(node, moment)
        return -width, -height


class Median(FilterNode):
    """The middle value of the square around each pixel: 2 * size + 1 on each side."""

    names = ("Median",)
    page = "filter_nodes/median.html"
    channels_knob = RGB
    channels_default_is_known = False
    knobs = (*PixelNode.knobs, MEDIAN_SIZE)
    still = (RGB, OWN_MASK, INPUT_MASK, IGNORE_TOP_LINE)

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        if IGNORE_TOP_LINE.of(node, tree.moment(None)):
            raise knob_error(node, IGNORE_TOP_LINE.name, "is on where it is left out, as before 6.2; set it to false")

    def reach(self, tree: Tree, node: Node, moment: Moment) -> Reach:
        del tree
        size = MEDIAN_SIZE.of(node, moment)
        if any(side % 1 or side < 0 for side in size):
            raise knob_error(node, MEDIAN_SIZE.name, f"is {size[0]:g} {size[1]:g}; make it whole, and 0 or more")
        if max(size) > _WIDEST_MEDIAN:
            raise too_far(node, MEDIAN_SIZE.name, max(size), _WIDEST_MEDIAN)
        return Reach.of(int(size[0]), int(size[1]))

    def growth(self, tree: Tree, node: Node, moment: Moment) -> Reach:
        """Beyond a straight edge most of the square is black."""
        del tree, node, moment
        return Reach.of(0, 0)

    def filtered(self, tree: Tree, node: Node, request: Request, around: Around) -> FloatPixels:
        del tree, node, request
        sides = (2 * around.reach.up + 1, 2 * around.reach.left + 1)
        squares = np.lib.stride_tricks.sliding_window_view(around.whole(), sides, axis=(0, 1))  # H W C, rows, columns
        count = sides[0] * sides[1]
        out = np.empty(squares.shape[:3], np.float32)
        rows = max(1, _AT_ONCE // (out[0].size * count))
        for first in range(0, len(out), rows):
            values = squares[first : first + rows].reshape(-1, count)
            ranked = np.partition(values, count // 2, axis=1)  # not-a-numbers come last
            out[first : first + rows] = ranked[:, count // 2].reshape(-1, *out.shape[1:])
        return out


def _grown(size: float) -> Line:
    """Along one axis: bright for positive sizes, dark for negative ones."""
    choose, far = (np.maximum if size > 0 else np.minimum), abs(size)
    if not far % 1:
        return partial(_extreme, radius=int(far), choose=choose)

    def between(pixels: FloatPixels) -> FloatPixels:
        inner = _extreme(pixels[1:-1], int(far), choose)
        outer = _extreme(pixels, int(far) + 1, choose)
        mixed: FloatPixels = inner * np.float32(1 - far % 1) + outer * np.float32(far % 1)
        return mixed

    return between


def _extreme(pixels: FloatPixels, radius: int, choose: np.ufunc) -> FloatPixels:
    """Rows less 2 * radius: the extreme of as many rows, found of spans that double."""
    have, wanted = 1, 2 * radius + 1
    while have < wanted:
        step = min(have, wanted - have)
        longer: FloatPixels = choose(pixels[: len(pixels) - step], pixels[step:])
        pixels, have = longer, have + step
    return pixels
