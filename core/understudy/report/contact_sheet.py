"""Contact sheets: a row per crop with input, ground truth, output and difference, as PNG for eyes and EXR for tools."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
from numpy.typing import NDArray

from understudy.files import write_atomically
from understudy.frames.colour import ColourRules
from understudy.frames.image import FloatPixels
from understudy.report.display_lut import DisplayLut, display_lut
from understudy.report.pictures import blackened, difference_of, png_buffer, shrunk, write_buffer
from understudy.report.sheet import (
    BACKGROUND,
    COLUMNS,
    GAP,
    INK,
    Cell,
    Colour,
    Label,
    Page,
    Sheet,
    SheetRow,
    lay_out,
)
from understudy.report.sheet_views import as_shown, in_three

__all__ = ["COLUMNS", "Sheet", "SheetRow", "draw_sheet"]

FONT = "DroidSansMono"
"""Comes with the OpenImageIO wheel."""
NOT_FINITE: Colour = (1.0, 0.0, 1.0)
SCREEN_GAMMA = 2.2

_LOG = logging.getLogger("understudy")


def draw_sheet(sheet: Sheet, png: Path, *, colour: ColourRules, exr: Path | None = None) -> None:
    """Draw `sheet` to `png` through the display transform, and to `exr` scene-linear if given; both atomically.

    In the EXR input, target and output keep their values (the first three channels of each cell) and the difference
    is not amplified. Raises UnderstudyError naming the file that cannot be written.
    """
    page = lay_out(sheet)
    picture = _display_picture(page, display_lut(colour))
    write_atomically(png, lambda path: _write_png(picture, page, path))
    if exr is not None:
        linear = _linear_picture(page)
        write_atomically(exr, lambda path: _write_exr(linear, page, path))


def _display_picture(page: Page, lut: DisplayLut) -> FloatPixels:
    picture = _empty_page(page, gamma=1.0)  # H W 3
    cells = [cell for line in page.lines for cell in line.cells]
    small = dict(zip(map(id, cells), _shown(cells, lut), strict=True))
    for line in page.lines:
        for cell in line.cells:
            _paste(picture, cell, cell.x, small[id(cell)])
        target, output = small[id(line.target)], small[id(line.output)]
        difference = difference_of(output, target)
        difference[_spoilt(line.target) | _spoilt(line.output)] = NOT_FINITE
        _paste(picture, line.target, line.difference_x, difference)
    return picture


def _linear_picture(page: Page) -> FloatPixels:
    picture = _empty_page(page, gamma=SCREEN_GAMMA)  # H W 3
    for line in page.lines:
        for cell in line.cells:
            _paste(picture, cell, cell.x, in_three(_shrunk(cell.pixels, cell), empty=0.0))
        difference = np.abs(line.output.pixels - line.target.pixels)
        _paste(picture, line.target, line.difference_x, in_three(_shrunk(difference, line.target), empty=0.0))
    return picture


def _shown(cells: list[Cell], lut: DisplayLut) -> list[FloatPixels]:
    """Each cell as display pixels, H W 3 in 0..1, not enlarged yet; one pass of the display transform for all."""
    finite = [_shrunk(blackened(cell.pixels), cell) for cell in cells]
    colour = [number for number, cell in enumerate(cells) if cell.is_colour]
    shown = [
        values if cell.is_colour else as_shown(values, cell.span) for values, cell in zip(finite, cells, strict=True)
    ]
    if colour:
        together = np.concatenate([shown[number].reshape(1, -1, 3) for number in colour], axis=1)  # 1 N 3
        ends = np.cumsum([shown[number].shape[0] * shown[number].shape[1] for number in colour])[:-1]
        for number, encoded in zip(colour, np.split(lut.apply(together), ends, axis=1), strict=True):
            shown[number] = encoded.reshape(shown[number].shape)
    for cell, pixels in zip(cells, shown, strict=True):
        pixels[_spoilt(cell)] = NOT_FINITE
    return shown


def _spoilt(cell: Cell) -> NDArray[np.bool_]:
    """Where a cell, not enlarged yet, holds or covers values that are not finite; H W."""
    finite = np.isfinite(cell.pixels)
    if finite.all():
        return np.zeros(_shrunk_size(cell)[::-1], np.bool_)
    spoilt = ~finite.all(axis=2, keepdims=True)  # H W 1
    return np.asarray(_shrunk(np.asarray(spoilt, np.float32), cell)[..., 0] > 0)


def _shrunk(pixels: FloatPixels, cell: Cell) -> FloatPixels:
    """H W C averaged down to the cell's size; as it is when the cell is larger."""
    return shrunk(pixels, *_shrunk_size(cell))


def _shrunk_size(cell: Cell) -> tuple[int, int]:
    return min(cell.width, cell.pixels.shape[1]), min(cell.height, cell.pixels.shape[0])


def _paste(picture: FloatPixels, cell: Cell, x: int, pixels: FloatPixels) -> None:
    """Put H W 3 pixels at x and the cell's y, each drawn as a square of whole pixels if the cell is larger."""
    factor = cell.width // pixels.shape[1]
    crisp = pixels.repeat(factor, axis=0).repeat(factor, axis=1) if factor > 1 else pixels
    picture[cell.y : cell.y + cell.height, x : x + cell.width] = crisp


def _empty_page(page: Page, *, gamma: float) -> FloatPixels:
    picture = np.empty((page.height, page.width, 3), np.float32)  # H W 3
    picture[:] = np.power(BACKGROUND, gamma)
    for strip in page.strips:
        picture[strip.y : strip.y + strip.height] = np.power(strip.colour, gamma)
    return picture


def _write_png(picture: FloatPixels, page: Page, path: Path) -> None:
    buffer = png_buffer(picture)
    _burn_in(buffer, page)
    write_buffer(buffer, path)


def _write_exr(picture: FloatPixels, page: Page, path: Path) -> None:
    buffer = oiio.ImageBuf(picture)
    buffer.specmod().attribute("compression", "zip")
    buffer.set_write_format("half")
    _burn_in(buffer, page)
    write_buffer(buffer, path)


def _burn_in(buffer: oiio.ImageBuf, page: Page) -> None:
    for label in page.labels:
        if not _drew(buffer, label, _fitting_size(label, page.width)):
            _LOG.warning(
                "contact sheets carry no text: %s; install OpenImageIO's wheel or its fonts", buffer.geterror()
            )
            return


def _drew(buffer: oiio.ImageBuf, label: Label, size: int) -> bool:
    baseline = label.y + round(0.36 * size)  # so that capital letters are centred
    return oiio.ImageBufAlgo.render_text(buffer, label.x, baseline, label.text, size, FONT, INK, shadow=1)


def _fitting_size(label: Label, page_width: int) -> int:
    """The label's size, or the largest below it at which the text ends on the page."""
    room = label.room or page_width - label.x - GAP
    size = label.size
    while size > 9 and oiio.ImageBufAlgo.text_size(label.text, size, FONT).width > room:
        size -= 1
    return size
