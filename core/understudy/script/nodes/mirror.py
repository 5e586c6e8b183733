"""Nodes that move whole pixels: Mirror2 and the old Mirror, and Position."""

from __future__ import annotations

from dataclasses import replace
from math import floor

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.frames.window import MAX_SIDE, Window
from understudy.script.graph import Node
from understudy.script.knobs import Knob, bool_knob, knob_error, pair_knob
from understudy.script.nodes.base import Info, NodeClass, Request, Tree
from understudy.script.values.moment import Moment

FLIP = bool_knob("flip", False)
FLOP = bool_knob("flop", False)
VERTICAL = bool_knob("Vertical", False)
HORIZONTAL = bool_knob("Horizontal", False)
TRANSLATE = pair_knob("translate", (0.0, 0.0))


class Mirror2(NodeClass):
    """About the middle of the format: flop changes left and right, flip top and bottom."""

    names = ("Mirror2",)
    page = "transform_nodes/mirror.html"
    knobs: tuple[Knob[object], ...] = (FLIP, FLOP)
    makes_pixels = True
    across: Knob[bool] = FLOP
    down: Knob[bool] = FLIP

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        above = super().info(tree, node, frame)
        mirrored = self._mirrored(node, tree.moment(frame), above.data_window, above.display_window)
        return replace(above, data_window=mirrored)

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        above, moment = tree.input(node, 0), tree.moment(request.frame)
        display = tree.info(above, request.frame).display_window
        pixels = tree.pixels(above, replace(request, region=self._mirrored(node, moment, request.region, display)))
        columns = slice(None, None, -1 if self.across.of(node, moment) else 1)
        rows = slice(None, None, -1 if self.down.of(node, moment) else 1)
        return np.ascontiguousarray(pixels[rows, columns])

    def _mirrored(self, node: Node, moment: Moment, window: Window, display: Window) -> Window:
        x0, y0, x1, y1 = window.x0, window.y0, window.x1, window.y1
        if self.across.of(node, moment):
            x0, x1 = display.x0 + display.x1 - x1, display.x0 + display.x1 - x0
        if self.down.of(node, moment):
            y0, y1 = display.y0 + display.y1 - y1, display.y0 + display.y1 - y0
        return Window(x0, y0, x1, y1)


class Mirror(Mirror2):
    names = ("Mirror",)
    knobs = (HORIZONTAL, VERTICAL)
    across = HORIZONTAL
    down = VERTICAL


class Position(NodeClass):
    """Moves by whole pixels, the nearest to what its knob says."""

    names = ("Position",)
    page = "transform_nodes/position.html"
    knobs = (TRANSLATE,)
    makes_pixels = True

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        _shift(node, moment)

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        above, shift = super().info(tree, node, frame), _shift(node, tree.moment(frame))
        return replace(above, data_window=above.data_window.moved(*shift))

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        x, y = _shift(node, tree.moment(request.frame))
        return tree.pixels(tree.input(node, 0), replace(request, region=request.region.moved(-x, -y)))


def _shift(node: Node, moment: Moment) -> tuple[int, int]:
    """To the right and, unlike the knob's, down."""
    x, y = (floor(way + 0.5) for way in TRANSLATE.of(node, moment))
    if max(abs(x), abs(y)) > MAX_SIDE:
        raise knob_error(node, TRANSLATE.name, f"is {x} {y}, over {MAX_SIDE} pixels away; set it")
    return x, -y
