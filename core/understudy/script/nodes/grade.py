"""Grade: a linear ramp and a gamma for each channel.

The order and the gamma follow the Grade example of Nuke's developer kit: ramp, clamps, gamma; reversed: gamma, ramp,
clamps. The gamma is a power between 0 and 1, goes on as its tangent above 1, and leaves negative values alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.graph import Node
from understudy.script.knobs import Colour, bool_knob, colour_knob, knob_error
from understudy.script.nodes.arithmetic import Line
from understudy.script.nodes.base import Tree
from understudy.script.nodes.pixels import PixelNode, Tone, ToneNode
from understudy.script.values.moment import Moment

BLACKPOINT = colour_knob("blackpoint", 0.0)
WHITEPOINT = colour_knob("whitepoint", 1.0)
LIFT = colour_knob("black", 0.0)
GAIN = colour_knob("white", 1.0)
MULTIPLY = colour_knob("multiply", 1.0)
OFFSET = colour_knob("add", 0.0)
GAMMA = colour_knob("gamma", 1.0)
_RAMP = (BLACKPOINT, WHITEPOINT, LIFT, GAIN, MULTIPLY, OFFSET)
REVERSE = bool_knob("reverse", False)
BLACK_CLAMP = bool_knob("black_clamp", True)
WHITE_CLAMP = bool_knob("white_clamp", False)

_STEEPEST = 10000.0
"""Slope where blackpoint and whitepoint are equal."""


class Grade(ToneNode):
    names = ("Grade",)
    page = "color_nodes/grade.html"
    knobs = (*PixelNode.knobs, *_RAMP, GAMMA, REVERSE, BLACK_CLAMP, WHITE_CLAMP)

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        _gamma(node, moment)

    def tone(self, node: Node, part: int, moment: Moment) -> Tone:
        low, high = BLACKPOINT.of(node, moment)[part], WHITEPOINT.of(node, moment)[part]
        lift, gain = LIFT.of(node, moment)[part], GAIN.of(node, moment)[part]
        slope = MULTIPLY.of(node, moment)[part] * ((gain - lift) / (high - low) if high != low else _STEEPEST)
        shift, gamma = OFFSET.of(node, moment)[part] + lift - slope * low, _gamma(node, moment)[part]
        is_reversed = REVERSE.of(node, moment)
        back = 1.0 / slope if slope else 1.0
        ramp = Line(
            factor=back if is_reversed else slope,
            summand=-shift * back if is_reversed else shift,
            low=0.0 if BLACK_CLAMP.of(node, moment) else -np.inf,
            high=1.0 if WHITE_CLAMP.of(node, moment) else np.inf,
        )
        return _Curve(ramp=ramp, exponent=gamma if is_reversed else 1.0 / gamma, is_reversed=is_reversed)


@dataclass(frozen=True, kw_only=True)
class _Curve(Tone):
    ramp: Line
    exponent: float
    is_reversed: bool

    def of(self, values: FloatPixels) -> FloatPixels:
        if self.is_reversed:
            return self.ramp.of(_power(values, self.exponent))
        return _power(self.ramp.of(values), self.exponent)


def _gamma(node: Node, moment: Moment) -> Colour:
    gamma = GAMMA.of(node, moment)
    if min(gamma) <= 0:
        raise knob_error(node, GAMMA.name, "is 0 or less, which leaves no picture; set it above 0")
    return gamma


def _power(values: FloatPixels, exponent: float) -> FloatPixels:
    if exponent == 1:
        return values
    bent: FloatPixels = np.clip(values, np.float32(0), np.float32(1))
    np.power(bent, np.float32(exponent), out=bent)
    below, above = values < 0, values > 1
    if below.any():
        np.copyto(bent, values, where=below)
    if above.any():
        np.copyto(bent, 1 + (values - 1) * np.float32(exponent), where=above)
    return bent
