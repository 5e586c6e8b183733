"""Colour by plain arithmetic, value by value: Multiply, Add, Gamma, Clamp, Invert."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.graph import Node
from understudy.script.knobs import Colour, Stated, bool_knob, colour_knob, knob_error
from understudy.script.nodes.base import Tree
from understudy.script.nodes.pixels import ALL, PixelNode, Tone, ToneNode
from understudy.script.values.moment import Moment

FACTOR = colour_knob("value", 1.0)
SUMMAND = colour_knob("value", 0.0)
GAMMA = colour_knob("value", 1.0)
MINIMUM = colour_knob("minimum", 0.0)
_FINITE_MAXIMUM = colour_knob("maximum", 1.0)
_ENDLESS = ("inf", "1.#inf")
"""What Nuke writes for a maximum that is none."""
HAS_MINIMUM = bool_knob("minimum_enable", True)
HAS_MAXIMUM = bool_knob("maximum_enable", True)
BELOW = colour_knob("MinClampTo", 0.0)
ABOVE = colour_knob("MaxClampTo", 1.0)
HAS_BELOW = bool_knob("MinClampTo_enable", False)
HAS_ABOVE = bool_knob("MaxClampTo_enable", False)
INVERT_CLAMPS = bool_knob("clamp", False)


def _maximum(stated: Stated) -> Colour:
    return (np.inf,) * 4 if stated.raw.strip().lower() in _ENDLESS else _FINITE_MAXIMUM.parse(stated)


MAXIMUM = replace(_FINITE_MAXIMUM, parse=_maximum)


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


@dataclass(frozen=True, kw_only=True)
class Ends(Tone):
    """What lies beyond an end becomes a value of its own."""

    low: float
    high: float
    below: float
    above: float

    def of(self, values: FloatPixels) -> FloatPixels:
        kept: FloatPixels = values.copy()
        kept[values < self.low] = self.below
        kept[values > self.high] = self.above
        return kept


class Arithmetic(ToneNode):
    """On every channel, alpha and depth, too, unless the script names some."""

    channels_knob = ALL
    still = (ALL, *PixelNode.still[1:])


class Multiply(Arithmetic):
    names = ("Multiply",)
    page = "color_nodes/multiply_color.html"
    knobs = (*PixelNode.knobs, FACTOR)

    def tone(self, node: Node, part: int, moment: Moment) -> Tone:
        return Line(factor=FACTOR.of(node, moment)[part])


class Add(Arithmetic):
    names = ("Add",)
    page = "color_nodes/add.html"
    knobs = (*PixelNode.knobs, SUMMAND)

    def tone(self, node: Node, part: int, moment: Moment) -> Tone:
        return Line(summand=SUMMAND.of(node, moment)[part])


class Gamma(Arithmetic):
    names = ("Gamma",)
    page = "color_nodes/gamma.html"
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


class Clamp(Arithmetic):
    """Where the minimum lies above the maximum, the maximum counts."""

    names = ("Clamp",)
    page = "color_nodes/clamp.html"
    knobs = (*PixelNode.knobs, MINIMUM, MAXIMUM, HAS_MINIMUM, HAS_MAXIMUM, BELOW, ABOVE, HAS_BELOW, HAS_ABOVE)

    def tone(self, node: Node, part: int, moment: Moment) -> Tone:
        low = MINIMUM.of(node, moment)[part] if HAS_MINIMUM.of(node, moment) else -np.inf
        high = MAXIMUM.of(node, moment)[part] if HAS_MAXIMUM.of(node, moment) else np.inf
        has_below, has_above = HAS_BELOW.of(node, moment), HAS_ABOVE.of(node, moment)
        if not (has_below or has_above):
            return Line(low=low, high=high)
        below = BELOW.of(node, moment)[part] if has_below else low
        return Ends(low=low, high=high, below=below, above=ABOVE.of(node, moment)[part] if has_above else high)


class Invert(Arithmetic):
    """1 - value."""

    names = ("Invert",)
    page = "color_nodes/invert.html"
    knobs = (*PixelNode.knobs, INVERT_CLAMPS)

    def tone(self, node: Node, part: int, moment: Moment) -> Tone:
        del part
        clamps = INVERT_CLAMPS.of(node, moment)
        return Line(factor=-1.0, summand=1.0, low=0.0 if clamps else -np.inf, high=1.0 if clamps else np.inf)
