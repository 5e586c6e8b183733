"""Classes that map frames to frames: Retime by ranges and speed, TimeWarp by a curve.

The filter box is a reading of Foundry's pages: a weighted average of the frames that cover a range of time, more of
them with higher values of the shutter, and duplicates of frames by default. So each frame of the input is taken to last
from its number to the next, and each of the output to show the time from its place in the input on, for `shutter`
frames of its own (TimeWarp: for `length` frames of the input). At half the speed and a shutter of 1 that shows every
frame twice; a range with its middle at the place would blend every second one.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from understudy.script.graph import Node
from understudy.script.knobs import KnobMoves, bool_knob, float_knob, int_knob, knob_error, text_knob, word_knob
from understudy.script.nodes.base import Span, Step, Tree, node_error
from understudy.script.nodes.clip import wrapped
from understudy.script.nodes.shown import Seen, ShowsFrames
from understudy.script.nodes.time import TIME
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
LENGTH = float_knob("length", 1.0)

_COVERED = "box is the mean of the frames that are covered from each place on"
_MOST_FRAMES = 1000
_EXACT = 1e-6
"""Frames. A speed is written with ten digits, so that what is meant to be whole is so nearly."""


class Retime(ShowsFrames):
    """The input's range at another speed, or stretched over another range.

    Between two frames the filter nearest takes the nearer one, and what lies halfway is refused. Box, the default,
    shows the mean of all frames that the shutter covers: as many of the input as `shutter` times the speed.
    """

    names = ("Retime",)
    page = "time_nodes/retime.html"
    still = (
        *(INPUT_FIRST, INPUT_LAST, *INPUT_LOCKS, REVERSE, OUTPUT_FIRST, OUTPUT_LAST, *OUTPUT_LOCKS),
        *(SPEED, BEFORE, AFTER, FILTER, SHUTTER),
    )
    fixed = (WARP, TIME)
    assumed = _COVERED

    def assumes(self, tree: Tree, node: Node) -> bool:
        moment = tree.moment(None)
        shows_each = SHUTTER.of(node, moment) <= 1 and _timing(tree, node).speed == 1
        return FILTER.of(node, moment) == "box" and not shows_each

    def seen(self, tree: Tree, node: Node, frame: int) -> tuple[Seen, ...]:
        timing, moment = _timing(tree, node), tree.moment(None)
        inside = frame
        if not timing.output.first <= frame <= timing.output.last:
            outside = (BEFORE if frame < timing.output.first else AFTER).of(node, moment)
            if outside == "black":
                return ()
            inside = frame if outside == "continue" else wrapped(timing.output, frame, outside)
        above, along, by = tree.input(node, 0), timing.along(inside), FILTER.of(node, moment)
        if by != "box":
            return (Seen(step=Step(node=above, frame=_whole(node, timing.at(along), by, frame))),)
        covered = _covered(node, SHUTTER.name, along, timing.speed * Fraction(SHUTTER.of(node, moment)))
        return tuple(
            Seen(step=Step(node=above, frame=int(timing.at(Fraction(place)))), share=share) for place, share in covered
        )

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

    def along(self, frame: int) -> Fraction:
        """How far the output's frame is on its way through the input: frames of the input."""
        return (frame - self.output.first) * self.speed

    def at(self, along: Fraction) -> Fraction:
        """The input's frame so far on the way."""
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


class TimeWarp(ShowsFrames):
    """The input's frame that the curve `lookup` gives; its range stays the input's.

    The filter box, the default, shows the mean of all frames from there on for as long as `length`, or back from there
    where that is negative.
    """

    names = ("TimeWarp",)
    page = "time_nodes/timewarp.html"
    knobs = (LOOKUP, LENGTH)
    still = (FILTER,)
    fixed = (TIME,)
    assumed = _COVERED

    def assumes(self, tree: Tree, node: Node) -> bool:
        moment = tree.moment(None)
        if FILTER.of(node, moment) != "box":
            return False
        with suppress(KnobMoves):
            lookup, length = LOOKUP.of(node, moment), LENGTH.of(node, moment)
            return lookup != int(lookup) or abs(length) > 1
        return True

    def seen(self, tree: Tree, node: Node, frame: int) -> tuple[Seen, ...]:
        moment, above = tree.moment(frame), tree.input(node, 0)
        lookup, by = Fraction(LOOKUP.of(node, moment)), FILTER.of(node, tree.moment(None))
        if by != "box":
            return (Seen(step=Step(node=above, frame=_whole(node, lookup, by, frame))),)
        length = Fraction(LENGTH.of(node, moment))
        way = -1 if length < 0 else 1
        covered = _covered(node, LENGTH.name, lookup * way, abs(length))
        return tuple(Seen(step=Step(node=above, frame=place * way), share=share) for place, share in covered)

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        if not LOOKUP.is_stated(node):
            raise knob_error(node, LOOKUP.name, "is left out, and what it is then is not known")


def _covered(node: Node, knob: str, begin: Fraction, length: Fraction) -> list[tuple[int, float]]:
    """The frames between `begin` and so much later, each lasting from its number to the next, and their shares."""
    if length < 0:
        raise knob_error(node, knob, "is below 0; make it 0 or more")
    if length > _MOST_FRAMES:
        raise knob_error(node, knob, f"blends {float(length):.6g} frames, over {_MOST_FRAMES}; make it smaller")
    begin, end = _snapped(begin), _snapped(begin + length)
    first = math.floor(begin)
    places = range(first, max(math.ceil(end), first + 1))
    if len(places) == 1:
        return [(first, 1.0)]
    ends = [begin, *(Fraction(place) for place in places[1:]), end]
    return [(place, float((ends[at + 1] - ends[at]) / (end - begin))) for at, place in enumerate(places)]


def _snapped(place: Fraction) -> Fraction:
    """Whole where that is meant."""
    near = round(place)
    return Fraction(near) if abs(place - near) <= _EXACT else place


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
