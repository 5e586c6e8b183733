"""Crop: the box of pixels that stays. The only place where Nuke's y-up coordinates meet our y-down windows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from understudy.frames.image import Image
from understudy.frames.window import MAX_PIXELS, MAX_SIDE, Window
from understudy.script.graph import Node
from understudy.script.knobs import Box, bool_knob, box_knob, float_knob, knob_error
from understudy.script.nodes.base import NodeClass, Request, Tree

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

    def check(self, tree: Tree, node: Node) -> None:
        super().check(tree, node)
        _whole_box(node)

    def pull(self, tree: Tree, node: Node, request: Request) -> Image:
        image = tree.pull(tree.input(node, 0), request)
        box = _window_of(_whole_box(node), image.display_window)
        if box.union(image.display_window).is_too_large:
            raise knob_error(node, BOX.name, f"lies far outside the format {image.display_window}; set it")
        kept = box.intersect(image.data_window) if INTERSECT.of(node) else box
        if kept.is_empty:
            kept = Window(box.x0, box.y0, box.x0, box.y0)
        cropped = replace(image, pixels=image.over(kept), data_window=kept)
        if REFORMAT.of(node):
            cropped = _moved(replace(cropped, display_window=box), -box.x0, -box.y0)
        return cropped if BLACK_OUTSIDE.of(node) else _edges_repeated(cropped)


def _whole_box(node: Node) -> tuple[int, int, int, int]:
    box: Box = BOX.of(node)
    if any(abs(side - round(side)) > 1e-3 for side in box):
        raise knob_error(node, BOX.name, f"is {' '.join(f'{side:g}' for side in box)}, which cuts pixels; round it")
    x, y, right, top = (round(side) for side in box)
    if right <= x or top <= y:
        raise knob_error(node, BOX.name, f"is {x} {y} {right} {top}, which holds no pixel; set it")
    if Window(x, y, right, top).is_too_large:
        most = f"over {MAX_SIDE} pixels, or {MAX_PIXELS} in all"
        raise knob_error(node, BOX.name, f"is {x} {y} {right} {top}, {most}; set it")
    return x, y, right, top


def _window_of(box: tuple[int, int, int, int], display: Window) -> Window:
    """The box, y up from the format's lower left corner, in display coordinates, y down."""
    x, y, right, top = box
    return Window(display.x0 + x, display.y1 - top, display.x0 + right, display.y1 - y)


def _moved(image: Image, x: int, y: int) -> Image:
    data, display = (
        Window(window.x0 + x, window.y0 + y, window.x1 + x, window.y1 + y)
        for window in (image.data_window, image.display_window)
    )
    return replace(image, data_window=data, display_window=display)


def _edges_repeated(image: Image) -> Image:
    """Without black outside, the outermost pixels go on to the edges of the format."""
    data = image.data_window
    whole = data.union(image.display_window)
    if data.is_empty or whole == data:
        return image
    rows = (data.y0 - whole.y0, whole.y1 - data.y1)
    columns = (data.x0 - whole.x0, whole.x1 - data.x1)
    pixels = np.pad(image.pixels, (rows, columns, (0, 0)), mode="edge")  # H W C
    return replace(image, pixels=pixels, data_window=whole)
