"""What filters share: windows, edges, channels, masks, regions, what is no number; and Blur against closed forms."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.core.script.filter_fixtures import noise, read, spot, weighted_around
from tests.core.script.fixtures import decoded_regions, evaluator_of, pull, write_exr

from understudy.errors import UnderstudyError
from understudy.frames.image import FloatPixels
from understudy.frames.window import Window

MEDIAN = "ignore_top_line false"


def _plane(text: str) -> FloatPixels:
    return pull(text).pixels[..., 0]


def _row_of_weights(folder: Path, knobs: str, reach: int) -> list[float]:
    """What a Blur makes of one bright column, which is its weights."""
    plate = read(folder, "Spot", spot(1, 2 * reach + 1, 0, reach))
    return [float(value) for value in _plane(plate + f"Blur {{ {knobs} }}")[0]]


@pytest.mark.parametrize(
    ("size", "weights"),
    [
        (0, [0, 0, 1, 0, 0]),
        (1, [0, 0, 1, 0, 0]),
        (2, [0, 1 / 4, 2 / 4, 1 / 4, 0]),
        (3, [0, 1 / 3, 1 / 3, 1 / 3, 0]),
        (3.5, [0.25 / 3.5, 1 / 3.5, 1 / 3.5, 1 / 3.5, 0.25 / 3.5]),
        (5, [0.2] * 5),
    ],
)
def test_a_box_of_odd_size_covers_just_so_many_pixels_and_its_edge_fades_in(
    tmp_path: Path, size: float, weights: list[float]
) -> None:
    np.testing.assert_allclose(_row_of_weights(tmp_path, f"size {size} filter box", 2), weights, atol=1e-7)


def test_triangle_and_quadratic_are_a_box_over_itself(tmp_path: Path) -> None:
    triangle = [(5 - min(abs(k), 5)) / 25 for k in range(-7, 8)]
    np.testing.assert_allclose(_row_of_weights(tmp_path, "size 5 filter triangle", 7), triangle, atol=1e-7)
    ways = [0] * 15
    for places in np.ndindex(5, 5, 5):  # three boxes of five pixels, one upon another
        ways[sum(places) - 6 + 7] += 1
    quadratic = [count / 125 for count in ways]
    np.testing.assert_allclose(_row_of_weights(tmp_path, "size 5 filter quadratic", 7), quadratic, atol=1e-7)


@pytest.mark.parametrize("size", [0.4, 1.0, 4.0, 7.3, 60.0])
def test_a_gaussian_has_its_deviation_and_its_end(tmp_path: Path, size: float) -> None:
    end = math.floor(1.5 * size)
    bell = [math.exp(-((2.4 * k / size) ** 2) / 2) if abs(k) <= end else 0.0 for k in range(-end - 2, end + 3)]
    weights = _row_of_weights(tmp_path, f"size {size}", end + 2)
    np.testing.assert_allclose(weights, [value / math.fsum(bell) for value in bell], atol=1e-6)


def test_the_deviation_of_a_wide_gaussian_is_that_of_a_bell_without_its_tails(tmp_path: Path) -> None:
    weights = np.array(_row_of_weights(tmp_path, "size 96", 150))
    places = np.arange(-150, 151)
    cut, sigma = 3.6, 96 / 2.4
    density = math.exp(-(cut**2) / 2) / math.sqrt(2 * math.pi)
    expected = sigma * math.sqrt(1 - 2 * cut * density / math.erf(cut / math.sqrt(2)))
    assert math.sqrt(float((weights * places**2).sum())) == pytest.approx(expected, rel=1e-3)


def test_both_sizes_count_along_their_axis(tmp_path: Path) -> None:
    plate = read(tmp_path, "Spot", spot(5, 5, 2, 2))
    across = np.zeros((5, 5))
    across[2, 1:4] = 1 / 3
    np.testing.assert_allclose(_plane(plate + "Blur { filter box size {3 0} }"), across, atol=1e-7)
    np.testing.assert_allclose(
        _plane(plate + "Blur { filter box size {{1} {parent.Spot.last+2}} }"), across.T, atol=1e-7
    )
    linked = plate + "Blur { name A size {1 3} filter box disable true }\nBlur { size {1 {A.size.h}} filter box }"
    np.testing.assert_allclose(_plane(linked), across.T, atol=1e-7)


@pytest.mark.parametrize("name", ["box", "triangle", "quadratic", "gaussian"])
def test_a_blur_is_the_sum_of_what_lies_around(tmp_path: Path, name: str) -> None:
    pixels = noise(9, 11)[..., 0]
    across = np.array([_row_of_weights(tmp_path, f"size 3.4 filter {name}", 6)], np.float32)
    down = np.array([_row_of_weights(tmp_path, f"size 2.2 filter {name}", 6)], np.float32).T
    expected = weighted_around(weighted_around(pixels, across), down)
    text = read(tmp_path, "Plate", pixels) + f"Blur {{ size {{3.4 2.2}} filter {name} }}"
    np.testing.assert_allclose(_plane(text), expected, atol=2e-6)


def test_laplacian_is_the_blur_less_the_picture(tmp_path: Path) -> None:
    plate = read(tmp_path, "Plate", noise(6, 7))
    expected = _plane(plate + "Blur { size 3 }") - _plane(plate)
    np.testing.assert_array_equal(_plane(plate + "Laplacian { }"), expected)
    assert not _plane(plate + "Laplacian { size 0 }").any()


def test_sharpen_adds_what_a_blur_takes_away(tmp_path: Path) -> None:
    """An edge under a box of three pixels, by hand; then noise against Blur and plain arithmetic."""
    edge = read(tmp_path, "Edge", [[0, 0, 0, 0.75, 0.75, 0.75]])
    sharp = "Sharpen { size {3 0} filter box amount %s }"
    np.testing.assert_allclose(_plane(edge + sharp % 1), [[0, 0, -0.25, 1, 0.75, 0.75]], atol=1e-6)
    np.testing.assert_allclose(_plane(edge + sharp % 4), [[0, 0, -1, 1.75, 0.75, 0.75]], atol=1e-6)
    np.testing.assert_allclose(_plane(edge + sharp % -1), [[0, 0, 0.25, 0.5, 0.75, 0.75]], atol=1e-6)
    plate = read(tmp_path, "Plate", noise(9, 11))
    plain, blurred = _plane(plate), _plane(plate + "Blur { size 2.6 filter quadratic }")
    knobs = "size 2.6 filter quadratic minimum 0 maximum 1"
    np.testing.assert_allclose(_plane(plate + f"Sharpen {{ {knobs} }}"), 2 * plain - blurred, atol=1e-6)
    np.testing.assert_allclose(
        pull(plate + f"Sharpen {{ {knobs} amount {{{{frame/4}}}} }}", 7).pixels[..., 0],
        2.75 * plain - 1.75 * blurred,
        atol=2e-6,
    )
    np.testing.assert_array_equal(_plane(plate + "Sharpen { size 0 amount 50 }"), plain)


GREY = [[0.5] * 8] * 6
FILTERS = {
    "Blur": "Blur { size 3 %s }",
    "wide Blur": "Blur { size 60 %s }",
    "Dilate": "Dilate { size 2 %s }",
    "Erode": "Dilate { size {-1 -2} %s }",
    "Sharpen": "Sharpen { size {3 4.5} amount 1.5 %s }",
    "FilterErode": "FilterErode { channels rgba size 1.5 %s }",
    "FilterErode out": "FilterErode { channels rgba size {-1.5 -0.25} %s }",
    "Median": "Median { channels rgba size {1 2} ignore_top_line false %s }",
    "Defocus": "Defocus { defocus 2.5 %s }",
    "wide Defocus": "Defocus { defocus 12 %s }",
    "Matrix": "Matrix { channels rgba normalize true matrix {{0 1 2} {1 -4 1} {3 1 0}} %s }",
    "EdgeBlur": 'EdgeBlur { "control channel" rgba.red edge_mult 1.5 %s }',
}
FEW_WEIGHTS = [name for name in FILTERS if not name.startswith("wide")]


@pytest.mark.parametrize("nodes", FILTERS.values(), ids=FILTERS)
def test_the_edges_of_a_plate_go_on_beyond_it(tmp_path: Path, nodes: str) -> None:
    image = pull(read(tmp_path, "Grey", GREY) + nodes % "")
    assert image.data_window == image.display_window == Window(0, 0, 8, 6)
    np.testing.assert_allclose(image.pixels, 0.5, atol=1e-6)


def test_a_crop_lays_black_around(tmp_path: Path) -> None:
    plate = read(tmp_path, "Grey", GREY)
    boxed = "Crop { box {0 0 8 6} %s }\n"
    fringed = _plane(plate + boxed % "" + "Blur { size 3 filter box }")
    np.testing.assert_allclose(fringed[0], [0.5 * 4 / 9, *[0.5 * 6 / 9] * 6, 0.5 * 4 / 9], atol=1e-6)
    assert (_plane(plate + boxed % "" + "Dilate { size -1 }")[[0, -1]] == 0).all()
    np.testing.assert_allclose(_plane(plate + boxed % "crop false" + "Blur { size 3 }"), 0.5, atol=1e-6)
    # the first Blur leaves no black border, and a Grade that lifts black leaves none either
    twice = _plane(plate + boxed % "" + "Blur { size 3 filter box }\nDilate { size -1 }")
    np.testing.assert_allclose(twice[0], [0.5 * 4 / 9] * 2 + [0.5 * 6 / 9] * 4 + [0.5 * 4 / 9] * 2, atol=1e-6)
    np.testing.assert_allclose(_plane(plate + boxed % "" + "Grade { add 1 }\nBlur { size 3 }"), 1.5, atol=1e-6)


@pytest.mark.parametrize(
    ("nodes", "window"),
    [
        ("Blur { size 3 filter box }", Window(1, 1, 6, 5)),
        ("Blur { size {5 0} filter box }", Window(0, 2, 7, 4)),
        ("Blur { size 2 }", Window(0, 0, 8, 6)),
        ("Blur { size 30 }", Window(0, 0, 8, 6)),
        ("Blur { size 30 crop false }", Window(-43, -43, 50, 49)),
        ("Laplacian { size 3 filter box }", Window(1, 1, 6, 5)),
        ("Sharpen { size {3 0} filter box }", Window(1, 2, 6, 4)),
        ("Sharpen { size 30 crop false }", Window(-43, -43, 50, 49)),
        ('EdgeBlur { filter box "control channel" rgba.red }', Window(1, 1, 6, 5)),
        ("Dilate { size {1 2} }", Window(1, 0, 6, 6)),
        ("Dilate { size {9 -9} }", Window(0, 2, 8, 4)),
        ("FilterErode { channels all size {-1.5 1} }", Window(0, 2, 7, 4)),
        ("Median { size 2 ignore_top_line false }", Window(2, 2, 5, 4)),
        ("Defocus { defocus 1.5 }", Window(1, 1, 6, 5)),
        ("Defocus { defocus 1.6 }", Window(0, 0, 7, 6)),
        ("Matrix { matrix {{1 1 1}} }", Window(1, 2, 6, 4)),
        ("Blur { size 0 }", Window(2, 2, 5, 4)),
    ],
)
def test_what_is_spread_makes_the_window_grow_within_the_format(tmp_path: Path, nodes: str, window: Window) -> None:
    cropped = read(tmp_path, "Grey", GREY) + "Crop { box {2 2 5 4} }\n"
    image = pull(cropped + nodes)
    assert (image.data_window, image.display_window) == (window, Window(0, 0, 8, 6))
    # with black pixels in place of what lies outside the window it is the same, and nothing is left out
    wider = pull(cropped + "Crop { box {-60 -60 68 66} }\n" + nodes)
    np.testing.assert_allclose(image.over(Window(0, 0, 8, 6)), wider.over(Window(0, 0, 8, 6)), atol=1e-6)


@pytest.mark.parametrize("nodes", ["Blur { size 1365 }", "Dilate { size {2048 -2048} }", "Defocus { defocus 200 }"])
def test_the_largest_sizes_take_what_there_is(tmp_path: Path, nodes: str) -> None:
    np.testing.assert_allclose(_plane(read(tmp_path, "Grey", GREY) + nodes), 0.5, atol=1e-6)


def test_sides_beyond_the_format_are_not_held_by_it(tmp_path: Path) -> None:
    overscan = read(tmp_path, "Wide", noise(6, 8)) + "Crop { box {2 0 6 6} reformat true }\nCrop { box {-1 0 4 4} }\n"
    image = pull(overscan + "Blur { size 3 filter box }")
    assert image.display_window == Window(0, 0, 4, 6)
    assert image.data_window == Window(-2, 1, 4, 6)


def test_an_empty_window_stays_empty(tmp_path: Path) -> None:
    nothing = read(tmp_path, "Grey", GREY) + "Crop { box {20 20 25 25} intersect true }\n"
    for nodes in FILTERS.values():
        assert pull(nothing + nodes % "").data_window.is_empty


@pytest.mark.parametrize("nodes", FILTERS.values(), ids=FILTERS)
def test_channels_masks_and_mix(tmp_path: Path, nodes: str) -> None:
    pixels = noise(7, 9, 4)
    matte = np.linspace(0, 1, 63, dtype=np.float32).reshape(7, 9)
    plate = read(tmp_path, "Plate", pixels, "RGBA")
    bare = pull(plate + nodes % "").pixels
    some = nodes.replace("channels rgba ", "") % "channels {rgba.red rgba.blue}"
    np.testing.assert_array_equal(pull(plate + some).pixels[..., [0, 2]], bare[..., [0, 2]])
    np.testing.assert_array_equal(pull(plate + some).pixels[..., [1, 3]], pixels[..., [1, 3]])
    np.testing.assert_allclose(
        pull(plate + nodes % "mix 0.25").pixels, pixels * 0.75 + bare * 0.25, rtol=1e-5, atol=1e-6
    )
    masked = read(tmp_path, "Matte", matte, "A") + plate + nodes.replace("{", "{ inputs 1+1", 1) % "mix 0.5"
    share = matte[..., None] * 0.5
    np.testing.assert_allclose(pull(masked).pixels, pixels * (1 - share) + bare * share, rtol=1e-5, atol=1e-6)


def test_channels_that_a_script_leaves_out(tmp_path: Path) -> None:
    write_exr(tmp_path / "deep.exr", noise(3, 3, 2), ("A", "Z"))
    deep = f'Read {{ file "{tmp_path.as_posix()}/deep.exr" }}\n'
    plain = pull(deep).pixels
    for changed in ("Blur { size 3 }", "Sharpen { size 3 }"):
        assert (pull(deep + changed).pixels != plain).any(axis=(0, 1)).all()
    for node in ("Laplacian", "Median", "Matrix", "FilterErode"):
        with pytest.raises(
            UnderstudyError, match=rf"{node}1 \({node}\), line 2: knob channels is left out, and whether"
        ):
            pull(f"{deep}{node} {{ {MEDIAN if node == 'Median' else ''} matrix 1 }}")
    alone = read(tmp_path, "Matte", spot(3, 3, 1, 1), "A")
    assert _plane(alone + "FilterErode { size -1 }").tolist() == [[1.0] * 3] * 3


@pytest.mark.parametrize("name", FILTERS)
def test_a_region_is_the_whole_picture_cut(tmp_path: Path, name: str) -> None:
    text = read(tmp_path, "Plate", noise(30, 40, 3), "RGB") + "%s" + FILTERS[name] % "mix 0.75"
    for before in ("", "Crop { box {5 4 30 22} }\n", "Crop { box {5 4 30 22} crop false }\n"):
        whole = pull(text % before)
        for region in (Window(0, 0, 40, 30), Window(7, 9, 12, 15), Window(-5, 20, 9, 40), Window(38, 29, 40, 30)):
            evaluator, last = evaluator_of(text % before)
            part = evaluator.pull(last, 1, ("G", "B"), region)
            expected = whole.over(region)[..., [1, 2]]
            if name in FEW_WEIGHTS:
                np.testing.assert_array_equal(part.over(region), expected)
            np.testing.assert_allclose(part.over(region), expected, atol=2e-6)


def test_a_tall_picture_is_the_same_in_bands(tmp_path: Path) -> None:
    text = read(tmp_path, "Tall", noise(600, 3)) + "Blur { size 9 }\nDilate { size 3 }\n"
    whole = pull(text)
    evaluator, last = evaluator_of(text)
    part = evaluator.pull(last, 1, ("R",), Window(0, 240, 3, 270))
    np.testing.assert_array_equal(part.pixels, whole.over(part.data_window))


def test_no_more_is_asked_for_than_the_region_and_what_it_reaches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = decoded_regions(monkeypatch)
    text = read(tmp_path, "Plate", noise(30, 40)) + "Blur { size {3 7} filter box mix 0.5 }\nDilate { size {4 -2} }\n"
    evaluator, last = evaluator_of(text)
    evaluator.pull(last, 1, ("R",), Window(20, 10, 22, 11))
    evaluator.pull(last, 1, ("R",), Window(0, 0, 1, 1))
    assert decoded == [Window(15, 5, 27, 16), Window(0, 0, 6, 6)]


@pytest.mark.parametrize(
    ("nodes", "reach"),
    [
        ("Blur { size 3 filter box }", 1),
        ("Blur { size 60 filter box }", 30),
        ("Defocus { defocus 1 }", 1),
        ("Dilate { size 2 }", 2),
        ("Dilate { size -2 }", 2),
        ("FilterErode { channels all size 1.5 }", 2),
        ("Matrix { matrix {{1 1 1} {1 1 1} {1 1 1}} }", 1),
        ("Laplacian { size 3 filter box }", 1),
        ("Sharpen { size 3 filter box }", 1),
        ('EdgeBlur { size 3 filter box "control channel" rgba.red }', 1),
    ],
)
def test_what_is_no_number_goes_as_far_as_the_filter_reaches(tmp_path: Path, nodes: str, reach: int) -> None:
    pixels = noise(70, 70)[..., 0]
    pixels[35, 35] = np.nan
    found = np.isnan(_plane(read(tmp_path, "Plate", pixels) + nodes))
    expected = np.zeros((70, 70), bool)
    expected[35 - reach : 36 + reach, 35 - reach : 36 + reach] = True
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("size", [3, 61])
def test_infinities_stay_what_they_are_until_they_meet(tmp_path: Path, size: int) -> None:
    pixels = np.zeros((1, 200), np.float32)
    pixels[0, [50, 130]] = np.inf, -np.inf
    blurred = _plane(read(tmp_path, "Plate", pixels) + f"Blur {{ size {size} filter box }}")[0]
    half = size // 2
    assert (blurred[50 - half : 51 + half] == np.inf).all()
    assert (blurred[130 - half : 131 + half] == -np.inf).all()
    assert np.isfinite(blurred).sum() == 200 - 2 * size
    met = _plane(read(tmp_path, "Plate", pixels) + "Blur { size 101 filter box }")[0]
    assert np.isnan(met[80:101]).all()
    assert np.isnan(met).sum() == 21


def test_black_far_from_everything_stays_black(tmp_path: Path) -> None:
    blurred = _plane(read(tmp_path, "Plate", spot(1, 400, 0, 50, 60000.0)) + "Blur { size {60 0} }")[0]
    assert not blurred[141:].any()
    assert blurred[60] == pytest.approx(60000 * math.exp(-0.08) / (25 * math.sqrt(2 * math.pi)), rel=1e-3)


@pytest.mark.parametrize(
    ("node", "knobs", "what"),
    [
        ("Blur", "size -1", "knob size is -1; make it 0 or more"),
        ("Blur", "size {4 -0.5}", "knob size is -0.5; make it 0 or more"),
        ("Blur", "size 1e9", "knob size reaches 1.5e.09 pixels far, over 2048; make it smaller"),
        ("Blur", "size {1 2 3}", "knob size has 3 values in place of 1 or 2"),
        ("Blur", "filter cubic", "knob filter is 'cubic', which is none of box, triangle, quadratic, gaussian"),
        ("Blur", "size 3 unpremult alpha", "knob unpremult set to 'alpha' cannot be evaluated"),
        ("Blur", "size 3 fringe true", "knob fringe set to 'true' cannot be evaluated"),
        ("Laplacian", "size 5000", "knob size reaches 7500 pixels far, over 2048"),
        ("Sharpen", "amount 2", "knob size is left out, and what it is then is not known; move it a little"),
        ("Sharpen", "size -2", "knob size is -2; make it 0 or more"),
        ("Sharpen", "size 3 amount much", "knob amount "),
        ("Sharpen", "size 3 minimum 0.1", "knob minimum set to '0.1' cannot be evaluated"),
        ("Sharpen", "size 2 maximum 100", "knob maximum set to '100' cannot be evaluated"),
        ("Dilate", "size 2.5", "knob size is 2.5 2.5, and it takes whole pixels; round it"),
        ("Dilate", "size -3000", "knob size reaches 3000 pixels far, over 2048"),
        ("FilterErode", "channels all size 3000.5", "knob size reaches 3000.5 pixels far, over 2048"),
        ("FilterErode", "channels all filter gaussian", "knob filter set to 'gaussian' cannot be evaluated"),
        ("Median", MEDIAN + " size 1.5", "knob size is 1.5 1.5; make it whole, and 0 or more"),
        ("Median", MEDIAN + " size -1", "knob size is -1 -1; make it whole, and 0 or more"),
        ("Median", MEDIAN + " size 400", "knob size reaches 400 pixels far, over 16; make it smaller"),
        ("Median", "size 2", "knob ignore_top_line is on where it is left out"),
        ("Defocus", "defocus -2", "knob defocus is -2; make it 0 or more"),
        ("Defocus", "scale {1 -2}", "knob scale is -2; make it 0 or more"),
        ("Defocus", "defocus 600 ratio 4", "knob defocus reaches 2400 pixels far, over 1024"),
        ("Matrix", "", "knob matrix has 0 x 0 numbers, or rows of several lengths; make both sides odd"),
        ("Matrix", "matrix {{1 1} {1 1}}", "knob matrix has 2 x 2 numbers"),
        ("Matrix", "matrix {{1 1 1} {1} {1}}", "knob matrix has 3 x 3 numbers, or rows of several lengths"),
        ("Matrix", "matrix {{1 0 -1}} normalize true", "knob normalize divides by the sum of the numbers, which is 0"),
        ("Matrix", "matrix {{1 what 1}}", "knob matrix refers to 'what', and there is no 'what'"),
        ("Matrix", "matrix {" + "{1} " * 99 + "}", "knob matrix has over 65 rows"),
    ],
)
def test_knobs_that_cannot_be_evaluated_are_named(tmp_path: Path, node: str, knobs: str, what: str) -> None:
    evaluator, last = evaluator_of(read(tmp_path, "Grey", GREY) + f"{node} {{ {knobs} }}")
    with pytest.raises(UnderstudyError, match=rf"{node}1 \({node}\), line 2: {what}.*render the node first"):
        evaluator.check([last])


def test_a_size_that_moves_is_looked_at_frame_by_frame(tmp_path: Path) -> None:
    plate = read(tmp_path, "Spot", spot(1, 5, 0, 2))
    moving = plate + "Blur { filter box size {{frame} 0} }"
    for frame in (1, 3, 5):
        row = pull(moving, frame).pixels[0, :, 0]
        np.testing.assert_allclose(row[row > 0], [1 / frame] * frame, atol=1e-7)
    evaluator, last = evaluator_of(plate + "Blur { size {{frame-4}} }\nDilate { size {{frame/2}} }")
    evaluator.check([last])
    assert len(evaluator.files(last, 4)) == 1
    with pytest.raises(UnderstudyError) as fault:
        evaluator.files(last, 3)
    assert [line.split(";")[0] for line in str(fault.value).splitlines()] == [
        "Dilate1 (Dilate), line 3: knob size is 1.5 1.5, and it takes whole pixels",
        "Blur1 (Blur), line 2: knob size is -1",
    ]
