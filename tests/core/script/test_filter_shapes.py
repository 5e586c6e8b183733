"""Dilate, FilterErode, Median, Defocus, Matrix and Convolve2 against plain loops, OpenImageIO and worked values."""

from __future__ import annotations

import statistics
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest
from tests.core.script.filter_fixtures import chosen_around, noise, read, spot, weighted_around
from tests.core.script.fixtures import pull

from understudy.errors import UnderstudyError
from understudy.frames.image import FloatPixels
from understudy.frames.window import Window

MEDIAN = "Median { ignore_top_line false size %s }"


def _plane(text: str) -> FloatPixels:
    return pull(text).pixels[..., 0]


@pytest.mark.parametrize(
    ("size", "reach_x", "reach_y"), [("1", 1, 1), ("{3 1}", 3, 1), ("{0 2}", 0, 2), ("40", 40, 40)]
)
def test_dilate_takes_the_brightest_around_and_its_opposite_the_darkest(
    tmp_path: Path, size: str, reach_x: int, reach_y: int
) -> None:
    pixels = noise(7, 9)[..., 0]
    plate = read(tmp_path, "Plate", pixels)
    grown = _plane(plate + f"Dilate {{ size {size} }}")
    np.testing.assert_array_equal(grown, chosen_around(pixels, reach_y, reach_x, max))
    eroded = _plane(plate + f"Dilate {{ size {{{-reach_x} {-reach_y}}} }}")
    np.testing.assert_array_equal(eroded, chosen_around(pixels, reach_y, reach_x, min))
    if reach_x and reach_y:
        shrunk = _plane(plate + f"FilterErode {{ channels all size {size} }}")  # its sign is the other way about
        np.testing.assert_array_equal(shrunk, eroded)


def test_dilate_may_grow_along_one_axis_and_shrink_along_the_other(tmp_path: Path) -> None:
    pixels = noise(7, 9)[..., 0]
    both = _plane(read(tmp_path, "Plate", pixels) + "Dilate { size {2 -1} }")
    np.testing.assert_array_equal(both, chosen_around(chosen_around(pixels, 1, 0, min), 0, 2, max))


def test_inside_a_picture_dilate_and_median_are_those_of_openimageio(tmp_path: Path) -> None:
    pixels = noise(20, 24, 3)
    plate, buffer = read(tmp_path, "Plate", pixels, "RGB"), oiio.ImageBuf(pixels)
    inside = oiio.ROI(4, 20, 4, 16, 0, 1, 0, 3)
    cut = np.s_[4:16, 4:20]
    dilated = oiio.ImageBufAlgo.dilate(buffer, 7, 5).get_pixels(oiio.FLOAT, inside)
    np.testing.assert_array_equal(pull(plate + "Dilate { size {3 2} }").pixels[cut], dilated)
    median = oiio.ImageBufAlgo.median_filter(buffer, 5, 5).get_pixels(oiio.FLOAT, inside)
    np.testing.assert_array_equal(pull(plate + MEDIAN % 2).pixels[cut], median)


@pytest.mark.parametrize(
    ("size", "row"),
    [
        ("0", [0, 0, 0, 0, 1, 1, 1, 1, 1]),
        ("1", [0, 0, 0, 0, 0, 1, 1, 1, 1]),
        ("0.25", [0, 0, 0, 0, 0.75, 1, 1, 1, 1]),
        ("2.75", [0, 0, 0, 0, 0, 0, 0.25, 1, 1]),
        ("-1", [0, 0, 0, 1, 1, 1, 1, 1, 1]),
        ("-1.5", [0, 0, 0.5, 1, 1, 1, 1, 1, 1]),
        ("-0.1", [0, 0, 0, 0.1, 1, 1, 1, 1, 1]),
    ],
)
def test_filter_erode_moves_an_edge_by_parts_of_a_pixel(tmp_path: Path, size: str, row: list[float]) -> None:
    step = np.repeat(np.array([[0, 0, 0, 0, 1, 1, 1, 1, 1]], np.float32), 4, axis=0)
    text = read(tmp_path, "Step", step, "A") + f"FilterErode {{ channels alpha size {size} }}"
    np.testing.assert_allclose(_plane(text), [row] * 4, atol=1e-6)


def test_filter_erode_left_without_a_size_takes_one_pixel(tmp_path: Path) -> None:
    matte = read(tmp_path, "Matte", 1 - spot(5, 5, 2, 2), "A")
    expected = np.ones((5, 5))
    expected[1:4, 1:4] = 0
    np.testing.assert_array_equal(_plane(matte + "FilterErode { channels alpha }"), expected)
    np.testing.assert_array_equal(_plane(matte + "Dilate { }"), 1 - spot(5, 5, 2, 2))


@pytest.mark.parametrize(("size", "reach_x", "reach_y"), [("1", 1, 1), ("{2 0}", 2, 0), ("3", 3, 3), ("0", 0, 0)])
def test_median_takes_the_middle_of_a_square(tmp_path: Path, size: str, reach_x: int, reach_y: int) -> None:
    pixels = noise(8, 9)[..., 0]
    expected = chosen_around(pixels, reach_y, reach_x, statistics.median)
    np.testing.assert_array_equal(_plane(read(tmp_path, "Plate", pixels) + MEDIAN % size), expected)


def test_median_left_without_a_size_takes_three(tmp_path: Path) -> None:
    plate = read(tmp_path, "Plate", noise(8, 9))
    np.testing.assert_array_equal(_plane(plate + "Median { ignore_top_line false }"), _plane(plate + MEDIAN % 3))


def test_median_drops_a_lone_pixel_that_is_no_number(tmp_path: Path) -> None:
    pixels = np.full((5, 5), 0.25, np.float32)
    pixels[2, 2], pixels[0, 0] = np.nan, np.inf
    assert (_plane(read(tmp_path, "Plate", pixels) + MEDIAN % 1) == 0.25).all()


def _disc_by_points(across: float, down: float, reach: int) -> FloatPixels:
    """How much of each pixel lies within an ellipse, by 96 x 96 points in each, as parts of the whole."""
    points = (np.arange((2 * reach + 1) * 96) + 0.5) / 96 - reach - 0.5
    within = (points[None, :] / across) ** 2 + (points[:, None] / down) ** 2 <= 1
    parts = within.reshape(2 * reach + 1, 96, 2 * reach + 1, 96).sum(axis=(1, 3))
    return np.asarray(parts / parts.sum(), np.float32)


@pytest.mark.parametrize(
    ("knobs", "across", "down"),
    [
        ("", 1, 1),
        ("defocus 2.3", 2.3, 2.3),
        ("defocus 7", 7, 7),
        ("defocus 3 ratio 2", 6, 3),
        ("defocus 3 ratio 0.5", 1.5, 3),
        ("defocus 2 scale 3", 6, 6),
        ("defocus 2 scale {1 3} ratio 2", 4, 6),
        ("defocus 6 scale {1 0.25}", 6, 1.5),
        ('defocus 2.3 quality 3 method "full precision"', 2.3, 2.3),
    ],
)
def test_defocus_makes_a_disc_of_a_point_of_light(tmp_path: Path, knobs: str, across: float, down: float) -> None:
    disc = _plane(read(tmp_path, "Spot", spot(19, 19, 9, 9)) + f"Defocus {{ {knobs} }}")
    np.testing.assert_allclose(disc, _disc_by_points(across, down, 9), atol=4e-4)
    assert disc.sum() == pytest.approx(1, abs=1e-5)


def test_defocus_below_half_a_pixel_and_flat_ones(tmp_path: Path) -> None:
    point = spot(3, 9, 1, 4)
    plate = read(tmp_path, "Spot", point)
    for knobs in ("defocus 0", "defocus 0.5", "defocus 9 scale 0"):
        np.testing.assert_allclose(_plane(plate + f"Defocus {{ {knobs} }}"), point, atol=1e-7)
    thin, thinner = (_plane(plate + f"Defocus {{ defocus 3 scale {{1 {down}}} }}") for down in ("1e-05", "0"))
    np.testing.assert_allclose(thin, thinner, atol=1e-7)
    assert (thin[1] > 0).sum() == 7
    assert not thin[[0, 2]].any()


@pytest.mark.parametrize("radius", [3, 9])
def test_defocus_is_the_sum_of_what_its_disc_covers(tmp_path: Path, radius: int) -> None:
    pixels = noise(12, 14)[..., 0]
    size = 2 * radius + 1
    disc = _plane(read(tmp_path, "Spot", spot(size, size, radius, radius)) + f"Defocus {{ defocus {radius} }}")
    expected = weighted_around(pixels, disc)
    text = read(tmp_path, "Plate", pixels) + f"Defocus {{ defocus {radius} }}"
    np.testing.assert_allclose(_plane(text), expected, atol=3e-6)


def test_a_matrix_lies_on_the_pixels_as_it_is_written(tmp_path: Path) -> None:
    pixels = noise(6, 7)[..., 0]
    table = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 10]], np.float32)
    plate, rows = read(tmp_path, "Plate", pixels), "{1 2 3} {4 5 6} {7 8 10}"
    sums = _plane(plate + f"Matrix {{ matrix {{ {rows} }} }}")
    np.testing.assert_allclose(sums, weighted_around(pixels, table), atol=1e-5)
    shares = _plane(plate + f"Matrix {{ normalize true matrix {{ {rows} }} }}")
    np.testing.assert_allclose(shares, weighted_around(pixels, table / np.float32(46)), atol=1e-6)
    above = read(tmp_path, "Spot", spot(3, 3, 0, 1)) + "Matrix { matrix {{0 1 0} {0 0 0} {0 0 0}} }"
    assert _plane(above)[1].tolist() == [0, 1, 0]


def test_numbers_of_a_matrix_may_move(tmp_path: Path) -> None:
    text = read(tmp_path, "Spot", spot(1, 3, 0, 1)) + "Matrix { matrix {{{curve x1 0 x3 4} {frame} {-1}}} }"
    assert pull(text, 3).pixels[0, :, 0].tolist() == [-1, 3, 4]


def test_edges_of_a_constant_have_no_laplacian(tmp_path: Path) -> None:
    grey = read(tmp_path, "Grey", [[0.3] * 5] * 4)
    assert not _plane(grey + "Matrix { matrix {{-1 -1 -1} {-1 8 -1} {-1 -1 -1}} }").any()


SHAPE = np.array([[0, 0, 8], [0, 4, 0], [2, 1, 1]], np.float32)
LIGHT = spot(7, 9, 3, 4, 2.0)


def _convolved(
    folder: Path, knobs: str, shape: FloatPixels = SHAPE, node: str = "Convolve2", crop: str = "disable true"
) -> str:
    kernel = read(folder, "Kernel", shape, "A") + f"Crop {{ {crop} }}\n"
    return kernel + read(folder, "Light", LIGHT) + f"{node} {{ inputs 2 {knobs} }}"


def test_a_point_of_light_takes_the_shape_of_the_filter(tmp_path: Path) -> None:
    expected = np.zeros((7, 9), np.float32)
    expected[2:5, 3:6] = SHAPE * 2
    np.testing.assert_allclose(_plane(_convolved(tmp_path, "normalize false")), expected, atol=1e-6)
    np.testing.assert_allclose(_plane(_convolved(tmp_path, "")), expected / 16, atol=1e-6)
    old = _convolved(tmp_path, "channel rgba.alpha", node="Convolve")
    np.testing.assert_allclose(_plane(old), expected / 16, atol=1e-6)


def test_the_middle_of_an_even_filter_lies_right_and_above(tmp_path: Path) -> None:
    """As the developer kit's example has it: y up, half the height and half the width from the lower left corner."""
    even = np.array([[1, 2, 3, 4], [5, 6, 7, 8]], np.float32)
    expected = np.zeros((7, 9), np.float32)
    expected[3:5, 2:6] = even * 2
    image = pull(_convolved(tmp_path, "normalize false", even))
    np.testing.assert_allclose(image.pixels[..., 0], expected, atol=1e-6)
    assert image.data_window == Window(0, 0, 9, 7)
    cropped = _convolved(tmp_path, "normalize false", even).replace("Convolve2", "Crop { box {4 3 5 4} }\nConvolve2")
    assert pull(cropped).data_window == Window(2, 3, 6, 5)
    np.testing.assert_allclose(_plane(cropped), even * 2, atol=1e-6)


def test_bounds_of_the_filter(tmp_path: Path) -> None:
    one, crop = spot(5, 5, 1, 3), "box {3 3 4 4}"
    np.testing.assert_allclose(_plane(_convolved(tmp_path, "", one, crop=crop)), LIGHT, atol=1e-6)
    moved = _plane(_convolved(tmp_path, "filter_bounds format", one, crop=crop))
    np.testing.assert_allclose(moved, np.roll(LIGHT, (-1, 1), axis=(0, 1)), atol=1e-6)


def test_channels_of_the_filter(tmp_path: Path) -> None:
    both = np.zeros((1, 3, 2), np.float32)
    both[0, 0, 0], both[0, 2, 1] = 1, 1  # red moves left, green right
    kernel = read(tmp_path, "Kernel", both, "RG")
    light = kernel + read(tmp_path, "Light", np.repeat(LIGHT[..., None], 3, axis=2), "RGB")
    left, right = np.roll(LIGHT, -1, axis=1), np.roll(LIGHT, 1, axis=1)
    for own in ("Convolve2 { inputs 2 use_input_channels true }", "Convolve { inputs 2 }"):
        given = pull(light + own).pixels
        np.testing.assert_allclose(given, np.stack((left, right, np.zeros_like(left)), axis=2), atol=1e-6)
    green = pull(light + "Convolve2 { inputs 2 filter_channel rgba.green channels {rgba.red rgba.green} }").pixels
    np.testing.assert_allclose(green, np.stack((right, right, LIGHT), axis=2), atol=1e-6)


def test_a_wide_filter_is_the_sum_of_what_it_covers(tmp_path: Path) -> None:
    pixels, shape = noise(12, 15)[..., 0], np.abs(noise(11, 9))[..., 0]
    kernel, plate = read(tmp_path, "Kernel", shape, "A"), read(tmp_path, "Plate", pixels)
    expected = weighted_around(pixels, shape[::-1, ::-1] / shape.sum())
    np.testing.assert_allclose(_plane(kernel + plate + "Convolve2 { inputs 2 }"), expected, atol=2e-6)


def test_an_infinity_under_a_wide_filter_takes_the_sign_of_its_weights(tmp_path: Path) -> None:
    pixels, shape = noise(21, 21)[..., 0], noise(11, 9)[..., 0]
    pixels[10, 10] = np.inf
    kernel, plate = read(tmp_path, "Kernel", shape, "A"), read(tmp_path, "Plate", pixels)
    given = _plane(kernel + plate + "Convolve2 { inputs 2 normalize false }")
    np.testing.assert_array_equal(given[5:16, 6:15], np.where(shape > 0, np.inf, -np.inf))
    assert np.isfinite(given).sum() == 21 * 21 - 11 * 9


def test_a_channel_that_the_filter_lacks_is_named(tmp_path: Path) -> None:
    named = r"Convolve21 \(Convolve2\), line 4: knob filter_channel does not name one of the filter's channels \(A\)"
    with pytest.raises(UnderstudyError, match=named):
        pull(_convolved(tmp_path, "filter_channel rgba.green"))


def test_filters_that_cannot_be_laid_on_are_named(tmp_path: Path) -> None:
    named = r"Convolve21 \(Convolve2\), line \d: "
    with pytest.raises(UnderstudyError, match=named + "nothing is connected to its input 1"):
        pull(read(tmp_path, "Light", LIGHT) + "Convolve2 { }")
    with pytest.raises(
        UnderstudyError, match=named + "knob normalize divides by its filter's sum, which is 0 at frame 1"
    ):
        pull(_convolved(tmp_path, "", SHAPE * 0))
    with pytest.raises(UnderstudyError, match=named + "its filter holds no finite number everywhere at frame 1"):
        pull(_convolved(tmp_path, "", SHAPE * np.float32(np.nan)))
    with pytest.raises(UnderstudyError, match=named + r"its filter is 3000x1\+0\+0, over 2049 pixels wide or high"):
        pull(_convolved(tmp_path, "", np.ones((1, 3000), np.float32)))
    empty = _convolved(tmp_path, "").replace(
        "name Kernel  }\n", "name Kernel }\nCrop { box {9 9 12 12} intersect true }\n"
    )
    with pytest.raises(UnderstudyError, match=named + "its filter has no pixel at frame 1"):
        pull(empty)
