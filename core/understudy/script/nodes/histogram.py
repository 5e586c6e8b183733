"""Histogram: levels.

Foundry's page: a black point, a midtone, which is a gamma, and a white point of the input, a range of the output, and
that what lies beyond is clamped. The three numbers of `in` are read in the order of their sliders: black, midtone,
white. A midtone below 1, which lies further left, lightens: it is the exponent, where Grade's gamma is one over it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from understudy.frames.image import FloatPixels
from understudy.script.graph import Node
from understudy.script.knobs import knob_error, pair_knob, rgb_knob
from understudy.script.nodes.arithmetic import Line, Power
from understudy.script.nodes.base import Tree
from understudy.script.nodes.pixels import PixelNode, Tone, ToneNode
from understudy.script.values.moment import Moment

INPUT = replace(rgb_knob("in", 0.0), default=(0.0, 1.0, 1.0), parts=())
OUTPUT = replace(pair_knob("out", (0.0, 1.0)), parts=())


@dataclass(frozen=True, kw_only=True)
class Levels(Tone):
    """One after the other."""

    stretched: Line
    bent: Power
    placed: Line

    def of(self, values: FloatPixels) -> FloatPixels:
        return self.placed.of(self.bent.of(self.stretched.of(values)))


class Histogram(ToneNode):
    """From black to white of the input, clamped, by the midtone's power, to the range of the output."""

    names = ("Histogram",)
    page = "color_nodes/histogram.html"
    channels_default_is_known = False
    knobs = (*PixelNode.knobs, INPUT, OUTPUT)
    assumed = "in is black, midtone and white, and the midtone is the exponent of what is clamped to 0 to 1"

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        self.tone(node, 0, moment)

    def tone(self, node: Node, part: int, moment: Moment) -> Tone:
        del part
        (black, midtone, white), (low, high) = INPUT.of(node, moment), OUTPUT.of(node, moment)
        if black == white:
            raise knob_error(node, INPUT.name, f"has black and white at {black:g}, which leaves no picture; set one")
        if midtone <= 0:
            raise knob_error(node, INPUT.name, f"has the midtone {midtone:g}; set it above 0")
        slope = 1.0 / (white - black)
        return Levels(
            stretched=Line(factor=slope, summand=-black * slope, low=0.0, high=1.0),
            bent=Power(exponent=midtone),
            placed=Line(factor=high - low, summand=low),
        )
