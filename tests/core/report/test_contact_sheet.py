from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest

from understudy.errors import UnderstudyError
from understudy.frames.colour import ColourRules
from understudy.frames.image import FloatPixels
from understudy.report import contact_sheet
from understudy.report.contact_sheet import Sheet, SheetRow, draw_sheet
from understudy.report.display_lut import display_lut
from understudy.report.sheet import CELL, GAP, HEADER_COLOUR, VALIDATION_COLOUR, Cell, Line, lay_out

COLOUR = ColourRules()
RGB = ("R", "G", "B")


def hdr(height: int = 256, width: int = 256, channels: int = 3, seed: int = 0) -> FloatPixels:
    """Stops from -8 to +5, so well above 1."""
    rng = np.random.default_rng(seed)
    return np.exp2(rng.uniform(-8, 5, (height, width, channels))).astype(np.float32)


def row(target: FloatPixels, *, title: str = "crop 1", is_validation: bool = False) -> SheetRow:
    return SheetRow(title=title, input=target * 2, target=target, output=target * 0.9, is_validation=is_validation)


def sheet(*rows: SheetRow, inputs: tuple[str, ...] = RGB, targets: tuple[str, ...] = RGB) -> Sheet:
    return Sheet(
        run_name="Training_251121_021500",
        step=100,
        total_steps=22500,
        rows=rows,
        input_channels=inputs,
        target_channels=targets,
        loss=0.0123,
    )


def drawn(drawing: Sheet, folder: Path) -> FloatPixels:
    """H W 3 in 0..1, as the PNG has it."""
    draw_sheet(drawing, folder / "run.100.png", colour=COLOUR)
    return read(folder / "run.100.png")


def read(path: Path) -> FloatPixels:
    pixels = oiio.ImageBuf(str(path)).get_pixels(oiio.FLOAT)
    assert pixels is not None
    return pixels


def inside(picture: FloatPixels, cell: Cell) -> FloatPixels:
    """The cell's pixels above the burnt-in text."""
    return picture[cell.y : cell.y + cell.height - 26, cell.x : cell.x + cell.width]


def difference(picture: FloatPixels, line: Line) -> FloatPixels:
    target = line.target
    return picture[target.y : target.y + target.height, line.difference_x : line.difference_x + target.width]


def test_cells_show_the_display_transform(tmp_path: Path) -> None:
    drawing = sheet(row(hdr()))
    picture = drawn(drawing, tmp_path)
    (line,) = lay_out(drawing).lines
    assert line.input is not None
    for cell, linear in ((line.input, hdr() * 2), (line.target, hdr()), (line.output, hdr() * np.float32(0.9))):
        error = np.abs(inside(picture, cell) - COLOUR.to_display(linear)[: CELL - 26])
        assert error.max() < 16 / 255  # wholly saturated noise is the table's worst case
        assert error.mean() < 0.5 / 255


def test_difference_is_four_times_what_the_eye_sees(tmp_path: Path) -> None:
    drawing = sheet(row(hdr()))
    (line,) = lay_out(drawing).lines
    seen = np.abs(COLOUR.to_display(hdr()) - COLOUR.to_display(hdr() * np.float32(0.9)))
    error = np.abs(difference(drawn(drawing, tmp_path), line) - np.minimum(4 * seen, 1))
    assert error.mean() < 2 / 255


def test_the_baked_display_is_close_on_natural_colours() -> None:
    rng = np.random.default_rng(1)
    linear = (np.exp2(rng.uniform(-9, 6, (128, 128, 1))) * rng.dirichlet((6, 6, 6), (128, 128)) * 3).astype(np.float32)
    error = np.abs(display_lut(COLOUR).apply(linear) - COLOUR.to_display(linear))
    assert error.max() < 3 / 255
    assert error.mean() < 0.2 / 255


def test_size_header_and_strips(tmp_path: Path) -> None:
    drawing = sheet(row(hdr()), row(hdr(135, 240), title="validation 1013", is_validation=True))
    picture = drawn(drawing, tmp_path)
    page = lay_out(drawing)
    assert picture.shape == (page.height, 4 * CELL + 5 * GAP, 3)
    edge = picture[:, -2]  # right of all text
    np.testing.assert_allclose(edge[5], HEADER_COLOUR, atol=1 / 255)
    marked = np.abs(edge - np.array(VALIDATION_COLOUR)).max(axis=1) < 1.5 / 255
    assert marked.sum() == 22
    assert page.lines[0].target.y < np.flatnonzero(marked)[0] < page.lines[1].target.y


def test_the_header_carries_text(tmp_path: Path) -> None:
    picture = drawn(sheet(row(hdr())), tmp_path)
    assert (picture[:38] > 0.8).all(axis=2).sum() > 500


def test_validation_rows_come_last_and_rows_are_counted() -> None:
    crops = [row(hdr(8, 8), title=f"crop {n}") for n in range(1, 17)]
    validations = [row(hdr(8, 8), title=f"validation {n}", is_validation=True) for n in range(6)]
    page = lay_out(sheet(*validations, *crops))
    texts = [label.text for label in page.labels]
    assert [text for text in texts if text.startswith(("crop", "validation"))] == [
        *(f"crop {n}" for n in range(1, 9)),
        *(f"validation {n}" for n in range(4)),
    ]
    assert "TRAINING: Training_251121_021500 - STEP: 100/22500   loss 0.012300" in texts[0]
    assert texts[0].endswith("(12 of 22 rows)")


@pytest.mark.parametrize(
    ("size", "expected"),
    [((1080, 1920), (144, 256)), ((1920, 1080), (256, 144)), ((64, 64), (256, 256)), ((100, 50), (200, 100)),
     ((4096, 3), (256, 1)), ((1, 1), (256, 256))],
)  # fmt: skip
def test_pictures_fit_without_distortion(tmp_path: Path, size: tuple[int, int], expected: tuple[int, int]) -> None:
    drawing = sheet(row(np.full((*size, 3), 0.18, np.float32)))
    (line,) = lay_out(drawing).lines
    assert (line.target.height, line.target.width) == expected
    drawn(drawing, tmp_path)


def test_small_crops_are_enlarged_crisply(tmp_path: Path) -> None:
    drawing = sheet(row(hdr(64, 64)))
    (line,) = lay_out(drawing).lines
    shown = inside(drawn(drawing, tmp_path), line.target)[:224].reshape(56, 4, 64, 4, 3)
    assert (shown == shown[:, :1, :, :1]).all()


def test_mattes_are_grey_without_a_transform(tmp_path: Path) -> None:
    matte = np.random.default_rng(0).uniform(0, 1, (256, 256, 1)).astype(np.float32)
    drawing = sheet(
        SheetRow(title="crop 1", input=hdr(), target=matte, output=matte + 0.1, is_validation=False),
        targets=("mask.mask",),
    )
    picture = drawn(drawing, tmp_path)
    (line,) = lay_out(drawing).lines
    expected = np.repeat(matte, 3, axis=2)[: CELL - 26]
    np.testing.assert_allclose(inside(picture, line.target), expected, atol=0.51 / 255)
    np.testing.assert_allclose(inside(picture, line.output), np.minimum(expected + 0.1, 1), atol=0.51 / 255)


def test_alpha_of_an_rgba_target_has_a_line_of_its_own(tmp_path: Path) -> None:
    target = np.concatenate([hdr(), np.full((256, 256, 1), 0.5, np.float32)], axis=2)
    drawing = sheet(
        SheetRow(title="crop 1", input=hdr(), target=target, output=target, is_validation=False),
        targets=("R", "G", "B", "A"),
    )
    picture = drawn(drawing, tmp_path)
    colour, alpha = lay_out(drawing).lines
    assert alpha.input is None
    np.testing.assert_allclose(inside(picture, alpha.target), 0.5, atol=0.51 / 255)
    assert inside(picture, colour.target).std() > 0.1


def test_motion_is_scaled_and_says_so(tmp_path: Path) -> None:
    motion = np.zeros((256, 256, 2), np.float32)
    motion[:, 128:, 0], motion[:, 128:, 1] = 12.5, -6.25
    drawing = sheet(
        SheetRow(title="crop 1", input=hdr(), target=motion, output=motion, is_validation=False),
        targets=("forward.u", "forward.v"),
    )
    picture = drawn(drawing, tmp_path)
    (line,) = lay_out(drawing).lines
    np.testing.assert_allclose(inside(picture, line.target)[:, 50], 0.5, atol=1 / 255)
    np.testing.assert_allclose(inside(picture, line.target)[:, 200], [[1, 0.25, 0.5]] * 230, atol=1 / 255)
    assert "forward.u,v +-12.5" in [label.text for label in lay_out(drawing).labels]


@pytest.mark.parametrize("height", [256, 600])
def test_values_that_are_not_finite_are_magenta_and_named(tmp_path: Path, height: int) -> None:
    target = np.full((height, height, 3), 0.18, np.float32)
    target[height // 4, height // 4, 1] = np.nan
    target[height // 2, height // 4] = np.inf
    drawing = sheet(
        SheetRow(title="crop 1", input=target, target=target, output=np.zeros_like(target), is_validation=False)
    )  # fmt: skip
    picture = drawn(drawing, tmp_path)
    (line,) = lay_out(drawing).lines
    for shown in (inside(picture, line.target), difference(picture, line)):
        assert (shown[63:65, 63:65] == (1, 0, 1)).all(axis=2).any()
        assert (shown[127:129, 63:65] == (1, 0, 1)).all(axis=2).any()
        assert (shown == (1, 0, 1)).all(axis=2).sum() < 40
    assert "crop 1   magenta: NaN or Inf" in [label.text for label in lay_out(drawing).labels]


def test_exr_keeps_scene_linear_values(tmp_path: Path) -> None:
    drawing = sheet(row(hdr()))
    exr = tmp_path / "run.100.exr"
    draw_sheet(drawing, tmp_path / "run.100.png", colour=COLOUR, exr=exr)
    spec = oiio.ImageBuf(str(exr)).spec()
    assert (str(spec.format), spec.getattribute("compression")) == ("half", "zip")
    picture = read(exr)
    (line,) = lay_out(drawing).lines
    assert line.input is not None
    np.testing.assert_allclose(inside(picture, line.input), 2 * hdr()[: CELL - 26], rtol=1e-3)
    np.testing.assert_allclose(inside(picture, line.target), hdr()[: CELL - 26], rtol=1e-3)
    np.testing.assert_allclose(difference(picture, line), 0.1 * hdr(), rtol=2e-3)
    assert picture.max() > 1


def test_without_fonts_pictures_come_without_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(contact_sheet, "FONT", "NoSuchFont")
    with caplog.at_level(logging.WARNING, logger="understudy"):
        picture = drawn(sheet(row(hdr())), tmp_path)
    assert (picture[:38] <= 0.5).all()
    assert "contact sheets carry no text" in caplog.text


def test_a_deleted_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match=r"run\.100\.png: cannot be written"):
        draw_sheet(sheet(row(hdr(8, 8))), tmp_path / "gone" / "run.100.png", colour=COLOUR)


def test_nothing_is_left_beside_the_sheet(tmp_path: Path) -> None:
    drawn(sheet(row(hdr(8, 8))), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["run.100.png"]
