"""What nodes share that move channels about: each states where a channel comes from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.frames.window import Window
from understudy.script.graph import Node
from understudy.script.knobs import enum_knob
from understudy.script.nodes.base import Info, NodeClass, Request, Tree

BOXES = ("union", "intersection", "A", "B")
BBOX = enum_knob("bbox", BOXES, "union")


@dataclass(frozen=True, kw_only=True)
class Route:
    """Where a channel comes from."""

    input: int = 0
    channel: str = ""
    """As OpenEXR names it; empty: `value` everywhere."""
    value: float = 0.0


class Router(NodeClass, ABC):
    """Gives some channels from elsewhere, and hands on the others of input 0."""

    makes_pixels = True

    @abstractmethod
    def routes(self, tree: Tree, node: Node) -> Mapping[str, Route]:
        """By the name of the channel that is given."""

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        beside = tree.script.input_of(node, 1)
        return (tree.input(node, 0), *([beside] if beside else []))

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*tree.channels(tree.input(node, 0)), *self.routes(tree, node))))

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        """That of input 0, and the pixels of all from which channels come."""
        below, used = super().info(tree, node, frame), {way.input for way in self.routes(tree, node).values()}
        window = below.data_window
        for number in used - {0}:
            window = window.union(tree.info(tree.input(node, number), frame).data_window)
        return replace(below, data_window=window)

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        routes, region = self.routes(tree, node), request.region
        ways = [routes.get(channel, Route(channel=channel)) for channel in request.channels]
        out = np.empty((region.height, region.width, len(ways)), np.float32)  # H W C
        for number in {way.input for way in ways}:
            asked = tuple(dict.fromkeys(way.channel for way in ways if way.input == number and way.channel))
            pixels = tree.pixels(tree.input(node, number), replace(request, channels=asked))
            for place, way in enumerate(ways):
                if way.input == number:
                    out[..., place] = pixels[..., asked.index(way.channel)] if way.channel else way.value
        return out


def joined(box: str, a: Window, b: Window) -> Window:
    """The data window of two pictures in one, by the knob bbox; where nothing is left it is empty."""
    if box == "union":
        return a.union(b)
    if box == "intersection":
        shared = a.intersect(b)
        return Window(b.x0, b.y0, b.x0, b.y0) if shared.is_empty else shared
    return a if box == "A" else b
