"""Writing: an image as an EXR file that is whole or absent."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import OpenImageIO as oiio
from numpy.typing import NDArray

from understudy.errors import UnderstudyError
from understudy.files import write_atomically
from understudy.frames.image import FloatPixels, Image
from understudy.frames.read import TUPLE_FIELDS, is_about_the_shot, open_image, reason_of_failure, spans_of_rows

EXR_SUFFIX = ".exr"
LITTLE_BYTES = 2**16
"""Left on a disk where a writer has given up: it was full."""
HALF_MAX = 65504.0
"""The largest value that a half holds; beyond it lies infinity."""

PixelType = Literal["half", "float"]
Rows = Callable[[int, int], NDArray[np.floating]]
"""Pixels of the rows from the first number to before the second, in display coordinates: rows W C."""


def write_image(
    path: Path,
    image: Image,
    *,
    like: Path | None = None,
    pixel_type: PixelType = "half",
    compression: str = "zip",
) -> None:
    """Write `image` as one-part EXR with its windows, channel names, pixel aspect and metadata.

    `like` is a file whose header fields go along, also those that are no plain numbers or texts (matrices). If it is an
    EXR file, so do its compression and, for channels of the same name, half or float.
    Half becomes float where a finite value would not fit: nothing is clipped.
    Raises UnderstudyError naming `path` when it is not .exr, cannot be written, or the disk is full.
    """
    refuse_other_formats(path)
    spec = _spec_of(image)
    spec["compression"] = compression
    types: list[PixelType] = [pixel_type] * len(image.channels)
    if like is not None:
        source = open_image(like)
        _copy_header_fields(source.spec(), spec)
        if source.format_name() == "openexr":
            types = _types_like(source, image.channels)
            spec["compression"] = compression_of(source.spec())
    set_types(spec, fitting_types(types, image.pixels))
    _put_metadata(image, spec)
    write_atomically(path, partial(_write_pixels, spec, image))


def refuse_other_formats(path: Path) -> None:
    if path.suffix.lower() != EXR_SUFFIX:
        raise UnderstudyError(f"{path}: only EXR is written; let the name end in {EXR_SUFFIX}")


def exceeds_half(pixels: FloatPixels) -> bool:
    """Whether a finite value would become infinite as half."""
    if pixels.size == 0 or (pixels.max() <= HALF_MAX and pixels.min() >= -HALF_MAX):
        return False
    magnitudes = np.abs(pixels)
    return bool(np.any((magnitudes > HALF_MAX) & np.isfinite(magnitudes)))


def fitting_types(types: Sequence[PixelType], pixels: FloatPixels) -> list[PixelType]:
    """Those types, but float for channels of H W C that half could not hold."""
    if "half" not in types or not exceeds_half(pixels):
        return list(types)
    return ["float" if exceeds_half(pixels[..., place]) else wanted for place, wanted in enumerate(types)]


def set_types(spec: oiio.ImageSpec, types: Sequence[PixelType]) -> None:
    """One for each channel."""
    is_mixed = len(set(types)) > 1
    spec.set_format("float" if is_mixed else types[0])
    spec.channelformats = tuple(oiio.TypeDesc(one) for one in types) if is_mixed else ()


def compression_of(spec: oiio.ImageSpec) -> str:
    """As a writer is told it, with the quality of DWA."""
    name = spec.get_string_attribute("compression") or "zip"
    level = spec.get_float_attribute("openexr:dwaCompressionLevel", 0.0)
    return f"{name}:{level:g}" if name.startswith("dwa") and level else name


def put_rows(output: oiio.ImageOutput, spec: oiio.ImageSpec, spans: Iterable[tuple[int, int]], rows: Rows) -> bool:
    """Write the open part from top to bottom; False when the writer could not, and then it says why."""
    for first, after in spans:
        with np.errstate(over="ignore"):  # an infinity stays one; what is finite fits, or the type would be float
            block = np.ascontiguousarray(rows(first, after), held_as(spec))
        if not output.write_scanlines(first, after, 0, block):
            return False
    return True


def held_as(spec: oiio.ImageSpec) -> type[np.floating]:
    """In memory; half only where all channels are."""
    return np.float16 if str(spec.format) == "half" else np.float32


def opened_for_writing(aside: Path, specs: Sequence[oiio.ImageSpec]) -> oiio.ImageOutput:
    """Raises OSError, which says why."""
    aside.touch()  # tells why a folder is not writable, which OpenImageIO does not
    output = oiio.ImageOutput.create(str(aside))
    assert output is not None, "OpenImageIO always has an EXR writer"
    if not (output.open(str(aside), list(specs)) if len(specs) > 1 else output.open(str(aside), specs[0])):
        raise reason_of(output, aside)
    return output


def reason_of(output: oiio.ImageOutput, aside: Path) -> OSError:
    """What the writer says, without the file's name; of a full disk it says only that it could not write."""
    if shutil.disk_usage(aside.parent).free < LITTLE_BYTES:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return OSError(" ".join(output.geterror().replace(f'"{aside}"', "").split()))


def _spec_of(image: Image) -> oiio.ImageSpec:
    spec = oiio.ImageSpec(image.data_window.width, image.data_window.height, len(image.channels), "float")
    spec.x, spec.y = image.data_window.x0, image.data_window.y0
    spec.full_x, spec.full_y = image.display_window.x0, image.display_window.y0
    spec.full_width, spec.full_height = image.display_window.width, image.display_window.height
    spec.channelnames = image.channels
    spec["PixelAspectRatio"] = image.pixel_aspect
    return spec


def _types_like(source: oiio.ImageInput, channels: Sequence[str]) -> list[PixelType]:
    """As in the first part that has the channel; of others as the file's first channel."""
    found: dict[str, PixelType] = {}
    part = 0
    while source.seek_subimage(part, 0):
        spec, part = source.spec(), part + 1
        for name, one in zip(spec.channelnames, spec.get_channelformats(), strict=True):
            found.setdefault(name, type_of(one))
    reason_of_failure(source)  # seeking past the last part leaves a message behind
    first: PixelType = next(iter(found.values()), "half")
    return [found.get(channel, first) for channel in channels]


def type_of(stored: oiio.TypeDesc) -> PixelType:
    return "half" if str(stored) == "half" else "float"


def _copy_header_fields(source: oiio.ImageSpec, spec: oiio.ImageSpec) -> None:
    for field in source.extra_attribs:
        if is_about_the_shot(field.name):
            with suppress(RuntimeError, TypeError, ValueError):  # damaged, or of a type that Python is not given
                spec.attribute(field.name, field.type, field.value)


def _put_metadata(image: Image, spec: oiio.ImageSpec) -> None:
    for name, value in image.metadata.items():
        if name not in TUPLE_FIELDS:
            spec[name] = value
    timecode = _timecode_of(str(image.metadata.get("smpte:TimeCode", "")))
    if timecode is not None:
        spec.attribute("smpte:TimeCode", oiio.TypeTimeCode, (timecode, 0))
    rate, _, scale = str(image.metadata.get("FramesPerSecond", "")).partition("/")
    if rate.isdigit() and scale.isdigit():
        spec.attribute("FramesPerSecond", oiio.TypeRational, (int(rate), int(scale)))


def _timecode_of(text: str) -> int | None:
    """01:02:03:04 as SMPTE packs it, two decimal digits a byte."""
    digits = text.replace(":", "").replace(";", "")
    return int(digits, 16) if len(digits) == 8 and digits.isdigit() else None


def _write_pixels(spec: oiio.ImageSpec, image: Image, aside: Path) -> None:
    top = image.data_window.y0
    output = opened_for_writing(aside, [spec])
    is_whole = put_rows(output, spec, spans_of_rows(spec), lambda first, end: image.pixels[first - top : end - top])
    is_closed = output.close()
    if not (is_whole and is_closed):
        raise reason_of(output, aside)
