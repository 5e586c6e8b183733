"""Classes that map frames to frames: Retime by ranges and speed, TimeWarp by a curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from understudy.script.graph import Node
from understudy.script.knobs import bool_knob, float_knob, int_knob, knob_error, text_knob, word_knob
from understudy.script.nodes.base import Span, Tree, node_error
from understudy.script.nodes.clip import wrapped
from understudy.script.nodes.time import TIME, OneFrame
from understudy.script.values.moment import Moment

INPUT_FIRST, INPUT_LAST = int_knob("input.first", 1), int_knob("input.last", 1)
INPUT_LOCKS = (bool_knob("input.first_lock", False), bool_knob("input.last_lock", False))
OUTPUT_FIRST, OUTPUT_LAST = int_knob("output.first", 1), int_knob("output.last", 1)
OUTPUT_LOCKS = (bool_knob("output.first_lock", False), bool_knob("output.last_lock", False))
SPEED = float_knob("speed", 1.0)
REVERSE = bool_knob("reverse", False)
_OUTSIDE = ("continue", "hold", "loop", "bounce", "black")
BEFORE, AFTER = word_knob("before", _OUTSIDE, "hold"), word_knob("after", _OUTSIDE, "hold")
FILTER = word_knob("filter", ("none", "nearest", "box"), "box")
SHUTTER = float_knob("shutter", 1.0)
WARP = text_knob("warp")
LOOKUP = float_knob("lookup", 0.0)

_BLENDS = "which blends frames, and how it weighs them is not known; set it to nearest or none"
_EXACT = 1e-6
"""Frames. A speed is written with ten digits, so that what is meant to be whole is so nearly."""


class Retime(OneFrame):
    """The input's range at another speed, or stretched over another range.

    Between two frames the filter nearest takes the nearer one, and what lies halfway is refused; box, which blends
    frames, is followed at speed 1 with a shutter of 1 or less.
    """

    names = ("Retime",)
    page = "time_nodes/retime.html"
    still = (
        *(INPUT_FIRST, INPUT_LAST, *INPUT_LOCKS, REVERSE, OUTPUT_FIRST, OUTPUT_LAST, *OUTPUT_LOCKS),
        *(SPEED, BEFORE, AFTER, FILTER, SHUTTER),
    )
    fixed = (WARP, TIME)

    def asked(self, tree: Tree, node: Node, frame: int) -> int | None:
        timing, moment = _timing(tree, node), tree.moment(None)
        if FILTER.of(node, moment) == "box" and (timing.speed != 1 or SHUTTER.of(node, moment) > 1):
            raise knob_error(node, FILTER.name, f"is box, {_BLENDS}")
        inside = frame
        if not timing.output.first <= frame <= timing.output.last:
            outside = (BEFORE if frame < timing.output.first else AFTER).of(node, moment)
            if outside == "black":
                return None
            inside = frame if outside == "continue" else wrapped(timing.output, frame, outside)
        return _whole(node, timing.at(inside), FILTER.of(node, moment), frame)

    def frame_for_size(self, tree: Tree, node: Node) -> int:
        return _timing(tree, node).input.first

    def frame_range(self, tree: Tree, node: Node) -> Span:
        return _timing(tree, node).output


@dataclass(frozen=True, kw_only=True)
class _Timing:
    """Which frame of the input belongs to one of the output."""

    input: Span
    output: Span
    speed: Fraction
    """Frames of the input for each of the output."""
    is_reversed: bool

    def at(self, frame: int) -> Fraction:
        along = (frame - self.output.first) * self.speed
        return self.input.last - along if self.is_reversed else self.input.first + along


def _timing(tree: Tree, node: Node) -> _Timing:
    """What is not locked follows: the input's range from the node above, the output's from the speed."""
    moment, above = tree.moment(None), tree.span(tree.input(node, 0))
    first = INPUT_FIRST.of(node, moment) if INPUT_LOCKS[0].of(node, moment) else above.first
    last = INPUT_LAST.of(node, moment) if INPUT_LOCKS[1].of(node, moment) else max(first, above.last)
    if last < first:
        raise node_error(node, f"knobs input.first and input.last give the range {Span(first, last)}; swap or set them")
    is_locked = [lock.of(node, moment) for lock in OUTPUT_LOCKS]
    speed = Fraction(SPEED.of(node, moment))
    if speed <= 0:
        raise knob_error(node, SPEED.name, f"is {float(speed):g}; set it above 0, and reverse to run backwards")
    shown = Span(first, last)
    output = _output(node, moment, is_locked, shown, speed)
    if all(is_locked):
        speed = Fraction(len(shown), len(output))
    return _Timing(input=shown, output=output, speed=speed, is_reversed=REVERSE.of(node, moment))


def _output(node: Node, moment: Moment, is_locked: list[bool], shown: Span, speed: Fraction) -> Span:
    first, last = OUTPUT_FIRST.of(node, moment), OUTPUT_LAST.of(node, moment)
    if all(is_locked):
        if last < first:
            what = f"knobs output.first and output.last give the range {Span(first, last)}; swap or set them"
            raise node_error(node, what)
        return Span(first, last)
    length = math.ceil(len(shown) / speed - Fraction(_EXACT))
    if is_locked[1]:
        return Span(last - length + 1, last)
    begin = first if is_locked[0] else shown.first
    return Span(begin, begin + length - 1)


class TimeWarp(OneFrame):
    """The input's frame that the curve `lookup` gives; its range stays the input's."""

    names = ("TimeWarp",)
    page = "time_nodes/timewarp.html"
    knobs = (LOOKUP,)
    still = (FILTER,)
    fixed = (TIME,)

    def asked(self, tree: Tree, node: Node, frame: int) -> int:
        moment = tree.moment(frame)
        return _whole(node, Fraction(LOOKUP.of(node, moment)), FILTER.of(node, tree.moment(None)), frame)

    def frame_for_size(self, tree: Tree, node: Node) -> int:
        return tree.span(tree.input(node, 0)).first

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        if not LOOKUP.is_stated(node):
            raise knob_error(node, LOOKUP.name, "is left out, and what it is then is not known")
        if FILTER.of(node, tree.moment(None)) == "box":
            raise knob_error(node, FILTER.name, f"is box, {_BLENDS}")


def _whole(node: Node, asked: Fraction, by: str, frame: int) -> int:
    """The frame that is shown of the input. Raises UnderstudyError where it is not known which."""
    near = round(asked)
    off = abs(asked - near)
    if off <= _EXACT or (by == "nearest" and off < Fraction(1, 2) - Fraction(_EXACT)):
        return near
    where = f"asks for {float(asked):g} at frame {frame}, which is "
    if by == "nearest":
        raise node_error(node, f"{where}halfway between two, and Nuke's choice is not known; make it whole, or bake it")
    raise node_error(node, f"{where}between frames; set its filter to nearest, or bake it")
