"""Transform: translate, rotate, scale and skew about a centre. TransformMasked: the same where a mask lets it.

In the order of Nuke's developer kit a point is scaled, skewed, turned and moved; turns go anticlockwise, and skews add
a share of the other coordinate. Pixels that are not square are made so for scales, skews and turns.
"""

from __future__ import annotations

from dataclasses import replace

from understudy.frames.image import FloatPixels
from understudy.frames.window import Window
from understudy.script.graph import Node
from understudy.script.knobs import Knob, bool_knob, enum_knob, float_knob, knob_error, pair_knob
from understudy.script.nodes.base import Info, Request, Tree
from understudy.script.nodes.homography import Homography, moved, scaled, turned
from understudy.script.nodes.kernels import kernel_of
from understudy.script.nodes.pixels import ALL, INPUT_MASK, OWN_MASK, PixelNode
from understudy.script.nodes.placing import SMALLEST_AREA, Placement, Placing, to_be_placed
from understudy.script.values.moment import Moment

TRANSLATE = pair_knob("translate", (0.0, 0.0))
ROTATE = float_knob("rotate", 0.0)
SCALE = pair_knob("scale", (1.0, 1.0), ("w", "h"))
SKEW_X = float_knob("skewX", 0.0)
SKEW_Y = float_knob("skewY", 0.0)
SKEW_ORDER = enum_knob("skew_order", ("XY", "YX"), "XY")
CENTER = pair_knob("center", (0.0, 0.0))
INVERT_MATRIX = bool_knob("invert_matrix", False)
BLACK_OUTSIDE = bool_knob("black_outside", True)
MATRIX_KNOBS = (TRANSLATE, ROTATE, SCALE, SKEW_X, SKEW_Y, SKEW_ORDER, CENTER, INVERT_MATRIX)
MOTION_BLUR = float_knob("motionblur", 0.0)
"""Without it the shutter's knobs do nothing."""
ONE_SKEW = float_knob("skew", 0.0)
"""Of old versions."""


class Transform(Placing):
    names: tuple[str, ...] = ("Transform",)
    page = "transform_nodes/transform.html"
    knobs = (*Placing.knobs, *MATRIX_KNOBS)
    still: tuple[Knob[object], ...] = (BLACK_OUTSIDE,)
    fixed: tuple[Knob[object], ...] = (MOTION_BLUR, ONE_SKEW)
    black_outside = BLACK_OUTSIDE

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        _matrix(node, moment, 1.0)

    def placed(self, tree: Tree, node: Node, frame: int, above: Placement) -> Placement:
        return _transformed(node, tree.moment(frame), above)


class TransformMasked(PixelNode):
    """Takes the places above it into its own, as Transform does, but no node below does so with this one's."""

    names = ("TransformMasked",)
    page = "transform_nodes/transformmasked.html"
    channels_knob = ALL
    knobs = (*PixelNode.knobs, *Placing.knobs, *MATRIX_KNOBS, BLACK_OUTSIDE)
    still = (ALL, OWN_MASK, INPUT_MASK)
    fixed = (*PixelNode.fixed, MOTION_BLUR, ONE_SKEW)

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        _matrix(node, moment, 1.0)

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        above, kernel = super().info(tree, node, frame), kernel_of(node, tree.moment(frame))
        placed = self._placement(tree, node, frame).placed_info(node, kernel)
        is_black = above.is_black_outside and placed.is_black_outside
        return replace(above, data_window=above.data_window.union(placed.data_window), is_black_outside=is_black)

    def changed(self, tree: Tree, node: Node, request: Request, pixels: FloatPixels) -> FloatPixels:
        del pixels
        kernel = kernel_of(node, tree.moment(request.frame))
        return self._placement(tree, node, request.frame).pixels(tree, node, kernel, request)

    def _placement(self, tree: Tree, node: Node, frame: int) -> Placement:
        return _transformed(node, tree.moment(frame), to_be_placed(tree, node, frame, BLACK_OUTSIDE))


def _transformed(node: Node, moment: Moment, above: Placement) -> Placement:
    to_nuke = y_up(above.display_window)
    own = to_nuke.then(_matrix(node, moment, above.pixel_aspect)).then(to_nuke.inverse())
    return replace(above, forward=above.forward.then(own))


def _matrix(node: Node, moment: Moment, pixel_aspect: float) -> Homography:
    """In pixels from the format's lower left corner, y up."""
    x, y = CENTER.of(node, moment)
    across, up = TRANSLATE.of(node, moment)
    width, height = SCALE.of(node, moment)
    skews = [Homography(yx=SKEW_Y.of(node, moment)), Homography(xy=SKEW_X.of(node, moment))]
    first, second = skews if SKEW_ORDER.of(node, moment) == "XY" else skews[::-1]
    shape = scaled(width, height).then(first).then(second).then(turned(ROTATE.of(node, moment)))
    if not abs(shape.determinant) > SMALLEST_AREA:
        raise knob_error(node, SCALE.name, f"is {width:g} {height:g}, which leaves no picture; set it")
    squared = scaled(pixel_aspect, 1).then(shape).then(scaled(1 / pixel_aspect, 1))
    matrix = moved(-x, -y).then(squared).then(moved(x + across, y + up))
    return matrix.inverse() if INVERT_MATRIX.of(node, moment) else matrix


def y_up(display: Window) -> Homography:
    """From display coordinates to Nuke's, which begin at the format's lower left corner."""
    return Homography(yy=-1.0, x0=-display.x0, y0=display.y1)
