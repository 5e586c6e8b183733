"""Classes that show frames of other nodes as they are, or several as one, each by its share, or black."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.graph import Node
from understudy.script.nodes.base import Info, NodeClass, Request, Step, Tree


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A frame that is shown."""

    step: Step
    share: float = 1.0
    """How much of it."""


class ShowsFrames(NodeClass, ABC):
    """Shows a frame, several by their shares, or none, which is black."""

    makes_pixels = True
    knows_all_channels = False

    @abstractmethod
    def seen(self, tree: Tree, node: Node, frame: int) -> tuple[Seen, ...]:
        """What the frame is made of; the first decides about the format. None: black."""

    def frame_for_size(self, tree: Tree, node: Node) -> int:
        """The frame of input 0 that says how large black is."""
        return tree.span(tree.input(node, 0)).first

    def steps(self, tree: Tree, node: Node, frame: int) -> tuple[Step, ...]:
        return tuple(seen.step for seen in self.seen(tree, node, frame))

    def hands_on(self, tree: Tree, node: Node, frame: int) -> bool:
        seen = self.seen(tree, node, frame)
        return len(seen) == 1 and seen[0].share == 1

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        steps = self.steps(tree, node, frame)
        if steps:
            return info_of_all(tree, steps)
        held = tree.info(tree.input(node, 0), self.frame_for_size(tree, node))
        return replace(held, data_window=held.display_window)

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        out = np.zeros((request.region.height, request.region.width, len(request.channels)), np.float32)  # H W C
        with np.errstate(all="ignore"):  # pixels may hold infinities and not-a-numbers
            for seen in self.seen(tree, node, request.frame):
                if seen.share:
                    out += tree.pixels(seen.step.node, replace(request, frame=seen.step.frame)) * np.float32(seen.share)
        return out

    def content(self, tree: Tree, node: Node, frame: int) -> tuple[object, ...]:
        shares = tuple(seen.share for seen in self.seen(tree, node, frame))
        return (*super().content(tree, node, frame), shares)


def info_of_all(tree: Tree, steps: Sequence[Step]) -> Info:
    """That of the first, with room for what any of them shows."""
    first, *others = (tree.info(step.node, step.frame) for step in steps)
    window = first.data_window
    for other in others:
        window = window.union(other.data_window)
    return replace(first, data_window=window)
