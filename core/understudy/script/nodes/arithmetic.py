"""Colour by plain arithmetic, value by value: Multiply, Add, Gamma, Clamp, Invert."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.graph import Node
from understudy.script.knobs import bool_knob, colour_knob, knob_error
from understudy.script.nodes.base import Tree
from understudy.script.nodes.pixels import PixelNode, Tone, ToneNode
from understudy.script.values.moment import Moment

FACTOR = colour_knob("value", 1.0)
SUMMAND = colour_knob("value", 0.0)
GAMMA = colour_knob("value", 1.0)
MINIMUM = colour_knob("minimum", 0.0)
MAXIMUM = colour_knob("maximum", 1.0)
HAS_MINIMUM = bool_knob("minimum_enable", True)
HAS_MAXIMUM = bool_knob("maximum_enable", True)
CLAMP_TO = (bool_knob("MinClampTo_enable", False), bool_knob("MaxClampTo_enable", False))
INVERT_CLAMPS = bool_knob("clamp", False)


@dataclass(frozen=True, kw_only=True)
class Line(Tone):
    """value * factor + summand, kept between two ends."""

    factor: float = 1.0
    summand: float = 0.0
    low: float = -np.inf
    high: float = np.inf

    def of(self, values: FloatPixels) -> FloatPixels:
        line: FloatPixels = values * np.float32(self.factor)
        if self.summand:
            line += np.float32(self.summand)
        if self.low != -np.inf:
            np.maximum(line, np.float32(self.low), out=line)
        if self.high != np.inf:
            np.minimum(line, np.float32(self.high), out=line)
        return line


@dataclass(frozen=True, kw_only=True)
class Power(Tone):
    """value ** exponent; what is negative has no power and stays."""

    exponent: float

    def of(self, values: FloatPixels) -> FloatPixels:
        if self.exponent == 1:
            return values
        bent: FloatPixels = np.maximum(values, np.float32(0))
        np.power(bent, np.float32(self.exponent), out=bent)
        below = values < 0
        if below.any():
            np.copyto(bent, values, where=below)
        return bent


class Multiply(ToneNode):
    names = ("Multiply",)
    page = "color_nodes/multiply.html"
    channels_default_is_known = False
    knobs = (*PixelNode.knobs, FACTOR)

    def tone(self, node: Node, part: int, moment: Moment) -> Tone:
        return Line(factor=FACTOR.of(node, moment)[part])


class Add(ToneNode):
    names = ("Add",)
    page = "color_nodes/add.html"
    channels_default_is_known = False
    knobs = (*PixelNode.knobs, SUMMAND)

    def tone(self, node: Node, part: int, moment: Moment) -> Tone:
        return Line(summand=SUMMAND.of(node, moment)[part])


class Gamma(ToneNode):
    names = ("Gamma",)
    page = "color_nodes/gamma.html"
    channels_default_is_known = False
    knobs = (*PixelNode.knobs, GAMMA)

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        for part in range(4):
            self.tone(node, part, moment)

    def tone(self, node: Node, part: int, moment: Moment) -> Tone:
        gamma = GAMMA.of(node, moment)[part]
        if gamma <= 0:
            raise knob_error(node, GAMMA.name, "is 0 or less, which leaves no picture; set it above 0")
        return Power(exponent=1 / gamma)


class Clamp(ToneNode):
    """Where the minimum lies above the maximum, the maximum counts."""

    names = ("Clamp",)
    page = "color_nodes/clamp.html"
    channels_default_is_known = False
    knobs = (*PixelNode.knobs, MINIMUM, MAXIMUM, HAS_MINIMUM, HAS_MAXIMUM)
    fixed = (*PixelNode.fixed, *CLAMP_TO)

    def tone(self, node: Node, part: int, moment: Moment) -> Tone:
        low = MINIMUM.of(node, moment)[part] if HAS_MINIMUM.of(node, moment) else -np.inf
        high = MAXIMUM.of(node, moment)[part] if HAS_MAXIMUM.of(node, moment) else np.inf
        return Line(low=low, high=high)


class Invert(ToneNode):
    """1 - value."""

    names = ("Invert",)
    page = "color_nodes/invert.html"
    channels_default_is_known = False
    knobs = (*PixelNode.knobs, INVERT_CLAMPS)

    def tone(self, node: Node, part: int, moment: Moment) -> Tone:
        del part
        clamps = INVERT_CLAMPS.of(node, moment)
        return Line(factor=-1.0, summand=1.0, low=0.0 if clamps else -np.inf, high=1.0 if clamps else np.inf)
