"""Crop: the box of pixels that stays. The only place where Nuke's y-up coordinates meet our y-down windows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from understudy.frames.image import FloatPixels
from understudy.frames.window import LIMITS, Window
from understudy.script.graph import Node
from understudy.script.knobs import Box, bool_knob, box_knob, float_knob, knob_error
from understudy.script.nodes.base import Info, NodeClass, Request, Tree
from understudy.script.nodes.edges import nearest_part, with_repeated_edges
from understudy.script.values.moment import Moment

BOX = box_knob("box", (0.0, 0.0, 0.0, 0.0))
SOFTNESS = float_knob("softness", 0.0)
REFORMAT = bool_knob("reformat", False)
INTERSECT = bool_knob("intersect", False)
BLACK_OUTSIDE = bool_knob("crop", True)


class Crop(NodeClass):
    """Keeps the box; with `reformat` the box becomes the format, its lower left corner at 0, 0."""

    names = ("Crop",)
    page = "transform_nodes/crop.html"
    knobs = (BOX, REFORMAT, INTERSECT, BLACK_OUTSIDE)
    fixed = (SOFTNESS,)
    makes_pixels = True

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        _whole_box(node, moment)

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        above, plan = super().info(tree, node, frame), _plan(tree, node, frame)
        data, display = plan.kept.moved(*plan.shift), above.display_window
        if plan.is_format:
            display = plan.box.moved(*plan.shift)
        if plan.repeats_edges:
            data = data.union(display)
        is_black = BLACK_OUTSIDE.of(node, tree.moment(frame))
        return replace(above, data_window=data, display_window=display, is_black_outside=is_black)

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        plan = _plan(tree, node, request.frame)
        region = request.region.moved(-plan.shift[0], -plan.shift[1])
        inside = nearest_part(region, plan.kept)
        pixels = tree.pixels(tree.input(node, 0), replace(request, region=inside))
        return with_repeated_edges(pixels, inside, region)


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """What the knobs say, in the input's display coordinates."""

    box: Window
    kept: Window
    """The part of the box that has pixels."""
    is_format: bool
    repeats_edges: bool

    @property
    def shift(self) -> tuple[int, int]:
        """What brings the box to where it lies in the output."""
        return (-self.box.x0, -self.box.y0) if self.is_format else (0, 0)


def _plan(tree: Tree, node: Node, frame: int) -> _Plan:
    above, moment = tree.info(tree.input(node, 0), frame), tree.moment(frame)
    box = _window_of(_whole_box(node, moment), above.display_window)
    if box.union(above.display_window).is_too_large:
        raise knob_error(node, BOX.name, f"lies far outside the format {above.display_window}; set it")
    kept = box.intersect(above.data_window) if INTERSECT.of(node, moment) else box
    if kept.is_empty:
        kept = Window(box.x0, box.y0, box.x0, box.y0)
    return _Plan(
        box=box,
        kept=kept,
        is_format=REFORMAT.of(node, moment),
        repeats_edges=not (BLACK_OUTSIDE.of(node, moment) or kept.is_empty),
    )


def _whole_box(node: Node, moment: Moment) -> tuple[int, int, int, int]:
    box: Box = BOX.of(node, moment)
    if any(abs(side - round(side)) > 1e-3 for side in box):
        raise knob_error(node, BOX.name, f"is {' '.join(f'{side:g}' for side in box)}, which cuts pixels; round it")
    x, y, right, top = (round(side) for side in box)
    if right <= x or top <= y:
        raise knob_error(node, BOX.name, f"is {x} {y} {right} {top}, which holds no pixel; set it")
    if Window(x, y, right, top).is_too_large:
        raise knob_error(node, BOX.name, f"is {x} {y} {right} {top}, over {LIMITS}; set it")
    return x, y, right, top


def _window_of(box: tuple[int, int, int, int], display: Window) -> Window:
    """The box, y up from the format's lower left corner, in display coordinates, y down."""
    x, y, right, top = box
    return Window(display.x0 + x, display.y1 - top, display.x0 + right, display.y1 - y)
