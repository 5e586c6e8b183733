"""Writing: an image as an EXR file that is whole or absent."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import OpenImageIO as oiio

from understudy.errors import UnderstudyError
from understudy.files import write_atomically
from understudy.frames.image import FloatPixels, Image
from understudy.frames.read import TUPLE_FIELDS, is_about_the_shot, open_image

EXR_SUFFIX = ".exr"
HALF_MAX = 65504.0
"""The largest value that a half holds; beyond it lies infinity."""


def write_image(
    path: Path,
    image: Image,
    *,
    like: Path | None = None,
    pixel_type: Literal["half", "float"] = "half",
    compression: str = "zip",
) -> None:
    """Write `image` as one-part EXR with its windows, channel names, pixel aspect and metadata.

    `like` is a file whose header fields go along, also those that are no plain numbers or texts (matrices).
    Half becomes float where a finite value would not fit: nothing is clipped.
    Raises UnderstudyError naming `path` when it is not .exr, cannot be written, or the disk is full.
    """
    if path.suffix.lower() != EXR_SUFFIX:
        raise UnderstudyError(f"{path}: only EXR is written; let the name end in {EXR_SUFFIX}")
    spec = _spec_of(image, "float" if exceeds_half(image.pixels) else pixel_type)
    if like is not None:
        _copy_header_fields(like, spec)
    _put_metadata(image, spec)
    spec["compression"] = compression
    write_atomically(path, partial(_write_pixels, spec, image))


def exceeds_half(pixels: FloatPixels) -> bool:
    """Whether a finite value would become infinite as half."""
    magnitudes = np.abs(pixels)
    return bool(np.any((magnitudes > HALF_MAX) & np.isfinite(magnitudes)))


def _spec_of(image: Image, pixel_type: str) -> oiio.ImageSpec:
    spec = oiio.ImageSpec(image.data_window.width, image.data_window.height, len(image.channels), pixel_type)
    spec.x, spec.y = image.data_window.x0, image.data_window.y0
    spec.full_x, spec.full_y = image.display_window.x0, image.display_window.y0
    spec.full_width, spec.full_height = image.display_window.width, image.display_window.height
    spec.channelnames = image.channels
    spec["PixelAspectRatio"] = image.pixel_aspect
    return spec


def _copy_header_fields(like: Path, spec: oiio.ImageSpec) -> None:
    for field in open_image(like).spec().extra_attribs:
        if is_about_the_shot(field.name):
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
    aside.touch()  # tells why a folder is not writable, which OpenImageIO does not
    output = oiio.ImageOutput.create(str(aside))
    assert output is not None, "OpenImageIO always has an EXR writer"
    is_open = output.open(str(aside), spec)
    is_whole = is_open and output.write_image(np.ascontiguousarray(image.pixels))
    is_closed = output.close()
    if not (is_whole and is_closed):
        raise OSError(" ".join(output.geterror().replace(f'"{aside}"', "").split()))
