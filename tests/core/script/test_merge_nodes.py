"""Merge2's channels, several inputs and limits, Merge of old scripts, ChannelMerge, Keymix and Dissolve."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.core.script.fixtures import evaluator_of, numbered_shot, pull
from tests.core.script.rows import LAYERED, assert_regions_are_parts, read_grid, read_row, row, shown

from understudy.errors import UnderstudyError
from understudy.frames.window import Window
from understudy.script.nodes.blends import BLENDS

OVER, UNDER = [0.8, 0.6, 0.4, 0.5], [0.1, 0.2, 0.3, 0.25]
RGBA = ("R", "G", "B", "A")


@pytest.fixture
def pair(tmp_path: Path) -> str:
    """Input 1, then input 0."""
    return read_row(tmp_path, "OVER", [OVER], RGBA) + read_row(tmp_path, "UNDER", [UNDER], RGBA)


def test_operations_are_counted_as_nuke_does(pair: str) -> None:
    """A gizmo has `screen == true ?25:24`, which is screen or plus."""
    for number, name in enumerate(BLENDS):
        if BLENDS[name] is not None:
            texts = (f"{pair}Merge2 {{ inputs 2 operation {stated} }}" for stated in (name, number))
            assert len({tuple(shown(text, *RGBA)) for text in texts}) == 1
    moving = pair + "Merge2 { inputs 2 operation {{frame==1?25:24}} }"
    plus = [round(a + b, 5) for a, b in zip(OVER, UNDER, strict=True)]
    assert shown(moving, *RGBA) == [round(a + b - a * b, 5) for a, b in zip(OVER, UNDER, strict=True)]
    assert pull(moving, 2, RGBA).pixels[0, 0].tolist() == pytest.approx(plus)


@pytest.mark.parametrize(
    ("operation", "a", "b", "red"),
    [
        ("divide", 3, 4, 0.75),
        ("divide", -3, 4, -0.75),
        ("divide", 3, -4, -0.75),
        ("divide", -3, -4, 0),
        ("divide", 3, 0, 0),
        ("divide", 0, 0, 0),
        ("geometric", 3, 1, 1.5),
        ("geometric", 0, 0, 0),
        ("geometric", 2, -2, 0),
        ("soft-light", 0.5, 0.25, 0.25 * (1 + 0.25 * 0.875)),
        ("soft-light", 2, 0.5, 2),
        ("soft-light", 4, 3, 24),
        ("soft-light", -0.5, 0.5, 0.5 * (-1 + 0.5 * 1.25)),
    ],
)
def test_the_remaining_operations(tmp_path: Path, operation: str, a: float, b: float, red: float) -> None:
    inputs = read_row(tmp_path, "A", [[a]], ("R",)) + read_row(tmp_path, "B", [[b]], ("R",))
    assert shown(f"{inputs}Merge2 {{ inputs 2 operation {operation} }}", "R") == [round(red, 5)]


def _scalar_merge(operation: str, A: float, B: float, a: float, b: float) -> float:
    """The formulas of Nuke's guide for one value, written out without arrays."""
    formulas: dict[str, Callable[[], float]] = {
        "atop": lambda: A * b + B * (1 - a),
        "average": lambda: (A + B) / 2,
        "exclusion": lambda: A + B - 2 * A * B,
        "in": lambda: A * b,
        "mask": lambda: B * a,
        "matte": lambda: A * a + B * (1 - a),
        "over": lambda: A + B * (1 - a),
        "out": lambda: A * (1 - b),
        "soft-light": lambda: B * (2 * A + B * (1 - A * B)) if A * B < 1 else 2 * A * B,
        "stencil": lambda: B * (1 - a),
        "under": lambda: A * (1 - b) + B,
        "xor": lambda: A * (1 - b) + B * (1 - a),
    }
    return formulas[operation]()


@pytest.mark.parametrize("operation", ["atop", "matte", "over", "soft-light", "under", "xor", "in", "out", "exclusion"])
def test_every_pixel_of_a_merge(tmp_path: Path, operation: str) -> None:
    inputs = read_grid(tmp_path, "OVER", 3) + read_grid(tmp_path, "UNDER", 4)
    evaluator, last = evaluator_of(f"{inputs}Merge2 {{ inputs 2 operation {operation} }}")
    over, under, merged = (evaluator.pull(node, 1, RGBA).pixels for node in evaluator.script.nodes)
    assert last.class_name == "Merge2"
    for y, x, c in np.ndindex(merged.shape):
        values = (over[y, x, c], under[y, x, c], over[y, x, 3], under[y, x, 3])
        if np.isfinite(values).all():
            expected = _scalar_merge(operation, *map(float, values))
            assert merged[y, x, c] == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(
    ("knobs", "values"),
    [
        ("operation plus output rgb", [0.9, 0.8, 0.7, 0.25]),
        ("operation plus output {-rgba.red rgba.green -rgba.blue none}", [0.1, 0.8, 0.3, 0.25]),
        ("operation plus output none", UNDER),
        ("operation plus Achannels rgb", [0.9, 0.8, 0.7, 0.25]),
        ("operation plus Bchannels none", OVER),
        ("operation plus Achannels none Bchannels none output rgb", [0, 0, 0, 0.25]),
        ("operation plus Achannels alpha Bchannels alpha output alpha", [0.1, 0.2, 0.3, 0.75]),
        # each place for itself: red and alpha of A, its alpha from red
        ("Achannels {rgba.red -rgba.green -rgba.blue rgba.red}", [0.82, 0.04, 0.06, 0.85]),
        ("Achannels rgb", [0.9, 0.8, 0.7, 0.25]),  # no alpha of A: nothing of B is held out
        ("Bchannels {rgba.green rgba.green rgba.green rgba.alpha}", [0.9, 0.7, 0.5, 0.625]),
        ("operation under Bchannels rgb", [0.9, 0.8, 0.7, 0.5]),
        ("operation copy output {rgba.blue rgba.green rgba.red none}", [0.4, 0.6, 0.8, 0.25]),
        ("A {rgba.red rgba.green rgba.blue -rgba.red} operation plus", [0.9, 0.8, 0.7, 0.25]),
        ("operation plus output rgb mix 0.5", [0.5, 0.5, 0.5, 0.25]),
    ],
)
def test_merge_of_some_channels(pair: str, knobs: str, values: list[float]) -> None:
    assert shown(f"{pair}Merge2 {{ inputs 2 {knobs} }}", *RGBA) == [round(value, 5) for value in values]


def test_merge_into_and_from_other_layers(tmp_path: Path) -> None:
    over = read_row(tmp_path, "OVER", [[1, 2, 3, 0.5, 10, 11, 12, 13, 14]], LAYERED)
    under = read_row(tmp_path, "UNDER", [[4, 5, 6, 1, 20]], ("R", "G", "B", "A", "Z"))
    both = over + under + "Merge2 { inputs 2 operation plus %s }"
    colour = "Achannels diffuse output sky"
    assert shown(both % colour, "sky.red", "sky.green", "sky.alpha", "R") == [15, 17, 1, 4]
    depth = "Achannels depth Bchannels depth output depth"
    assert shown(both % depth, "Z", "R", "A") == [30, 4, 1]
    assert shown(both % "Achannels none Bchannels none output none also_merge all", *RGBA, "Z", "mask.a") == [
        *(5, 7, 9, 1.5, 30, 14),
    ]
    evaluator, last = evaluator_of(both % "output none also_merge {diffuse.red depth}")
    assert evaluator.channels(last) == ("R", "G", "B", "A", "Z", "diffuse.R")
    held = "operation over Achannels {rgba.red rgba.green rgba.blue mask.a}"
    assert shown(over + under + f"Merge2 {{ inputs 2 {held} }}", "R") == [1 + 4 * (1 - 14)]


def test_several_pictures_are_merged_in_turn(tmp_path: Path) -> None:
    """A3 over A2 over A over B, the mask between the first two of them."""
    reads = {name: read_row(tmp_path, name, [values], ("R", "A")) for name, values in _PILE.items()}
    pile = reads["A3"] + reads["A2"] + "push 0\n" + reads["A1"] + reads["B"]
    # 0.1 * 0.5 + 0.2 = 0.25, 0.25 * 0.75 + 0.3 = 0.4875, 0.4875 * 0.5 + 0.4 = 0.64375
    assert shown(pile + "Merge2 { inputs 4+1 }", "R", "A") == [0.64375, 1]
    assert shown(pile + "Merge2 { inputs 4+1 operation plus }", "R", "A") == [1, 2.25]
    # A3 - (A2 - (A1 - B))
    assert shown(pile + "Merge2 { inputs 4+1 operation minus }", "R", "A") == [0.2, -0.25]
    assert shown(pile + "Merge2 { inputs 4+1 operation plus output rgb }", "R", "A") == [1, 1]
    # red alone asks for the alpha that the next picture goes under: 0.2 * 0 + 0.1, then 0.3 * 0 ...
    assert shown(pile + "Merge2 { inputs 4+1 operation under }", "R") == [0.1]
    masked = reads["A3"] + reads["A2"] + reads["A1"] + reads["A1"] + reads["B"]
    assert shown(masked + "Merge2 { inputs 4+1 operation plus }", "R") == [0.1 + 0.9 * 0.5]
    missing = "push 0\n" + reads["A2"] + "push 0\npush 0\n" + reads["B"] + "Merge2 { inputs 4+1 operation plus }"
    assert shown(missing, "R", "A") == [0.4, 1.25]


_PILE = {"B": [0.1, 1.0], "A1": [0.2, 0.5], "A2": [0.3, 0.25], "A3": [0.4, 0.5]}


def test_boxes_of_several_pictures(tmp_path: Path) -> None:
    boxes = {"B": "1 0 4 1", "A1": "0 0 2 1", "A2": "3 0 6 1"}
    reads = [
        read_row(tmp_path, name, [[1]] * 6, ("R",)) + f"Crop {{ box {{{box}}} }}\n"
        for name, box in reversed(boxes.items())
    ]
    pile = reads[0] + "push 0\n" + reads[1] + reads[2] + "Merge2 { inputs 3+1 operation plus %s }"
    assert row(pile % "") == [1, 2, 1, 2, 1, 1]
    assert pull(pile % "bbox B").data_window == Window(1, 0, 4, 1)
    assert pull(pile % "bbox intersection").data_window.is_empty
    with pytest.raises(UnderstudyError, match="knob bbox is A, of which it has several"):
        pull(pile % "bbox A")
    with pytest.raises(UnderstudyError, match="knob output differs from Bchannels, and several pictures are merged"):
        pull(pile % "Bchannels alpha")


def test_a_mask_lies_between_the_first_two_pictures(tmp_path: Path, pair: str) -> None:
    """`inputs 2+1` of a saved script: B, A and then the mask."""
    mask = read_row(tmp_path, "MASK", [[0.25, 0.5]], ("R", "A"))
    assert shown(mask + pair + "Merge2 { inputs 2+1 operation plus }", "R") == [0.5]
    assert shown(mask + pair + "Merge2 { inputs 2+1 operation plus maskChannelMask rgba.red }", "R") == [0.3]
    own = mask + pair + "Merge2 { inputs 2+1 operation plus maskChannelInput rgba.blue }"
    assert shown(own, "R", "A") == [round(0.1 + 0.8 * 0.3, 5), 0.4]
    assert shown(mask + pair + "Merge2 { inputs 2+1 operation plus maskChannelMask none }", "R") == [0.9]
    inverted = mask + pair + "Merge2 { inputs 2+1 operation plus maskChannelMask rgba.red invert_mask true mix 0.5 }"
    assert shown(inverted, "R") == [round(0.1 + 0.8 * 0.75 * 0.5, 5)]


def test_the_frame_range_may_be_that_of_a(tmp_path: Path) -> None:
    long, short = (
        f'Read {{ inputs 0 file "{numbered_shot(tmp_path / str(n), range(1, n))}" last {n - 1} }}\n' for n in (9, 4)
    )
    for knobs, span in (("", "1-3"), ("rangeinput A", "1-8"), ("rangeinput {Merge9.rangeinput} metainput A", "1-3")):
        evaluator, last = evaluator_of(f"{long}{short}Merge2 {{ inputs 2 {knobs} }}")
        assert str(evaluator.span(last)) == span


def test_infinities_and_not_a_numbers_go_through_a_merge_as_its_formula_has_it(tmp_path: Path) -> None:
    over = read_row(tmp_path, "OVER", [[np.inf, 1], [np.nan, 0], [1, 0]], ("R", "A"))
    under = read_row(tmp_path, "UNDER", [[2, 1], [3, 1], [np.inf, 1]], ("R", "A"))
    assert np.array_equal(row(over + under + "Merge2 { inputs 2 }"), [np.inf, np.nan, np.inf], equal_nan=True)
    assert np.array_equal(row(over + under + "Merge2 { inputs 2 mix 0 }"), [2, 3, np.inf])


def test_merge_of_old_scripts(pair: str) -> None:
    for operation, red in (("mult", 0.08), ("in", 0.2), ("plus", 0.9), ("from", -0.7), ("over", 0.85)):
        assert shown(f"{pair}Merge {{ inputs 2 operation {operation} }}", "R") == [red]
    some = "Merge { inputs 2 operation plus A rgb B {rgba.red rgba.green rgba.blue -rgba.alpha} output rgb mix 0.5 }"
    assert shown(pair + some, "R", "A") == [0.5, 0.25]
    with pytest.raises(UnderstudyError, match=r"Merge1 \(Merge\), line 3: knob operation is '20', which is none of"):
        pull(pair + "Merge { inputs 2 operation 20 }")


@pytest.mark.parametrize(
    ("knobs", "alpha"),
    [
        ("", 0.5 + 0.25 - 0.125),
        ("operation absminus", 0.25),
        ('operation "b if not a"', 0.5),
        ("operation divide", 2),
        ("operation from", -0.25),
        ("operation in", 0.125),
        ("operation max", 0.5),
        ("operation min", 0.25),
        ("operation minus", 0.25),
        ("operation multiply", 0.125),
        ("operation out", 0.375),
        ("operation plus", 0.75),
        ("operation stencil", 0.125),
        ("operation xor", 0.375 + 0.125),
        ("operation plus A rgba.red", 1.05),
        ("operation plus A rgba.red B rgba.green", 1),
        ("operation plus B none", 0.5),
        ("operation plus A -rgba.green", 0.25),
        ("operation plus mix 0.5", 0.5),
    ],
)
def test_channel_merge(pair: str, knobs: str, alpha: float) -> None:
    assert shown(f"{pair}ChannelMerge {{ inputs 2 {knobs} }}", *RGBA) == [0.1, 0.2, 0.3, round(alpha, 5)]


def test_channel_merge_into_other_channels_and_without_a(tmp_path: Path, pair: str) -> None:
    assert shown(pair + "ChannelMerge { inputs 2 operation plus output rgba.red }", "R", "A") == [0.75, 0.25]
    evaluator, last = evaluator_of(pair + "ChannelMerge { inputs 2 operation plus output depth.Z }")
    assert evaluator.channels(last) == (*RGBA, "Z")
    assert shown(pair + "ChannelMerge { inputs 2 operation plus output depth.Z mix 0.5 }", "Z", "A") == [0.375, 0.25]
    alone = "push 0\n" + pair + "ChannelMerge { inputs 2 operation plus A rgba.red B rgba.green }"
    single = alone.replace("push 0\n", "").replace("inputs 2", "inputs 1")
    assert shown(single, "A") == [0.3]
    assert shown(pair + "ChannelMerge { inputs 2 output none }", *RGBA) == UNDER
    mask = read_row(tmp_path, "MASK", [[0.25, 0.5]], ("R", "A"))
    masked = mask + pair + "ChannelMerge { inputs 2+1 operation plus maskChannelMask rgba.red }"
    assert shown(masked, "A") == [0.25 + 0.5 * 0.25]


def test_channel_merge_of_not_a_numbers_and_boxes(tmp_path: Path) -> None:
    over = read_row(tmp_path, "OVER", [[np.nan], [0], [2]], ("A",)) + "Crop { box {0 0 3 1} }\n"
    under = read_row(tmp_path, "UNDER", [[1], [np.inf], [3]], ("A",)) + "Crop { box {1 0 3 1} }\n"
    both = over + under + 'ChannelMerge { inputs 2 operation "b if not a" %s }'
    assert np.array_equal(row(both % "", "A"), [np.nan, np.inf, 2], equal_nan=True)
    assert row(both % "bbox B", "A") == [np.inf, 2]


def _mixed(tmp_path: Path, mask: list[float]) -> str:
    over = read_row(tmp_path, "OVER", [[10, 20, 0.5, 7]] * len(mask), ("R", "G", "A", "Z"))
    under = read_row(tmp_path, "UNDER", [[2, 4, 1, 3, 5]] * len(mask), ("R", "G", "A", "Z", "mask.a"))
    return read_row(tmp_path, "MASK", [[1 - value, value] for value in mask], ("R", "A")) + over + under


def test_keymix(tmp_path: Path) -> None:
    """Mask values below 0 and above 1 are held, as the developer kit's example has it."""
    mixed = _mixed(tmp_path, [-1, 0, 0.25, 1, 3, np.nan]) + "Keymix { inputs 3 %s }"
    assert row(mixed % "") == [2, 2, 4, 10, 10, 10]
    assert row(mixed % "mix 0.5") == [2, 2, 3, 6, 10, 10]
    assert row(mixed % "invertMask true")[:5] == [10, 10, 8, 2, 2]
    assert row(mixed % "maskChannel rgba.red")[:5] == [10, 10, 8, 2, 2]
    assert row(mixed % "maskChannel -rgba.alpha") == [2] * 6
    assert row(mixed % "maskChannel none invertMask true") == [10] * 6
    assert row(mixed % "maskChannel depth.Z") == [2] * 6
    assert row(mixed % "mix 0") == [2] * 6


def test_keymix_of_some_channels(tmp_path: Path) -> None:
    mixed = _mixed(tmp_path, [0.5]) + "Keymix { inputs 3 %s }"
    assert shown(mixed % "", "R", "A", "Z", "mask.a") == [6, 0.75, 5, 2.5]
    assert shown(mixed % "channels rgb", "R", "A", "Z", "mask.a") == [6, 1, 3, 5]
    assert shown(mixed % "channels {rgba.red -rgba.green rgba.blue none}", "R", "G") == [6, 4]


def test_keymix_without_a_mask_or_an_input(tmp_path: Path) -> None:
    mixed = _mixed(tmp_path, [0.5])
    reads = mixed.splitlines(keepends=True)
    without = "push 0\n" + "".join(reads[1:]) + "Keymix { inputs 3 %s }"
    assert shown(without % "", "R") == [2]
    assert shown(without % "invertMask true", "R") == [10]
    with pytest.raises(UnderstudyError, match=r"Keymix1 \(Keymix\), line 4: nothing is connected to its input 1"):
        pull(reads[0] + "push 0\n" + reads[2] + "Keymix { inputs 3 }")


@pytest.mark.parametrize(
    ("knobs", "window", "pixels"),
    [
        ("", Window(0, 0, 5, 1), [10, 10, 2, 2, 2]),
        ("bbox B", Window(1, 0, 5, 1), [10, 2, 2, 2]),
        ("bbox 1", Window(1, 0, 5, 1), [10, 2, 2, 2]),
        ("bbox A", Window(0, 0, 3, 1), [10, 10, 2]),
        ("invertMask true", Window(0, 0, 5, 1), [0, 2, 10, 0, 0]),
    ],
)
def test_keymix_boxes(tmp_path: Path, knobs: str, window: Window, pixels: list[float]) -> None:
    """A fills 0 to 2, B 1 to 4, the mask 0 and 1 of five pixels."""
    parts = {"MASK": ("0 0 2 1", [1.0, 1]), "OVER": ("0 0 3 1", [10.0, 1]), "UNDER": ("1 0 5 1", [2.0, 1])}
    reads = "".join(
        read_row(tmp_path, name, [pixel] * 5, ("R", "A")) + f"Crop {{ box {{{box}}} }}\n"
        for name, (box, pixel) in parts.items()
    )
    image = pull(f"{reads}Keymix {{ inputs 3 {knobs} }}", channels=("R",))
    assert image.data_window == window
    assert image.pixels[0, :, 0].tolist() == pixels


def test_dissolve_of_some_channels_and_with_a_mask(tmp_path: Path) -> None:
    mask = read_row(tmp_path, "MASK", [[0.25, 0.5]], ("R", "A"))
    second, first = (read_row(tmp_path, f"IN{red}", [[red, alpha]], ("R", "A")) for red, alpha in ((20, 1), (10, 0.5)))
    assert shown(second + first + "Dissolve { inputs 2 which 0.5 channels rgb }", "R", "A") == [15, 0.5]
    assert shown(second + first + "Dissolve { inputs 2 which 1 channels alpha }", "R", "A") == [10, 1]
    masked = mask + second + first + "Dissolve { inputs 2+1 which %s }"
    assert shown(masked % "1", "R", "A") == [15, 0.75]
    assert shown(masked % "1 maskChannelMask rgba.red invert_mask true", "R", "A") == [17.5, 0.875]
    assert shown(masked % "0.5 maskChannelMask -rgba.alpha", "R") == [15]
    assert shown(masked % "1 maskChannelInput rgba.alpha", "R") == [15]


def test_dissolve_asks_only_for_what_is_seen(tmp_path: Path) -> None:
    first = f'Read {{ inputs 0 file "{numbered_shot(tmp_path, range(1, 4))}" last 3 }}\n'
    second = f'Read {{ inputs 0 file "{numbered_shot(tmp_path / "short", range(1, 2))}" last 3 }}\n'
    text = second + first + "Dissolve { inputs 2 which {{frame==1}} %s }"
    evaluator, last = evaluator_of(text % "")
    assert [len(evaluator.files(last, frame)) for frame in (1, 2, 3)] == [1, 1, 1]
    evaluator, last = evaluator_of(text % "channels rgb")
    assert [len(evaluator.files(last, frame)) for frame in (1, 2)] == [2, 1]


NODES = {
    "merge": "Merge2 { inputs 2 operation over bbox B }",
    "merge of some": "Merge2 { inputs 2 operation screen output rgb mix 0.5 maskChannelInput rgba.green }",
    "divide": "Merge2 { inputs 2 operation divide }",
    "channel merge": "ChannelMerge { inputs 2 operation stencil A rgba.red }",
    "keymix": "Keymix { inputs 3 invertMask true mix 0.75 }",
    "dissolve": "Dissolve { inputs 2 which 0.25 }",
    "dissolve of some": "Dissolve { inputs 2 which 0.25 channels rgb }",
    "masked dissolve": "Dissolve { inputs 2+1 which 0.75 }",
    "masked merge": "Merge2 { inputs 2+1 operation under bbox intersection }",
    "three": "Merge2 { inputs 3+1 operation minus }",
}


@pytest.mark.parametrize("node", NODES.values(), ids=NODES)
def test_regions_are_parts_of_the_whole(tmp_path: Path, node: str) -> None:
    grids = [
        read_grid(tmp_path, f"IN{number}", number) + f"Crop {{ box {{{box}}} }}\n"
        for number, box in enumerate(("0 0 7 5", "-1 1 3 8", "2 -2 9 4", "1 1 6 4"))
    ]
    assert_regions_are_parts("".join(grids) + node)


@pytest.mark.parametrize(
    "node",
    [
        "Merge2 { inputs 2 operation plus maskChannelInput alpha }",
        "Merge2 { inputs 2 }",
        "Copy { inputs 2 maskChannelInput alpha }",
        "ChannelMerge { inputs 2 maskChannelInput alpha }",
        "Dissolve { inputs 2 which 0.5 maskChannelInput alpha }",
        "ShuffleCopy { inputs 2 }",
        "CopyBBox { inputs 2 }",
        "Keymix { inputs 3 }",
        "AddChannels { channels depth color 1 }",
        "Ramp { p0 {0 0} p1 {1 0} maskChannelInput alpha }",
    ],
)
def test_tall_trees_fit_on_the_stack(tmp_path: Path, node: str) -> None:
    other = read_row(tmp_path, "OTHER", [[1, 0.5]], ("R", "A")) + "set N1 [stack 0]\n"
    plate = read_row(tmp_path, "PLATE", [[2, 1]], ("R", "A"))
    level = f"set N2 [stack 0]\npush $N1\npush $N1\npush $N2\n{node}\n"
    assert pull(other + plate + level * 149).pixels.shape[:2] == (1, 1)
