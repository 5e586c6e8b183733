"""The picture by which a published version is known: 16 to 9, of its result, else of its contact sheet."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from understudy.frames.colour import RAW, ColourRules
from understudy.frames.image import FloatPixels
from understudy.frames.read import read_header, read_image
from understudy.report.pictures import as_displayed, shrunk, small_picture, write_png
from understudy.report.sheet import BACKGROUND

WIDTH, HEIGHT = 640, 360


def thumbnail_of_frame(frame: Path, channels: tuple[str, ...], colour: ColourRules, path: Path) -> None:
    """The whole frame, as it is displayed: these channels if it has them, else its main picture.

    Raises UnderstudyError naming the file that cannot be read or written.
    """
    has_them = any({*channels} <= {*part.channels} for part in read_header(frame).parts)
    picture = read_image(frame, channels=channels if has_them else (), colour=colour)
    shown = as_displayed(small_picture(picture, WIDTH, HEIGHT), colour)  # h w 3
    height, width = shown.shape[:2]
    factor = min(WIDTH / width, HEIGHT / height)
    fitted = shrunk(shown, max(1, round(width * factor)), max(1, round(height * factor)))
    write_png(_framed(fitted), path)


def thumbnail_of_sheet(sheet: Path, path: Path) -> None:
    """The upper end of a contact sheet, over its whole width. Raises UnderstudyError as the other does."""
    picture = read_image(sheet, layer="rgb", colorspace=RAW).pixels  # H W 3
    top = picture[: round(picture.shape[1] * HEIGHT / WIDTH)]
    write_png(_framed(shrunk(top, WIDTH, round(top.shape[0] * WIDTH / top.shape[1]))), path)


def _framed(picture: FloatPixels) -> FloatPixels:
    """h w 3 in the middle of the whole picture."""
    whole = np.empty((HEIGHT, WIDTH, 3), np.float32)
    whole[:] = BACKGROUND
    height, width = (min(side, most) for side, most in zip(picture.shape[:2], (HEIGHT, WIDTH), strict=True))
    top, left = (HEIGHT - height) // 2, (WIDTH - width) // 2
    whole[top : top + height, left : left + width] = picture[:height, :width].clip(0, 1)
    return whole
