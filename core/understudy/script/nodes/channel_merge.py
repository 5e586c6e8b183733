"""ChannelMerge: one channel of each input into one channel of input 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.channels import exr_name
from understudy.script.graph import Node
from understudy.script.knobs import channel_knob, word_knob
from understudy.script.nodes.base import Info, Request, Tree
from understudy.script.nodes.blends import Blend, Pair, divide, multiply
from understudy.script.nodes.overlay import Overlay, Planes, planes
from understudy.script.nodes.pixels import Masked
from understudy.script.nodes.routes import BOXES, joined

A, B = channel_knob("A", "rgba.alpha"), channel_knob("B", "rgba.alpha")
OUTPUT = channel_knob("output", "rgba.alpha")
BBOX = word_knob("bbox", BOXES, "union")

BLENDS: dict[str, Blend] = {
    "absminus": lambda of: np.abs(of.A - of.B),
    "b if not a": lambda of: np.where(of.A != 0, of.A, of.B),
    "divide": divide,
    "from": lambda of: of.B - of.A,
    "in": lambda of: of.A * of.B,
    "max": lambda of: np.maximum(of.A, of.B),
    "min": lambda of: np.minimum(of.A, of.B),
    "minus": lambda of: of.A - of.B,
    "multiply": multiply,
    "out": lambda of: of.A * (1 - of.B),
    "plus": lambda of: of.A + of.B,
    "stencil": lambda of: of.B * (1 - of.A),
    "union": lambda of: of.A + of.B - of.A * of.B,
    "xor": lambda of: of.A * (1 - of.B) + of.B * (1 - of.A),
}
OPERATION = word_knob("operation", tuple(BLENDS), "union")


class ChannelMerge(Overlay):
    """A of input 1 and B of input 0 by one operation; without input 1 both are taken from input 0."""

    names = ("ChannelMerge",)
    page = "channel_nodes/channelmerge.html"
    num_inputs = 2
    knobs = (*Masked.knobs, OPERATION, BBOX)
    still = (*Masked.still, A, B, OUTPUT)

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        there = tree.channels(tree.input(node, 0))
        return tuple(dict.fromkeys((*there, *filter(None, [_output(tree, node)]))))

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        below, beside = tree.info(tree.input(node, 0), frame), tree.script.input_of(node, 1)
        if beside is None:
            return below
        window = joined(BBOX.of(node, tree.moment(frame)), tree.info(beside, frame).data_window, below.data_window)
        return replace(below, data_window=window)

    def given(self, tree: Tree, node: Node, channels: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(channel for channel in channels if channel == _output(tree, node))

    def needed(self, tree: Tree, node: Node, channels: tuple[str, ...]) -> Sequence[str]:
        del channels
        beside = tree.script.input_of(node, 1)
        return (_name(tree, node, B.of(node, tree.moment(None)), 0), *([] if beside else [self._name_of_a(tree, node)]))

    def made(self, tree: Tree, node: Node, request: Request, below: Planes) -> FloatPixels:
        a, beside = self._name_of_a(tree, node), tree.script.input_of(node, 1)
        over = planes(tree, beside, request, [a]) if beside else below
        first, second = over.of([a]), below.of([_name(tree, node, B.of(node, tree.moment(None)), 0)])
        return BLENDS[OPERATION.of(node, tree.moment(request.frame))](Pair(first, second, first, second))

    def _name_of_a(self, tree: Tree, node: Node) -> str:
        return _name(tree, node, A.of(node, tree.moment(None)), 1 if tree.script.input_of(node, 1) else 0)


def _output(tree: Tree, node: Node) -> str:
    return _name(tree, node, OUTPUT.of(node, tree.moment(None)), 0)


def _name(tree: Tree, node: Node, full: str, number: int) -> str:
    """What the input calls the channel; empty for none."""
    return exr_name(full, tree.channels(tree.input(node, number))) if full else ""
