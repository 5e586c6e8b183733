"""Dissolve: from one picture to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.graph import Node
from understudy.script.knobs import bool_knob, float_knob
from understudy.script.nodes.base import Info, Request, Step, Tree
from understudy.script.nodes.overlay import Overlay, Planes
from understudy.script.nodes.pixels import ALL, INVERT_MASK, Masked
from understudy.script.values.moment import Moment

WHICH = float_knob("which", 0.0)
_MASK = 2


class Dissolve(Overlay):
    """From input 0 to input 1 as `which` goes from 0 to 1, on to those after the mask; beyond the ends they are held.

    Channels that are not chosen, and what the mask keeps, are those of input 0.
    """

    names = ("Dissolve",)
    page = "merge_nodes/dissolve.html"
    num_inputs = 2
    takes_more = True
    knobs = (INVERT_MASK, WHICH)
    still = (*Masked.still, ALL)
    fixed = (*Masked.fixed, bool_knob("mergerange", False))

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        mask = self.mask_place(tree, node)
        return (*_pictures(tree, node), *([mask[0]] if mask else []))

    def steps(self, tree: Tree, node: Node, frame: int) -> tuple[Step, ...]:
        """Only those that are seen at the frame."""
        seen, _ = _seen(tree, node, tree.moment(frame))
        if not self._is_whole(tree, node):
            mask = self.mask_place(tree, node)
            seen = (tree.input(node, 0), *seen, *([mask[0]] if mask else []))
        return tuple(Step(node=above, frame=frame) for above in seen)

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        chosen = (channel for above in _pictures(tree, node) for channel in tree.channels(above))
        first = tree.channels(tree.input(node, 0))
        return tuple(dict.fromkeys((*first, *ALL.of(node, tree.moment(None)).of(tuple(chosen)))))

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        seen, _ = _seen(tree, node, tree.moment(frame))
        pictures = seen if self._is_whole(tree, node) else (tree.input(node, 0), *seen)
        first, *others = (tree.info(above, frame) for above in pictures)
        window = first.data_window
        for other in others:
            window = window.union(other.data_window)
        return replace(first, data_window=window)

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        return _mixed(tree, node, request) if self._is_whole(tree, node) else super().pixels(tree, node, request)

    def given(self, tree: Tree, node: Node, channels: tuple[str, ...]) -> tuple[str, ...]:
        return ALL.of(node, tree.moment(None)).of(channels)

    def needed(self, tree: Tree, node: Node, channels: tuple[str, ...]) -> Sequence[str]:
        del tree, node, channels
        return ()

    def made(self, tree: Tree, node: Node, request: Request, below: Planes) -> FloatPixels:
        del below
        return _mixed(tree, node, request)

    def _is_whole(self, tree: Tree, node: Node) -> bool:
        """Whether nothing of input 0 is kept."""
        return self.mask_place(tree, node) is None and ALL.of(node, tree.moment(None)).is_all


def _mixed(tree: Tree, node: Node, request: Request) -> FloatPixels:
    seen, share = _seen(tree, node, tree.moment(request.frame))
    first, *others = (tree.pixels(above, request) for above in seen)
    with np.errstate(all="ignore"):  # pixels may hold infinities and not-a-numbers
        return first * np.float32(1 - share) + others[0] * np.float32(share) if others else first


def _pictures(tree: Tree, node: Node) -> tuple[Node, ...]:
    return tuple(tree.input(node, number) for number in range(max(1, len(node.inputs))) if number != _MASK)


def _seen(tree: Tree, node: Node, moment: Moment) -> tuple[tuple[Node, ...], float]:
    """The picture that is seen, and the next one if it has a share."""
    pictures = _pictures(tree, node)
    which = min(max(WHICH.of(node, moment), 0.0), float(len(pictures) - 1))
    first, share = int(which), which - int(which)
    return pictures[first : first + 1 + (share > 0)], share
