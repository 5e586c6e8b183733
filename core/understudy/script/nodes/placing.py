"""Nodes that place a picture elsewhere, and how neighbours among them are taken together.

As in Nuke the last of several neighbours does it all: it multiplies their matrices and reads the picture above the
first of them once, by its own filter. Nodes that only lead on, and disabled ones, do not come between.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.frames.window import LIMITS, Window
from understudy.script.channels import has_alpha
from understudy.script.graph import Node
from understudy.script.knobs import Knob, bool_knob
from understudy.script.nodes.base import Info, NodeClass, Request, Step, Tree, node_error
from understudy.script.nodes.decode import ALPHA
from understudy.script.nodes.homography import Homography
from understudy.script.nodes.kernels import FILTER, Kernel, kernel_of
from understudy.script.nodes.projecting import Projecting
from understudy.script.nodes.resample import WIDEST, Resampling
from understudy.script.values.moment import Moment

CLAMP = bool_knob("clamp", False)

SMALLEST_AREA = 1e-18
"""Of what becomes of a pixel. Nothing is seen of it, and there is no way back."""


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Where one or several nodes place a picture, before a pixel of it is made."""

    source: Step
    """The picture."""
    info: Info
    """The picture's own."""
    forward: Homography
    """From the picture's display coordinates to those of the last node."""
    display_window: Window
    """The last node's."""
    pixel_aspect: float
    """The last node's."""
    is_black_outside: bool = False
    """Whether any of them says so; else a plate's edges are repeated."""
    is_clamped: bool = False
    """Whether any of them says so: what is negative becomes 0."""
    is_cut: bool = False
    """Whether the last node keeps nothing beyond its format."""

    @property
    def repeats_edges(self) -> bool:
        return self.info.repeats_edges and not self.is_black_outside

    def resampling(self, node: Node, kernel: Kernel) -> Resampling:
        """Raises UnderstudyError naming the node, the last one, where next to nothing is left of the picture."""
        if abs(self.forward.determinant) > SMALLEST_AREA:
            how = self._resampling(node, kernel)
            if max(how.widths) <= WIDEST:
                return how
        raise node_error(node, f"makes one of over {WIDEST} pixels, alone or with those above it; set their scale")

    def _resampling(self, node: Node, kernel: Kernel) -> Resampling:
        back, there, display = self.forward.inverse(), self.info.data_window, self.display_window
        if self.forward.is_affine:
            return Resampling(back=back, kernel=kernel, repeats_edges=self.repeats_edges)
        is_whole = there.is_empty or self.forward.nearest_w(there.x0, there.y0, there.x1, there.y1) > 0
        # what Nuke repeats beyond the horizon is not known
        is_filled = not self.repeats_edges or back.nearest_w(display.x0, display.y0, display.x1, display.y1) > 0
        if not (is_whole and is_filled):
            raise node_error(node, "places a part of the picture beyond the horizon; move its points, or crop it first")
        return Projecting(back=back, kernel=kernel, repeats_edges=self.repeats_edges, there=there)

    def placed_info(self, node: Node, kernel: Kernel) -> Info:
        """Of the picture where they have placed it. Raises UnderstudyError naming the last node if it is too large."""
        window, display = self.resampling(node, kernel).window(self.info.data_window), self.display_window
        if self.repeats_edges:
            window = window.union(display)
        if self.is_cut:
            window = window.intersect(display)
        if window.is_empty:
            window = Window(display.x0, display.y0, display.x0, display.y0)
        if window.union(display).is_too_large:
            raise node_error(node, f"places the picture at {window}, which makes over {LIMITS}; set it, or crop first")
        return replace(
            self.info,
            data_window=window,
            display_window=display,
            pixel_aspect=self.pixel_aspect,
            is_black_outside=not self.repeats_edges,
        )

    def pixels(self, tree: Tree, node: Node, kernel: Kernel, request: Request) -> FloatPixels:
        """H W C over the region where the last node, this one, is asked for it."""
        region, resampling = request.region, self.resampling(node, kernel)
        part = resampling.part(region, self.info.data_window)
        if part.is_empty:
            return np.zeros((region.height, region.width, len(request.channels)), np.float32)  # H W C
        asked = replace(request, frame=self.source.frame, region=part)
        pixels = tree.pixels(self.source.node, asked)
        if ALPHA in request.channels and self.is_black_outside and not has_alpha(tree.channels(self.source.node)):
            pixels = pixels.copy()
            pixels[..., request.channels.index(ALPHA)] = 1
        pixels = resampling.pixels(pixels, part, region)
        return np.maximum(pixels, np.float32(0)) if self.is_clamped else pixels


class Placing(NodeClass, ABC):
    """Places its input 0 elsewhere, with those of its kind right above it."""

    makes_pixels = True
    knobs: tuple[Knob[object], ...] = (FILTER, CLAMP)
    black_outside: Knob[bool]

    @abstractmethod
    def placed(self, tree: Tree, node: Node, frame: int, above: Placement) -> Placement:
        """Where the picture lies after this node, if it lies so above it."""

    def joins(self, node: Node, moment: Moment) -> bool:
        """Whether a neighbour below may do this node's part."""
        del node, moment
        return True

    def placement(self, tree: Tree, node: Node, frame: int) -> Placement:
        return self.placed(tree, node, frame, to_be_placed(tree, node, frame, self.black_outside))

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        """Those above, and alpha, which says where the picture is, where black is put outside."""
        there = super().channels(tree, node)
        makes_alpha = there and self.black_outside.of(node, tree.moment(None)) and not has_alpha(there)
        return (*there, ALPHA) if makes_alpha else there

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        return self.placement(tree, node, frame).placed_info(node, kernel_of(node, tree.moment(frame)))

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        kernel = kernel_of(node, tree.moment(request.frame))
        return self.placement(tree, node, request.frame).pixels(tree, node, kernel, request)


def to_be_placed(tree: Tree, node: Node, frame: int, black_outside: Knob[bool]) -> Placement:
    """Where the node's input 0 lies, seen from the first that is no neighbour, with this node's say on its edges."""
    moment = tree.moment(frame)
    known, step = tree.source(tree.input(node, 0), frame)
    if isinstance(known, Placing) and step.frame == frame and known.joins(step.node, moment):
        above = known.placement(tree, step.node, frame)
    else:
        info = tree.info(step.node, step.frame)
        display = info.display_window
        above = Placement(
            source=step, info=info, forward=Homography(), display_window=display, pixel_aspect=info.pixel_aspect
        )
    return replace(
        above,
        is_black_outside=above.is_black_outside or black_outside.of(node, moment),
        is_clamped=above.is_clamped or CLAMP.of(node, moment),
        is_cut=False,
    )
