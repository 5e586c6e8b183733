"""Nodes that change where pixels are said to be, and so what lies beyond them: AdjBBox and BlackOutside."""

from __future__ import annotations

from dataclasses import dataclass, replace

from understudy.frames.image import FloatPixels
from understudy.frames.window import LIMITS, Window
from understudy.script.graph import Node
from understudy.script.knobs import knob_error, pair_knob
from understudy.script.nodes.base import Info, NodeClass, Request, Tree
from understudy.script.nodes.edges import nearest_part, with_repeated_edges
from understudy.script.values.moment import Moment

ADDED = pair_knob("numpixels", (25.0, 25.0), ("w", "h"))


class AdjBBox(NodeClass):
    """Adds pixels on all sides, of a plate by repeating its edges; where it takes some away, new edges are repeated."""

    names = ("AdjBBox",)
    page = "transform_nodes/adjustbbox.html"
    knobs = (ADDED,)
    makes_pixels = True

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        _added(node, moment)

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        plan = _plan(tree, node, frame)
        return replace(tree.info(tree.input(node, 0), frame), data_window=plan.window, is_black_outside=False)

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        part = nearest_part(request.region, _plan(tree, node, request.frame).edges)
        pixels = tree.pixels(tree.input(node, 0), replace(request, region=part))
        return with_repeated_edges(pixels, part, request.region)


class BlackOutside(NodeClass):
    """Whatever would repeat the edges of the picture below here finds black beyond them."""

    names = ("BlackOutside",)
    page = "transform_nodes/blackoutside.html"
    makes_pixels = True

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        return replace(super().info(tree, node, frame), is_black_outside=True)


@dataclass(frozen=True, kw_only=True)
class _Plan:
    window: Window
    """What is said to have pixels."""
    edges: Window
    """The pixels above that are handed on; beyond them, within the window, its edges are repeated."""


def _plan(tree: Tree, node: Node, frame: int) -> _Plan:
    above, (across, down) = tree.info(tree.input(node, 0), frame), _added(node, tree.moment(frame))
    data, display = above.data_window, above.display_window
    if data.is_empty:
        return _Plan(window=data, edges=data)
    box = Window(data.x0 - across, data.y0 - down, data.x1 + across, data.y1 + down)
    if box.is_empty:
        raise knob_error(node, ADDED.name, f"takes away all of the picture's {data.width}x{data.height} pixels; set it")
    is_repeated = above.repeats_edges or min(across, down) < 0
    window = box.union(display) if is_repeated else box
    if window.is_too_large:
        raise knob_error(node, ADDED.name, f"makes {window}, over {LIMITS}; set it")
    return _Plan(window=window, edges=box.intersect(data) if above.repeats_edges else box)


def _added(node: Node, moment: Moment) -> tuple[int, int]:
    across, down = ADDED.of(node, moment)
    if across != int(across) or down != int(down):
        raise knob_error(node, ADDED.name, f"is {across:g} {down:g}, which cuts pixels; round it")
    return int(across), int(down)
