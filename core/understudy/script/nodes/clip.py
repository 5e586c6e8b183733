"""A stretch of frames placed on the timeline: what Read does with files and TimeClip with its input."""

from __future__ import annotations

import re
from dataclasses import dataclass

from understudy.script.graph import Node
from understudy.script.knobs import enum_knob, float_knob, int_knob, knob_error, text_knob
from understudy.script.nodes.base import Span, node_error
from understudy.script.values.moment import Moment

_OUTSIDE = ("hold", "loop", "bounce", "black", "error")
_MODES = ("expression", "start at", "offset")

FIRST = int_knob("first", 1)
LAST = int_knob("last", 1)
BEFORE = enum_knob("before", _OUTSIDE, "hold")
AFTER = enum_knob("after", _OUTSIDE, "hold")
FRAME_MODE = enum_knob("frame_mode", _MODES, "expression")
FRAME = text_knob("frame")
CLIP_KNOBS = (FIRST, LAST, BEFORE, AFTER, FRAME_MODE, FRAME)
_ASKED_FRAME = float_knob("frame", 0.0)
"""The same knob where it holds an expression."""


@dataclass(frozen=True, kw_only=True)
class Clip:
    """Frames of a source, and how far they are moved to reach the timeline."""

    span: Span
    """In the source's own numbers."""
    offset: int | None
    """Timeline frame + offset = source frame; None: the knob frame holds an expression for it."""

    @property
    def timeline(self) -> Span:
        return self.span if self.offset is None else self.span.shifted(-self.offset)

    def source_frame(self, node: Node, frame: int, moment: Moment) -> int | None:
        """The source's frame at a frame of the timeline, by the node's knobs before and after; None: black."""
        asked = _computed(node, moment) if self.offset is None else frame + self.offset
        if self.span.first <= asked <= self.span.last:
            return asked
        knob = BEFORE if asked < self.span.first else AFTER
        outside = knob.of(node, moment)
        if outside == "error":
            raise node_error(
                node, f"has no frame {frame} (its range is {self.timeline}) and knob {knob.name} says error; set it"
            )
        return None if outside == "black" else wrapped(self.span, asked, outside)


def wrapped(span: Span, asked: int, outside: str) -> int:
    """The frame of the span that is shown for one outside it, by the word loop, bounce or hold."""
    if outside == "loop":
        return span.first + (asked - span.first) % len(span)
    if outside == "bounce" and len(span) > 1:
        turn = len(span) - 1  # the end frames are shown once at each turn
        along = (asked - span.first) % (2 * turn)
        return span.first + min(along, 2 * turn - along)
    return span.nearest(asked)


def clip_of(node: Node, span: Span, moment: Moment) -> Clip:
    """The clip that the node makes of the source's frames `span`. Raises UnderstudyError naming the knob at fault."""
    if not span:
        raise node_error(node, f"knobs first and last give the range {span}; swap or set them")
    return Clip(span=span, offset=_offset(node, span, moment))


def _offset(node: Node, span: Span, moment: Moment) -> int | None:
    mode, text = FRAME_MODE.of(node, moment), FRAME.of(node, moment).strip('{}" ')
    if mode == "expression":
        return 0 if text in ("", "frame") else None
    if not re.fullmatch(r"[-+]?\d{0,9}", text):
        raise knob_error(node, "frame", f"is {text[:60]!r} where frame_mode {mode} needs a whole number")
    number = int(text) if text.strip("+-") else 0
    return span.first - number if mode == "start at" else number


def _computed(node: Node, moment: Moment) -> int:
    asked = _ASKED_FRAME.of(node, moment)
    if asked != int(asked):
        raise knob_error(node, "frame", f"comes to {asked:g} at frame {moment.frame:g}, which is between frames")
    return int(asked)
