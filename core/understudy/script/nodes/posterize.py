"""Posterize: few values in place of many.

Nuke's page gives no formula. It is that of Natron's Quantize, which says of it that it is Nuke's: all between 0 and 1
is cut into `Colors` equal spans, each with its upper end, and these become as many values, 0 and 1 among them. Beyond
0 and 1 it goes on in the same steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.graph import Node
from understudy.script.knobs import int_knob, knob_error
from understudy.script.nodes.base import Tree
from understudy.script.nodes.pixels import PixelNode, Tone, ToneNode
from understudy.script.values.moment import Moment

COUNT = int_knob("Colors", 16)


@dataclass(frozen=True, kw_only=True)
class Steps(Tone):
    """So many values from 0 to 1."""

    count: int

    def of(self, values: FloatPixels) -> FloatPixels:
        spans = values * np.float32(self.count)
        steps: FloatPixels = np.where(spans > 0, np.ceil(spans - 1), np.floor(spans))
        steps /= np.float32(self.count - 1)
        return steps


class Posterize(ToneNode):
    """So many values from 0 to 1 in each channel, and steps of the same height beyond."""

    names = ("Posterize",)
    page = "color_nodes/posterize.html"
    channels_default_is_known = False
    knobs = (*PixelNode.knobs, COUNT)

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        self.tone(node, 0, moment)

    def tone(self, node: Node, part: int, moment: Moment) -> Tone:
        del part
        if not COUNT.is_stated(node):
            raise knob_error(node, COUNT.name, "is left out, and what it is then is not known")
        count = COUNT.of(node, moment)
        if count < 2:
            raise knob_error(node, COUNT.name, f"is {count}, and makes no steps; make it 2 or more")
        return Steps(count=count)
