"""Reading: an image file's header, or the pixels of one of its layers, scene-linear."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
from numpy.typing import NDArray

from understudy.errors import UnderstudyError
from understudy.frames.colour import DEFAULT_COLOUR, RAW, ColourRules
from understudy.frames.image import FloatPixels, Image, room_for
from understudy.frames.layers import Header, Part, Selection, select
from understudy.frames.window import Window

# Several frames are read and written at once, each on a thread of ours; threads of the libraries' own would only get in
# their way. -1: OpenEXR has none; 1 would be a single one, for which all of ours had to wait.
oiio.attribute("threads", 1)
oiio.attribute("exr_threads", -1)

MOVIE_SUFFIXES = {".mov", ".mp4", ".m4v", ".avi", ".mxf", ".mkv", ".webm", ".wmv", ".r3d", ".braw"}
SRGB = "srgb_rec709_scene"

TUPLE_FIELDS = ("smpte:TimeCode", "FramesPerSecond")
"""Header fields that are pairs of numbers; metadata holds them as text: 01:02:03:04, 24000/1001."""

_ENCODING_FIELDS = {
    *("compression", "name", "view", "multiView", "chunkCount", "type", "planarconfig", "colorInteropID"),
    *("PixelAspectRatio", "screenWindowWidth", "screenWindowCenter", "Orientation"),
    *("XResolution", "YResolution", "ResolutionUnit"),
}
_ENCODING_NAMESPACES = {"oiio", "openexr", "tiff", "png", "jpeg", "dpx", "ICCProfile"}

ROWS_AT_ONCE = 256
"""As many as the largest block of any compression holds."""

_MAX_PARTS = 1000
_WIDEST_PIXEL = 100.0


@dataclass(frozen=True, kw_only=True)
class FilePicture:
    """A picture, and where in its file it lay."""

    image: Image
    header: Header
    selection: Selection
    is_converted: bool
    """Colour lies in another space in the file."""


def read_header(path: Path) -> Header:
    """What the file holds, without reading pixels.

    Raises UnderstudyError when the file is missing, not readable, not an image, or damaged.
    """
    return _header_of(open_image(path), path)


def read_image(
    path: Path,
    *,
    layer: str = "",
    channels: Sequence[str] = (),
    view: str = "",
    colorspace: str = "",
    colour: ColourRules = DEFAULT_COLOUR,
    region: Window | None = None,
) -> Image:
    """Pixels of one layer as float32 over the part's own data window, in the working space, never clamped.

    `layer` is the first of these that the file has:
    - empty: R, G, B of the first part that has them, else all channels of the first part (4 at most);
    - rgb, rgba (A only where present), alpha;
    - the exact name of a part (all its channels), also without its view: `rgba` for part `rgba_left` of view left;
    - a layer prefix: `diffuse` for diffuse.R, diffuse.G, diffuse.B; `ViewLayer.Combined`;
    - a channel's full name, or several separated by commas: `mask.a`, `A,Z`.
    `channels` asks for exact channel names of one part instead.
    `view` keeps to that view and to parts of no view; it means nothing to a file without views. Without `view`, a file
    of several views is searched from the view left, else from its first view, unless `layer` is the exact name of a
    part.
    `colorspace`: empty = the file's own (half and float are taken to be in the working space, 8 and 16 bit follow the
    config's file rules, else the header, else sRGB); `raw` = the numbers as they are; else a colour space of the
    config. Only R, G, B of a layer are converted; a channel Y or A or any other never is.
    `region`, display coordinates, keeps to the rows that it meets; the others are not decoded.
    Raises UnderstudyError naming the file and what to do.
    """
    found = read_picture(
        path, layer=layer, channels=channels, view=view, colorspace=colorspace, colour=colour, region=region
    )
    return found.image


def read_picture(
    path: Path,
    *,
    layer: str = "",
    channels: Sequence[str] = (),
    view: str = "",
    colorspace: str = "",
    colour: ColourRules = DEFAULT_COLOUR,
    region: Window | None = None,
) -> FilePicture:
    """`read_image`'s picture, with the part and the channels that were chosen."""
    opened = open_image(path)
    header = _header_of(opened, path)
    selection = select(header, layer, channels, view)
    window = _rows_that_meet(region, selection.part.data_window)
    picture = Image(
        pixels=_read_pixels(opened, selection, window, path),
        channels=selection.channels,
        data_window=window,
        display_window=selection.part.display_window,
        pixel_aspect=header.pixel_aspect,
        metadata=header.metadata,
    )
    image = _in_working_space(picture, selection.part, path, colorspace, colour)
    return FilePicture(image=image, header=header, selection=selection, is_converted=image is not picture)


def open_image(path: Path) -> oiio.ImageInput:
    """The file opened for reading; raises UnderstudyError when it is missing, not readable, or not an image."""
    _refuse_non_files(path)
    wishes = oiio.ImageSpec()
    wishes["oiio:UnassociatedAlpha"] = 1  # colour as stored, as Nuke reads it
    opened = oiio.ImageInput.open(str(path), wishes)
    if opened is None:
        raise UnderstudyError(f"{path}: {_explained(reason_of_failure(oiio))}")
    return opened


def _refuse_non_files(path: Path) -> None:
    if path.suffix.lower() in MOVIE_SUFFIXES:
        raise UnderstudyError(f"{path}: is a movie, which is not read; render it to an image sequence first")
    try:
        if path.is_dir():
            raise UnderstudyError(f"{path}: is a folder; give an image file")
        if not path.is_file():
            raise UnderstudyError(f"{path}: no such file; render it, or correct the path or the frame range")
        with path.open("rb") as file:
            is_empty = not file.read(1)
    except OSError as error:
        raise UnderstudyError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error
    if is_empty:
        raise UnderstudyError(f"{path}: is empty (0 bytes); render it again")


def _explained(reason: str) -> str:
    if "ubsampled" in reason:
        return "has subsampled channels, which are not read; render it again as R, G, B"
    if "OpenImageIO could not find a format reader" in reason or "not recognized" in reason or not reason:
        return "is not an image that can be read; give EXR, TIFF, DPX, PNG or JPEG"
    return f"is not an image or is damaged ({reason}); render it again"


def reason_of_failure(failed: object) -> str:
    """The first line of OpenImageIO's message; its text may hold bytes of a damaged file that are not UTF-8."""
    try:
        message: str = failed.geterror()  # type: ignore[attr-defined]  # the module and ImageInput both have it
    except UnicodeDecodeError:
        return "unreadable header"
    return _first_line(message)


def _first_line(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    line = lines[0].partition("): ")[2] or lines[0] if lines else ""
    return "".join(letter if letter.isprintable() else "?" for letter in line)[:120]


def _header_of(opened: oiio.ImageInput, path: Path) -> Header:
    first = opened.spec()
    parts: list[Part] = []
    while len(parts) < _MAX_PARTS and opened.seek_subimage(len(parts), 0):
        parts.append(_part_of(opened.spec(), len(parts)))
    reason = reason_of_failure(opened)  # seeking past the last part leaves a message behind, too
    if not parts:
        raise UnderstudyError(f"{path}: is damaged or incomplete ({reason}); render it again")
    _refuse_no_pictures(parts, path)
    return Header(
        path=path,
        format_name=opened.format_name(),
        parts=tuple(parts),
        views=_views_of(first),
        pixel_aspect=_pixel_aspect_of(first),
        metadata=_metadata_of(first),
    )


def _refuse_no_pictures(parts: Sequence[Part], path: Path) -> None:
    """No room is made for what only a damaged header asks for."""
    whole = parts[0].display_window
    for part in parts:
        if part.data_window.is_empty or part.display_window.is_empty:
            raise UnderstudyError(f"{path}: has an empty window, so that there is no picture; render it again")
        whole = whole.union(part.data_window).union(part.display_window)
    if whole.is_too_large:
        raise UnderstudyError(f"{path}: its windows span {whole}, more than any picture; render it again")


def _pixel_aspect_of(spec: oiio.ImageSpec) -> float:
    """Square where the header states what no lens makes."""
    stated = spec.get_float_attribute("PixelAspectRatio", 1.0)
    return stated if 1 / _WIDEST_PIXEL <= stated <= _WIDEST_PIXEL else 1.0


def _part_of(spec: oiio.ImageSpec, index: int) -> Part:
    name = spec.get_string_attribute("oiio:subimagename") or spec.get_string_attribute("name")
    return Part(
        index=index,
        name=name,
        view=spec.get_string_attribute("view") or _view_in_name(name),
        channels=tuple(spec.channelnames),
        data_window=Window.of_size(spec.width, spec.height, spec.x, spec.y),
        display_window=Window.of_size(spec.full_width, spec.full_height, spec.full_x, spec.full_y),
        pixel_type=str(spec.format),
        colorspace=spec.get_string_attribute("oiio:ColorSpace"),
        has_depth=spec.deep or spec.depth > 1,
    )


def _view_in_name(part_name: str) -> str:
    ending = part_name.replace(".", "_").rpartition("_")[2]
    return ending if ending in ("left", "right") and ending != part_name else ""


def _views_of(spec: oiio.ImageSpec) -> tuple[str, ...]:
    stated = spec.getattribute("multiView")
    return tuple(str(view) for view in stated) if isinstance(stated, list | tuple) else ()


def _metadata_of(spec: oiio.ImageSpec) -> dict[str, int | float | str]:
    """The numbers and texts about the shot; windows, layers and encoding are stated anew by a writer."""
    kept: dict[str, int | float | str] = {}
    for attribute in spec.extra_attribs:
        if attribute.name in TUPLE_FIELDS:
            kept[attribute.name] = spec.get_string_attribute(attribute.name)
        elif is_about_the_shot(attribute.name) and isinstance(attribute.value, int | float | str):
            kept[attribute.name] = attribute.value
    return {name: value for name, value in kept.items() if _is_utf8(name) and _is_utf8(value)}


def _is_utf8(value: float | str) -> bool:
    """OpenImageIO gives bytes that are no UTF-8 as halves of characters, and takes none of those back."""
    return not (isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value))


def is_about_the_shot(field: str) -> bool:
    """Whether a header field belongs to the picture rather than to how this file encodes it."""
    return field not in _ENCODING_FIELDS and field.partition(":")[0] not in _ENCODING_NAMESPACES


def _rows_that_meet(region: Window | None, window: Window) -> Window:
    """The whole rows of `window` that `region` has; none of them: empty."""
    if region is None:
        return window
    first = min(max(window.y0, region.y0), window.y1)
    return Window(window.x0, first, window.x1, max(first, min(window.y1, region.y1)))


def _read_pixels(opened: oiio.ImageInput, selection: Selection, window: Window, path: Path) -> FloatPixels:
    """The rows of `window`, which has the width of the part's data window."""
    part = selection.part
    if part.has_depth:
        raise UnderstudyError(f"{path}: holds deep or volume pixels, which are not read; flatten it first")
    low, high = min(selection.indices), max(selection.indices) + 1
    pixels = room_for(window.height, window.width, high - low)
    opened.seek_subimage(part.index, 0)
    rows_of_tile = opened.spec().tile_height or 1
    for first, end in spans_of_rows(opened.spec()):
        top, bottom = max(first, window.y0), min(end, window.y1)
        if top < bottom:
            read = top - (top - first) % rows_of_tile, min(end, bottom + (first - bottom) % rows_of_tile)
            # Straight from the file by channel number: ImageBufAlgo.channels gives garbage for mixed half and float.
            rows = read_rows(opened, path, read, (low, high), oiio.FLOAT)
            pixels[top - window.y0 : bottom - window.y0] = rows[top - read[0] : bottom - read[0]]
    wanted = [index - low for index in selection.indices]
    return pixels if wanted == list(range(high - low)) else np.ascontiguousarray(pixels[..., wanted])


def spans_of_rows(spec: oiio.ImageSpec) -> Iterator[tuple[int, int]]:
    """First row, and the one after the last, of blocks that cover a part from top to bottom, in whole rows of tiles."""
    high = spec.tile_height or 1
    step, end = max(1, ROWS_AT_ONCE // high) * high, spec.y + spec.height
    return ((first, min(first + step, end)) for first in range(spec.y, end, step))


def read_rows(
    opened: oiio.ImageInput, path: Path, rows: tuple[int, int], channels: tuple[int, int], held: oiio.BASETYPE
) -> NDArray[np.floating]:
    """Rows W C of the part that was sought, from the first row and channel to before the second, as half or float.

    Raises UnderstudyError naming `path` when they are damaged.
    """
    spec, part = opened.spec(), opened.current_subimage()
    try:
        if spec.tile_width:
            columns = spec.x, spec.x + spec.width
            read = opened.read_tiles(part, 0, *columns, *rows, spec.z, spec.z + 1, *channels, held)
        else:
            read = opened.read_scanlines(part, 0, *rows, spec.z, *channels, held)
    except (MemoryError, RuntimeError, ValueError) as error:
        raise UnderstudyError(f"{path}: cannot be decoded ({_first_line(str(error))}); render it again") from error
    if read is None:
        raise UnderstudyError(f"{path}: is damaged or incomplete ({reason_of_failure(opened)}); render it again")
    return read.reshape(rows[1] - rows[0], spec.width, channels[1] - channels[0])


def _in_working_space(picture: Image, part: Part, path: Path, colorspace: str, colour: ColourRules) -> Image:
    space = colorspace or _own_colorspace(part, path, colour)
    if not space or space.lower() == RAW:
        return picture
    try:
        return colour.to_working(picture, space)
    except UnderstudyError as error:
        raise UnderstudyError(f"{path}: {error}") from error


def _own_colorspace(part: Part, path: Path, colour: ColourRules) -> str:
    """The colour space of a file about which nobody said anything; empty: the working space."""
    if part.pixel_type not in ("uint8", "uint16"):
        return ""
    return colour.file_rule(str(path)) or part.colorspace or SRGB
