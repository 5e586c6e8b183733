"""Reformat: a picture fitted to another format, a box or a multiple of its own size.

Sizes are compared as they are seen, so that pixel aspects count. The picture's whole format is fitted, wherever it has
pixels.
"""

from __future__ import annotations

from dataclasses import replace
from math import floor

from understudy.frames.window import LIMITS, Window
from understudy.script.formats import Format, format_of, script_format
from understudy.script.graph import Node
from understudy.script.knobs import bool_knob, enum_knob, float_knob, int_knob, knob_error, pair_knob, text_knob
from understudy.script.nodes.base import Tree
from understudy.script.nodes.homography import Homography, moved, scaled
from understudy.script.nodes.placing import Placement, Placing
from understudy.script.nodes.transform import y_up
from understudy.script.values.fault import shortened
from understudy.script.values.moment import Moment

TYPE = enum_knob("type", ("to format", "to box", "scale"), "to format")
FORMAT = text_knob("format")
BOX_WIDTH = int_knob("box_width", 200)
BOX_HEIGHT = int_knob("box_height", 200)
BOX_FIXED = bool_knob("box_fixed", False)
BOX_PIXEL_ASPECT = float_knob("box_pixel_aspect", 1.0)
SCALE = pair_knob("scale", (1.0, 1.0), ("w", "h"))
RESIZE = enum_knob("resize", ("none", "width", "height", "fit", "fill", "distort"), "width")
CENTER = bool_knob("center", True)
FLIP = bool_knob("flip", False)
FLOP = bool_knob("flop", False)
TURN = bool_knob("turn", False)
KEEPS_ALL = bool_knob("pbb", False)
BLACK_OUTSIDE = bool_knob("black_outside", False)


class Reformat(Placing):
    """What lies beyond the new format is cut off, unless `pbb` keeps it; only then a node below may do its part."""

    names = ("Reformat",)
    page = "transform_nodes/reformat.html"
    knobs = (
        *Placing.knobs,
        *(TYPE, BOX_WIDTH, BOX_HEIGHT, BOX_FIXED, BOX_PIXEL_ASPECT, SCALE, RESIZE, CENTER, FLIP, FLOP, KEEPS_ALL),
    )
    still = (BLACK_OUTSIDE, FORMAT)
    fixed = (TURN,)
    black_outside = BLACK_OUTSIDE

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        if TYPE.of(node, moment) != "scale":
            _box(tree, node, moment, script_format(tree.script))
        elif min(scale := SCALE.of(node, moment)) <= 0:
            raise knob_error(node, SCALE.name, f"is {scale[0]:g} {scale[1]:g}, which leaves no picture; set it")

    def joins(self, node: Node, moment: Moment) -> bool:
        return KEEPS_ALL.of(node, moment)

    def placed(self, tree: Tree, node: Node, frame: int, above: Placement) -> Placement:
        moment, old = tree.moment(frame), Format(window=above.display_window, pixel_aspect=above.pixel_aspect)
        box = _box(tree, node, moment, old)
        across, up = _factors(RESIZE.of(node, moment), old, box)
        new = box
        if TYPE.of(node, moment) == "to box" and not BOX_FIXED.of(node, moment):
            new = _sized(node, RESIZE.name, old.window.width * across, old.window.height * up, box.pixel_aspect)
        own = _mirrored(node, moment, old.window).then(scaled(across, up))
        if CENTER.of(node, moment):
            own = own.then(_centred(old.window.width * across, old.window.height * up, new, RESIZE.of(node, moment)))
        return replace(
            above,
            forward=above.forward.then(y_up(old.window)).then(own).then(y_up(new.window).inverse()),
            display_window=new.window,
            pixel_aspect=new.pixel_aspect,
            is_cut=not KEEPS_ALL.of(node, moment),
        )


def _box(tree: Tree, node: Node, moment: Moment, old: Format) -> Format:
    """What the picture is to be fitted to."""
    kind = TYPE.of(node, moment)
    if kind == "to box":
        pixel_aspect = BOX_PIXEL_ASPECT.of(node, moment)
        if pixel_aspect <= 0:
            raise knob_error(node, BOX_PIXEL_ASPECT.name, "is 0 or less, which leaves no picture; set it above 0")
        return _sized(node, BOX_WIDTH.name, BOX_WIDTH.of(node, moment), BOX_HEIGHT.of(node, moment), pixel_aspect)
    if kind == "scale":
        across, up = SCALE.of(node, moment)
        return _sized(node, SCALE.name, old.window.width * across, old.window.height * up, old.pixel_aspect)
    text = FORMAT.of(node, moment)
    stated = format_of(text) if FORMAT.is_stated(node) else script_format(tree.script)
    if stated is None:
        raise knob_error(node, FORMAT.name, f"is {shortened(text)}, which is no format that is known; write it out")
    if not stated.is_all_picture:
        raise knob_error(node, FORMAT.name, f"is {shortened(text)}, of which a part only is for the picture; change it")
    return stated


def _sized(node: Node, knob: str, width: float, height: float, pixel_aspect: float) -> Format:
    window = Window.of_size(round(width), round(height))
    if window.is_empty:
        raise knob_error(node, knob, f"makes a format of {width:g} x {height:g}, which holds no pixel; set it")
    if window.is_too_large:
        raise knob_error(node, knob, f"makes a format of {width:g} x {height:g}, over {LIMITS}; set it")
    return Format(window=window, pixel_aspect=pixel_aspect)


def _factors(resize: str, old: Format, box: Format) -> tuple[float, float]:
    """Pixels of the box for a pixel of the picture, across and up."""
    across, up = box.window.width / old.window.width, box.window.height / old.window.height
    if resize == "none":
        return 1.0, 1.0
    if resize == "distort":
        return across, up
    squeeze = old.pixel_aspect / box.pixel_aspect
    by_width, by_height = across / squeeze, up
    factor = {"width": by_width, "height": by_height, "fit": min(by_width, by_height), "fill": max(by_width, by_height)}
    return factor[resize] * squeeze, factor[resize]


def _mirrored(node: Node, moment: Moment, window: Window) -> Homography:
    flop = scaled(-1, 1).then(moved(window.width, 0)) if FLOP.of(node, moment) else Homography()
    flip = scaled(1, -1).then(moved(0, window.height)) if FLIP.of(node, moment) else Homography()
    return flop.then(flip)


def _centred(width: float, height: float, new: Format, resize: str) -> Homography:
    """A picture that is not resized keeps its pixels whole."""
    x, y = (new.window.width - width) / 2, (new.window.height - height) / 2
    return moved(floor(x + 0.5), floor(y + 0.5)) if resize == "none" else moved(x, y)
