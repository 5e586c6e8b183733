"""AddChannels: more channels, black or of one colour. It follows the example of Nuke's developer kit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.channels import component, is_main
from understudy.script.graph import Node
from understudy.script.knobs import KnobMoves, bool_knob, channel_words_knob, colour_knob
from understudy.script.nodes.base import Info, NodeClass, Request, Tree
from understudy.script.nodes.layered import layers_at, refuse_unknown
from understudy.script.values.moment import Moment

CHANNELS = tuple(channel_words_knob(f"channels{number}", "none") for number in ("", 2, 3, 4))
COLOUR = colour_knob("color", 0.0)
TO_FORMAT = bool_knob("format_size", False)


class AddChannels(NodeClass):
    """Channels that are there already stay as they are; what is no colour of the main layer gets the alpha's value."""

    names = ("AddChannels",)
    page = "channel_nodes/addchannels.html"
    knobs = (COLOUR, TO_FORMAT)
    still = CHANNELS
    makes_pixels = True

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        there, moment = tree.channels(tree.input(node, 0)), tree.moment(None)
        for knob in CHANNELS if _is_coloured(node, moment) else ():
            refuse_unknown(tree, node, knob, there)
        words = [word for knob in CHANNELS for word in knob.of(node, moment)]
        return tuple(dict.fromkeys((*there, *layers_at(tree, there).named(words))))

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        above = super().info(tree, node, frame)
        return replace(above, data_window=above.display_window) if TO_FORMAT.of(node, tree.moment(frame)) else above

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        there = tree.channels(tree.input(node, 0))
        new = [channel for channel in request.channels if channel not in there]
        above = tree.pixels(tree.input(node, 0), request)
        if not new:
            return above
        colour = COLOUR.of(node, tree.moment(request.frame))
        out: FloatPixels = above.copy()
        for channel in new:
            part = component(channel) if is_main(channel) else None
            out[..., request.channels.index(channel)] = np.float32(colour[3 if part is None else part])
        return out


def _is_coloured(node: Node, moment: Moment) -> bool:
    """Whether it adds more than black, which needs no name: what is missing is black."""
    try:
        return any(COLOUR.of(node, moment))
    except KnobMoves:
        return True
