"""Classes that ask for another frame, or for none: FrameHold, FrameRange, TimeOffset, TimeClip."""

from __future__ import annotations

from understudy.script.graph import Node
from understudy.script.knobs import KnobMoves, bool_knob, float_knob, int_knob, text_knob
from understudy.script.nodes.base import NodeClass, Span, Step, Tree, node_error
from understudy.script.nodes.clip import CLIP_KNOBS, FIRST, LAST, Clip, clip_of
from understudy.script.nodes.shown import Seen, ShowsFrames
from understudy.script.values.moment import Moment

HELD_FRAME = int_knob("first_frame", 0, "firstFrame")
INCREMENT = int_knob("increment", 0)

RANGE_FIRST = int_knob("first_frame", 1)
RANGE_LAST = int_knob("last_frame", 1)

OFFSET = float_knob("time_offset", 0.0)
REVERSE_INPUT = bool_knob("reverse_input", False)

CLIP_REVERSE = bool_knob("reverse", False)

TIME = text_knob("time")
"""Another time than the frame asked for; scripts write it, and leave it empty."""

_FADES = (float_knob("fadeIn", 0.0), float_knob("fadeOut", 0.0))


class FrameHold(NodeClass):
    """One frame for ever, or one of every `increment` frames. Its own range is that one frame."""

    names = ("FrameHold",)
    page = "time_nodes/framehold.html"
    knobs = (HELD_FRAME,)
    still = (INCREMENT,)

    def steps(self, tree: Tree, node: Node, frame: int) -> tuple[Step, ...]:
        moment = tree.moment(frame)
        held, increment = HELD_FRAME.of(node, moment), INCREMENT.of(node, moment)
        if increment > 0:
            held += (frame - held) // increment * increment
        return (Step(node=tree.input(node, 0), frame=held),)

    def frame_range(self, tree: Tree, node: Node) -> Span:
        moment = tree.moment(None)
        try:
            held = HELD_FRAME.of(node, moment)
        except KnobMoves:
            return super().frame_range(tree, node)
        return super().frame_range(tree, node) if INCREMENT.of(node, moment) > 0 else Span(held, held)


class FrameRange(NodeClass):
    """States another range and changes no frame."""

    names = ("FrameRange",)
    page = "time_nodes/framerange.html"
    still = (RANGE_FIRST, RANGE_LAST)
    fixed = (TIME,)

    def frame_range(self, tree: Tree, node: Node) -> Span:
        if not (RANGE_FIRST.is_stated(node) or RANGE_LAST.is_stated(node)):
            return super().frame_range(tree, node)
        moment = tree.moment(None)
        span = Span(RANGE_FIRST.of(node, moment), RANGE_LAST.of(node, moment))
        if not span:
            raise node_error(node, f"knobs first_frame and last_frame give the range {span}; swap or set them")
        return span


class TimeOffset(NodeClass):
    """The input moved by whole frames, then reversed within its range if asked."""

    names = ("TimeOffset",)
    page = "time_nodes/timeoffset.html"
    still = (OFFSET, REVERSE_INPUT)
    fixed = (TIME,)

    def steps(self, tree: Tree, node: Node, frame: int) -> tuple[Step, ...]:
        above = tree.input(node, 0)
        asked = frame - _whole_offset(node, tree.moment(None))
        if REVERSE_INPUT.of(node, tree.moment(None)):
            span = tree.span(above)
            asked = span.first + span.last - asked
        return (Step(node=above, frame=asked),)

    def frame_range(self, tree: Tree, node: Node) -> Span:
        return super().frame_range(tree, node).shifted(_whole_offset(node, tree.moment(None)))

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        _whole_offset(node, tree.moment(None))


class TimeClip(ShowsFrames):
    """A part of the input as a clip, placed in time as a Read places its sequence."""

    names = ("TimeClip",)
    page = "time_nodes/timeclip.html"
    still = (*CLIP_KNOBS, CLIP_REVERSE)
    # The reference page prints 5 as the default of both fades, as a new node has it; a script that leaves them out
    # was saved with none.
    fixed = (*_FADES, TIME)

    def seen(self, tree: Tree, node: Node, frame: int) -> tuple[Seen, ...]:
        clip = self._clip(tree, node)
        asked = clip.source_frame(node, frame, tree.moment(frame))
        if asked is None:
            return ()
        if CLIP_REVERSE.of(node, tree.moment(None)):
            asked = clip.span.first + clip.span.last - asked
        return (Seen(step=Step(node=tree.input(node, 0), frame=asked)),)

    def frame_for_size(self, tree: Tree, node: Node) -> int:
        return self._clip(tree, node).span.first

    def frame_range(self, tree: Tree, node: Node) -> Span:
        return self._clip(tree, node).timeline

    def _clip(self, tree: Tree, node: Node) -> Clip:
        above, moment = tree.span(tree.input(node, 0)), tree.moment(None)
        first = FIRST.of(node, moment) if FIRST.is_stated(node) else above.first
        last = LAST.of(node, moment) if LAST.is_stated(node) else above.last
        return clip_of(node, Span(first, last), moment)


def _whole_offset(node: Node, moment: Moment) -> int:
    offset = OFFSET.of(node, moment)
    if offset != int(offset):
        raise node_error(node, f"knob time_offset is {offset}, which is between frames; make it whole")
    return int(offset)
