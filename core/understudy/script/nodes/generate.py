"""Pictures out of nothing: Constant and CheckerBoard2. Both follow the examples of Nuke's developer kit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from understudy.frames.image import FloatPixels
from understudy.script.channels import component, exr_name
from understudy.script.formats import Format, format_of, script_format
from understudy.script.graph import Node
from understudy.script.knobs import (
    Colour,
    Knob,
    Stated,
    channel_words_knob,
    colour_knob,
    int_knob,
    knob_error,
    pair_knob,
)
from understudy.script.layers import COLOURS
from understudy.script.nodes.base import Info, NodeClass, Request, Span, Tree
from understudy.script.nodes.layered import four_of
from understudy.script.values.fault import Unreadable, shortened
from understudy.script.values.moment import Moment


def _format(stated: Stated) -> Format | None:
    found = format_of(stated.raw)
    if found is None or not found.is_all_picture:
        raise Unreadable(f"is {shortened(stated.raw)}, which is no format that pictures fill")
    return found


FORMAT: Knob[Format | None] = Knob(name="format", default=None, parse=_format, aliases=("full_format",))
CHANNELS = channel_words_knob("channels", "rgba")
COLOUR = colour_knob("color", 0.0)
FIRST, LAST = int_knob("first", 1), int_knob("last", 1)

_SIZE_PARTS = ("w", "h")
_DARK: Colour = (0.1, 0.1, 0.1, 1.0)
_LIGHT: Colour = (0.5, 0.5, 0.5, 1.0)
BOX_SIZE = pair_knob("boxsize", (64.0, 64.0), _SIZE_PARTS)
BOX_COLOURS = tuple(
    replace(colour_knob(f"color{number}", 0.0), default=default)
    for number, default in enumerate((_DARK, _LIGHT, _DARK, _LIGHT))
)
LINE_COLOUR, LINE_WIDTH = colour_knob("linecolor", 1.0), pair_knob("linewidth", (0.0, 0.0), _SIZE_PARTS)
CENTRE_COLOUR = replace(colour_knob("centerlinecolor", 0.0), default=(1.0, 1.0, 0.0, 1.0))
CENTRE_WIDTH = pair_knob("centerlinewidth", (3.0, 3.0), _SIZE_PARTS)
_LINE, _CENTRE = len(BOX_COLOURS), len(BOX_COLOURS) + 1
"""Beside the numbers of the boxes' colours."""


class Generator(NodeClass):
    """A picture as large as the format that it states, or the script's."""

    still: tuple[Knob[object], ...] = (FORMAT,)
    makes_pixels = True

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        del tree, node
        return ()

    def frame_range(self, tree: Tree, node: Node) -> Span:
        del tree, node
        return Span(1, 1)

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        del frame
        found = FORMAT.of(node, tree.moment(None)) or script_format(tree.script)
        return Info(data_window=found.window, display_window=found.window, pixel_aspect=found.pixel_aspect)

    def content(self, tree: Tree, node: Node, frame: int) -> tuple[object, ...]:
        return (*super().content(tree, node, frame), self.info(tree, node, frame))


class Constant(Generator):
    """One colour, inside the format and outside."""

    names = ("Constant",)
    page = "image_nodes/constant.html"
    knobs = (COLOUR,)
    still = (*Generator.still, CHANNELS, FIRST, LAST)
    is_endless = True

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        four, colour = four_of(tree, node, CHANNELS, ()), COLOUR.of(node, moment)
        values = {(channel, value) for channel, value in zip(four, colour, strict=True) if channel}
        if len(values) > len(set(filter(None, four))):
            raise knob_error(node, COLOUR.name, "has several values for one channel; set them alike")

    def frame_range(self, tree: Tree, node: Node) -> Span:
        moment = tree.moment(None)
        return Span(FIRST.of(node, moment), LAST.of(node, moment))

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(None, four_of(tree, node, CHANNELS, ()))))

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        colour, four = COLOUR.of(node, tree.moment(request.frame)), four_of(tree, node, CHANNELS, ())
        values = [colour[four.index(channel)] for channel in request.channels]
        out = np.empty((request.region.height, request.region.width, len(values)), np.float32)  # H W C
        out[:] = np.array(values, np.float32)
        return out


class CheckerBoard2(Generator):
    """Boxes of four colours around the middle of the format, lines between them, and a cross of centre lines."""

    names = ("CheckerBoard2",)
    page = "image_nodes/checkerboard.html"
    knobs = (BOX_SIZE, *BOX_COLOURS, LINE_COLOUR, LINE_WIDTH, CENTRE_COLOUR, CENTRE_WIDTH)

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        del tree, node
        return tuple(exr_name(f"rgba.{colour}") for colour in COLOURS)

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        moment, window = tree.moment(request.frame), self.info(tree, node, request.frame).display_window
        region = request.region
        columns = np.arange(region.x0, region.x1) - window.x0
        rows = window.y1 - 1 - np.arange(region.y0, region.y1)  # counted from the bottom
        across = _stripes(node, moment, columns, window.width, axis=0)
        upward = _stripes(node, moment, rows, window.height, axis=1)
        kinds = np.where(upward.is_odd[:, None], 3 - across.is_odd[None, :], across.is_odd[None, :])  # H W
        kinds[upward.is_line[:, None] | across.is_line[None, :]] = _LINE
        kinds[upward.is_centre[:, None] | across.is_centre[None, :]] = _CENTRE
        palette = [knob.of(node, moment) for knob in (*BOX_COLOURS, LINE_COLOUR, CENTRE_COLOUR)]
        parts = [component(channel) or 0 for channel in request.channels]
        colours: FloatPixels = np.array(palette, np.float32)[:, parts][kinds]
        return colours


@dataclass(frozen=True)
class _Stripes:
    """What one axis has at each of its pixels; three times N."""

    is_odd: NDArray[np.bool_]
    """Whether it lies in every other box."""
    is_line: NDArray[np.bool_]
    is_centre: NDArray[np.bool_]


def _stripes(node: Node, moment: Moment, pixels: NDArray[np.intp], length: int, axis: int) -> _Stripes:
    """`pixels`: where they lie on the axis; the boxes begin with a line in the middle of its length."""
    box = max(round(BOX_SIZE.of(node, moment)[axis]), 1)
    line, centre = (_width(knob.of(node, moment)[axis]) for knob in (LINE_WIDTH, CENTRE_WIDTH))
    along = pixels - (length // 2 - line // 2)
    first = line // 2 - centre // 2
    phase = along % (2 * box)
    return _Stripes(
        is_odd=phase >= box, is_line=phase % box < line, is_centre=(along >= first) & (along < first + centre)
    )


def _width(stated: float) -> int:
    """Whole pixels; what is there at all has one."""
    return max(round(stated), 1) if stated > 0 else 0
