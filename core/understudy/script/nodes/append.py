"""AppendClip: clips one after the other, with fades and dissolves. Its curves are those of the NDK's AppendClip."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.graph import Node
from understudy.script.knobs import bool_knob, int_knob
from understudy.script.nodes.base import Info, NodeClass, Request, Span, Step, Tree, node_error
from understudy.script.nodes.time import TIME
from understudy.script.values.moment import Moment

START = int_knob("firstFrame", 1)
FADE_IN, FADE_OUT = int_knob("fadeIn", 0), int_knob("fadeOut", 0)
DISSOLVE = int_knob("dissolve", 0)
METADATA_OF_FIRST = bool_knob("meta_from_first", False)


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """A clip that is seen at a frame."""

    step: Step
    share: float
    """How much of it."""


class AppendClip(NodeClass):
    """Its inputs one after the other, each for the length of its own range, with fades and dissolves.

    Before its first frame it asks the first clip, and after its last the last one, for frames beyond their ranges.
    """

    names = ("AppendClip",)
    page = "time_nodes/appendclip.html"
    still = (START, FADE_IN, FADE_OUT, DISSOLVE, METADATA_OF_FIRST)
    fixed = (TIME,)
    makes_pixels = True
    knows_all_channels = False

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        connected = [number for number, place in enumerate(node.inputs) if place is not None]
        return tuple(tree.input(node, number) for number in connected or [0])

    def steps(self, tree: Tree, node: Node, frame: int) -> tuple[Step, ...]:
        return tuple(seen.step for seen in self._seen(tree, node, frame))

    def hands_on(self, tree: Tree, node: Node, frame: int) -> bool:
        return self._seen(tree, node, frame)[0].share == 1 and not METADATA_OF_FIRST.of(node, tree.moment(None))

    def frame_range(self, tree: Tree, node: Node) -> Span:
        clips, moment = self._clips(tree, node), tree.moment(None)
        start, end = START.of(node, moment), clips[-1][1] + len(tree.span(clips[-1][0])) - 1
        if end < start:
            raise node_error(node, "has dissolves longer than all its clips together; shorten them")
        return Span(start, end)

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        first, *others = (tree.info(step.node, step.frame) for step in self.steps(tree, node, frame))
        window = first.data_window
        for other in others:
            window = window.union(other.data_window)
        metadata = first.metadata
        if METADATA_OF_FIRST.of(node, tree.moment(None)):
            clip = self.upstream(tree, node)[0]
            metadata = tree.info(clip, tree.span(clip).first).metadata
        return replace(first, data_window=window, metadata=metadata)

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        out = np.zeros((request.region.height, request.region.width, len(request.channels)), np.float32)  # H W C
        with np.errstate(all="ignore"):  # pixels may hold infinities and not-a-numbers
            for clip in self._seen(tree, node, request.frame):
                if clip.share:
                    pixels = tree.pixels(clip.step.node, replace(request, frame=clip.step.frame))
                    out += pixels * np.float32(clip.share)
        return out

    def content(self, tree: Tree, node: Node, frame: int) -> tuple[object, ...]:
        shares = tuple(seen.share for seen in self._seen(tree, node, frame))
        return (*super().content(tree, node, frame), shares)

    def _clips(self, tree: Tree, node: Node) -> list[tuple[Node, int]]:
        """Each clip, and the frame at which its first is seen."""
        moment = tree.moment(None)
        begin, dissolve = START.of(node, moment), DISSOLVE.of(node, moment)
        clips = []
        for clip in self.upstream(tree, node):
            clips.append((clip, begin))
            begin += len(tree.span(clip)) - dissolve
        return clips

    def _seen(self, tree: Tree, node: Node, frame: int) -> tuple[_Seen, ...]:
        """One clip, or two while they dissolve; the first decides about the format."""
        clips, moment = self._clips(tree, node), tree.moment(None)
        ends = [begin + len(tree.span(clip)) for clip, begin in clips]
        place = next((place for place, end in enumerate(ends) if frame < end), len(clips) - 1)
        dissolve = DISSOLVE.of(node, moment)
        share = 1.0
        if place + 1 < len(clips) and ends[place] - dissolve <= frame < ends[place]:
            along = (ends[place] - frame) / (dissolve + 1)
            share = (3 - 2 * along) * along * along
        light = _light(node, moment, frame, self.frame_range(tree, node))
        shares = (share * light, (1 - share) * light)[: 1 + (share < 1)]
        return tuple(
            _Seen(step=Step(node=clip, frame=frame - begin + tree.span(clip).first), share=part)
            for (clip, begin), part in zip(clips[place:], shares, strict=False)
        )


def _light(node: Node, moment: Moment, frame: int, span: Span) -> float:
    """How far it is faded in from black and not yet out to it: from 0 to 1."""
    fade_in, fade_out = FADE_IN.of(node, moment), FADE_OUT.of(node, moment)
    light = 1.0
    if fade_in > 0 and frame < span.first + fade_in:
        light *= (max(0, frame - span.first + 1) / (fade_in + 1)) ** 2
    if fade_out > 0 and frame > span.last - fade_out:
        light *= (max(0, span.last - frame + 1) / (fade_out + 1)) ** 2
    return light
