"""Merge2, and Merge as it was before: one picture, or several in turn, over another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from understudy.frames.image import FloatPixels
from understudy.script.channels import exr_name
from understudy.script.graph import Node
from understudy.script.knobs import (
    Knob,
    bool_knob,
    channel_words_knob,
    channels_knob,
    enum_knob,
    knob_error,
    text_knob,
    word_knob,
)
from understudy.script.layers import Four
from understudy.script.nodes.base import Info, Request, Span, Tree
from understudy.script.nodes.blends import BLENDS, Blend, Pair
from understudy.script.nodes.layered import four_of, layers_at
from understudy.script.nodes.overlay import Overlay, Planes, planes
from understudy.script.nodes.pixels import Masked
from understudy.script.nodes.routes import BBOX, joined
from understudy.script.values.moment import Moment

OPERATION = enum_knob("operation", tuple(BLENDS), "over")
OLD_OPERATION = word_knob("operation", (*BLENDS, "mult"), "over")
A_CHANNELS = channel_words_knob("Achannels", "rgba", "A")
B_CHANNELS = channel_words_knob("Bchannels", "rgba", "B")
OUTPUT = channel_words_knob("output", "rgba")
ALSO = channels_knob("also_merge", "none")
RANGE_FROM = text_knob("rangeinput", "B")
_LAYERS = (A_CHANNELS, B_CHANNELS, OUTPUT)
_FIRST_AFTER_MASK = 3


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """Which channels are merged into which."""

    b: Four
    output: Four
    also: tuple[str, ...]
    """Those that are merged into themselves."""

    @property
    def given(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*filter(None, self.output), *self.also)))

    def of_b(self, channel: str) -> str:
        return self.b[self.output.index(channel)] if channel in self.output else channel

    def of_a(self, channel: str, a: Four, there: Sequence[str]) -> str:
        if channel in self.output:
            return a[self.output.index(channel)]
        name = exr_name(channel, there)
        return name if name in there else ""


class Merge2(Overlay):
    """A (input 1), then the pictures after the mask, upon B (input 0) by one operation; without them it is B.

    color-burn and color-dodge are Natron's. To be confirmed in Nuke: what they make of values below 0 and above 1; here
    color-dodge gives no more than 1 where A is less.
    """

    names: tuple[str, ...] = ("Merge2",)
    page = "merge_nodes/merge.html"
    num_inputs = 2
    takes_more = True
    operation: Knob[str] = OPERATION
    knobs: tuple[Knob[object], ...] = (*Masked.knobs, OPERATION, BBOX)
    still = (*Masked.still, *_LAYERS, ALSO)
    fixed = (*Masked.fixed, bool_knob("screen_alpha", False), bool_knob("sRGB", False), bool_knob("swap", False))

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        if len(self._upon(tree, node)) > 1:
            if BBOX.of(node, moment) == "A":
                raise knob_error(node, BBOX.name, "is A, of which it has several; choose another")
            if not _gives_what_it_takes(tree, node):
                raise knob_error(node, OUTPUT.name, "differs from Bchannels, and several pictures are merged; split it")

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        more = self._upon(tree, node)[1 if tree.script.input_of(node, 1) else 0 :]
        return (*super().upstream(tree, node), *more)

    def frame_range(self, tree: Tree, node: Node) -> Span:
        beside = tree.script.input_of(node, 1)
        is_a = beside is not None and RANGE_FROM.of(node, tree.moment(None)) == "A"
        return tree.span(beside) if is_a and beside else super().frame_range(tree, node)

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        below, upon = tree.channels(tree.input(node, 0)), self._upon(tree, node)
        if not upon:
            return below
        plan = _plan(tree, node)
        added = [
            channel
            for channel in plan.given
            if plan.of_b(channel) in below
            or any(
                plan.of_a(channel, _a_channels(tree, node, above), tree.channels(above)) in tree.channels(above)
                for above in upon
            )
        ]
        return tuple(dict.fromkeys((*below, *added)))

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        below = tree.info(tree.input(node, 0), frame)
        window, box = below.data_window, BBOX.of(node, tree.moment(frame))
        for above in self._upon(tree, node):
            window = joined(box, tree.info(above, frame).data_window, window)
        return replace(below, data_window=window)

    def given(self, tree: Tree, node: Node, channels: tuple[str, ...]) -> tuple[str, ...]:
        merged = _plan(tree, node).given if self._upon(tree, node) else ()
        return tuple(channel for channel in channels if channel in merged)

    def needed(self, tree: Tree, node: Node, channels: tuple[str, ...]) -> Sequence[str]:
        plan = _plan(tree, node)
        return (*map(plan.of_b, channels), plan.b[3])

    def made(self, tree: Tree, node: Node, request: Request, below: Planes) -> FloatPixels:
        """One picture after the other; what is made of the alpha counts as b for the next."""
        plan, upon, current = _plan(tree, node), self._upon(tree, node), below
        blend = self._blend(node, tree.moment(request.frame))
        last = (plan.output[3],) if len(upon) > 1 and plan.output[3] else ()
        work = tuple(dict.fromkeys((*request.channels, *last)))
        for above in upon:
            there, a = tree.channels(above), _a_channels(tree, node, above)
            names = [plan.of_a(channel, a, there) for channel in work]
            over = planes(tree, above, request, (*names, a[3]))
            alpha = (current if plan.b[3] in current.channels else below).of([plan.b[3]])
            pair = Pair(over.of(names), current.of([*map(plan.of_b, work)]), over.of([a[3]]), alpha)
            current = Planes(pixels=blend(pair), channels=work)
        return current.of(request.channels)

    def _upon(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        """A, A2, ... in the order in which they are merged; the mask lies between the first two."""
        numbers = (1, *range(_FIRST_AFTER_MASK, len(node.inputs)))
        return tuple(filter(None, (tree.script.input_of(node, number) for number in numbers)))

    def _blend(self, node: Node, moment: Moment) -> Blend:
        name = self.operation.of(node, moment)
        return BLENDS["multiply" if name == "mult" else name]


class Merge(Merge2):
    """What scripts of Nuke 5 and before have."""

    names = ("Merge",)
    operation = OLD_OPERATION
    knobs = (*Masked.knobs, OLD_OPERATION, BBOX)


def _plan(tree: Tree, node: Node) -> _Plan:
    below = tree.channels(tree.input(node, 0))
    connected = [tree.script.input_of(node, number) for number in range(1, len(node.inputs)) if number != 2]
    there = tuple(dict.fromkeys(channel for place in connected if place for channel in tree.channels(place)))
    every = tuple(dict.fromkeys((*below, *(exr_name(channel, below) for channel in there))))
    output = four_of(tree, node, OUTPUT, every, is_made=True)
    also = tuple(channel for channel in ALSO.of(node, tree.moment(None)).of(every) if channel not in output)
    return _Plan(b=four_of(tree, node, B_CHANNELS, below), output=output, also=also)


def _a_channels(tree: Tree, node: Node, above: Node) -> Four:
    return four_of(tree, node, A_CHANNELS, tree.channels(above))


def _gives_what_it_takes(tree: Tree, node: Node) -> bool:
    """Whether every channel of the output is made of the same one of B."""
    layers, moment = layers_at(tree, ()), tree.moment(None)
    taken = layers.four(B_CHANNELS.of(node, moment), is_made=True) or ()
    given = layers.four(OUTPUT.of(node, moment), is_made=True) or ("?",)
    return all(target in ("", *taken[place : place + 1]) for place, target in enumerate(given))
