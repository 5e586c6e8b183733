"""Merge2 and Dissolve: pictures in one. Merge2's formulas follow its page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from understudy.frames.image import FloatPixels
from understudy.script.channels import ChannelSet
from understudy.script.graph import Node
from understudy.script.knobs import bool_knob, channels_knob, float_knob, word_knob
from understudy.script.nodes.base import Info, NodeClass, Request, Step, Tree, node_error
from understudy.script.nodes.decode import ALPHA
from understudy.script.nodes.pixels import INPUT_MASK, INVERT_MASK, MIX, OWN_MASK, PixelNode
from understudy.script.nodes.routes import BBOX, joined
from understudy.script.values.moment import Moment


@dataclass(frozen=True)
class _Pair:
    """Colours of both inputs, H W C, and their alphas, H W 1."""

    A: FloatPixels
    B: FloatPixels
    a: FloatPixels
    b: FloatPixels


def _where(test: NDArray[np.bool_], yes: FloatPixels, no: FloatPixels) -> FloatPixels:
    chosen: FloatPixels = np.where(test, yes, no)
    return chosen


def _screen(of: _Pair) -> FloatPixels:
    """A + B - AB of values that light may have in a screen, else the larger."""
    is_plain = (of.A >= 0) & (of.A <= 1) & (of.B >= 0) & (of.B <= 1)
    return _where(is_plain, of.A + of.B - of.A * of.B, np.maximum(of.A, of.B))


def _multiply(of: _Pair) -> FloatPixels:
    """AB, but A where both are negative: two of them make no light."""
    return _where((of.A < 0) & (of.B < 0), of.A, of.A * of.B)


OPERATIONS: dict[str, Callable[[_Pair], FloatPixels]] = {
    "atop": lambda of: of.A * of.b + of.B * (1 - of.a),
    "average": lambda of: (of.A + of.B) * np.float32(0.5),
    "conjoint-over": lambda of: _where(of.a >= of.b, of.A, of.A + of.B * (1 - of.a / of.b)),
    "copy": lambda of: of.A,
    "difference": lambda of: np.abs(of.A - of.B),
    "disjoint-over": lambda of: _where((of.a + of.b < 1) | (of.b == 0), of.A + of.B, of.A + of.B * (1 - of.a) / of.b),
    "exclusion": lambda of: of.A + of.B - 2 * of.A * of.B,
    "from": lambda of: of.B - of.A,
    "hard-light": lambda of: _where(of.A < 0.5, _multiply(of), _screen(of)),
    "hypot": lambda of: np.hypot(of.A, of.B),
    "in": lambda of: of.A * of.b,
    "mask": lambda of: of.B * of.a,
    "matte": lambda of: of.A * of.a + of.B * (1 - of.a),
    "max": lambda of: np.maximum(of.A, of.B),
    "min": lambda of: np.minimum(of.A, of.B),
    "minus": lambda of: of.A - of.B,
    "multiply": _multiply,
    "out": lambda of: of.A * (1 - of.b),
    "over": lambda of: of.A + of.B * (1 - of.a),
    "overlay": lambda of: _where(of.B < 0.5, _multiply(of), _screen(of)),
    "plus": lambda of: of.A + of.B,
    "screen": _screen,
    "stencil": lambda of: of.B * (1 - of.a),
    "under": lambda of: of.A * (1 - of.b) + of.B,
    "xor": lambda of: of.A * (1 - of.b) + of.B * (1 - of.a),
}
_CHANNELS = (channels_knob("Achannels", "rgba"), channels_knob("Bchannels", "rgba"))
OPERATION = word_knob("operation", tuple(OPERATIONS), "over")
OUTPUT = channels_knob("output", "rgba")
ALSO = channels_knob("also_merge", "none")
SCREEN_ALPHA = bool_knob("screen_alpha", False)

WHICH = float_knob("which", 0.0)


class Merge2(PixelNode):
    """A (input 1) and B (input 0) by one operation; without A it is B. Other channels are B's."""

    names = ("Merge2",)
    page = "merge_nodes/merge.html"
    num_inputs = 2
    channels_knob = OUTPUT
    knobs = (OPERATION, BBOX, INVERT_MASK, MIX)
    still = (OUTPUT, ALSO, INPUT_MASK)
    fixed = (*_CHANNELS, SCREEN_ALPHA, OWN_MASK)

    def chosen(self, node: Node, moment: Moment) -> ChannelSet:
        return OUTPUT.of(node, moment) | ALSO.of(node, moment)

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        below, beside = tree.channels(tree.input(node, 0)), tree.script.input_of(node, 1)
        added = self.chosen(node, tree.moment(None)).of(tree.channels(beside)) if beside else ()
        return tuple(dict.fromkeys((*below, *added)))

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        below, beside = tree.info(tree.input(node, 0), frame), tree.script.input_of(node, 1)
        if beside is None:
            return below
        window = joined(BBOX.of(node, tree.moment(frame)), tree.info(beside, frame).data_window, below.data_window)
        return replace(below, data_window=window)

    def together(self, channels: tuple[str, ...], there: tuple[str, ...]) -> tuple[str, ...]:
        """Alpha is a part of most operations."""
        del there
        return tuple(dict.fromkeys((*channels, ALPHA)))

    def changed(self, tree: Tree, node: Node, request: Request, pixels: FloatPixels) -> FloatPixels:
        beside = tree.script.input_of(node, 1)
        if beside is None:
            return pixels
        over, alpha = tree.pixels(beside, request), request.channels.index(ALPHA)
        operation = OPERATIONS[OPERATION.of(node, tree.moment(request.frame))]
        return operation(_Pair(over, pixels, over[..., [alpha]], pixels[..., [alpha]]))


class Dissolve(NodeClass):
    """From input 0 to input 1 as `which` goes from 0 to 1, and on to the next ones; beyond the ends they are held."""

    names = ("Dissolve",)
    page = "merge_nodes/dissolve.html"
    knobs = (WHICH,)
    fixed = (channels_knob("channels", "all"), OWN_MASK)
    makes_pixels = True

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        if "+" in node.knobs.get("inputs", ""):
            raise node_error(node, "has a mask, which is not evaluated; disconnect it, or render the node first")

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        return tuple(tree.input(node, number) for number in range(max(1, len(node.inputs))))

    def steps(self, tree: Tree, node: Node, frame: int) -> tuple[Step, ...]:
        """Only those that are seen at the frame."""
        inputs, (first, share) = self.upstream(tree, node), _place(node, tree.moment(frame))
        seen = inputs[first : first + 1 + (share > 0)]
        return tuple(Step(node=above, frame=frame) for above in seen)

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        first, *others = (tree.info(step.node, frame) for step in self.steps(tree, node, frame))
        window = first.data_window
        for other in others:
            window = window.union(other.data_window)
        return replace(first, data_window=window)

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        first, *others = (tree.pixels(step.node, request) for step in self.steps(tree, node, request.frame))
        _, share = _place(node, tree.moment(request.frame))
        with np.errstate(all="ignore"):  # pixels may hold infinities and not-a-numbers
            return first * np.float32(1 - share) + others[0] * np.float32(share) if others else first


def _place(node: Node, moment: Moment) -> tuple[int, float]:
    """The input that is seen, and how much of the next."""
    which = min(max(WHICH.of(node, moment), 0.0), float(max(1, len(node.inputs)) - 1))
    return int(which), which - int(which)
