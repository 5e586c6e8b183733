"""Shuffle, ShuffleCopy, Shuffle2, Copy, CopyBBox, AddChannels and Remove against values worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.core.script.fixtures import evaluator_of, pull
from tests.core.script.rows import LAYERED, assert_regions_are_parts, read_grid, read_row, row, shown

from understudy.errors import UnderstudyError
from understudy.frames.window import Window

RGBA = ("R", "G", "B", "A")


@pytest.fixture
def layered(tmp_path: Path) -> str:
    return read_row(tmp_path, "LAYERS", [[1, 2, 3, 0.5, 5, 6, 7, 8, 9]], LAYERED)


@pytest.fixture
def other(tmp_path: Path) -> str:
    return read_row(tmp_path, "OTHER", [[70, 80, 90]], ("R", "A", "diffuse.R"))


@pytest.mark.parametrize(
    ("knobs", "values"),
    [
        ("", [1, 2, 3, 0.5]),
        ("red alpha green alpha blue alpha alpha white", [0.5, 0.5, 0.5, 1]),
        ("red blue blue red green black", [3, 0, 1, 0.5]),
        ("red 3 green {5} blue {{parent.LAYERS.first+1}}", [0.5, 1, 3, 0.5]),  # counted from red: 0
        ("in alpha", [0.5, 0.5, 0.5, 0.5]),  # a layer of one channel fills all
        ("in depth", [5, 5, 5, 5]),
        ("in mask red black", [0, 9, 9, 9]),
        ("in depth green red blue red alpha red", [5, 5, 5, 5]),
        ("in diffuse alpha black", [6, 7, 8, 0]),
        ("in diffuse", [6, 7, 8, 0]),
        ("in rgb", [1, 2, 3, 0]),
        ("in none alpha white", [0, 0, 0, 1]),
        ("in {rgba.red -rgba.green rgba.blue none}", [1, 0, 3, 0]),
        ("in forward blue black alpha black", [0, 0, 0, 0]),
        ("in rgb in2 alpha alpha red2", [1, 2, 3, 0.5]),
        ("in depth in2 alpha alpha red2", [5, 5, 5, 0.5]),
        ("in none in2 rgba alpha alpha2 red blue2", [3, 0, 0, 0.5]),
        ("out rgb alpha white red green", [2, 2, 3, 0.5]),
        ("in alpha out alpha red white", [1, 2, 3, 1]),
        ("in alpha out alpha red black", [1, 2, 3, 0]),
        ("out {-rgba.red -rgba.green rgba.blue none} blue red", [1, 2, 1, 0.5]),
        ("out none red black", [1, 2, 3, 0.5]),
    ],
)
def test_shuffle(layered: str, knobs: str, values: list[float]) -> None:
    assert shown(f"{layered}Shuffle {{ {knobs} }}", *RGBA) == values


def test_shuffle_into_other_layers(layered: str) -> None:
    text = layered + "Shuffle { in rgba out diffuse red green }"
    assert shown(text, "diffuse.R", "diffuse.G", "diffuse.alpha", "R") == [2, 2, 0, 1]
    assert shown(layered + "Shuffle { in rgb out depth red blue }", "Z", "R") == [3, 1]
    assert shown(layered + "Shuffle { out sky red green }", "sky.red", "sky.green", "sky.alpha", "R") == [2, 2, 0.5, 1]
    stated = "add_layer {sky sky.u sky.v}\n" + layered + "Shuffle { out sky red green }"
    assert shown(stated, "sky.u", "sky.v", "sky.red") == [2, 2, 0]


def test_the_second_layer_has_rows_that_are_called_after_what_a_row_can_be(layered: str) -> None:
    """As scripts of Nuke 6 to 11 have it: black white red2 green2 are red green blue alpha of `out2`."""
    both = layered + "Shuffle { in2 depth alpha red2 black alpha out2 depth }"
    assert shown(both, "R", "A", "Z") == [1, 5, 0.5]
    kept = layered + "Shuffle { in2 depth alpha red2 out2 depth }"
    assert shown(kept, "R", "A", "Z") == [1, 5, 5]
    four = layered + "Shuffle { in none black red white green red2 blue green2 alpha out2 diffuse }"
    assert shown(four, "R", "diffuse.R", "diffuse.B") == [0, 0, 0]
    swapped = layered + "Shuffle { black blue white green red2 red out2 diffuse }"
    assert shown(swapped, "R", "diffuse.R", "diffuse.G", "diffuse.B") == [1, 3, 2, 1]
    later = layered + "Shuffle { in2 depth black red2 out2 alpha alpha white }"
    assert shown(later, "R", "A") == [1, 5]


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        ("red reds", "knob red is 'reds', which is none of red, green, blue, alpha, black, white, red2"),
        ("red 10", "knob red is '10', which is none of"),
        ("in specular", "knob in is 'specular', of which the channels are not known"),
        ("in2 {rgba.red diffuse}", "knob in2 is 'rgba.red diffuse', of which the channels are not known"),
        ("out all", "knob out is 'all', of which the channels are not known"),
        ("in {[exec id]}", r"knob in holds '\[exec', which is not a channel or layer"),
        ("in {{parent.Shuffle2.in}}", "knob in refers to 'parent.Shuffle2.in', and there is no 'Shuffle2'"),
    ],
)
def test_shuffles_that_cannot_be_evaluated_are_named(layered: str, knobs: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=rf"Shuffle1 \(Shuffle\), line 2: {what}"):
        pull(f"{layered}Shuffle {{ {knobs} }}")


@pytest.mark.parametrize(
    ("knobs", "values"),
    [
        ("", [1, 2, 3, 80, 6]),  # the alpha of input 1 over input 0
        ("red red green green blue blue", [70, 0, 0, 80, 6]),
        ("red red alpha alpha2", [70, 2, 3, 0.5, 6]),
        ("red alpha2 green alpha blue black alpha white", [0.5, 80, 0, 1, 6]),
        ("alpha alpha2 black red white green red2 blue green2 alpha out2 diffuse", [1, 2, 3, 0.5, 70]),
        ("in2 none red red out diffuse", [1, 2, 3, 0.5, 70]),
        ("in alpha red red out alpha", [1, 2, 3, 80, 6]),
        ("in diffuse red red alpha alpha2", [90, 2, 3, 0.5, 6]),
        ("in2 alpha red red2 alpha alpha2", [0.5, 0.5, 0.5, 0.5, 6]),
        ("out none out2 none", [1, 2, 3, 0.5, 6]),
    ],
)
def test_shuffle_copy(layered: str, other: str, knobs: str, values: list[float]) -> None:
    assert shown(f"{other}{layered}ShuffleCopy {{ inputs 2 {knobs} }}", *RGBA, "diffuse.R") == values


def test_shuffle_copy_needs_both_and_joins_their_boxes(layered: str, tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match=r"ShuffleCopy1 \(ShuffleCopy\), line 3: nothing is connected to its inp"):
        pull("push 0\n" + layered + "ShuffleCopy { inputs 2 }")
    matte = read_row(tmp_path, "MATTE", [[1]] * 5, ("A",)) + "Crop { box {0 0 2 1} }\n"
    plate = read_row(tmp_path, "PLATE", [[2]] * 5, ("R",)) + "Crop { box {1 0 4 1} }\n"
    both = pull(f"{matte}{plate}ShuffleCopy {{ inputs 2 }}", channels=("R", "A"))
    assert both.data_window == Window(0, 0, 4, 1)
    assert both.pixels[0].tolist() == [[0, 1], [2, 1], [2, 0], [2, 0]]
    kept = f"{matte}{plate}ShuffleCopy {{ inputs 2 alpha alpha2 }}"
    assert pull(kept).data_window == Window(1, 0, 4, 1)


def test_shuffle2_follows_its_mappings(layered: str, other: str) -> None:
    luma = 'Shuffle2 { fromInput1 {{0} B} fromInput2 {{0} B} mappings "3 rgba.green 0 1 rgba.red 0 0 depth.Z 1 0 '
    one = layered + luma + 'rgba.blue 0 2 white -1 -1 rgba.alpha 0 3" }'
    assert shown(one, *RGBA, "Z") == [2, 2, 5, 1, 5]
    two = (
        'Shuffle2 { inputs 2 fromInput2 {{1} B A} mappings "2 rgba.red 1 0 rgba.red 0 0 rgba.red 0 0 rgba.green 0 1" }'
    )
    assert shown(other + layered + two, "R", "G", "B") == [70, 1, 3]
    assert shown(other + layered + two.replace("{1} B A", "{0} B A"), "R", "G", "B") == [1, 1, 3]


def test_shuffle2_as_a_gizmo_has_it_takes_colour_from_a_and_alpha_from_b(layered: str, other: str) -> None:
    text = (
        "Shuffle2 {\n inputs 2\n fromInput1 {{1} B A}\n fromInput2 {{0} B A}\n in2 rgba\n mappings "
        '"4 rgba.red 0 0 rgba.red 0 0 rgba.green 0 1 rgba.green 0 1 rgba.blue 0 2 rgba.blue 0 2 '
        'rgba.alpha 1 3 rgba.alpha 0 3"\n}'
    )
    assert shown(other + layered + text, *RGBA) == [70, 0, 0, 0.5]


def test_shuffle2_without_mappings_changes_nothing(layered: str) -> None:
    assert shown(layered + "Shuffle2 { fromInput1 {{0} B} }", *RGBA, "Z") == [1, 2, 3, 0.5, 5]


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        ("in1 depth", "knob mappings is left out, and what it is with in1 is not known"),
        ("mappings {2 rgba.red 0 0 rgba.red 0 0}", "knob mappings is '2 rgba.red 0 0 rgba.red 0 0', which is not"),
        ("mappings {1 red 0 0 rgba.red 0 0}", "knob mappings is"),
        ("mappings {1 rgba.red 7 0 rgba.red 0 0}", "knob mappings is"),
        ("fromInput1 {{0} C}", r"knob fromInput1 is '\{0\} C' in place of A or B"),
        ("fromInput1 {{2} B A}", r"knob fromInput1 is '\{2\} B A' in place of A or B"),
        ("fromInput1 B", "knob fromInput1 is 'B' in place of A or B"),
        ("fromInput1 {{1} B A}", "nothing is connected to its input 1"),
    ],
)
def test_mappings_that_cannot_be_evaluated_are_named(layered: str, knobs: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=rf"Shuffle21 \(Shuffle2\), line 2: {what}"):
        pull(f"{layered}Shuffle2 {{ {knobs} }}")


def test_copy(layered: str, other: str) -> None:
    both = other + layered + "Copy { inputs 2 %s }"
    assert shown(both % "", "R", "A", "diffuse.R") == [1, 80, 6]
    assert shown(both % "from0 rgba.red to0 depth.Z from1 alpha.nothing to1 none", "Z", "A") == [70, 0.5]
    assert shown(both % "from0 rgba.red from1 rgba.alpha to1 rgba.green", "A", "G") == [70, 80]
    assert shown(both % "from0 rgba.none to0 none channels diffuse", "diffuse.R", "diffuse.G", "A") == [90, 7, 0.5]
    assert shown(both % "from0 -rgba.alpha to0 -rgba.alpha channels rgb", "R", "G", "A") == [70, 2, 0.5]
    assert shown(both % "from0 rgba.red to0 matte.x", "matte.x", "A") == [70, 0.5]
    assert shown(both % "channels all from0 -rgba.alpha", "R", "G", "A", "diffuse.R", "Z") == [70, 2, 80, 90, 5]
    with pytest.raises(UnderstudyError, match=r"Copy1 \(Copy\), line 3: nothing is connected to its input 1"):
        pull("push 0\n" + layered + "Copy { inputs 2 }")
    with pytest.raises(UnderstudyError, match=r"Copy1 \(Copy\), line 3: knob from0 names 2 channels in place of 1"):
        pull(both % "from0 {rgba.red rgba.green}")
    with pytest.raises(UnderstudyError, match=r"Copy1 \(Copy\), line 3: knob unpremult set to 'alpha' cannot be eval"):
        pull(both % "unpremult alpha")


def test_copy_is_mixed_and_masked(layered: str, other: str, tmp_path: Path) -> None:
    mask = read_row(tmp_path, "MASK", [[0.25, 0.5]], ("R", "A"))
    copied = "Copy { inputs %s from1 rgba.red to1 rgba.red %s }"
    assert shown(other + layered + copied % ("2", "mix 0.25"), "R", "G", "A") == [1 + 69 / 4, 2, 0.5 + 79.5 / 4]
    three = mask + other + layered
    assert shown(three + copied % ("2+1", ""), "R", "A") == [35.5, 40.25]
    assert shown(three + copied % ("2+1", "maskChannelMask rgba.red"), "R", "A") == [1 + 69 / 4, 0.5 + 79.5 / 4]
    assert shown(three + copied % ("2+1", "maskChannelMask rgba.red invert_mask true mix 0.5"), "R") == [26.875]
    assert shown(three + copied % ("2+1", "maskChannelMask -rgba.alpha"), "R", "A") == [70, 80]
    assert shown(three + copied % ("2+1", "maskChannelInput rgba.alpha maskChannelMask rgba.red"), "R") == [35.5]
    assert shown(three + copied % ("2+1", "mix 0"), "R", "A") == [1, 0.5]


def test_copy_joins_the_boxes_as_it_is_told(tmp_path: Path) -> None:
    matte = read_row(tmp_path, "MATTE", [[1]] * 5, ("A",)) + "Crop { box {0 0 2 1} }\n"
    plate = read_row(tmp_path, "PLATE", [[2]] * 5, ("R",)) + "Crop { box {1 0 4 1} }\n"
    copied = pull(f"{matte}{plate}Copy {{ inputs 2 }}", channels=("R", "A"))
    assert copied.data_window == Window(0, 0, 4, 1)
    assert copied.pixels[0].tolist() == [[0, 1], [2, 1], [2, 0], [2, 0]]
    assert pull(f"{matte}{plate}Copy {{ inputs 2 bbox B }}").data_window == Window(1, 0, 4, 1)


def test_copy_bbox_keeps_the_pixels_and_takes_the_box(tmp_path: Path) -> None:
    plate = read_row(tmp_path, "PLATE", [[1], [2], [3], [4], [5]], ("R",))
    small = read_row(tmp_path, "SMALL", [[9, 9]] * 5, ("R", "A")) + "Crop { box {2 0 4 1} }\n"
    large = read_row(tmp_path, "LARGE", [[9]] * 5, ("R",)) + "Crop { box {-1 -1 6 1} }\n"
    cut = pull(small + plate + "CopyBBox { inputs 2 }")
    assert (cut.data_window, cut.display_window, cut.channels) == (Window(2, 0, 4, 1), Window(0, 0, 5, 1), ("R",))
    assert cut.pixels[0, :, 0].tolist() == [3, 4]
    grown = pull(large + plate + "CopyBBox { inputs 2 }")
    assert grown.data_window == Window(-1, 0, 6, 2)
    assert grown.pixels[..., 0].tolist() == [[0, 1, 2, 3, 4, 5, 0], [0] * 7]
    empty = small + "Crop { box {9 9 10 10} intersect true }\n"
    assert pull(empty + plate + "CopyBBox { inputs 2 }").data_window.is_empty
    with pytest.raises(UnderstudyError, match=r"CopyBBox1 \(CopyBBox\), line 3: nothing is connected to its input 1"):
        pull("push 0\n" + plate + "CopyBBox { inputs 2 }")


def test_added_channels_are_of_one_colour_and_leave_the_others_alone(layered: str, tmp_path: Path) -> None:
    plate = read_row(tmp_path, "PLATE", [[1, 2]], ("R", "G"))
    added = plate + "AddChannels { channels %s color {0.1 0.2 0.3 0.4} %s }"
    assert shown(added % ("rgba", ""), *RGBA) == [1, 2, 0.3, 0.4]
    assert shown(added % ("{-rgba.red -rgba.green -rgba.blue rgba.alpha}", ""), *RGBA) == [1, 2, 0, 0.4]
    assert shown(added % ("alpha", "channels2 depth channels3 forward"), "A", "Z", "forward.v", "B") == [0.4] * 3 + [0]
    evaluator, last = evaluator_of(plate + "AddChannels { channels rgba channels4 mask }")
    assert evaluator.channels(last) == ("R", "G", "B", "A", "mask.a")
    assert shown(plate + "AddChannels { channels rgba }", *RGBA) == [1, 2, 0, 0]
    assert shown(layered + "AddChannels { channels all }", *RGBA) == [1, 2, 3, 0.5]
    moving = plate + "AddChannels { channels alpha color {{curve L x0 0 x4 4}} }"
    assert pull(moving, 3, ("A",)).pixels[0, 0, 0] == 3


def test_layers_that_are_added_are_known_from_the_script_or_refused(tmp_path: Path) -> None:
    plate = read_row(tmp_path, "PLATE", [[1, 2]], ("R", "G"))
    text = "add_layer {sky sky.x sky.y}\nadd_layer {sky sky.z}\n" + plate + "AddChannels { channels sky color 0.5 }"
    assert shown(text, "sky.x", "sky.z", "sky.red") == [0.5, 0.5, 0]
    with pytest.raises(
        UnderstudyError, match=r"AddChannels1 \(AddChannels\), line 2: knob channels names 'sky', of wh"
    ):
        pull(plate + "AddChannels { channels sky color 0.5 }")
    assert shown(plate + "AddChannels { channels sky }", "R", "sky.x") == [1, 0]


def test_added_channels_may_fill_the_format(tmp_path: Path) -> None:
    plate = read_row(tmp_path, "PLATE", [[1]] * 4, ("R",)) + "Crop { box {1 0 3 1} }\n"
    added = plate + "AddChannels { channels alpha color 1 %s }"
    assert pull(added % "").data_window == Window(1, 0, 3, 1)
    filled = pull(added % "format_size true", channels=("R", "A"))
    assert filled.data_window == Window(0, 0, 4, 1)
    assert filled.pixels[0].tolist() == [[0, 1], [1, 1], [1, 1], [0, 1]]


def test_remove_as_older_scripts_call_its_operation(layered: str) -> None:
    assert shown(layered + "Remove { action keep channels rgb }", *RGBA, "Z") == [1, 2, 3, 0, 0]
    kept = "Remove { operation keep channels {rgba.red rgba.green -rgba.blue none} channels2 {-depth.Z} }"
    assert shown(layered + kept, *RGBA, "Z") == [1, 2, 0, 0, 0]


NODES = {
    "shuffle": "Shuffle { in alpha red white }",
    "shuffle copy": "ShuffleCopy { inputs 2 red red }",
    "shuffle2": 'Shuffle2 { inputs 2 fromInput1 {{1} B A} mappings "1 rgba.alpha 0 3 rgba.red 0 0" }',
    "copy": "Copy { inputs 2 mix 0.5 channels rgb bbox intersection }",
    "copy masked": "Copy { inputs 2 channels rgb maskChannelInput rgba.green }",
    "box": "CopyBBox { inputs 2 }",
    "added": "AddChannels { channels depth color 0.5 format_size true }",
}


@pytest.mark.parametrize("node", NODES.values(), ids=NODES)
def test_regions_are_parts_of_the_whole(tmp_path: Path, node: str) -> None:
    other = read_grid(tmp_path, "OTHER", 1) + "Crop { box {-2 1 4 9} }\n"
    assert_regions_are_parts(other + read_grid(tmp_path, "PLATE", 2) + "Crop { box {1 -1 9 4} }\n" + node)


def test_rows_of_several_pixels_keep_their_order(tmp_path: Path) -> None:
    plate = read_row(tmp_path, "PLATE", [[1, 10], [2, 20], [3, 30]], ("R", "A"))
    assert row(plate + "Shuffle { red alpha }") == [10, 20, 30]
