"""Remove: fewer channels."""

from __future__ import annotations

from dataclasses import replace

from understudy.script.channels import ChannelSet
from understudy.script.graph import Node
from understudy.script.knobs import channels_knob, enum_knob
from understudy.script.nodes.base import NodeClass, Tree
from understudy.script.nodes.pixels import ALL
from understudy.script.values.moment import Moment

OPERATION = replace(enum_knob("operation", ("remove", "keep"), "remove"), aliases=("action",))
CHANNELS = (
    ALL,
    channels_knob("channels2", "none"),
    channels_knob("channels3", "none"),
    channels_knob("channels4", "none"),
)


class Remove(NodeClass):
    """Removes, or keeps alone, the channels that its four knobs select together."""

    names = ("Remove",)
    page = "channel_nodes/remove.html"
    still = (OPERATION, *CHANNELS)
    makes_pixels = True

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        return _left(node, tree.moment(None), super().channels(tree, node))


def _left(node: Node, moment: Moment, channels: tuple[str, ...]) -> tuple[str, ...]:
    chosen = ChannelSet()
    for knob in CHANNELS:
        chosen = chosen | knob.of(node, moment)
    selected = set(chosen.of(channels))
    keeps = OPERATION.of(node, moment) == "keep"
    return tuple(channel for channel in channels if (channel in selected) == keeps)
