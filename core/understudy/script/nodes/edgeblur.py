"""EdgeBlur: a blur where a matte has edges.

Foundry's page names a matte whose edges are found, the blur of Blur, how far the edges count (`edge_mult`, 2), and what
the blurred edge is multiplied by, and gives no formula. The reading: an edge is where the blur changes the matte, and
by how much; times `edge_mult`, held between 0 and 1, that is the share of the blurred picture. A blur changes a hard
matte by a half at its very edge, so that by default the edge is blurred in full there, whatever the size. Public
rebuilds agree on where an edge is and differ in how it falls off: Natron's takes a power of the blurred matte's slope,
another what lies between the matte grown and the matte shrunk.
"""

from __future__ import annotations

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.channels import component
from understudy.script.graph import Node
from understudy.script.knobs import Knob, channels_knob, float_knob, knob_error, rgb_knob
from understudy.script.nodes.base import Request, Tree
from understudy.script.nodes.blur import CROP_TO_FORMAT, FILTER, LAPLACIAN_SIZE, Blur
from understudy.script.nodes.filters import Around, FilterNode
from understudy.script.nodes.pixels import PixelNode, laid_over
from understudy.script.values.moment import Moment

MATTE = channels_knob("control channel", "alpha", "control_channel")
EDGE_MULT = float_knob("edge_mult", 2.0)
TINT = rgb_knob("tint", 1.0)
BRIGHTNESS = float_knob("brightness", 1.0)


class EdgeBlur(Blur):
    """The blurred picture where the matte has edges. Its `output`, which keeps them in a channel, is not made."""

    names = ("EdgeBlur",)
    page = "filter_nodes/edgeblur.html"
    size_knob = LAPLACIAN_SIZE
    knobs = (*PixelNode.knobs, LAPLACIAN_SIZE, FILTER, CROP_TO_FORMAT, EDGE_MULT, TINT, BRIGHTNESS)
    still: tuple[Knob[object], ...] = (*FilterNode.still, MATTE)
    fixed = (*FilterNode.fixed, channels_knob("output", "none"))
    assumed = "an edge is edge_mult times what the blur changes of the matte, held from 0 to 1"

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        if moment.frame is not None:  # before, what is above has not been looked at, and has no channels
            self.looked_at(tree, node)

    def looked_at(self, tree: Tree, node: Node) -> tuple[str, ...]:
        """The matte's channel; none: it is black, and has no edges."""
        chosen = MATTE.of(node, tree.moment(None)).of(tree.channels(tree.input(node, 0)))
        if len(chosen) > 1:
            raise knob_error(node, MATTE.name, f"selects {len(chosen)} channels ({', '.join(chosen)}); choose one")
        return chosen

    def filtered(self, tree: Tree, node: Node, request: Request, around: Around) -> FloatPixels:
        before, moment = around.middle(), tree.moment(request.frame)
        matte = self.looked_at(tree, node)
        if not matte:
            return before
        blurred = super().filtered(tree, node, request, around)
        place = request.channels.index(matte[0])
        moved = np.abs(blurred[..., place : place + 1] - before[..., place : place + 1])  # H W 1
        edge: FloatPixels = np.clip(moved * np.float32(EDGE_MULT.of(node, moment)), np.float32(0), np.float32(1))
        return laid_over(before, blurred * _gains(node, moment, request.channels), edge)


def _gains(node: Node, moment: Moment, channels: tuple[str, ...]) -> FloatPixels:
    """C: the brightness, for red, green and blue times the tint."""
    tint, brightness = (*TINT.of(node, moment), 1.0), BRIGHTNESS.of(node, moment)
    parts = (component(channel) for channel in channels)
    return np.array([brightness * (1.0 if part is None else tint[part]) for part in parts], np.float32)
