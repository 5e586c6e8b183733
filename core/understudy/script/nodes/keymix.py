"""Keymix: input 1 over input 0 where input 2 lets it through. It follows the example of Nuke's developer kit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.channels import exr_name, places_of
from understudy.script.graph import Node
from understudy.script.knobs import bool_knob, channel_knob, enum_knob, float_knob
from understudy.script.nodes.base import Info, NodeClass, Request, Tree
from understudy.script.nodes.pixels import ALL, laid_over
from understudy.script.nodes.routes import joined

MASK = channel_knob("maskChannel", "rgba.alpha")
INVERT = bool_knob("invertMask", False)
MIX = float_knob("mix", 1.0)
BBOX = enum_knob("bbox", ("union", "B", "A"), "union")


class Keymix(NodeClass):
    """B + (A - B) * mask * mix, the mask held between 0 and 1; without a mask it is black."""

    names = ("Keymix",)
    page = "merge_nodes/keymix.html"
    knobs = (INVERT, MIX, BBOX)
    still = (ALL, MASK)
    makes_pixels = True

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        mask = tree.script.input_of(node, 2)
        return (tree.input(node, 0), tree.input(node, 1), *([mask] if mask else []))

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        below, beside = (tree.channels(tree.input(node, number)) for number in (0, 1))
        return tuple(dict.fromkeys((*below, *ALL.of(node, tree.moment(None)).of(beside))))

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        """Where the mask is inverted, A is let through all around it, and its box counts, too."""
        below, beside, *mask = (tree.info(above, frame) for above in self.upstream(tree, node))
        moment = tree.moment(frame)
        box = BBOX.of(node, moment)
        window = joined(box, beside.data_window, below.data_window)
        if box == "union" and INVERT.of(node, moment) and mask:
            window = window.union(mask[0].data_window)
        return replace(below, data_window=window)

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        below = tree.pixels(tree.input(node, 0), request)
        chosen = ALL.of(node, tree.moment(None)).of(request.channels)
        amount = self._amount(tree, node, request)
        if not chosen or not amount.any():
            return below
        over = tree.pixels(tree.input(node, 1), replace(request, channels=chosen))
        out: FloatPixels = below.copy()
        places = places_of(chosen, request.channels)
        with np.errstate(all="ignore"):  # pixels may hold infinities and not-a-numbers
            out[..., places] = laid_over(below[..., places], over, amount)
        return out

    def _amount(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        """H W 1, 0 to 1; a mask that is not a number lets A through."""
        moment, mask = tree.moment(request.frame), tree.script.input_of(node, 2)
        named, mix = MASK.of(node, moment), MIX.of(node, moment)
        black = np.zeros((request.region.height, request.region.width, 1), np.float32)  # H W 1
        if mix <= 0:
            return black
        seen = black
        if mask is not None and named:
            seen = tree.pixels(mask, replace(request, channels=(exr_name(named, tree.channels(mask)),)))
        let_through = (1 - seen if INVERT.of(node, moment) else seen) * np.float32(mix)
        held: FloatPixels = np.nan_to_num(np.clip(let_through, 0, 1), nan=1.0)
        return held
