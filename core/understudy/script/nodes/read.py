"""Read: the files of a sequence on the timeline."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np

from understudy.errors import UnderstudyError
from understudy.frames.colour import RAW
from understudy.frames.image import FloatPixels
from understudy.frames.layers import Header
from understudy.frames.read import read_header
from understudy.frames.sequence import Sequence, is_missing
from understudy.frames.window import Window
from understudy.script.channels import has_alpha
from understudy.script.formats import format_window, root_format
from understudy.script.graph import Node
from understudy.script.knobs import bool_knob, enum_knob, knob_error, text_knob
from understudy.script.nodes.base import Info, NodeClass, Request, SourceFile, Span, Tree, node_error
from understudy.script.nodes.clip import CLIP_KNOBS, FIRST, LAST, Clip, clip_of
from understudy.script.nodes.decode import ALPHA, Loader, known_space, stored_channels
from understudy.script.values.moment import Moment

FILE = text_knob("file")
FORMAT = text_knob("format")
COLORSPACE = text_knob("colorspace", "default")
RAW_DATA = bool_knob("raw", False)
PREMULTIPLIED = bool_knob("premultiplied", False)
AUTO_ALPHA = bool_knob("auto_alpha", False)
ON_ERROR = enum_knob("on_error", ("error", "black", "checkerboard", "nearest frame"), "error")


class Read(NodeClass):
    """Decodes the file of the frame; outside the clip and for missing files it does what its knobs say."""

    names = ("Read",)
    page = "image_nodes/read.html"
    still = (*CLIP_KNOBS, FILE, FORMAT, COLORSPACE, RAW_DATA, PREMULTIPLIED, AUTO_ALPHA, ON_ERROR)
    makes_pixels = True
    knows_all_channels = False

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        del tree, node
        return ()

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        _clip(tree, node)
        _sequence(tree, node)
        _colorspace(tree, node)

    def files(self, tree: Tree, node: Node, frame: int) -> tuple[SourceFile, ...]:
        found = _file_at(tree, node, frame)
        return (found,) if found else ()

    def frame_range(self, tree: Tree, node: Node) -> Span:
        return _clip(tree, node).timeline

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        file = _any_file(tree, node)
        if file is None:
            raise node_error(node, f"none of its files exist ({_sequence(tree, node).pattern}); render them")
        stored = tuple(stored_channels(_header(node, file), tree.reading.view))
        return (*stored, ALPHA) if _makes_alpha(tree, node, stored) else stored

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        found = _file_at(tree, node, frame)
        if found is None:
            window, pixel_aspect = _size(tree, node)
            return Info(data_window=window, display_window=window, pixel_aspect=pixel_aspect)
        header = _header(node, found.path)
        window = header.parts[0].data_window
        for part in header.parts[1:]:
            window = window.union(part.data_window)
        return Info(
            data_window=window,
            display_window=header.parts[0].display_window,
            pixel_aspect=header.pixel_aspect,
            metadata=header.metadata,
        )

    def content(self, tree: Tree, node: Node, frame: int) -> tuple[object, ...]:
        found, moment = _file_at(tree, node, frame), tree.moment(None)
        how = (knob.of(node, moment) for knob in (RAW_DATA, COLORSPACE, PREMULTIPLIED, AUTO_ALPHA))
        return (self.names, found and found.path, *how)

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        found = _file_at(tree, node, request.frame)
        if found is None:
            return np.zeros((request.region.height, request.region.width, len(request.channels)), np.float32)  # H W C
        try:
            return _decoded(tree, node, found.path, request)
        except UnderstudyError as fault:
            raise node_error(node, str(fault)) from fault


def _clip(tree: Tree, node: Node) -> Clip:
    moment = tree.moment(None)
    return clip_of(node, Span(FIRST.of(node, moment), LAST.of(node, moment)), moment)


def _makes_alpha(tree: Tree, node: Node, stored: Collection[str]) -> bool:
    return AUTO_ALPHA.of(node, tree.moment(None)) and not has_alpha(stored)


def _sequence(tree: Tree, node: Node) -> Sequence:
    pattern = tree.reading.paths.path_of(node, FILE.name)
    if not pattern:
        raise node_error(node, "knob file is empty; name the sequence that it should read")
    if "%V" not in pattern and "%v" not in pattern:
        return Sequence(pattern)
    view = tree.reading.view
    if not view:
        raise node_error(node, f"knob file has %V or %v ({pattern}); say which view is meant with --view")
    return Sequence(pattern.replace("%V", view).replace("%v", view[:1]))


def _file_at(tree: Tree, node: Node, frame: int) -> SourceFile | None:
    """The file of a frame of the timeline; None: black. Raises UnderstudyError for a missing one that must be there."""
    asked = _clip(tree, node).source_frame(node, frame, tree.moment(frame))
    if asked is None:
        return None
    sequence = _sequence(tree, node)
    path = sequence.path(asked)
    if tree.reading.files_are_to_come or not is_missing(path):
        return SourceFile(path=path, frame=0 if sequence.is_still else asked)
    policy = ON_ERROR.of(node, tree.moment(None))
    if policy == "black":
        return None
    near = _nearest(tree, node, sequence, asked) if policy == "nearest frame" else None
    if near is None:
        raise node_error(
            node, f"frame {asked} is missing: {path}: no such file; render it, or set on_error to nearest frame"
        )
    return SourceFile(path=sequence.path(near), frame=near)


def _nearest(tree: Tree, node: Node, sequence: Sequence, asked: int) -> int | None:
    span = _clip(tree, node).span
    there = [frame for frame in sequence.frames_on_disk() if span.first <= frame <= span.last]
    return min(there, key=lambda frame: (abs(frame - asked), frame), default=None)


def _header(node: Node, path: Path) -> Header:
    """Raises UnderstudyError naming the node and the file."""
    try:
        return read_header(path)
    except UnderstudyError as fault:
        raise node_error(node, str(fault)) from fault


def _any_file(tree: Tree, node: Node) -> Path | None:
    """A file to learn channels and size from: the first, or the nearest to it that is there."""
    sequence, first = _sequence(tree, node), FIRST.of(node, tree.moment(None))
    if not is_missing(sequence.path(first)):
        return sequence.path(first)
    near = _nearest(tree, node, sequence, first)
    return None if near is None else sequence.path(near)


def _size(tree: Tree, node: Node) -> tuple[Window, float]:
    """Display window and pixel aspect of a black frame: as its files have them, else its format, else the script's."""
    file = _any_file(tree, node)
    if file is not None:
        header = _header(node, file)
        return header.parts[0].display_window, header.pixel_aspect
    stated = format_window(FORMAT.of(node, tree.moment(None)))
    return (stated or root_format(tree.script), 1.0)


def _decoded(tree: Tree, node: Node, path: Path, request: Request) -> FloatPixels:
    """H W C over the region, in the working space; alpha is opaque where auto_alpha has to make one."""
    header, channels = read_header(path), request.channels
    stored = stored_channels(header, tree.reading.view)
    there = tuple(channel for channel in channels if channel in stored)
    loader = Loader(
        header=header,
        stored=stored,
        reading=tree.reading,
        space=_colorspace(tree, node),
        is_premultiplied=PREMULTIPLIED.of(node, tree.moment(None)) and ALPHA in stored,
    )
    if loader.is_premultiplied and not loader.space and "uint" in header.parts[0].pixel_type:
        raise knob_error(node, PREMULTIPLIED.name, "is set without a colorspace; state the colorspace")
    region = request.region
    decoded = loader.load(there, region).over(region) if there else None
    if decoded is not None and there == channels:
        return np.ascontiguousarray(decoded)
    pixels = np.zeros((region.height, region.width, len(channels)), np.float32)  # H W C
    if decoded is not None:
        pixels[..., [channels.index(channel) for channel in there]] = decoded
    if ALPHA in channels and _makes_alpha(tree, node, stored):
        pixels[..., channels.index(ALPHA)] = 1.0
    return pixels


def _colorspace(tree: Tree, node: Node) -> str:
    """The knobs raw and colorspace as Loader takes them. Raises UnderstudyError naming a space that is unknown."""
    moment = tree.moment(None)
    if RAW_DATA.of(node, moment):
        return RAW
    stated = COLORSPACE.of(node, moment)
    space = known_space(tree.reading.colour, stated)
    if space is None:
        raise knob_error(node, COLORSPACE.name, f"is {stated!r}, which neither the OCIO config nor Nuke's list has")
    return space
