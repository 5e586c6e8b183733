"""Ramp: a colour over the input that comes in between two points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from understudy.frames.image import FloatPixels
from understudy.frames.window import Window
from understudy.script.channels import component, places_of
from understudy.script.formats import script_format
from understudy.script.graph import Node
from understudy.script.knobs import (
    bool_knob,
    channel_words_knob,
    channels_knob,
    colour_knob,
    float_knob,
    knob_error,
    pair_knob,
    word_knob,
)
from understudy.script.nodes.base import Info, Request, Span, Tree
from understudy.script.nodes.layered import layers_at, refuse_unknown
from understudy.script.nodes.pixels import Masked, laid_over
from understudy.script.values.moment import Moment

P0, P1 = pair_knob("p0", (0.0, 0.0)), pair_knob("p1", (0.0, 0.0))
COLOUR = colour_knob("color", 1.0)
OUTPUT = channel_words_knob("output", "rgba")
OPACITY = float_knob("opacity", 1.0)
INVERT = bool_knob("invert", False)
REPLACE = bool_knob("replace", False)
CLIP_TO = word_knob("cliptype", ("none", "bbox", "format"), "format")

_CURVES: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "linear": lambda t: t,
    "plinear": lambda t: t**3,
    "smooth": lambda t: t * t * (3 - 2 * t),
    "smooth0": lambda t: t * t * (2 - t),
    "smooth1": lambda t: t * (1 + t * (1 - t)),
}
"""From 0 to 1; as measured by others: comp-fu.com, "Nuke's smooth ramp functions"."""
TYPE = word_knob("type", tuple(_CURVES), "linear")


class Ramp(Masked):
    """Nothing of the colour up to p0, all of it from p1 on; without an input over black in the script's format."""

    names = ("Ramp",)
    page = "draw_nodes/ramp.html"
    knobs = (*Masked.knobs, P0, P1, COLOUR, OPACITY, INVERT, REPLACE, CLIP_TO)
    still = (*Masked.still, OUTPUT, TYPE)
    fixed = (*Masked.fixed, channels_knob("premult", "none"), bool_knob("clip_to_bbox", False))

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        mask = self.mask_place(tree, node)
        return tuple(filter(None, (tree.script.input_of(node, 0), mask[0] if mask else None)))

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        for knob in (P0, P1):
            if not knob.is_stated(node):
                raise knob_error(node, knob.name, "is left out, and where it lies then is not known; set it")
        if P0.of(node, moment) == P1.of(node, moment):
            raise knob_error(node, P1.name, "is where p0 is, which leaves no ramp; move it")

    def frame_range(self, tree: Tree, node: Node) -> Span:
        above = tree.script.input_of(node, 0)
        return tree.span(above) if above else Span(1, 1)

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        there = self._there(tree, node)
        refuse_unknown(tree, node, OUTPUT, there)
        return tuple(dict.fromkeys((*there, *layers_at(tree, there).named(OUTPUT.of(node, tree.moment(None))))))

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        above = tree.script.input_of(node, 0)
        if above is None:
            stated = script_format(tree.script)
            empty = Window(0, 0, 0, 0)
            found = Info(data_window=empty, display_window=stated.window, pixel_aspect=stated.pixel_aspect)
        else:
            found = tree.info(above, frame)
        whole = found.data_window.union(found.display_window)
        windows = {"none": whole, "bbox": found.data_window, "format": found.display_window}
        return replace(found, data_window=windows[CLIP_TO.of(node, tree.moment(frame))])

    def content(self, tree: Tree, node: Node, frame: int) -> tuple[object, ...]:
        return (*super().content(tree, node, frame), self.info(tree, node, frame).display_window)

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        above, moment, region = tree.script.input_of(node, 0), tree.moment(request.frame), request.region
        shape = (region.height, region.width, len(request.channels))
        below = tree.pixels(above, request) if above else np.zeros(shape, np.float32)  # H W C
        named = layers_at(tree, request.channels).named(OUTPUT.of(node, tree.moment(None)))
        drawn = [channel for channel in request.channels if channel in named]
        if not drawn:
            return below
        out: FloatPixels = below.copy()
        places, values = places_of(drawn, request.channels), COLOUR.of(node, moment)
        colour = np.array([values[_part(channel)] for channel in drawn], np.float32)  # C
        share = self._share(tree, node, request)[..., None]  # H W 1
        with np.errstate(all="ignore"):  # pixels may hold infinities and not-a-numbers
            before = below[..., places]
            base = np.zeros_like(before) if REPLACE.of(node, moment) else before
            new = laid_over(base, np.broadcast_to(colour, before.shape), share)
            out[..., places] = laid_over(before, new, self.amount(tree, node, request))
        return out

    def _share(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        """How much of the colour is seen; H W."""
        moment, window = tree.moment(request.frame), self.info(tree, node, request.frame).display_window
        (x0, y0), (x1, y1), region = P0.of(node, moment), P1.of(node, moment), request.region
        x = np.arange(region.x0, region.x1) - window.x0 + 0.5
        y = window.y1 - np.arange(region.y0, region.y1) - 0.5  # up from the format's lower left corner
        along = (x[None, :] - x0) * (x1 - x0) + (y[:, None] - y0) * (y1 - y0)
        curve = _CURVES[TYPE.of(node, moment)](np.clip(along / ((x1 - x0) ** 2 + (y1 - y0) ** 2), 0, 1))
        seen = (1 - curve if INVERT.of(node, moment) else curve) * OPACITY.of(node, moment)
        return seen.astype(np.float32)

    def _there(self, tree: Tree, node: Node) -> tuple[str, ...]:
        above = tree.script.input_of(node, 0)
        return tree.channels(above) if above else ()


def _part(channel: str) -> int:
    """The place of its value in a colour; what is no colour has that of alpha."""
    part = component(channel)
    return 3 if part is None else part
