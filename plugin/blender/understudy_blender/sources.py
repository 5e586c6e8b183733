"""What plate and ground truth are: files that understudy can read as they lie, or sockets that must be baked first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from . import frames

LINEAR = ("Linear", "Linear Rec.709", "scene_linear")
"""Blender's names, old and new, for the space that understudy takes EXR files to be in."""
DATA = ("Non-Color", "Raw", "Generic Data")
DISPLAY = ("sRGB",)
"""What understudy takes 8 and 16 bit files for."""
FLOAT_SUFFIXES = (".exr", ".hdr")


@dataclass(frozen=True)
class Socket:
    """An output of a node of the compositor."""

    node: str
    index: int
    name: str
    is_value: bool
    """One number a pixel, as a matte has."""

    def __str__(self) -> str:
        return f"{self.node} > {self.name}"


@dataclass(frozen=True)
class ImageNode:
    """What an Image node says about its files."""

    path: str
    """Absolute."""
    is_sequence: bool
    is_multilayer: bool
    colorspace: str
    frame_start: int
    frame_offset: int
    frame_duration: int
    view_layer: str = ""
    is_plain: bool = True
    """Not muted, packed, unsaved, cyclic or stereo."""


@dataclass(frozen=True)
class Files:
    """Numbered files on disk."""

    pattern: str
    layer: str = ""
    """As understudy names it; empty: the picture."""
    colorspace: str = ""
    shift: int = 0
    """The file of a frame of the scene has its number and this."""
    first: int | None = None
    last: int | None = None
    """Frames of the scene that the node shows; None: all."""

    def has(self, frame: int) -> bool:
        return (self.first is None or self.first <= frame) and (self.last is None or frame <= self.last)


@dataclass(frozen=True)
class Source:
    """Plate or ground truth."""

    socket: Socket
    files: Files | None
    """None: it must be baked."""

    def __str__(self) -> str:
        return f"{self.socket}, {Path(self.files.pattern).name if self.files else 'baked to EXR'}"


def files_of(socket: Socket, node: ImageNode) -> Files | None:
    """The files behind a socket of an Image node; None when what it shows is not what lies in them."""
    pattern = frames.pattern_of(node.path)
    layer = _layer(socket, node)
    colorspace = _colorspace(node)
    if not (node.is_sequence and node.is_plain and pattern) or layer is None or colorspace is None:
        return None
    return Files(
        pattern=pattern,
        layer=layer,
        colorspace=colorspace,
        shift=node.frame_offset + 1 - node.frame_start,
        first=node.frame_start,
        last=node.frame_start + node.frame_duration - 1,
    )


def _layer(socket: Socket, node: ImageNode) -> str | None:
    if not node.is_multilayer:
        return {"Image": "", "Alpha": "alpha"}.get(socket.name)
    prefix = f"{node.view_layer}." if node.view_layer else ""
    if socket.name == "Combined":
        return ",".join(f"{prefix}Combined.{channel}" for channel in "RGB")
    return f"{prefix}Combined.A" if socket.name == "Alpha" else f"{prefix}{socket.name}"


def _colorspace(node: ImageNode) -> str | None:
    is_float = node.path.lower().endswith(FLOAT_SUFFIXES)
    if node.colorspace in DATA:
        return "raw"
    return "" if node.colorspace in (LINEAR if is_float else DISPLAY) else None
