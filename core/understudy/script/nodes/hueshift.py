"""HueShift: saturation and hue about the axis of greys.

Foundry's page: colours are taken to CIE XYZ and skewed so that grey has neither X nor Z. Then Y is the brightness, X
and Z are scaled, along one colour's direction again, and turned about Y; all of it is undone. Without a direction and
a turn that is Saturation, whichever primaries there are. With one it is read so: XYZ of the primaries of sRGB, as
Colorspace has them by default, but for Y, which are Saturation's weights; and degrees from Z towards X.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.script.graph import Node
from understudy.script.knobs import KnobMoves, Matrix, float_knob, knob_error, rgb_knob
from understudy.script.nodes.base import Tree
from understudy.script.nodes.colorspace import to_xyz
from understudy.script.nodes.colours import SATURATION, WEIGHTS, ColourNode, Recolour, luminance, mixed, saturated
from understudy.script.nodes.pixels import PixelNode
from understudy.script.values.moment import Moment

BRIGHTNESS = float_knob("brightness", 1.0)
AXIS = replace(rgb_knob("color", 0.0), default=(1.0, 0.0, 0.0))
ALONG_AXIS = float_knob("color_saturation", 1.0)
TURN = float_knob("hue_rotation", 0.0)

_Rows: TypeAlias = "NDArray[np.float64]"


class HueShift(ColourNode):
    """The colour of each pixel, less its grey, scaled and turned by `hue_rotation` degrees."""

    names = ("HueShift",)
    page = "color_nodes/hueshift.html"
    knobs = (*PixelNode.knobs, SATURATION, BRIGHTNESS, AXIS, ALONG_AXIS, TURN)
    fixed = (*PixelNode.fixed, rgb_knob("ingray", 0.25), rgb_knob("outgray", 0.25))
    assumed = "the hue turns in XYZ of sRGB's primaries, from Z towards X, in degrees"

    def assumes(self, tree: Tree, node: Node) -> bool:
        with suppress(KnobMoves):
            return _is_turned(node, tree.moment(None))
        return True

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        with suppress(KnobMoves):
            self._recolour(node, moment)

    def recolour(self, tree: Tree, node: Node, frame: int) -> Recolour:
        return self._recolour(node, tree.moment(frame))

    def _recolour(self, node: Node, moment: Moment) -> Recolour:
        factor, brightness = SATURATION.of(node, moment), BRIGHTNESS.of(node, moment)
        if _is_turned(node, moment):
            return partial(mixed, matrix=_matrix(node, moment, factor, brightness))
        return lambda pixels: saturated(pixels, luminance(pixels), factor) * np.float32(brightness)


def _is_turned(node: Node, moment: Moment) -> bool:
    """Whether anything but all colours together is scaled."""
    return TURN.of(node, moment) != 0 or ALONG_AXIS.of(node, moment) != 1


def _matrix(node: Node, moment: Moment, factor: float, brightness: float) -> Matrix:
    skewed, turn = _skewed(), math.radians(TURN.of(node, moment))
    turned = np.array([[math.cos(turn), 0, math.sin(turn)], [0, 1, 0], [-math.sin(turn), 0, math.cos(turn)]])
    scaled = np.diag([factor, 1.0, factor]) @ _along(node, skewed @ AXIS.of(node, moment), ALONG_AXIS.of(node, moment))
    rows = np.linalg.inv(skewed) @ turned @ scaled @ skewed * brightness
    first, second, third = ((float(row[0]), float(row[1]), float(row[2])) for row in rows)
    return first, second, third


def _skewed() -> _Rows:
    """From red, green, blue to X, Y, Z, with neither X nor Z of grey."""
    x, _, z = (np.array(row) for row in to_xyz("sRGB"))
    y = np.array(WEIGHTS["Rec 709"])
    return np.array([x - y * (x.sum() / y.sum()), y, z - y * (z.sum() / y.sum())])


def _along(node: Node, axis: _Rows, factor: float) -> _Rows:
    """Scales X and Z along the axis of a colour."""
    length = math.hypot(axis[0], axis[2])
    if factor != 1 and length < 1e-9:
        raise knob_error(node, AXIS.name, "is grey, which has no direction; choose a colour")
    if factor == 1:
        return np.eye(3)
    direction = np.array([axis[0], 0.0, axis[2]]) / length
    return np.eye(3) + (factor - 1) * np.outer(direction, direction)
