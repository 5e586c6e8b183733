"""Constant, CheckerBoard2, Ramp, and Roto without shapes, against values worked out by hand and pixel by pixel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.core.script.fixtures import evaluator_of, pull
from tests.core.script.rows import assert_regions_are_parts, read_grid, read_row, row, shown

from understudy.errors import UnderstudyError
from understudy.frames.window import Window

ROOT = 'Root { format "7 5 0 0 7 5 2 wide" }\n'
RGBA = ("R", "G", "B", "A")


def test_constant_fills_its_format() -> None:
    image = pull(ROOT + "Constant { inputs 0 color {0.1 0.2 0.3 1} }")
    assert (image.channels, image.data_window, image.display_window) == (RGBA, Window(0, 0, 7, 5), Window(0, 0, 7, 5))
    assert image.pixel_aspect == 2
    assert (image.pixels == np.array([0.1, 0.2, 0.3, 1], np.float32)).all()
    stated = pull(ROOT + 'Constant { format "4 3 0 0 4 3 1 small" color 0.5 }')
    assert (stated.display_window, stated.pixel_aspect) == (Window(0, 0, 4, 3), 1)
    assert stated.pixels.shape == (3, 4, 4)
    assert pull("Constant { }").display_window == Window(0, 0, 2048, 1556)  # Nuke's own format


@pytest.mark.parametrize(
    ("knobs", "values", "channels"),
    [
        ("channels rgb color {1 2 3 4}", [1, 2, 3, 0], ("R", "G", "B")),
        ("channels {rgba.red -rgba.green rgba.blue rgba.alpha} color {1 2 3 4}", [1, 0, 3, 4], ("R", "B", "A")),
        ("channels {rgba.blue rgba.green rgba.red none} color {1 2 3 4}", [3, 2, 1, 0], ("B", "G", "R")),
        ("channels alpha color 0.5", [0, 0, 0, 0.5], ("A",)),
        ("channels none color 1", [0, 0, 0, 0], ()),
        ("color {{frame+1} 0 0 {1/2}}", [2, 0, 0, 0.5], RGBA),
        ("", [0, 0, 0, 0], RGBA),
    ],
)
def test_constant_of_some_channels(knobs: str, values: list[float], channels: tuple[str, ...]) -> None:
    evaluator, last = evaluator_of(f"{ROOT}Constant {{ {knobs} }}")
    assert evaluator.channels(last) == channels
    assert shown(f"{ROOT}Constant {{ {knobs} }}", *RGBA) == values


def test_constant_has_the_frames_that_it_states() -> None:
    for knobs, span in (("", "1-1"), ("first 5 last 100", "5-100")):
        evaluator, last = evaluator_of(f"Constant {{ {knobs} }}")
        assert str(evaluator.span(last)) == span
        assert evaluator.files(last, 3) == ()


def test_constant_goes_on_outside_its_format(tmp_path: Path) -> None:
    """As its help in Nuke says; other pictures are black there."""
    plate = read_row(tmp_path, "PLATE", [[1, 0.5]] * 5, ("R", "A"))
    constant = 'Constant { format "2 1 0 0 2 1 1 small" color {0.25 0 0 1} }\n'
    assert row(constant + plate + "Merge2 { inputs 2 operation multiply }") == [0.25] * 5
    assert row(constant + plate + "Dot { }\nMerge2 { inputs 2 operation plus }") == [1.25] * 5
    assert row(plate + constant + "Crop { box {-1 0 4 1} }") == [0.25] * 5
    masked = constant + plate + "Grade { inputs 1+1 multiply 3 }"
    assert row(masked) == [3] * 5
    black = pull(constant + plate + "Crop { box {-2 0 5 1} }", channels=("R",))
    assert black.pixels[0, :, 0].tolist() == [0, 0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        ("format HDTV", "knob format is 'HDTV', which is no format that pictures fill"),
        ('format "64 48 2 0 62 48 1 border"', "knob format is '64 48 2 0 62 48 1 border', which is no format that"),
        ("format {{input.format}}", r"knob format is '\{input.format\}', which is no format"),
        ("channels sky", "knob channels is 'sky', of which the channels are not known"),
        ("channels mask color {1 2 3 4}", "knob color has several values for one channel"),
        ("color {1 2}", "knob color has 2 values in place of 1 or 4"),
    ],
)
def test_constants_that_cannot_be_evaluated_are_named(knobs: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=rf"Constant1 \(Constant\), line 2: {what}"):
        pull(f"{ROOT}Constant {{ {knobs} }}")


def _board(
    width: int, height: int, box: tuple[int, int], line: tuple[int, int], centre: tuple[int, int]
) -> list[list[int]]:
    """Which of colours 0 to 3, lines (4) and centre lines (5) each pixel has, the uppermost row first."""
    middle = (width // 2 - line[0] // 2, height // 2 - line[1] // 2)
    rows = []
    for y in reversed(range(height)):
        pixels = []
        for x in range(width):
            kinds = []
            for at, start, size, thin, thick in zip((x, y), middle, box, line, centre, strict=True):
                left = start - (thick // 2 - thin // 2)
                if left <= at < left + thick:
                    kinds.append("centre")
                elif (at - start) % size < thin:
                    kinds.append("line")
                else:
                    kinds.append(str((at - start) // size % 2))
            if "centre" in kinds:
                pixels.append(5)
            elif "line" in kinds:
                pixels.append(4)
            else:
                pixels.append({("0", "0"): 0, ("1", "0"): 1, ("1", "1"): 2, ("0", "1"): 3}[kinds[0], kinds[1]])
        rows.append(pixels)
    return rows


@pytest.mark.parametrize(
    ("size", "knobs", "box", "line", "centre"),
    [
        ((20, 14), "boxsize 4", (4, 4), (0, 0), (3, 3)),
        ((21, 15), "boxsize {5 3} centerlinewidth 0", (5, 3), (0, 0), (0, 0)),
        ((20, 14), "boxsize {6 4} linewidth {2 1} centerlinewidth {1 4}", (6, 4), (2, 1), (1, 4)),
        ((20, 14), "boxsize 3.5 linewidth 0.2 centerlinewidth 2.5", (4, 4), (1, 1), (2, 2)),
        ((20, 14), "boxsize 2 linewidth 3", (2, 2), (3, 3), (3, 3)),
        ((20, 14), "", (64, 64), (0, 0), (3, 3)),
    ],
)
def test_checkerboard(
    size: tuple[int, int], knobs: str, box: tuple[int, int], line: tuple[int, int], centre: tuple[int, int]
) -> None:
    width, height = size
    colours = "color0 0 color1 1 color2 2 color3 3 linecolor 4 centerlinecolor 5"
    board = f'CheckerBoard2 {{ inputs 0 format "{width} {height} 0 0 {width} {height} 1 x" {colours} {knobs} }}'
    drawn = pull(board, channels=("R", "A"))
    assert drawn.pixels[..., 0].tolist() == _board(width, height, box, line, centre)
    assert drawn.pixels[..., 1].tolist() == _board(width, height, box, line, centre)


def test_checkerboard_as_it_is_from_the_start() -> None:
    """Dark grey at the lower left of the middle's upper right box, light grey beside it, a yellow cross."""
    image = pull("CheckerBoard2 { }")
    assert (image.display_window, image.channels) == (Window(0, 0, 2048, 1556), RGBA)
    middle = image.pixels[1556 - 778 - 10, 1024 + 10]
    beside, cross = image.pixels[1556 - 778 - 10, 1024 + 74], image.pixels[3, 1024]
    for pixel, colour in ((middle, [0.1, 0.1, 0.1, 1]), (beside, [0.5, 0.5, 0.5, 1]), (cross, [1, 1, 0, 1])):
        assert pixel.tolist() == pytest.approx(colour, abs=1e-6)


def _ramp(knobs: str) -> list[float]:
    return row(f"{ROOT}Ramp {{ inputs 0 {knobs} }}")


def test_ramp_comes_in_from_one_point_to_the_other() -> None:
    """Pixels are seen in their middle: 0.5 of 4, 1.5 of 4 ..."""
    assert _ramp("p0 {0 0} p1 {4 0}") == [0.125, 0.375, 0.625, 0.875, 1, 1, 1]
    assert _ramp("p0 {4 0} p1 {0 0} color {2 0 0 0}") == [1.75, 1.25, 0.75, 0.25, 0, 0, 0]
    assert _ramp("p0 {0 0} p1 {4 0} invert true") == [0.875, 0.625, 0.375, 0.125, 0, 0, 0]
    assert _ramp("p0 {0 0} p1 {4 0} opacity 0.5") == [0.0625, 0.1875, 0.3125, 0.4375, 0.5, 0.5, 0.5]
    assert _ramp("p0 {0 9} p1 {0 1}") == [(9 - 4.5) / 8] * 7  # the uppermost of five rows
    slanted = pull(f"{ROOT}Ramp {{ inputs 0 p0 {{1 1}} p1 {{4 5}} }}", channels=("R",)).pixels[..., 0]
    for place_y, place_x in np.ndindex(slanted.shape):
        along = ((place_x + 0.5 - 1) * 3 + (4.5 - place_y - 1) * 4) / 25
        assert slanted[place_y, place_x] == pytest.approx(min(max(along, 0), 1), abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        ("linear", 0.125),
        ("plinear", 0.125**3),
        ("smooth", 3 * 0.125**2 - 2 * 0.125**3),
        ("smooth0", 2 * 0.125**2 - 0.125**3),
        ("smooth1", 0.125 + 0.125**2 - 0.125**3),
    ],
)
def test_kinds_of_ramps(kind: str, first: float) -> None:
    values = _ramp(f"type {kind} p0 {{0 0}} p1 {{4 0}}")
    assert values[0] == pytest.approx(first, abs=1e-5)
    assert values == sorted(values)
    assert values[4:] == [1, 1, 1]


def test_ramp_over_a_picture(tmp_path: Path) -> None:
    plate = read_row(tmp_path, "PLATE", [[8, 4, 2]] * 4, ("R", "G", "A"))
    ramp = plate + "Ramp { p0 {0 0} p1 {4 0} %s }"
    assert row(ramp % "color 0") == [7, 5, 3, 1]
    assert row(ramp % "color {16 0 0 1}") == [9, 11, 13, 15]
    assert row(ramp % "replace true color {16 0 0 1}") == [2, 6, 10, 14]
    assert row(ramp % "color 0 mix 0.5") == [7.5, 6.5, 5.5, 4.5]
    assert row(ramp % "color 0 output rgb", "A") == [2, 2, 2, 2]
    assert row(ramp % "color 0 output none") == [8, 8, 8, 8]
    assert row(ramp % "color {0 0 0 8} output depth", "Z") == [1, 3, 5, 7]
    masked = (
        read_row(tmp_path, "MASK", [[1], [0.5], [0], [1]], ("A",)) + plate + "Ramp { inputs 1+1 p0 {0 0} p1 {4 0} %s }"
    )
    assert row(masked % "color 0") == [7, 6.5, 8, 1]
    assert row(masked % "color 0 maskChannelMask -rgba.alpha") == [7, 5, 3, 1]


def test_ramp_where_a_picture_is_not_a_number_or_smaller_or_larger_than_its_format(tmp_path: Path) -> None:
    plate = read_row(tmp_path, "PLATE", [[np.nan], [np.inf], [1], [1]], ("R",))
    held = row(plate + "Ramp { p0 {-9 0} p1 {0 0} color 3 }")
    assert held == [3, 3, 3, 3]
    ones = read_row(tmp_path, "ONES", [[1]] * 4, ("R",))
    small, large = ones + "Crop { box {1 0 2 1} }\n", ones + "Crop { box {-1 0 6 1} }\n"
    ramp = "Ramp { p0 {0 0} p1 {4 0} color 0 %s }"
    assert (pull(small + ramp % "").data_window, row(small + ramp % "")) == (Window(0, 0, 4, 1), [0, 0.625, 0, 0])
    assert pull(small + ramp % "cliptype bbox").data_window == Window(1, 0, 2, 1)
    assert pull(large + ramp % "").data_window == Window(0, 0, 4, 1)
    assert pull(large + ramp % "cliptype none").data_window == Window(-1, 0, 6, 1)


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        ("p1 {4 0}", "knob p0 is left out, and where it lies then is not known"),
        ("p0 {4 0} p1 {4 0}", "knob p1 is where p0 is, which leaves no ramp"),
        ("p0 {0 0} p1 {4 0} type cubic", "knob type is 'cubic', which is none of linear, plinear, smooth"),
        ("p0 {0 0} p1 {4 0} premult rgb", "knob premult set to 'rgb' cannot be evaluated"),
        ("p0 {0 0} p1 {4 0} cliptype union", "knob cliptype is 'union', which is none of none, bbox, format"),
        ("p0 {0 0} p1 {4 0} output sky", "knob output names 'sky', of which the channels are not known"),
        ("p0 {0 0 1} p1 {4 0}", "knob p0 has 3 values in place of 1 or 2"),
    ],
)
def test_ramps_that_cannot_be_evaluated_are_named(knobs: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=rf"Ramp1 \(Ramp\), line 2: {what}"):
        pull(f"{ROOT}Ramp {{ inputs 0 {knobs} }}")


_ATTRIBUTES = "{f 2097664}\n {t x44700000 x44070000}\n {a pt1x 0 ptmot x40800000 ptref 0}"
_EMPTY = "{{v x3f99999a}\n {f 0}\n {n\n {layer Root\n %s %s}}}"
_OLD = 'AnimTree: "" {\n Version: 1.2\n Node: {\n NodeName: "Root" {\n NodeType: 1\n "vis" S 0 1\n } %s\n }\n}'
_SHAPE = "{curvegroup Bezier1 512 bezier {{cc {f 8192} {p {} {}}} {cc {f 8192} {p {}}}} {t x0} {a osbe 0 tt x40800000}}"
_STROKE = "{cubiccurve Brush1 512 catmullrom {cc {f 8192} {p {}}} {t x0} {a bs 10}}"


@pytest.mark.parametrize("name", ["Roto", "RotoPaint"])
@pytest.mark.parametrize(
    "curves",
    [
        "",
        f"curves {{{_EMPTY % (_ATTRIBUTES, '')}}}",
        f"curves {{{_EMPTY % ('{f 512} {t 0 0} {a}', '')}}}",
        f"curves {{{_EMPTY % (_ATTRIBUTES, '{layer Layer1 {f 0} {t x0} {a}}')}}}",
        f"curves {{{_OLD % ''}}}",
    ],
)
def test_roto_on_which_nothing_is_drawn_changes_nothing(tmp_path: Path, name: str, curves: str) -> None:
    plate = read_row(tmp_path, "PLATE", [[1, 2]] * 3, ("R", "A"))
    image = pull(
        f"{plate}{name} {{\n output alpha\n {curves}\n toolbox {{selectAll {{ {{ x 1 }} }}}}\n lifetime_start 5\n}}"
    )
    assert image.channels == ("R", "A")
    assert image.pixels.tolist() == [[[1, 2]] * 3]


def test_roto_without_shapes_has_the_channels_on_which_it_would_draw(tmp_path: Path) -> None:
    plate = read_row(tmp_path, "PLATE", [[1]], ("R",))
    for knobs, channels in (("", RGBA), ("output alpha", ("R", "A")), ("output {-rgba.red mask.a}", ("R", "mask.a"))):
        image = pull(f"{plate}Roto {{ {knobs} }}")
        assert image.channels == channels
        assert image.pixels[0, 0].tolist() == [1, *[0] * (len(channels) - 1)]


@pytest.mark.parametrize(
    "curves",
    [
        _EMPTY % (_ATTRIBUTES, _SHAPE),
        _EMPTY % (_ATTRIBUTES, _STROKE),
        _EMPTY % (_ATTRIBUTES, "{layer Layer1 {f 0} {a} {layer Inner {f 0} " + _SHAPE + "}}"),
        _EMPTY % (_ATTRIBUTES, "{something new}"),
        _OLD % 'Node: {\n NodeName: "BSpline1" {\n NodeType: 3\n }\n }',
        "{v x3f99999a}",
        "what is this",
    ],
)
def test_roto_with_shapes_says_what_to_do(tmp_path: Path, curves: str) -> None:
    plate = read_row(tmp_path, "PLATE", [[1]], ("R",))
    with pytest.raises(UnderstudyError) as fault:
        pull(f"{plate}Roto {{ curves {{{curves}}} }}")
    assert str(fault.value) == (
        "Roto1 (Roto), line 2: has shapes or strokes, which are not evaluated; render it first, or bake the script"
    )
    assert row(f"{plate}Roto {{ curves {{{curves}}} disable true }}") == [1]


def test_roto_clips_to_the_format_as_its_knob_says(tmp_path: Path) -> None:
    plate = read_row(tmp_path, "PLATE", [[1]] * 4, ("R",)) + "Crop { box {-1 0 6 1} }\n"
    assert pull(plate + "RotoPaint { }").data_window == Window(0, 0, 4, 1)
    assert pull(plate + "RotoPaint { cliptype none }").data_window == Window(-1, 0, 6, 1)
    outside = plate.replace("-1 0 6 1", "5 0 6 1")
    assert pull(outside + "RotoPaint { }").data_window.is_empty
    with pytest.raises(UnderstudyError, match="knob replace set to 'true' cannot be evaluated"):
        pull(plate + "RotoPaint { replace true }")
    with pytest.raises(UnderstudyError, match="nothing is connected to its input 0"):
        pull("RotoPaint { inputs 0 }")


NODES = {
    "constant": "Constant { color {0.5 0 0 1} }\nCrop { box {-3 -2 9 4} }",
    "checkerboard": "CheckerBoard2 { boxsize {3 2} linewidth 1 centerlinewidth 1 }",
    "ramp": "Ramp { inputs 0 p0 {1 2} p1 {5 7} type smooth }",
}


@pytest.mark.parametrize("node", NODES.values(), ids=NODES)
def test_regions_are_parts_of_the_whole(node: str) -> None:
    assert_regions_are_parts(ROOT + node)


def test_regions_of_a_ramp_over_a_picture_are_parts_of_the_whole(tmp_path: Path) -> None:
    plate = read_grid(tmp_path, "PLATE", 1) + "Crop { box {1 -1 9 4} }\n"
    for knobs in ("", "cliptype none invert true", "replace true mix 0.5"):
        assert_regions_are_parts(f"{plate}Ramp {{ p0 {{1 2}} p1 {{5 7}} color 0.25 {knobs} }}")
