"""The evaluator: requests go up the tree, pixels come down, and what cannot be done is said before anything is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b

import numpy as np

from understudy.errors import ProblemList
from understudy.frames.image import FloatPixels, Image, room_for
from understudy.frames.read import ROWS_AT_ONCE
from understudy.frames.window import Window
from understudy.script.cache import Recent, RecentPixels
from understudy.script.graph import Node, Script
from understudy.script.knobs import KnobMoves, bool_knob
from understudy.script.nodes import BY_NAME, DECLARED, PASS_THROUGH
from understudy.script.nodes.base import Info, NodeClass, Reading, Request, SourceFile, Span, Step, node_error
from understudy.script.values.facts import Pictures
from understudy.script.values.links import Links
from understudy.script.values.moment import Moment
from understudy.script.walk import Walk

DISABLE = bool_knob("disable", False)

_CACHE_BYTES = 256 << 20
_MOST_INFOS = 20_000
_MOST_FRAMES = 10**9
"""Of a node. Ranges may grow with every node, and one that is longer is a slip."""


class Evaluator:
    """Pulls pictures through the graph of one script. May be used from several threads at once."""

    def __init__(self, script: Script, reading: Reading) -> None:
        self._script = script
        self._reading = reading
        self._links = Links(script=script, declared=DECLARED, pictures=Pictures(self))
        self._fine: set[int] = set()
        self._spans: dict[int, Span] = {}
        self._channels: dict[int, tuple[str, ...]] = {}
        self._infos: Recent[Info] = Recent(_MOST_INFOS, lambda _: 1)
        self._keys: Recent[bytes] = Recent(_MOST_INFOS, lambda _: 1)
        self._pixels = RecentPixels(_CACHE_BYTES)

    @property
    def script(self) -> Script:
        return self._script

    @property
    def reading(self) -> Reading:
        return self._reading

    def check(self, roots: Sequence[Node]) -> None:
        """Look at every node above `roots`.

        Raises Problems with a line for each node that cannot be evaluated, naming the knob if that is the reason.
        Knobs that change from frame to frame are looked at by `files`.
        """
        problems = ProblemList()
        for root in roots:
            self._walk(problems).order(root)
        problems.raise_if_any()

    def files(self, root: Node, frame: int) -> tuple[SourceFile, ...]:
        """The files behind one frame of `root`, the nearest first.

        Raises Problems naming all that are missing, and every knob that has no value at that frame.
        """
        problems = ProblemList()
        found: list[SourceFile] = []
        waiting, seen = [Step(node=root, frame=frame)], set[tuple[int, int]]()
        while waiting:
            step = waiting.pop()
            if (step.node.index, step.frame) in seen:
                continue
            seen.add((step.node.index, step.frame))
            with problems.collecting():
                known = self._class_at(step.node, step.frame)
                with problems.collecting():
                    known.check(self, step.node, self.moment(step.frame))
                found += known.files(self, step.node, step.frame)
                waiting += reversed(known.steps(self, step.node, step.frame))
        problems.raise_if_any()
        return tuple(found)

    def remarks(self, roots: Sequence[Node]) -> tuple[str, ...]:
        """A line for each node above `roots` whose pixels rest on a reading of its page; `check` must have passed."""
        above = {node.index: node for root in roots for node in self._order(root)}
        return tuple(_remark(node, assumed) for node in above.values() if (assumed := self.assumed(node)))

    def assumed(self, node: Node) -> str:
        """What the node's pixels take for granted that has not been compared with Nuke; empty: nothing."""
        known = self.class_of(node)
        return known.assumed if known is not None and known.assumes(self, node) else ""

    def pull(self, node: Node, frame: int, channels: tuple[str, ...], region: Window | None = None) -> Image:
        """The node's picture at the frame with exactly these channels; `check` must have passed its tree.

        Its data window is the part of the node's own that lies in `region` (display coordinates; None: everywhere).
        """
        info = self.info(node, frame)
        window = info.data_window if region is None else info.data_window.intersect(region)
        if window.is_empty:
            window = Window(info.data_window.x0, info.data_window.y0, info.data_window.x0, info.data_window.y0)
        return Image(
            pixels=self._in_bands(node, Request(frame=frame, channels=channels, region=window)),
            channels=channels,
            data_window=window,
            display_window=info.display_window,
            pixel_aspect=info.pixel_aspect,
            metadata=info.metadata,
        )

    def _in_bands(self, node: Node, request: Request) -> FloatPixels:
        """`pixels`, a few rows at a time through the whole tree: what lies between its nodes stays small and near."""
        region = request.region
        if region.height <= ROWS_AT_ONCE:
            return self.pixels(node, request)
        out = room_for(region.height, region.width, len(request.channels))  # H W C
        for band in _bands(region):
            out[band.y0 - region.y0 : band.y1 - region.y0] = self.pixels(node, replace(request, region=band))
        return out

    def pixels(self, node: Node, request: Request) -> FloatPixels:
        """H W C over the region, black outside the node's data window (unless it has no end) and in other channels."""
        known, source = self.source(node, request.frame)
        node, region = source.node, request.region
        there, wanted = self.channels(node) if known.knows_all_channels else request.channels, set(request.channels)
        channels = tuple(channel for channel in there if channel in wanted)  # in one order, however they are asked for
        shared = region if known.is_endless else self.info(node, source.frame).data_window.intersect(region)
        if shared.is_empty or not channels:
            return np.zeros((region.height, region.width, len(request.channels)), np.float32)  # H W C
        asked = Request(frame=source.frame, channels=channels, region=shared)
        key = self._key(source)
        made = self._pixels.get(key, channels, shared)
        if made is None:
            made = known.pixels(self, node, asked)
            self._pixels.put(key, channels, shared, made)
        return made if (channels, shared) == (request.channels, region) else _placed(made, asked, request)

    def info(self, node: Node, frame: int) -> Info:
        known, source = self.source(node, frame)
        info = self._infos.get((source.node.index, source.frame))
        if info is None:
            info = known.info(self, source.node, source.frame)
            self._infos.put((source.node.index, source.frame), info)
        return info

    def picture(self, node: Node, frame: int) -> Info:
        """As `info`, for knobs: found from the files downwards, so that no stack grows with the tree."""
        waiting, above = [self.source(node, frame)[1]], list[Step]()
        while waiting:
            step = waiting.pop()
            if self._infos.get((step.node.index, step.frame)) is None:
                above.append(step)
                asked = self._class_at(step.node, step.frame).steps(self, step.node, step.frame)
                waiting += [self.source(further.node, further.frame)[1] for further in asked[:1]]
        for step in reversed(above):
            self.info(step.node, step.frame)
        return self.info(node, frame)

    def span(self, node: Node) -> Span:
        if node.index not in self._spans:
            for above in self._order(node):
                if above.index not in self._spans:
                    self._spans[above.index] = self._frame_range(above)
        return self._spans[node.index]

    def channels(self, node: Node) -> tuple[str, ...]:
        if node.index not in self._channels:
            for above in self._order(node):
                if above.index not in self._channels:
                    self._channels[above.index] = self._evaluated(above).channels(self, above)
        return self._channels[node.index]

    def input(self, node: Node, number: int) -> Node:
        connected = self._script.input_of(node, number)
        if connected is None:
            raise node_error(node, f"nothing is connected to its input {number}; connect it or delete the node")
        return connected

    def class_of(self, node: Node) -> NodeClass | None:
        """What evaluates it at some frame at least; None: nothing does.

        A node that is disabled now and then is what it is in between.
        """
        with suppress(KnobMoves):
            if DISABLE.of(node, self.moment(None)):
                return PASS_THROUGH
        return BY_NAME.get(node.class_name)

    def source(self, node: Node, frame: int) -> tuple[NodeClass, Step]:
        step = Step(node=node, frame=frame)
        while (known := self._class_at(step.node, step.frame)).hands_on(self, step.node, step.frame):
            step = known.steps(self, step.node, step.frame)[0]
        return known, step

    def moment(self, frame: int | None) -> Moment:
        return Moment(links=self._links, frame=frame)

    def _key(self, step: Step) -> bytes:
        """Equal where the pixels are: of what the node is and does at the frame, and of all that it asks for."""
        place = (step.node.index, step.frame)
        key = self._keys.get(place)
        if key is None:
            known = self._class_at(step.node, step.frame)
            content = repr(known.content(self, step.node, step.frame)).encode("utf-8", "surrogateescape")
            asked = [self.source(above.node, above.frame)[1] for above in known.steps(self, step.node, step.frame)]
            key = blake2b(content + b"".join(map(self._key, asked)), digest_size=16).digest()
            self._keys.put(place, key)
        return key

    def _class_at(self, node: Node, frame: int) -> NodeClass:
        if DISABLE.of(node, self.moment(frame)):
            return PASS_THROUGH
        return self._evaluated(node)

    def _evaluated(self, node: Node) -> NodeClass:
        known = self.class_of(node)
        if known is None:
            raise node_error(node, "understudy cannot evaluate this class; render it first")
        return known

    def _order(self, root: Node) -> list[Node]:
        problems = ProblemList()
        order = self._walk(problems).order(root)
        problems.raise_if_any()
        return order

    def _frame_range(self, node: Node) -> Span:
        span = self._evaluated(node).frame_range(self, node)
        if span.last - span.first > _MOST_FRAMES:
            raise node_error(node, f"is over {_MOST_FRAMES} frames long; mend its knobs, or shorten it with FrameRange")
        return span

    def _walk(self, problems: ProblemList) -> Walk:
        return Walk(self, self.class_of, problems, self._fine)


def _remark(node: Node, assumed: str) -> str:
    what = f"evaluated by our reading of Foundry's page, not compared with Nuke: {assumed}"
    return f"{node.label}: {what}; render it to a file where pixels must be exact"


def _bands(region: Window) -> Iterator[Window]:
    """The region from top to bottom, cut where blocks of a file's rows end, so that none is decoded for two bands."""
    first = region.y0
    while first < region.y1:
        end = min((first // ROWS_AT_ONCE + 1) * ROWS_AT_ONCE, region.y1)
        yield Window(region.x0, first, region.x1, end)
        first = end


def _placed(made: FloatPixels, asked: Request, wanted: Request) -> FloatPixels:
    """What was made, in the place that it has in what is wanted, black around it and in channels that it lacks."""
    region, part = wanted.region, asked.region
    out = np.zeros((region.height, region.width, len(wanted.channels)), np.float32)  # H W C
    inside = out[part.y0 - region.y0 : part.y1 - region.y0, part.x0 - region.x0 : part.x1 - region.x0]
    for place, channel in enumerate(wanted.channels):
        if channel in asked.channels:
            inside[..., place] = made[..., asked.channels.index(channel)]
    return out
