"""What filters have in common: each of their pixels is made of those around it.

They ask for no more than the region and what they reach beyond it. In Nuke the outermost pixels of a data window go on
beyond it (Iop::request and "Adjusting the Bounding Box"), unless a black border was laid around it; see
`Info.repeats_edges`. What a filter spreads makes the data window grow, but not past the format where it lay within it
(IopInfo::clipmove).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from understudy.errors import UnderstudyError
from understudy.frames.image import FloatPixels
from understudy.frames.window import Window
from understudy.script.channels import ChannelSet
from understudy.script.graph import Node
from understudy.script.knobs import Knob, knob_error
from understudy.script.nodes.base import Info, Request, Tree
from understudy.script.nodes.pixels import ALL, INPUT_MASK, OWN_MASK, UNPREMULT, PixelNode
from understudy.script.values.moment import Moment

MAX_REACH = 2048
"""Pixels. One that looks further is a slip, or would take minutes and gigabytes."""

Line: TypeAlias = Callable[[FloatPixels], FloatPixels]
"""A filter along the first axis: takes as many more rows as it reaches to both sides."""


@dataclass(frozen=True, kw_only=True)
class Reach:
    """How many pixels away a filter looks from each of its own."""

    left: int
    up: int
    right: int
    down: int

    @staticmethod
    def of(x: int, y: int) -> Reach:
        """So far to both sides."""
        return Reach(left=x, up=y, right=x, down=y)

    def seen_from(self, region: Window) -> Window:
        """The pixels that those of the region are made of."""
        return Window(region.x0 - self.left, region.y0 - self.up, region.x1 + self.right, region.y1 + self.down)

    def shown_by(self, window: Window) -> Window:
        """The pixels that those of the window have a part in."""
        if window.is_empty:
            return window
        return Window(window.x0 - self.right, window.y0 - self.down, window.x1 + self.left, window.y1 + self.up)


@dataclass(frozen=True, kw_only=True)
class Around:
    """The pixels that a region is made of, and what lies where there are none."""

    pixels: FloatPixels
    """H W C over `window`."""
    window: Window
    """All that there is of what the region sees."""
    region: Window
    reach: Reach
    repeats_edges: bool

    def whole(self) -> FloatPixels:
        """H W C over all that the region sees."""
        return self.separately(lambda pixels: pixels, lambda pixels: pixels)

    def middle(self) -> FloatPixels:
        """H W C over the region."""
        up, left = self.reach.up, self.reach.left
        return self.whole()[up : up + self.region.height, left : left + self.region.width]

    def separately(self, vertical: Line, horizontal: Line) -> FloatPixels:
        """Columns by one filter, then rows by another, each taking what the region sees along its axis."""
        seen, there = self.reach.seen_from(self.region), self.window
        rows = vertical(self._extended(self.pixels, there.y0 - seen.y0, seen.y1 - there.y1))  # H W C
        columns = np.ascontiguousarray(rows.transpose(1, 0, 2))  # W H C; sums of lines in one piece take half as long
        columns = horizontal(self._extended(columns, there.x0 - seen.x0, seen.x1 - there.x1))
        return np.ascontiguousarray(columns.transpose(1, 0, 2))

    def _extended(self, pixels: FloatPixels, before: int, after: int) -> FloatPixels:
        if not (before or after):
            return pixels
        return np.pad(pixels, ((before, after), (0, 0), (0, 0)), mode="edge" if self.repeats_edges else "constant")


class FilterNode(PixelNode, ABC):
    """Makes each pixel of those of input 0 that lie around it."""

    channels_knob: Knob[ChannelSet] = ALL
    still: tuple[Knob[object], ...] = (ALL, OWN_MASK, INPUT_MASK)
    fixed: tuple[Knob[object], ...] = (*PixelNode.fixed, UNPREMULT)

    @abstractmethod
    def reach(self, tree: Tree, node: Node, moment: Moment) -> Reach:
        """How far it looks. Raises UnderstudyError naming a knob that makes that too far, or means nothing."""

    @abstractmethod
    def filtered(self, tree: Tree, node: Node, request: Request, around: Around) -> FloatPixels:
        """H W C over the region, all channels of the request filtered."""

    def growth(self, tree: Tree, node: Node, moment: Moment) -> Reach:
        """How far it looks for what it may spread: by so much the data window grows."""
        return self.reach(tree, node, moment)

    def keeps_to_format(self, node: Node, moment: Moment) -> bool:
        """Whether the data window does not grow past the format."""
        del node, moment
        return True

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        self.reach(tree, node, moment)

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        above, moment = super().info(tree, node, frame), tree.moment(frame)
        grown = self.growth(tree, node, moment).shown_by(above.data_window)
        kept = _within_format(grown, above) if self.keeps_to_format(node, moment) else grown
        return replace(above, data_window=kept, is_black_outside=above.is_black_outside and kept == grown)

    def seen(self, tree: Tree, node: Node, request: Request) -> Window:
        above = tree.info(tree.input(node, 0), request.frame)
        wanted = self.reach(tree, node, tree.moment(request.frame)).seen_from(request.region)
        return wanted.intersect(above.data_window)

    def changed(self, tree: Tree, node: Node, request: Request, pixels: FloatPixels) -> FloatPixels:
        around = Around(
            pixels=pixels,
            window=self.seen(tree, node, request),
            region=request.region,
            reach=self.reach(tree, node, tree.moment(request.frame)),
            repeats_edges=tree.info(tree.input(node, 0), request.frame).repeats_edges,
        )
        return self.filtered(tree, node, request, around)


def too_far(node: Node, knob: str, pixels: float, most: int = MAX_REACH) -> UnderstudyError:
    return knob_error(node, knob, f"reaches {pixels:.6g} pixels far, over {most}; make it smaller")


def _within_format(grown: Window, above: Info) -> Window:
    """Each side that lay within the format stays within it."""
    data, display = above.data_window, above.display_window
    if data.is_empty:
        return data
    return Window(
        max(grown.x0, display.x0) if data.x0 >= display.x0 else grown.x0,
        max(grown.y0, display.y0) if data.y0 >= display.y0 else grown.y0,
        min(grown.x1, display.x1) if data.x1 <= display.x1 else grown.x1,
        min(grown.y1, display.y1) if data.y1 <= display.y1 else grown.y1,
    )
