"""What goes onto a contact sheet, and where: strips, labels and cells in pixels from the upper left corner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.report.sheet_views import MAX_VIEWS, Range, View, value_range, views_of

CELL, GAP = 256, 6
"""Longest side of a picture and the space around it, in pixels."""
HEADER, COLUMN_NAMES, ROW_TITLE = 38, 24, 22
"""Heights of the strips, in pixels."""
MAX_CROPS, MAX_VALIDATIONS = 8, 4
DIFFERENCE_GAIN = 4
COLUMNS = ("input", "ground truth", "output", f"difference x{DIFFERENCE_GAIN}")

Colour = tuple[float, float, float]
BACKGROUND: Colour = (0.11, 0.11, 0.11)
HEADER_COLOUR: Colour = (0.08, 0.34, 0.46)
CROP_COLOUR: Colour = (0.2, 0.2, 0.2)
VALIDATION_COLOUR: Colour = (0.5, 0.3, 0.02)
INK: Colour = (0.92, 0.92, 0.92)


@dataclass(frozen=True, kw_only=True)
class SheetRow:
    """One crop (or whole validation frame) before, as painted, and as the network answers."""

    title: str
    """crop 1, validation 1013 ..."""
    input: FloatPixels
    """H W Cin, scene-linear; any values."""
    target: FloatPixels
    """H W Cout."""
    output: FloatPixels
    """H W Cout."""
    is_validation: bool
    """Drawn below the crops, under a strip of another colour."""


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Everything that a contact sheet tells about one step."""

    run_name: str
    step: int
    total_steps: int
    rows: tuple[SheetRow, ...]
    """The first MAX_CROPS crops and MAX_VALIDATIONS validation frames are drawn; the header tells if there are more."""
    input_channels: tuple[str, ...]
    """Names of the Cin channels."""
    target_channels: tuple[str, ...]
    """Names of the Cout channels."""
    loss: float


@dataclass(frozen=True, kw_only=True)
class Strip:
    """A filled rectangle over the sheet's whole width."""

    y: int
    height: int
    colour: Colour


@dataclass(frozen=True, kw_only=True)
class Label:
    """A line of text, centred vertically on `y`."""

    x: int
    y: int
    text: str
    size: int
    """Height of the letters, in pixels."""
    room: int = 0
    """Width that the text must fit into, in pixels; 0: up to the sheet's edge."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One picture and how to show it."""

    x: int
    y: int
    width: int
    """As drawn, in pixels."""
    height: int
    pixels: FloatPixels
    """H W 1..3 as they came, larger or smaller than drawn."""
    is_colour: bool
    """Shown through the display transform; else scaled from `span`."""
    span: Range


@dataclass(frozen=True, kw_only=True)
class Line:
    """Cells side by side; the difference follows from target and output."""

    input: Cell | None
    """None where the input has no such channels."""
    target: Cell
    output: Cell
    difference_x: int

    @property
    def cells(self) -> tuple[Cell, ...]:
        return (self.input, self.target, self.output) if self.input else (self.target, self.output)


@dataclass(frozen=True, kw_only=True)
class Page:
    """A sheet laid out."""

    width: int
    height: int
    strips: tuple[Strip, ...]
    labels: tuple[Label, ...]
    lines: tuple[Line, ...]


def lay_out(sheet: Sheet) -> Page:
    """Place everything: the header, the column names, then crops, then validation frames."""
    crops = [row for row in sheet.rows if not row.is_validation]
    validations = [row for row in sheet.rows if row.is_validation]
    shown = [*crops[:MAX_CROPS], *validations[:MAX_VALIDATIONS]]
    headline = f"TRAINING: {sheet.run_name} - STEP: {sheet.step}/{sheet.total_steps}   loss {sheet.loss:.6f}"
    if len(shown) < len(sheet.rows):
        headline += f"   ({len(shown)} of {len(sheet.rows)} rows)"
    strips = [Strip(y=0, height=HEADER, colour=HEADER_COLOUR)]
    labels = [Label(x=2 * GAP, y=HEADER // 2, text=headline, size=19)]
    labels += [Label(x=_x(i), y=HEADER + COLUMN_NAMES // 2, text=name, size=15) for i, name in enumerate(COLUMNS)]
    lines: list[Line] = []
    y = HEADER + COLUMN_NAMES
    for row in shown:
        colour = VALIDATION_COLOUR if row.is_validation else CROP_COLOUR
        strips.append(Strip(y=y, height=ROW_TITLE, colour=colour))
        labels.append(Label(x=2 * GAP, y=y + ROW_TITLE // 2, text=_row_title(sheet, row), size=14))
        y += ROW_TITLE + GAP
        for number, view in enumerate(views_of(sheet.target_channels)[:MAX_VIEWS]):
            line, notes = _line(sheet, row, view, number, y)
            lines.append(line)
            labels += notes
            y += max(cell.height for cell in line.cells) + GAP
    width = _x(len(COLUMNS))
    return Page(width=width, height=y, strips=tuple(strips), labels=tuple(labels), lines=tuple(lines))


def drawn_size(width: int, height: int) -> tuple[int, int]:
    """Width and height of a picture in its cell: shrunk to fit, or enlarged by a whole factor to stay crisp."""
    longest = max(width, height)
    if longest <= CELL:
        return width * (CELL // longest), height * (CELL // longest)
    return max(1, round(width * CELL / longest)), max(1, round(height * CELL / longest))


def _line(sheet: Sheet, row: SheetRow, view: View, number: int, y: int) -> tuple[Line, list[Label]]:
    target = view.of(row.target)
    span = value_range(view, target)
    cells = [_cell(1, y, target, view, span), _cell(2, y, view.of(row.output), view, span)]
    notes = [_note(cell, view.name + span.note) for cell in cells]
    input_cell = None
    input_view = _input_view(sheet.input_channels, view, number)
    if input_view:
        pixels = input_view.of(row.input)
        is_same = (input_view.kind, input_view.name) == (view.kind, view.name)
        input_span = span if is_same else value_range(input_view, pixels)
        input_cell = _cell(0, y, pixels, input_view, input_span)
        notes.append(_note(input_cell, input_view.name + input_span.note))
    difference_x = _x(3) + cells[0].x - _x(1)
    return Line(input=input_cell, target=cells[0], output=cells[1], difference_x=difference_x), notes


def _input_view(channels: tuple[str, ...], target_view: View, number: int) -> View | None:
    """The plate beside the first line, the channels of the same name beside the others."""
    views = views_of(channels)
    if number == 0:
        return views[0]
    return next((view for view in views if view.name == target_view.name), None)


def _cell(column: int, y: int, pixels: FloatPixels, view: View, span: Range) -> Cell:
    width, height = drawn_size(pixels.shape[1], pixels.shape[0])
    x = _x(column) + (CELL - width) // 2
    return Cell(
        x=x, y=y, width=width, height=height, pixels=pixels, is_colour=view.kind == "colour", span=span
    )  # fmt: skip


def _note(cell: Cell, text: str) -> Label:
    return Label(x=cell.x + 5, y=cell.y + cell.height - 11, text=text, size=13, room=cell.width - 10)


def _row_title(sheet: Sheet, row: SheetRow) -> str:
    hidden = len(views_of(sheet.target_channels)) - MAX_VIEWS
    more = f"   (and {hidden} more views)" if hidden > 0 else ""
    spoilt = not all(np.isfinite(pixels).all() for pixels in (row.input, row.target, row.output))
    return row.title + more + ("   magenta: NaN or Inf" if spoilt else "")


def _x(column: int) -> int:
    return GAP + column * (CELL + GAP)
