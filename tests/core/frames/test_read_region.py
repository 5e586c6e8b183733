"""Reading a part of a file: the rows that a region meets, and none of the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest

from understudy.frames.read import ROWS_AT_ONCE, read_image
from understudy.frames.window import Window

WIDTH, HEIGHT = 40, 2 * ROWS_AT_ONCE + 90
X, Y = -3, 7


@pytest.fixture(params=[0, 16], ids=["scanlines", "tiles"])
def picture(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    spec = oiio.ImageSpec(WIDTH, HEIGHT, 3, oiio.FLOAT)
    spec.x, spec.y, spec.tile_width, spec.tile_height = X, Y, request.param, request.param
    output = oiio.ImageOutput.create(str(tmp_path / "a.exr"))
    assert output is not None
    assert output.open(str(tmp_path / "a.exr"), spec), output.geterror()
    pixels = np.arange(WIDTH * HEIGHT * 3, dtype=np.float32).reshape(HEIGHT, WIDTH, 3)
    assert output.write_image(pixels), output.geterror()
    output.close()
    return tmp_path / "a.exr"


@pytest.mark.parametrize("rows", [(7, 8), (20, 300), (255, 257), (600, 900), (-50, 9), (0, 2000)])
def test_the_rows_of_a_region_are_those_of_the_whole(picture: Path, rows: tuple[int, int]) -> None:
    whole = read_image(picture)
    assert whole.data_window == Window.of_size(WIDTH, HEIGHT, X, Y)
    part = read_image(picture, region=Window(0, rows[0], 5, rows[1]))
    shared = whole.data_window.intersect(Window(X, rows[0], X + WIDTH, rows[1]))
    assert part.data_window == shared
    np.testing.assert_array_equal(part.pixels, whole.over(shared))


@pytest.mark.parametrize("rows", [(-20, 7), (-20, -3), (2000, 2010), (50, 50)])
def test_a_region_beside_the_picture_has_no_row(picture: Path, rows: tuple[int, int]) -> None:
    assert read_image(picture, region=Window(0, rows[0], 5, rows[1])).pixels.shape[:2] == (0, WIDTH)
