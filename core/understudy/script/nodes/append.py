"""AppendClip: clips one after the other, with fades and dissolves. Its curves are those of the NDK's AppendClip."""

from __future__ import annotations

from dataclasses import replace

from understudy.script.graph import Node
from understudy.script.knobs import bool_knob, int_knob
from understudy.script.nodes.base import Info, Span, Step, Tree, node_error
from understudy.script.nodes.shown import Seen, ShowsFrames
from understudy.script.nodes.time import TIME
from understudy.script.values.moment import Moment

START = int_knob("firstFrame", 1)
FADE_IN, FADE_OUT = int_knob("fadeIn", 0), int_knob("fadeOut", 0)
DISSOLVE = int_knob("dissolve", 0)
METADATA_OF_FIRST = bool_knob("meta_from_first", False)


class AppendClip(ShowsFrames):
    """Its inputs one after the other, each for the length of its own range, with fades and dissolves.

    Before its first frame it asks the first clip, and after its last the last one, for frames beyond their ranges.
    """

    names = ("AppendClip",)
    page = "time_nodes/appendclip.html"
    still = (START, FADE_IN, FADE_OUT, DISSOLVE, METADATA_OF_FIRST)
    fixed = (TIME,)

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        connected = [number for number, place in enumerate(node.inputs) if place is not None]
        return tuple(tree.input(node, number) for number in connected or [0])

    def hands_on(self, tree: Tree, node: Node, frame: int) -> bool:
        return super().hands_on(tree, node, frame) and not METADATA_OF_FIRST.of(node, tree.moment(None))

    def seen(self, tree: Tree, node: Node, frame: int) -> tuple[Seen, ...]:
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
            Seen(step=Step(node=clip, frame=frame - begin + tree.span(clip).first), share=part)
            for (clip, begin), part in zip(clips[place:], shares, strict=False)
        )

    def frame_range(self, tree: Tree, node: Node) -> Span:
        clips, moment = self._clips(tree, node), tree.moment(None)
        start, end = START.of(node, moment), clips[-1][1] + len(tree.span(clips[-1][0])) - 1
        if end < start:
            raise node_error(node, "has dissolves longer than all its clips together; shorten them")
        return Span(start, end)

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        info = super().info(tree, node, frame)
        if not METADATA_OF_FIRST.of(node, tree.moment(None)):
            return info
        clip = self.upstream(tree, node)[0]
        return replace(info, metadata=tree.info(clip, tree.span(clip).first).metadata)

    def _clips(self, tree: Tree, node: Node) -> list[tuple[Node, int]]:
        """Each clip, and the frame at which its first is seen."""
        moment = tree.moment(None)
        begin, dissolve = START.of(node, moment), DISSOLVE.of(node, moment)
        clips = []
        for clip in self.upstream(tree, node):
            clips.append((clip, begin))
            begin += len(tree.span(clip)) - dissolve
        return clips


def _light(node: Node, moment: Moment, frame: int, span: Span) -> float:
    """How far it is faded in from black and not yet out to it: from 0 to 1."""
    fade_in, fade_out = FADE_IN.of(node, moment), FADE_OUT.of(node, moment)
    light = 1.0
    if fade_in > 0 and frame < span.first + fade_in:
        light *= (max(0, frame - span.first + 1) / (fade_in + 1)) ** 2
    if fade_out > 0 and frame > span.last - fade_out:
        light *= (max(0, span.last - frame + 1) / (fade_out + 1)) ** 2
    return light
