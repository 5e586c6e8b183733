"""Copy: channels of input 1 over those of input 0. CopyBBox: its bounding box alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from understudy.frames.image import FloatPixels
from understudy.script.channels import exr_name
from understudy.script.graph import Node
from understudy.script.knobs import channel_knob, channels_knob
from understudy.script.nodes.base import Info, NodeClass, Request, Tree
from understudy.script.nodes.overlay import Overlay, Planes, planes
from understudy.script.nodes.pixels import UNPREMULT, Masked
from understudy.script.nodes.routes import BBOX, joined

LAYERS = channels_knob("channels", "none")
COPIES = tuple(
    (channel_knob(f"from{number}", first), channel_knob(f"to{number}", first))
    for number, first in enumerate(("rgba.alpha", "", "", ""))
)


class Copy(Overlay):
    """Each of four channels to another, then whole layers."""

    names = ("Copy",)
    page = "channel_nodes/copy.html"
    num_inputs = 2
    still = (*Masked.still, BBOX, LAYERS, *(knob for pair in COPIES for knob in pair))
    fixed = (*Masked.fixed, UNPREMULT)

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        tree.input(node, 1)
        return super().upstream(tree, node)

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*tree.channels(tree.input(node, 0)), *_sources(tree, node))))

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        below, beside = (tree.info(tree.input(node, number), frame) for number in (0, 1))
        box = BBOX.of(node, tree.moment(frame))
        return replace(below, data_window=joined(box, beside.data_window, below.data_window))

    def given(self, tree: Tree, node: Node, channels: tuple[str, ...]) -> tuple[str, ...]:
        sources = _sources(tree, node)
        return tuple(channel for channel in channels if channel in sources)

    def needed(self, tree: Tree, node: Node, channels: tuple[str, ...]) -> Sequence[str]:
        del tree, node, channels
        return ()

    def made(self, tree: Tree, node: Node, request: Request, below: Planes) -> FloatPixels:
        del below
        sources = _sources(tree, node)
        names = [sources[channel] for channel in request.channels]
        return planes(tree, tree.input(node, 1), request, names).of(names)


class CopyBBox(NodeClass):
    """The pixels of input 0 in the bounding box of input 1, black where it has none."""

    names = ("CopyBBox",)
    page = "merge_nodes/copybbox.html"
    makes_pixels = True

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        return (tree.input(node, 0), tree.input(node, 1))

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        return tree.channels(tree.input(node, 0))

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        window = tree.info(tree.input(node, 1), frame).data_window
        return replace(super().info(tree, node, frame), data_window=window)


def _sources(tree: Tree, node: Node) -> dict[str, str]:
    """The channels of input 1, by those of input 0 over which they are copied."""
    moment = tree.moment(None)
    there, beside = tree.channels(tree.input(node, 0)), tree.channels(tree.input(node, 1))
    sources = {exr_name(channel, there): channel for channel in LAYERS.of(node, moment).of(beside)}
    for source, target in COPIES:
        taken, given = source.of(node, moment), target.of(node, moment)
        if taken and given:
            sources[exr_name(given, there)] = exr_name(taken, beside)
    return sources
