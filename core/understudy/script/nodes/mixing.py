"""Classes that make one picture of several frames: FrameBlend, TimeEcho."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.graph import Node
from understudy.script.knobs import bool_knob, channels_knob, enum_knob, float_knob, int_knob, knob_error
from understudy.script.nodes.base import Info, NodeClass, Request, Step, Tree
from understudy.script.nodes.pixels import INPUT_MASK, OWN_MASK, PixelNode
from understudy.script.nodes.shown import info_of_all
from understudy.script.values.moment import Moment

ALL = channels_knob("channels", "all")
NUM_FRAMES = int_knob("numframes", 5)
CUSTOM = bool_knob("userange", False)
CUSTOM_FIRST, CUSTOM_LAST = float_knob("startframe", -1.0), float_knob("endframe", -1.0)
_MATTES = (channels_knob("inputmask", "none"), channels_knob("blendmask", "none"))

MODE = enum_knob("mode", ("Plus", "Max", "Average"), "Max")
BEHIND = int_knob("framesbehind", 1)
FADE = int_knob("frmaesfade", 1, "framesfade")
"""Scripts spell it as Nuke does, the page as it is meant."""

_MOST_FRAMES = 1000


class FrameBlend(PixelNode):
    """The mean of this frame and those before it, or of as many spread evenly over a range of one's own."""

    names = ("FrameBlend",)
    page = "time_nodes/frameblend.html"
    channels_knob = ALL
    knobs = (*PixelNode.knobs, CUSTOM_FIRST, CUSTOM_LAST)
    still = (ALL, OWN_MASK, INPUT_MASK, NUM_FRAMES, CUSTOM)
    fixed = (*PixelNode.fixed, *_MATTES)

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        _refuse_count(node, NUM_FRAMES.name, NUM_FRAMES.of(node, tree.moment(None)))

    def steps(self, tree: Tree, node: Node, frame: int) -> tuple[Step, ...]:
        """Its inputs at the frame, then all frames that are blended."""
        above = tree.input(node, 0)
        blended = _blended(node, tree.moment(frame), frame)
        return (*super().steps(tree, node, frame), *(Step(node=above, frame=asked) for asked in blended))

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        above = tree.input(node, 0)
        return _over_all(tree, above, frame, _blended(node, tree.moment(frame), frame))

    def changed(self, tree: Tree, node: Node, request: Request, pixels: FloatPixels) -> FloatPixels:
        above = tree.input(node, 0)
        frames = _blended(node, tree.moment(request.frame), request.frame)
        out = np.zeros_like(pixels)
        for frame in frames:
            out += tree.pixels(above, replace(request, frame=frame))
        out /= np.float32(len(frames))
        return out


class TimeEcho(NodeClass):
    """This frame and those before it, the oldest of them faded: the largest value of all, their sum, or their mean."""

    names = ("TimeEcho",)
    page = "time_nodes/timeecho.html"
    still = (MODE, BEHIND, FADE)
    makes_pixels = True
    knows_all_channels = False

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        _shares(node, tree.moment(None))

    def steps(self, tree: Tree, node: Node, frame: int) -> tuple[Step, ...]:
        above, count = tree.input(node, 0), len(_shares(node, tree.moment(None)))
        return tuple(Step(node=above, frame=frame - back) for back in range(count))

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        frames = tuple(step.frame for step in self.steps(tree, node, frame))
        return _over_all(tree, tree.input(node, 0), frame, frames)

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        above, moment = tree.input(node, 0), tree.moment(None)
        shares, mode = _shares(node, moment), MODE.of(node, moment)
        out: FloatPixels = tree.pixels(above, request) * np.float32(shares[0])
        with np.errstate(all="ignore"):  # pixels may hold infinities and not-a-numbers
            for back, share in enumerate(shares[1:], 1):
                older = tree.pixels(above, replace(request, frame=request.frame - back)) * np.float32(share)
                out = np.maximum(out, older) if mode == "Max" else out + older
        return out / np.float32(len(shares)) if mode == "Average" else out


def _over_all(tree: Tree, above: Node, frame: int, frames: tuple[int, ...]) -> Info:
    """That of the frame, with room for what any of `frames` shows."""
    return info_of_all(tree, [Step(node=above, frame=shown) for shown in (frame, *frames)])


def _blended(node: Node, moment: Moment, frame: int) -> tuple[int, ...]:
    count = NUM_FRAMES.of(node, moment)
    _refuse_count(node, NUM_FRAMES.name, count)
    if not CUSTOM.of(node, moment):
        return tuple(range(frame - count + 1, frame + 1))
    first, last = CUSTOM_FIRST.of(node, moment), CUSTOM_LAST.of(node, moment)
    step = (last - first) / (count - 1) if count > 1 else 0.0
    frames = tuple(first + place * step for place in range(count))
    if last < first or any(asked != round(asked) for asked in frames) or (count == 1 and first != last):
        what = f"spreads {count} over the frames {first:g} to {last:g}, so that they lie between frames"
        raise knob_error(node, NUM_FRAMES.name, f"{what}; make it as many as there are")
    return tuple(round(asked) for asked in frames)


def _shares(node: Node, moment: Moment) -> tuple[float, ...]:
    """How much of each frame is taken, from this one backwards."""
    count, fade = BEHIND.of(node, moment), FADE.of(node, moment)
    _refuse_count(node, BEHIND.name, count)
    if not 1 <= fade <= count:
        raise knob_error(node, FADE.name, f"is {fade}, and {BEHIND.name} {count}; set it from 1 to that")
    oldest_first = [min(1.0, (place + 1) / fade) for place in range(count)]
    return tuple(reversed(oldest_first))


def _refuse_count(node: Node, knob: str, count: int) -> None:
    if not 1 <= count <= _MOST_FRAMES:
        raise knob_error(node, knob, f"is {count}; set it from 1 to {_MOST_FRAMES}")
