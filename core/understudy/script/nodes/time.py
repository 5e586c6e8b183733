"""Classes that ask for another frame: FrameHold, FrameRange, TimeOffset, TimeClip, AppendClip."""

from __future__ import annotations

from understudy.frames.image import Image
from understudy.script.graph import Node
from understudy.script.knobs import bool_knob, float_knob, int_knob
from understudy.script.nodes.base import NodeClass, Request, Span, Step, Tree, black, node_error
from understudy.script.nodes.clip import CLIP_KNOBS, FIRST, LAST, Clip, clip_of

HELD_FRAME = int_knob("first_frame", 0, "firstFrame")
INCREMENT = int_knob("increment", 0)

RANGE_FIRST = int_knob("first_frame", 1)
RANGE_LAST = int_knob("last_frame", 1)

OFFSET = float_knob("time_offset", 0.0)
REVERSE_INPUT = bool_knob("reverse_input", False)

CLIP_REVERSE = bool_knob("reverse", False)

START = int_knob("firstFrame", 1)

FADE_IN = float_knob("fadeIn", 0.0)
FADE_OUT = float_knob("fadeOut", 0.0)
DISSOLVE = float_knob("dissolve", 0.0)

_LONGEST = 10**9
"""Frames. Clips that are appended to themselves soon have more than can be counted."""


class FrameHold(NodeClass):
    """One frame for ever, or one of every `increment` frames. Its own range is that one frame."""

    names = ("FrameHold",)
    page = "time_nodes/framehold.html"
    knobs = (HELD_FRAME, INCREMENT)

    def steps(self, tree: Tree, node: Node, frame: int) -> tuple[Step, ...]:
        held, increment = HELD_FRAME.of(node), INCREMENT.of(node)
        if increment > 0:
            held += (frame - held) // increment * increment
        return (Step(node=tree.input(node, 0), frame=held),)

    def frame_range(self, tree: Tree, node: Node) -> Span:
        if INCREMENT.of(node) > 0:
            return super().frame_range(tree, node)
        return Span(HELD_FRAME.of(node), HELD_FRAME.of(node))


class FrameRange(NodeClass):
    """States another range and changes no frame."""

    names = ("FrameRange",)
    page = "time_nodes/framerange.html"
    knobs = (RANGE_FIRST, RANGE_LAST)

    def frame_range(self, tree: Tree, node: Node) -> Span:
        if not (RANGE_FIRST.is_stated(node) or RANGE_LAST.is_stated(node)):
            return super().frame_range(tree, node)
        span = Span(RANGE_FIRST.of(node), RANGE_LAST.of(node))
        if not span:
            raise node_error(node, f"knobs first_frame and last_frame give the range {span}; swap or set them")
        return span


class TimeOffset(NodeClass):
    """The input moved by whole frames, then reversed within its range if asked."""

    names = ("TimeOffset",)
    page = "time_nodes/timeoffset.html"
    knobs = (OFFSET, REVERSE_INPUT)

    def steps(self, tree: Tree, node: Node, frame: int) -> tuple[Step, ...]:
        above = tree.input(node, 0)
        asked = frame - _whole_offset(node)
        if REVERSE_INPUT.of(node):
            span = tree.span(above)
            asked = span.first + span.last - asked
        return (Step(node=above, frame=asked),)

    def frame_range(self, tree: Tree, node: Node) -> Span:
        return super().frame_range(tree, node).shifted(_whole_offset(node))

    def check(self, tree: Tree, node: Node) -> None:
        super().check(tree, node)
        _whole_offset(node)


class TimeClip(NodeClass):
    """A part of the input as a clip, placed in time as a Read places its sequence."""

    names = ("TimeClip",)
    page = "time_nodes/timeclip.html"
    knobs = (*CLIP_KNOBS, CLIP_REVERSE)
    # The reference page prints 5 as the default of both fades, as a new node has it; a script that leaves them out
    # was saved with none.
    fixed = (FADE_IN, FADE_OUT)
    makes_pixels = True

    def steps(self, tree: Tree, node: Node, frame: int) -> tuple[Step, ...]:
        clip = self._clip(tree, node)
        asked = clip.source_frame(node, frame)
        if asked is None:
            return ()
        if CLIP_REVERSE.of(node):
            asked = clip.span.first + clip.span.last - asked
        return (Step(node=tree.input(node, 0), frame=asked),)

    def frame_range(self, tree: Tree, node: Node) -> Span:
        return self._clip(tree, node).timeline

    def pull(self, tree: Tree, node: Node, request: Request) -> Image:
        if self.steps(tree, node, request.frame):
            return super().pull(tree, node, request)
        held = tree.pull(tree.input(node, 0), Request(frame=FIRST.of(node), channels=request.channels))
        return black(request.channels, held.display_window, held.pixel_aspect)

    def _clip(self, tree: Tree, node: Node) -> Clip:
        above = tree.span(tree.input(node, 0))
        first = FIRST.of(node) if FIRST.is_stated(node) else above.first
        return clip_of(node, Span(first, LAST.of(node) if LAST.is_stated(node) else above.last))


class AppendClip(NodeClass):
    """Its inputs one after the other, each for the length of its own range; the ends are held."""

    names = ("AppendClip",)
    page = "time_nodes/appendclip.html"
    knobs = (START,)
    fixed = (FADE_IN, FADE_OUT, DISSOLVE)

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        connected = [number for number, place in enumerate(node.inputs) if place is not None]
        return tuple(tree.input(node, number) for number in connected or [0])

    def steps(self, tree: Tree, node: Node, frame: int) -> tuple[Step, ...]:
        at = self.frame_range(tree, node).nearest(frame) - START.of(node)
        for above in self.upstream(tree, node):
            span = tree.span(above)
            if at < len(span):
                return (Step(node=above, frame=span.first + at),)
            at -= len(span)
        raise AssertionError("a frame within the range lies in one of the clips")

    def frame_range(self, tree: Tree, node: Node) -> Span:
        length = sum(len(tree.span(above)) for above in self.upstream(tree, node))
        if length > _LONGEST:
            raise node_error(node, f"is over {_LONGEST} frames long; shorten its clips with FrameRange")
        return Span(START.of(node), START.of(node) + length - 1)


def _whole_offset(node: Node) -> int:
    offset = OFFSET.of(node)
    if offset != int(offset):
        raise node_error(node, f"knob time_offset is {offset}, which is between frames; make it whole")
    return int(offset)
