"""Blur, Laplacian, which is what a blur takes away, and Sharpen, which adds it.

How wide the filters are: a box of odd size covers just so many pixels, and its outer edge fades in for sizes in between
(DD::Image::Blur in Nuke's developer kit). Triangle and quadratic are the box over itself, twice and three times. The
gaussian is cut off where the quadratic ends, at 1.5 times the size, and its standard deviation is the size over 2.4:
that is how Natron matches Nuke's, which publishes no number. Nuke's `quality` scales pictures down to save time; here
every size is computed in full, and the knob has no part.

Nuke's page says of Sharpen that it uses the Laplacian. Natron takes `amount` times the Laplacian away from the picture,
and so does what artists build in its place. Where the size is left out it is 1 by that page and 3 in Natron, and public
scripts write neither. As they do write `channels` rgb, and rgba, what is left out is all. Of `minimum` and `maximum` no
more than their defaults is known.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.graph import Node
from understudy.script.knobs import Knob, Pair, bool_knob, enum_knob, float_knob, knob_error, pair_knob
from understudy.script.nodes.base import Request, Tree
from understudy.script.nodes.filters import MAX_REACH, Around, FilterNode, Reach, too_far
from understudy.script.nodes.pixels import ALL, INPUT_MASK, OWN_MASK, RGB, PixelNode
from understudy.script.nodes.sums import Weights, as_shares, summed_under
from understudy.script.values.moment import Moment

SIZE = pair_knob("size", (0.0, 0.0), parts=("w", "h"))
LAPLACIAN_SIZE = pair_knob("size", (3.0, 3.0), parts=("w", "h"))
FILTER = enum_knob("filter", ("box", "triangle", "quadratic", "gaussian"), "gaussian")
CROP_TO_FORMAT = bool_knob("crop", True)

AMOUNT = float_knob("amount", 1.0)
_LIMITS = (float_knob("minimum", 0.0), float_knob("maximum", 1.0))

_WIDEST = 1.5
"""Times the size: how far the widest filters reach."""
_SIZE_BY_DEVIATION = 2.4


class Blur(FilterNode):
    names = ("Blur",)
    page = "filter_nodes/blur.html"
    size_knob: Knob[Pair] = SIZE
    knobs = (*PixelNode.knobs, SIZE, FILTER, CROP_TO_FORMAT)

    def reach(self, tree: Tree, node: Node, moment: Moment) -> Reach:
        del tree
        x, y = (weights.size // 2 for weights in self._weights(node, moment))
        return Reach.of(x, y)

    def keeps_to_format(self, node: Node, moment: Moment) -> bool:
        return CROP_TO_FORMAT.of(node, moment)

    def filtered(self, tree: Tree, node: Node, request: Request, around: Around) -> FloatPixels:
        across, down = self._weights(node, tree.moment(request.frame))
        return around.separately(partial(summed_under, weights=down), partial(summed_under, weights=across))

    def _weights(self, node: Node, moment: Moment) -> tuple[Weights, Weights]:
        """Across and down."""
        width, height = self.size_knob.of(node, moment)
        if min(width, height) < 0:
            raise knob_error(node, self.size_knob.name, f"is {min(width, height):g}; make it 0 or more")
        if max(width, height) * _WIDEST > MAX_REACH:
            raise too_far(node, self.size_knob.name, max(width, height) * _WIDEST)
        name = FILTER.of(node, moment)
        return blur_weights(name, width), blur_weights(name, height)


class Laplacian(Blur):
    """The blurred picture less the picture itself."""

    names = ("Laplacian",)
    page = "filter_nodes/laplacian.html"
    channels_knob = RGB
    channels_default_is_known = False
    size_knob = LAPLACIAN_SIZE
    knobs = (*PixelNode.knobs, LAPLACIAN_SIZE, FILTER, CROP_TO_FORMAT)
    still: tuple[Knob[object], ...] = (RGB, OWN_MASK, INPUT_MASK)

    def filtered(self, tree: Tree, node: Node, request: Request, around: Around) -> FloatPixels:
        blurred = super().filtered(tree, node, request, around)
        blurred -= around.middle()
        return blurred


class Sharpen(Laplacian):
    """The picture less `amount` times its Laplacian, as Natron has it.

    To be confirmed in Nuke: `size` where it is left out, which is refused (the page says 1, Natron has 3), and that
    edges with a step of more than 1 are sharpened as all others are.
    """

    names = ("Sharpen",)
    page = "filter_nodes/sharpen.html"
    channels_knob = ALL
    channels_default_is_known = True
    knobs = (*Laplacian.knobs, AMOUNT)
    still = FilterNode.still
    fixed = (*FilterNode.fixed, *_LIMITS)

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        if not self.size_knob.is_stated(node):
            what = "is left out, and what it is then is not known; move it a little, so that Nuke writes it"
            raise knob_error(node, self.size_knob.name, what)

    def filtered(self, tree: Tree, node: Node, request: Request, around: Around) -> FloatPixels:
        added = super().filtered(tree, node, request, around)
        added *= np.float32(-AMOUNT.of(node, tree.moment(request.frame)))
        added += around.middle()
        return added


@lru_cache(maxsize=64)
def blur_weights(name: str, size: float) -> Weights:
    """One column of an odd number of weights, which add up to 1; one alone changes nothing. `size`: pixels, from 0."""
    if name == "gaussian":
        far = int(size * _WIDEST)
        places = np.arange(-far, far + 1) * (_SIZE_BY_DEVIATION / size if far else 0.0)
        weights = np.exp(-0.5 * places**2)
    else:
        box = weights = _box(size)
        for _ in range(("box", "triangle", "quadratic").index(name)):
            weights = np.convolve(weights, box)
    return as_shares(weights)[:, None]


def _box(size: float) -> Weights:
    half = max(size - 1, 0.0) / 2
    edge = [half % 1] if half % 1 else []
    return np.array([*edge, *[1.0] * (2 * int(half) + 1), *edge])
