"""Pictures: their headers, every layer, and what training, panel and apply make of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
from tests.footage import FOOTAGE
from tests.fuzz.headers import damaged_picture
from tests.fuzz.kind import Kind
from tests.picture_files import SMALL, part_spec, ramp, write_file, write_parts, write_plate

from understudy.dataset import decode_pair
from understudy.errors import ProblemList
from understudy.frames.colour import RAW
from understudy.frames.read import read_header, read_image
from understudy.frames.window import Window
from understudy.frames.write import write_image
from understudy.pairs import Pair
from understudy.report.pictures import small_picture
from understudy.sources.sequences import FileFrame

_WHOLE = Path("plate.exr")
_DISPLAY, _OVERSCAN, _MATTE = Window.of_size(20, 12), Window(-3, -2, 23, 14), Window(5, 4, 9, 9)
_ALWAYS = {"DateTime": "2026:11:21 12:00:00"}
"""Or the writers would state the time, and no case were ever the same again."""
_MOST_LAYERS = 3
_SMALL_FOOTAGE_BYTES = 200_000


def _exr_files() -> Sequence[Path]:
    """What cameras, renderers and Nuke write: one part, several, tiles, mixed types, windows of their own, metadata."""
    write_plate(_WHOLE, ramp(_DISPLAY, 3))
    return [
        *(_compressed(*how) for how in _COMPRESSED),
        _mixed(Path("mixed.exr")),
        _tiled(Path("tiles.exr")),
        _parts(Path("parts.exr")),
        _deep(Path("deep.exr")),
    ]


_COMPRESSED = (
    ("zip", "RGBA", _DISPLAY, "half"),
    ("piz", "RGB", _OVERSCAN, "half"),
    ("dwaa", "RGB", _DISPLAY, "half"),
    ("rle", "RGB", _MATTE, "float"),
    ("b44", "RGB", _DISPLAY, "half"),
    ("pxr24", "Z", _DISPLAY, "float"),
)


def _compressed(compression: str, channels: str, window: Window, pixel_type: str) -> Path:
    about: dict[str, int | float | str] = {**_ALWAYS, "compression": compression, "smpte:TimeCode": "01:02:03:04"}
    about["PixelAspectRatio"] = 2.0
    spec = part_spec(channels, window, _DISPLAY, pixel_type, attributes=about)
    return write_file(Path(f"{compression}.exr"), spec, ramp(window, len(channels)))


def _mixed(path: Path) -> Path:
    names = ("V.Combined.R", "V.Combined.G", "V.Combined.B", "V.Depth.Z")
    spec = part_spec(names, _DISPLAY, _DISPLAY, "float", attributes=_ALWAYS)
    spec.channelformats = (oiio.HALF, oiio.HALF, oiio.HALF, oiio.FLOAT)
    return write_file(path, spec, ramp(_DISPLAY, 4))


def _tiled(path: Path) -> Path:
    spec = part_spec("RGB", _DISPLAY, _DISPLAY, attributes=_ALWAYS)
    spec.tile_width = spec.tile_height = 8
    return write_file(path, spec, ramp(_DISPLAY, 3))


def _parts(path: Path) -> Path:
    parts = [
        (tuple("RGBA"), _DISPLAY, "half", "rgba_left"),
        (("mask.a",), _MATTE, "float", "mask_left"),
        (("diffuse.R", "diffuse.G", "diffuse.B"), _OVERSCAN, "half", "diffuse"),
    ]
    return write_parts(
        path,
        [
            (part_spec(names, window, _DISPLAY, kind, name=part, attributes=_ALWAYS), ramp(window, len(names)))
            for names, window, kind, part in parts
        ],
    )


def _deep(path: Path) -> Path:
    spec = part_spec(("R", "Z"), SMALL, SMALL, "float", attributes=_ALWAYS)
    spec.deep = True
    data = oiio.DeepData()
    data.init(SMALL.width * SMALL.height, 2, (oiio.FLOAT, oiio.FLOAT), ("R", "Z"))
    for pixel in range(SMALL.width * SMALL.height):
        data.set_samples(pixel, pixel % 3)
    output = oiio.ImageOutput.create(str(path))
    assert output is not None
    assert output.open(str(path), spec), output.geterror()
    assert output.write_deep_image(data), output.geterror()
    output.close()
    return path


def _other_files() -> Sequence[Path]:
    """Of every other format that OpenImageIO writes: it looks at the content, whatever the name says."""
    write_plate(_WHOLE, ramp(SMALL, 3))
    usual = "png png png tif tif tif dpx dpx jpg jpg"
    rare = "hdr tga bmp sgi ppm webp gif iff rla fits jp2 ico zfile cin dds"
    files = [_picture(Path(f"a{number}.{ending}"), number) for number, ending in enumerate(f"{usual} {rare}".split())]
    return [path for path in files if path is not None]


_TYPES = {".png": ("uint8", "uint16"), ".tif": ("uint8", "uint16", "float"), ".dpx": ("uint16", "uint8")}


def _picture(path: Path, number: int) -> Path | None:
    """None where this build of OpenImageIO does not write the format."""
    output = oiio.ImageOutput.create(str(path))
    if output is None:
        oiio.geterror()
        return None
    types = _TYPES.get(path.suffix, ("uint8",))
    window = Window.of_size(16, 16)
    spec = part_spec("RGB", window, window, types[number % len(types)], attributes=_ALWAYS)
    if path.suffix == ".tif" and number % 2:
        spec.tile_width = spec.tile_height = 16
    pixels = np.linspace(0, 1, 16 * 16 * 3, dtype=np.float32).reshape(16, 16, 3)  # H W C
    is_whole = output.open(str(path), spec) and output.write_image(pixels) and output.close()
    output.geterror()
    return path if is_whole else None


def _footage_files() -> Sequence[Path]:
    """Real frames; of large ones the beginning, which holds the header."""
    write_plate(_WHOLE, ramp(SMALL, 3))
    copied = []
    for number, path in enumerate(sorted(FOOTAGE.rglob("*.exr"))):
        copied.append(Path(f"{number}.{path.name}"))
        copied[-1].write_bytes(path.read_bytes()[:_SMALL_FOOTAGE_BYTES])
    return copied


def _read_picture(path: Path) -> None:
    header = read_header(path)
    problems = ProblemList()
    with problems.collecting():
        read_image(path)
    for layer in ("", *header.layers()[:_MOST_LAYERS]):  # as they are: conversion takes long
        with problems.collecting():
            image = read_image(path, layer=layer, colorspace=RAW)
            with problems.collecting():
                decode_pair(_pair(path, layer), 16)
            with problems.collecting():
                small_picture(image, 8, 8)
            write_image(Path("result.exr"), image, like=path)
    problems.raise_if_any()


def _pair(path: Path, layer: str) -> Pair:
    damaged = FileFrame(path=path, frame=7, layer=layer, colorspace=RAW)
    return Pair(frame=7, input=FileFrame(path=_WHOLE, frame=7), target=damaged)


FRAME_KINDS = (
    Kind(name="exr", cases=1200, lay_out=_exr_files, damage=damaged_picture, read=_read_picture),
    Kind(name="picture", cases=800, lay_out=_other_files, damage=damaged_picture, read=_read_picture),
)
FOOTAGE_KIND = Kind(name="footage", cases=100, lay_out=_footage_files, damage=damaged_picture, read=_read_picture)
