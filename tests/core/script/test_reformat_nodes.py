"""Reformat, Mirror2, Mirror, Position, AdjBBox and BlackOutside against values and sizes worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.core.script.fixtures import evaluator_of, pull
from tests.core.script.plates import assert_regions_are_cut_out, coordinates, noise, plate

from understudy.errors import UnderstudyError
from understudy.frames.window import Window
from understudy.script.formats import Format, format_of


@pytest.fixture
def read(tmp_path: Path) -> str:
    return 'Root { format "12 10 0 0 12 10 1 own" }\n' + plate(tmp_path, noise(6, 8))


@pytest.mark.parametrize(
    ("knobs", "display", "data"),
    [
        # 8 x 6 into the script's 12 x 10: by width 12 x 9, by height 13.33 x 10
        ("black_outside true", Window(0, 0, 12, 10), Window(0, 0, 12, 10)),
        ("center false black_outside true", Window(0, 0, 12, 10), Window(0, 0, 12, 10)),
        ("resize height black_outside true", Window(0, 0, 12, 10), Window(0, 0, 12, 10)),
        ("resize height black_outside true pbb true", Window(0, 0, 12, 10), Window(-1, -1, 13, 11)),
        ("resize none black_outside true", Window(0, 0, 12, 10), Window(2, 2, 10, 8)),
        ("resize none center false black_outside true", Window(0, 0, 12, 10), Window(0, 4, 8, 10)),
        ("resize none", Window(0, 0, 12, 10), Window(0, 0, 12, 10)),
        ("resize none pbb true", Window(0, 0, 12, 10), Window(0, 0, 12, 10)),
        ('format "4 4 0 0 4 4 1 small" resize none black_outside true', Window(0, 0, 4, 4), Window(0, 0, 4, 4)),
        ('format "4 4 0 0 4 4 1 small" resize none pbb true', Window(0, 0, 4, 4), Window(-2, -1, 6, 5)),
        ("format square_256 resize distort", Window(0, 0, 256, 256), Window(0, 0, 256, 256)),
        ('type "to box"', Window(0, 0, 200, 150), Window(0, 0, 200, 150)),
        ('type "to box" resize height', Window(0, 0, 267, 200), Window(0, 0, 267, 200)),
        ("type to_box resize fit box_width 20 box_height 9", Window(0, 0, 12, 9), Window(0, 0, 12, 9)),
        ("type to_box resize fill box_width 20 box_height 9", Window(0, 0, 20, 15), Window(0, 0, 20, 15)),
        ("type to_box resize distort box_width 20 box_height 9", Window(0, 0, 20, 9), Window(0, 0, 20, 9)),
        ("type to_box resize none box_width 20 box_height 9", Window(0, 0, 8, 6), Window(0, 0, 8, 6)),
        ("type 1 box_fixed true box_width 20 box_height 9", Window(0, 0, 20, 9), Window(0, 0, 20, 9)),
        ("type scale scale 0.5", Window(0, 0, 4, 3), Window(0, 0, 4, 3)),
        ("type scale scale {0.5 2} resize distort", Window(0, 0, 4, 12), Window(0, 0, 4, 12)),
        ("type scale scale 0.3", Window(0, 0, 2, 2), Window(0, 0, 2, 2)),
    ],
)
def test_sizes(read: str, knobs: str, display: Window, data: Window) -> None:
    image = pull(f"{read}Reformat {{ {knobs} }}")
    assert (image.display_window, image.data_window) == (display, data)


def _place(read: str, knobs: str, x: int, y: int) -> tuple[float, float]:
    """Which place of the picture the pixel x, y (up) shows; Parzen leaves slopes alone."""
    image = pull(f"{read}Reformat {{ {knobs} filter Parzen }}", channels=("R", "G"))
    row = image.display_window.height - 1 - y
    seen = image.over(Window(x, row, x + 1, row + 1))[0, 0]
    return float(seen[0]), float(seen[1])


@pytest.mark.parametrize(
    ("knobs", "aspect", "place"),
    [
        # pixel 60, 50 of 120 x 100 has its middle at 60.5, 50.5; the picture is 40 x 20
        ("resize width", 1, (60.5 / 3, (50.5 - 20) / 3)),
        ("resize width center false", 1, (60.5 / 3, 50.5 / 3)),
        ("resize height", 1, ((60.5 + 40) / 5, 50.5 / 5)),
        ("resize fit", 1, (60.5 / 3, (50.5 - 20) / 3)),
        ("resize fill", 1, ((60.5 + 40) / 5, 50.5 / 5)),
        ("resize distort", 1, (60.5 / 3, 50.5 / 5)),
        ("resize none", 1, (20.5, 10.5)),
        ("resize distort flop true", 1, (40 - 60.5 / 3, 50.5 / 5)),
        ("resize distort flip true", 1, (60.5 / 3, 20 - 50.5 / 5)),
        ("resize width flip true center false", 1, (60.5 / 3, 20 - 50.5 / 3)),
        # seen 80 wide and 20 high: by width it becomes 120 x 30
        ("resize width", 2, (60.5 / 3, (50.5 - 35) / 1.5)),
        ("resize height", 2, ((60.5 + 140) / 10, 50.5 / 5)),
        ("resize fit", 2, (60.5 / 3, (50.5 - 35) / 1.5)),
        ("resize fill", 2, ((60.5 + 140) / 10, 50.5 / 5)),
        ("resize distort", 2, (60.5 / 3, 50.5 / 5)),
        ("resize none", 2, (20.5, 10.5)),
    ],
)
def test_pixels_come_from_where_the_knobs_say(
    tmp_path: Path, knobs: str, aspect: float, place: tuple[float, float]
) -> None:
    read = plate(tmp_path, coordinates(20, 40), ("R", "G"), pixel_aspect=aspect)
    seen = _place(read, f'format "120 100 0 0 120 100 1 big" {knobs}', 60, 50)
    np.testing.assert_allclose(seen, place, atol=1e-4)


def test_pixel_aspects(tmp_path: Path) -> None:
    read = plate(tmp_path, coordinates(20, 40), ("R", "G"), pixel_aspect=2)
    boxed = pull(f"{read}Reformat {{ type to_box box_width 80 box_height 1 box_pixel_aspect 0.5 }}")
    assert (boxed.display_window, boxed.pixel_aspect) == (Window(0, 0, 80, 10), 0.5)
    assert pull(f"{read}Reformat {{ type scale scale 0.5 }}").pixel_aspect == 2
    named = pull(f"{read}Reformat {{ format 2K_Cinemascope black_outside true }}")
    assert (named.display_window, named.pixel_aspect) == (Window(0, 0, 1828, 1556), 2)
    own = pull('Root { format "40 40 0 0 40 40 2 own" }\n' + read + "Reformat {}")
    assert (own.display_window, own.pixel_aspect) == (Window(0, 0, 40, 40), 2)


def test_edges_are_repeated_unless_black_is_asked_for(read: str) -> None:
    pixels = noise(6, 8)
    wide = pull(f"{read}Reformat {{ resize none }}").pixels
    rows, columns = np.clip(np.arange(-2, 8), 0, 5), np.clip(np.arange(-2, 10), 0, 7)
    np.testing.assert_array_equal(wide, pixels[rows[:, None], columns])
    black = pull(f"{read}Reformat {{ resize none black_outside true }}").over(Window(0, 0, 12, 10))
    np.testing.assert_array_equal(black[2:8, 2:10], pixels)
    assert not black[:2].any()
    assert not black[:, :2].any()


@pytest.mark.parametrize(("width", "first"), [(9, 1), (7, 0), (11, 2), (5, -1)])
def test_a_picture_that_is_not_resized_keeps_its_pixels_whole(tmp_path: Path, width: int, first: int) -> None:
    """Of an odd difference the larger half goes to the left."""
    text = plate(tmp_path, noise(6, 8)) + (
        f'Reformat {{ format "{width} 6 0 0 {width} 6 1 odd" resize none pbb true black_outside true }}'
    )
    image = pull(text)
    assert image.data_window == Window(first, 0, first + 8, 6)
    np.testing.assert_array_equal(image.pixels, noise(6, 8))


def test_what_lies_beyond_the_format_comes_back_only_if_it_was_kept(read: str) -> None:
    cut = 'Reformat { format "4 6 0 0 4 6 1 narrow" resize none black_outside true %s }\nTransform { translate {2 0} }'
    moved = Window(0, 0, 4, 6)
    kept = pull(read + cut % "pbb true")
    assert kept.data_window == Window(0, 0, 8, 6)
    np.testing.assert_array_equal(kept.over(moved), noise(6, 8)[:, :4])
    lost = pull(read + cut % "").over(moved)
    assert not lost[:, :2].any()
    np.testing.assert_array_equal(lost[:, 2:], noise(6, 8)[:, 2:4])


def test_a_reformat_takes_transforms_above_it_into_its_own(read: str) -> None:
    both = pull(read + "Transform { scale 0.1 }\nReformat { type to_box box_fixed true box_width 8 box_height 6 }")
    back = pull(read + "Transform { scale 0.25 }\nReformat { type scale scale 4 center false filter Keys }")
    assert both.display_window == Window(0, 0, 8, 6)
    assert back.display_window == Window(0, 0, 32, 24)
    np.testing.assert_array_equal(back.over(Window(0, 18, 8, 24)), noise(6, 8))


def test_black_outside_makes_an_alpha_here_too(tmp_path: Path) -> None:
    read = plate(tmp_path, noise(2, 4, 3), ("R", "G", "B"))
    boxed = 'Reformat { type "to box" box_fixed true box_width 6 box_height 2 resize none black_outside %s }'
    np.testing.assert_array_equal(
        pull(read + boxed % "true").over(Window(0, 0, 6, 2))[..., 3], [[0, 1, 1, 1, 1, 0]] * 2
    )
    assert pull(read + boxed % "false").channels == ("R", "G", "B")


def test_a_reformat_may_move(read: str) -> None:
    moving = read + "Reformat { type scale scale {{frame/2}} flop {{frame==4}} filter Impulse }"
    assert [pull(moving, frame).display_window for frame in (1, 2, 4)] == [
        Window(0, 0, 4, 3),
        Window(0, 0, 8, 6),
        Window(0, 0, 16, 12),
    ]
    np.testing.assert_array_equal(pull(moving, 4).pixels[::2, ::2], noise(6, 8)[:, ::-1])


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        ("turn true", "knob turn set to 'true' cannot be evaluated"),
        ("format mine", "knob format is 'mine', which is no format that is known; write it out"),
        ('format "20 10 2 0 20 10 1 academy"', "knob format is '20 10 2 0 20 10 1 academy', of which a part only"),
        ('type "to box" box_width 0', "knob box_width makes a format of 0 x 200, which holds no pixel; set it"),
        ('type "to box" box_width 10.5', "knob box_width is 10.5, not a whole number"),
        ('type "to box" box_pixel_aspect 0', "knob box_pixel_aspect is 0 or less"),
        ("type scale scale 0", "knob scale is 0 0, which leaves no picture; set it"),
        ("type scale scale {1 -1}", "knob scale is 1 -1, which leaves no picture; set it"),
        ("type scale scale 0.01", "knob scale makes a format of 0.08 x 0.06, which holds no pixel; set it"),
        ("type scale scale 100000", "knob scale makes a format of 800000 x 600000, over 65536 pixels"),
        ('type "to box" box_width 99999', "knob box_width makes a format of 99999 x 200, over 65536 pixels"),
        ('type "to box" box_height 1 resize height box_width 9 pbb true filter 99', "knob filter is '99', which is"),
        ("resize crop", "knob resize is 'crop', which is none of none, width"),
    ],
)
def test_knobs_that_cannot_be_evaluated_are_named(read: str, knobs: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=rf"Reformat1 \(Reformat\), line 3: {what}") as fault:
        pull(f"{read}Reformat {{ {knobs} }}")
    assert "\n" not in str(fault.value)


def test_formats_written_out_and_by_name() -> None:
    assert format_of("48 27") == Format(window=Window(0, 0, 48, 27))
    assert format_of("48 27 2") == Format(window=Window(0, 0, 48, 27), pixel_aspect=2)
    assert format_of("48 27 0 0 48 27 0.5 my own") == Format(window=Window(0, 0, 48, 27), pixel_aspect=0.5)
    assert format_of("48 27 0 0 48 27 1 2048") == Format(window=Window(0, 0, 48, 27))
    assert format_of("48 27 0 3 48 24 1") == Format(window=Window(0, 0, 48, 27), is_all_picture=False)
    assert format_of("HD_1080") == Format(window=Window(0, 0, 1920, 1080))
    for text in ("", "48", "mine", "0 5", "99999 99999", "48 27 -1", "48 1e99"):
        assert format_of(text) is None


@pytest.mark.parametrize(
    ("node", "columns", "rows"),
    [
        ("Mirror2 { flop true }", -1, 1),
        ("Mirror2 { flip true }", 1, -1),
        ("Mirror2 { flip 1 flop 1 }", -1, -1),
        ("Mirror2 { }", 1, 1),
        ("Mirror { Horizontal true }", -1, 1),
        ("Mirror { Vertical true }", 1, -1),
    ],
)
def test_mirrors_turn_the_picture_about_the_middle_of_its_format(
    tmp_path: Path, node: str, columns: int, rows: int
) -> None:
    pixels = noise(3, 4)
    pixels[1, 1] = np.nan
    read = plate(tmp_path, pixels, at=(-2, 5), display=Window(-3, 4, 7, 10))
    image = pull(read + node)
    x, y = (-3 + 7 - 2, -2)[columns > 0], (4 + 10 - 8, 5)[rows > 0]
    assert image.data_window == Window(x, y, x + 4, y + 3)
    np.testing.assert_array_equal(image.pixels, pixels[::rows, ::columns])


def test_position_moves_by_the_nearest_whole_pixels(read: str) -> None:
    for translate, window in (
        ("3 2", Window(3, -2, 11, 4)),
        ("0.5 -0.5", Window(1, 0, 9, 6)),
        ("-1.4 0.4", Window(-1, 0, 7, 6)),
    ):
        image = pull(f"{read}Position {{ translate {{{translate}}} }}")
        assert image.data_window == window
        np.testing.assert_array_equal(image.pixels, noise(6, 8))
    assert (
        pull(f"{read}Position {{ translate {{frame 0}} }}".replace("{frame 0}", "{{frame} 0}"), 4).data_window.x0 == 4
    )
    with pytest.raises(
        UnderstudyError, match=r"Position1 \(Position\), line 3: knob translate is 100000 .*, over 65536"
    ):
        pull(f"{read}Position {{ translate 100000 }}")


def test_a_larger_box_repeats_the_edges_of_a_plate(tmp_path: Path) -> None:
    pixels = noise(3, 4)
    grown = pull(plate(tmp_path, pixels) + "AdjBBox { numpixels {2 1} }")
    assert grown.data_window == Window(-2, -1, 6, 4)
    rows, columns = np.clip(np.arange(-1, 4), 0, 2), np.clip(np.arange(-2, 6), 0, 3)
    np.testing.assert_array_equal(grown.pixels, pixels[rows[:, None], columns])
    assert pull(plate(tmp_path, pixels) + "AdjBBox { }").data_window == Window(-25, -25, 29, 28)
    small = plate(tmp_path, pixels, at=(1, 1), display=Window(0, 0, 9, 9), name="small")
    element = pull(small + "AdjBBox { numpixels 1 }")
    assert element.data_window == Window(0, 0, 6, 5)
    np.testing.assert_array_equal(element.pixels[1:-1, 1:-1], pixels)
    assert np.abs(element.pixels).sum() == pytest.approx(np.abs(pixels).sum())


def test_a_smaller_box_repeats_its_new_edges(tmp_path: Path) -> None:
    pixels = noise(4, 5)
    cut = pull(plate(tmp_path, pixels) + "AdjBBox { numpixels -1 }")
    assert cut.data_window == Window(0, 0, 5, 4)
    np.testing.assert_array_equal(cut.pixels, pixels[[1, 1, 2, 2]][:, [1, 1, 2, 3, 3]])
    overscan = plate(tmp_path, pixels, at=(-1, -1), display=Window(0, 0, 3, 2), name="overscan")
    trimmed = pull(overscan + "AdjBBox { numpixels -1 }")
    assert trimmed.data_window == Window(0, 0, 3, 2)
    np.testing.assert_array_equal(trimmed.pixels, pixels[1:-1, 1:-1])
    empty = pull(plate(tmp_path, pixels) + "Crop { box {9 9 12 12} intersect true }\nAdjBBox { numpixels -1 }")
    assert empty.data_window.is_empty
    for knobs, what in (
        ("-2", "takes away all of the picture's 5x4 pixels; set it"),
        ("0.5", "is 0.5 0.5, which cuts pixels; round it"),
        ("1e6", r"makes 2000005x2000004.*, over 65536 pixels"),
    ):
        with pytest.raises(UnderstudyError, match=rf"AdjBBox1 \(AdjBBox\), line 2: knob numpixels {what}"):
            pull(plate(tmp_path, pixels) + f"AdjBBox {{ numpixels {knobs} }}")


def test_black_outside_stops_edges_from_being_repeated(tmp_path: Path) -> None:
    read = plate(tmp_path, noise(3, 4))
    np.testing.assert_array_equal(pull(read + "BlackOutside {}").pixels, noise(3, 4))
    grown = pull(read + "BlackOutside {}\nAdjBBox { numpixels 1 }")
    assert grown.data_window == Window(-1, -1, 5, 4)
    assert not grown.pixels[0].any()
    boxed = "BlackOutside {}\nReformat { type to_box box_fixed true box_width 8 box_height 3 resize none }"
    assert pull(read + boxed).data_window == Window(2, 0, 6, 3)
    again = pull(read + "BlackOutside {}\nAdjBBox { numpixels -1 }\nAdjBBox { numpixels 1 }")
    assert again.pixels[0].any()


MANY = {
    "scale": "Reformat { type scale scale 0.4 filter Lanczos4 }",
    "fill": "Reformat { resize fill filter Keys flop true }",
    "fit": "Reformat { resize fit black_outside true pbb true }",
    "none": "Reformat { resize none }",
    "flip": "Mirror2 { flip true flop true }",
    "position": "Position { translate {3 -1} }",
    "larger box": "AdjBBox { numpixels {3 1} }",
    "smaller box": "AdjBBox { numpixels {-1 2} }",
    "chain": "Mirror2 { flop true }\nReformat { type scale scale 0.5 }\nBlackOutside {}\nAdjBBox { numpixels 2 }",
}


@pytest.mark.parametrize("nodes", MANY.values(), ids=MANY)
@pytest.mark.parametrize(
    ("at", "display"), [((0, 0), None), ((-2, 1), Window(0, 0, 6, 8)), ((-1, -2), Window(0, 0, 5, 4))]
)
def test_a_region_is_the_whole_picture_cut(
    tmp_path: Path, nodes: str, at: tuple[int, int], display: Window | None
) -> None:
    pixels = noise(7, 9)
    pixels[2, 3], pixels[4, 6] = np.inf, np.nan
    text = 'Root { format "12 10 0 0 12 10 1 own" }\n' + plate(tmp_path, pixels, at=at, display=display) + nodes
    assert_regions_are_cut_out(text, pull(text))


def test_every_channel_goes_along(tmp_path: Path) -> None:
    read = plate(tmp_path, noise(3, 4, 3), ("R", "Z", "mask.a"))
    for node in ("Mirror2 { flop true }", "Reformat { type scale scale 1 flop true }"):
        evaluator, last = evaluator_of(read + node)
        assert sorted(evaluator.channels(last)) == ["R", "Z", "mask.a"]
        seen = evaluator.pull(last, 1, ("mask.a", "R", "other.x")).pixels
        np.testing.assert_array_equal(seen[..., :2], noise(3, 4, 3)[:, ::-1, [2, 0]])
        assert not seen[..., 2].any()
