from __future__ import annotations

from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest

from understudy.errors import UnderstudyError
from understudy.frames.colour import ColourRules
from understudy.frames.image import Image
from understudy.frames.window import Window
from understudy.report.pictures import as_displayed, difference_of, small_picture, write_png

FORMAT = Window(0, 0, 40, 20)


def grey(value: float, *, data: Window = FORMAT, channels: str = "RGB", aspect: float = 1.0) -> Image:
    return Image(
        pixels=np.full((data.height, data.width, len(channels)), value, np.float32),
        channels=tuple(channels),
        data_window=data,
        display_window=FORMAT,
        pixel_aspect=aspect,
    )


@pytest.mark.parametrize(
    ("size", "aspect", "shape"),
    [
        ((40, 20), 1.0, (20, 40)),
        ((20, 20), 1.0, (10, 20)),
        ((400, 5), 1.0, (5, 10)),
        ((400, 400), 1.0, (20, 40)),
        ((80, 20), 2.0, (20, 80)),
        ((1, 1), 1.0, (1, 1)),
    ],
)
def test_a_picture_is_fitted_by_its_format_and_never_enlarged(
    size: tuple[int, int], aspect: float, shape: tuple[int, int]
) -> None:
    assert small_picture(grey(0.5, aspect=aspect), *size).pixels.shape == (*shape, 3)


def test_outside_the_data_window_it_is_black_and_overscan_is_cut_off() -> None:
    part = small_picture(grey(0.5, data=Window(20, -10, 60, 30)), 40, 20).pixels
    assert (part[:, :20].max(), part[:, 20:].min()) == (0.0, 0.5)


def test_exposure_is_in_stops_before_the_display_and_gamma_after_it() -> None:
    small, colour = small_picture(grey(0.2), 40, 20), ColourRules()
    brighter = as_displayed(small, colour, exposure=1.0)
    np.testing.assert_allclose(brighter, colour.to_display(np.full((20, 40, 3), 0.4, np.float32)), atol=4 / 255)
    plain = as_displayed(small, colour)
    np.testing.assert_allclose(as_displayed(small, colour, gamma=2.0), np.sqrt(plain), atol=1e-5)


def test_what_is_not_finite_is_black_and_a_matte_is_grey() -> None:
    assert as_displayed(small_picture(grey(np.nan), 40, 20), ColourRules()).max() < 0.01
    np.testing.assert_allclose(as_displayed(small_picture(grey(0.25, channels="A"), 40, 20), ColourRules()), 0.25)


def test_a_difference_is_amplified_and_written(tmp_path: Path) -> None:
    one, other = np.full((2, 3, 3), 0.5, np.float32), np.full((2, 3, 3), 0.4, np.float32)
    write_png(difference_of(one, other), tmp_path / "difference.png")
    written = oiio.ImageBuf(str(tmp_path / "difference.png"))
    assert (written.spec().width, written.spec().height) == (3, 2)
    np.testing.assert_allclose(np.asarray(written.get_pixels(oiio.FLOAT), np.float32), 0.4, atol=1 / 255)


def test_no_format_is_told_of() -> None:
    empty = Window(0, 0, 0, 0)
    nothing = Image(
        pixels=np.zeros((0, 0, 3), np.float32), channels=("R", "G", "B"), data_window=empty, display_window=empty
    )
    with pytest.raises(UnderstudyError, match="has an empty format"):
        small_picture(nothing, 10, 10)
