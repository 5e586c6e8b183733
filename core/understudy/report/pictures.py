"""Pictures for eyes: averaged down, through the display transform, into a PNG."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import OpenImageIO as oiio

from understudy.errors import UnderstudyError
from understudy.files import write_atomically
from understudy.frames.colour import ColourRules
from understudy.frames.image import FloatPixels, Image
from understudy.report.display_lut import display_lut, pixels_of
from understudy.report.sheet import DIFFERENCE_GAIN
from understudy.report.sheet_views import Range, View, as_shown, value_range, views_of

PNG_FILTER_AVERAGE = 64
"""libpng's number for it; trying all filters on each line would double the time and save nothing."""


@dataclass(frozen=True, kw_only=True)
class SmallPicture:
    """A frame's format at the size at which it is looked at, before any display transform."""

    pixels: FloatPixels
    """h w C, finite: the first channels that are shown together."""
    view: View
    span: Range
    """What black and white mean, where it is no colour."""


def small_picture(image: Image, max_width: int, max_height: int) -> SmallPicture:
    """The frame's display window, fitted into that many pixels and never enlarged. What is not finite is black."""
    view = views_of(image.channels)[0]
    whole = blackened(view.of(image.over(image.display_window)))  # H W C
    height, width = whole.shape[:2]
    if not whole.size:
        raise UnderstudyError("has an empty format; render it again")
    factor = min(1.0, max_width / (width * image.pixel_aspect), max_height / height)
    size = (max(1, round(width * image.pixel_aspect * factor)), max(1, round(height * factor)))
    small = shrunk(whole, *size)
    return SmallPicture(pixels=small, view=view, span=value_range(view, small))


def as_displayed(small: SmallPicture, colour: ColourRules, *, exposure: float = 0.0, gamma: float = 1.0) -> FloatPixels:
    """h w 3 in 0..1; `exposure` in stops before the display transform, `gamma` after it."""
    brought = small.pixels * np.float32(2.0**exposure)
    shown = display_lut(colour).apply(brought) if small.view.kind == "colour" else as_shown(brought, small.span)
    return shown if gamma == 1.0 else np.asarray(np.power(shown, 1 / gamma), np.float32)


def difference_of(one: FloatPixels, other: FloatPixels) -> FloatPixels:
    """Of two pictures as they are displayed, amplified as on contact sheets."""
    amplified: FloatPixels = np.abs(one - other) * np.float32(DIFFERENCE_GAIN)
    return amplified.clip(0, 1)


def write_png(picture: FloatPixels, path: Path) -> None:
    """h w 3 in 0..1, atomically. Raises UnderstudyError naming the file that cannot be written."""
    write_atomically(path, lambda aside: write_buffer(png_buffer(picture), aside))


def png_buffer(picture: FloatPixels) -> oiio.ImageBuf:
    """h w 3 in 0..1 as a PNG that is written quickly."""
    codes = (picture * np.float32(255) + np.float32(0.5)).astype(np.uint8)  # h w 3
    buffer = oiio.ImageBuf(codes)
    buffer.specmod().attribute("png:compressionLevel", 2)  # a sixth of the time, a tenth more bytes
    buffer.specmod().attribute("png:filter", PNG_FILTER_AVERAGE)
    return buffer


def write_buffer(buffer: oiio.ImageBuf, path: Path) -> None:
    if not buffer.write(str(path)):
        raise OSError(" ".join(buffer.geterror().split()))


def blackened(pixels: FloatPixels) -> FloatPixels:
    """What is not finite becomes 0."""
    finite: FloatPixels = np.where(np.isfinite(pixels), pixels, np.float32(0))
    return finite


def shrunk(pixels: FloatPixels, width: int, height: int) -> FloatPixels:
    """H W C averaged down; as it is when it has that size."""
    if (height, width) == pixels.shape[:2]:
        return pixels
    roi = oiio.ROI(0, width, 0, height, 0, 1, 0, pixels.shape[2])
    large = oiio.ImageBuf(np.ascontiguousarray(pixels, np.float32))
    return pixels_of(oiio.ImageBufAlgo.resize(large, filtername="triangle", roi=roi))
