"""Nodes that give some channels anew, from any input, and lay them over input 0 as far as mask and mix let them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.channels import places_of
from understudy.script.graph import Node
from understudy.script.nodes.base import Request, Tree
from understudy.script.nodes.pixels import Masked, laid_over


@dataclass(frozen=True, kw_only=True)
class Planes:
    """Pixels with the names of their channels."""

    pixels: FloatPixels
    """H W C."""
    channels: tuple[str, ...]

    def of(self, channels: Sequence[str]) -> FloatPixels:
        """H W C of these channels; an empty name is black."""
        if "" not in channels:
            return self.pixels[..., places_of(channels, self.channels)]
        out = np.zeros((*self.pixels.shape[:2], len(channels)), np.float32)  # H W C
        for place, channel in enumerate(channels):
            if channel:
                out[..., place] = self.pixels[..., self.channels.index(channel)]
        return out


def planes(tree: Tree, node: Node, request: Request, channels: Sequence[str]) -> Planes:
    """Those of a node over the region of the request; empty names are passed over."""
    asked = tuple(dict.fromkeys(filter(None, channels)))
    return Planes(pixels=tree.pixels(node, replace(request, channels=asked)), channels=asked)


class Overlay(Masked, ABC):
    """in + (new - in) * mix * mask, channel by channel; the others are those of input 0."""

    @abstractmethod
    def given(self, tree: Tree, node: Node, channels: tuple[str, ...]) -> tuple[str, ...]:
        """Those among the channels that it gives anew, in their order."""

    @abstractmethod
    def needed(self, tree: Tree, node: Node, channels: tuple[str, ...]) -> Sequence[str]:
        """The channels of input 0 of which it makes these; empty names are passed over."""

    @abstractmethod
    def made(self, tree: Tree, node: Node, request: Request, below: Planes) -> FloatPixels:
        """H W C, all channels of the request anew; `below`: what `needed` names, of input 0."""

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        """Those of input 0; a class that adds to them says so."""
        return tree.channels(tree.input(node, 0))

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        new = self.given(tree, node, request.channels)
        if not new:
            return tree.pixels(tree.input(node, 0), request)
        amount = self.amount(tree, node, request)
        is_whole = amount.ndim == 0 and amount == 1
        shown = [channel for channel in request.channels if not (is_whole and channel in new)]
        below = planes(tree, tree.input(node, 0), request, (*shown, *self.needed(tree, node, new)))
        with np.errstate(all="ignore"):  # pixels may hold infinities and not-a-numbers
            after = self.made(tree, node, replace(request, channels=new), below)
            after = after if is_whole else laid_over(below.of(new), after, amount)
        if new == request.channels:
            return np.ascontiguousarray(after)
        out = np.empty((request.region.height, request.region.width, len(request.channels)), np.float32)  # H W C
        for place, channel in enumerate(request.channels):
            out[..., place] = after[..., new.index(channel)] if channel in new else below.of([channel])[..., 0]
        return out
