"""Remove: fewer channels."""

from __future__ import annotations

from understudy.frames.image import Image
from understudy.script.channels import ChannelSet
from understudy.script.graph import Node
from understudy.script.knobs import channels_knob, enum_knob
from understudy.script.nodes.base import NodeClass, Request, Tree, with_channels

OPERATION = enum_knob("operation", ("remove", "keep"), "remove")
CHANNELS = (
    channels_knob("channels", "all"),
    channels_knob("channels2", "none"),
    channels_knob("channels3", "none"),
    channels_knob("channels4", "none"),
)


class Remove(NodeClass):
    """Removes, or keeps alone, the channels that its four knobs select together."""

    names = ("Remove",)
    page = "channel_nodes/remove.html"
    knobs = (OPERATION, *CHANNELS)
    makes_pixels = True

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        return _left(node, super().channels(tree, node))

    def pull(self, tree: Tree, node: Node, request: Request) -> Image:
        above = Request(frame=request.frame, channels=_left(node, request.channels))
        return with_channels(tree.pull(tree.input(node, 0), above), request.channels)


def _left(node: Node, channels: tuple[str, ...]) -> tuple[str, ...]:
    chosen = ChannelSet()
    for knob in CHANNELS:
        chosen = chosen | knob.of(node)
    selected = set(chosen.of(channels))
    keeps = OPERATION.of(node) == "keep"
    return tuple(channel for channel in channels if (channel in selected) == keeps)
