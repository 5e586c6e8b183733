"""Merge2, Dissolve, Premult, Unpremult and plain arithmetic against values worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.core.script.fixtures import evaluator_of, pull, write_exr

from understudy.errors import UnderstudyError
from understudy.frames.window import Window

A, B = (0.8, 0.4), (0.5, 0.9)
"""Red and alpha of the two inputs, each one pixel."""


def _read(folder: Path, name: str, pixels: list[list[float]], channels: tuple[str, ...]) -> str:
    write_exr(folder / f"{name}.exr", np.array([pixels], np.float32), channels)
    return f'Read {{ inputs 0 file "{folder.as_posix()}/{name}.exr" name {name} }}\n'


def _inputs(folder: Path, over: tuple[float, float], under: tuple[float, float]) -> str:
    """Input 1, then input 0, which is popped first."""
    return _read(folder, "OVER", [[*over]], ("R", "A")) + _read(folder, "UNDER", [[*under]], ("R", "A"))


def _first(text: str, frame: int = 1) -> list[float]:
    evaluator, last = evaluator_of(text)
    evaluator.check([last])
    return [float(value) for value in evaluator.pull(last, frame, ("R", "A")).pixels[0, 0]]


@pytest.mark.parametrize(
    ("operation", "red", "alpha"),
    [
        ("atop", 0.8 * 0.9 + 0.5 * 0.6, 0.4 * 0.9 + 0.9 * 0.6),
        ("average", 0.65, 0.65),
        ("color-burn", 1 - 0.5 / 0.8, 1 - 0.1 / 0.4),
        ("color-dodge", 1, 1),
        ("conjoint-over", 0.8 + 0.5 * (1 - 0.4 / 0.9), 0.4 + 0.9 * (1 - 0.4 / 0.9)),
        ("copy", 0.8, 0.4),
        ("difference", 0.3, 0.5),
        ("disjoint-over", 0.8 + 0.5 * 0.6 / 0.9, 0.4 + 0.9 * 0.6 / 0.9),
        ("exclusion", 0.8 + 0.5 - 0.8, 0.4 + 0.9 - 0.72),
        ("from", -0.3, 0.5),
        ("hard-light", 0.8 + 0.5 - 0.4, 0.4 * 0.9),
        ("hypot", (0.64 + 0.25) ** 0.5, (0.16 + 0.81) ** 0.5),
        ("in", 0.8 * 0.9, 0.4 * 0.9),
        ("mask", 0.5 * 0.4, 0.9 * 0.4),
        ("matte", 0.8 * 0.4 + 0.5 * 0.6, 0.4 * 0.4 + 0.9 * 0.6),
        ("max", 0.8, 0.9),
        ("min", 0.5, 0.4),
        ("minus", 0.3, -0.5),
        ("multiply", 0.4, 0.36),
        ("out", 0.8 * 0.1, 0.4 * 0.1),
        ("over", 0.8 + 0.5 * 0.6, 0.4 + 0.9 * 0.6),
        ("overlay", 0.8 + 0.5 - 0.4, 0.4 + 0.9 - 0.36),
        ("plus", 1.3, 1.3),
        ("screen", 0.8 + 0.5 - 0.4, 0.4 + 0.9 - 0.36),
        ("stencil", 0.5 * 0.6, 0.9 * 0.6),
        ("under", 0.8 * 0.1 + 0.5, 0.4 * 0.1 + 0.9),
        ("xor", 0.8 * 0.1 + 0.5 * 0.6, 0.4 * 0.1 + 0.9 * 0.6),
    ],
)
def test_merge_operations(tmp_path: Path, operation: str, red: float, alpha: float) -> None:
    merged = _inputs(tmp_path, A, B) + f"Merge2 {{ inputs 2 operation {operation} %s }}"
    np.testing.assert_allclose(_first(merged % ""), [red, alpha], rtol=1e-5)
    np.testing.assert_allclose(_first(merged % "mix 0.25"), [0.375 + red / 4, 0.675 + alpha / 4], rtol=1e-5)
    np.testing.assert_allclose(_first(merged % "output rgb"), [red, 0.9], rtol=1e-5)


@pytest.mark.parametrize(
    ("operation", "over", "under", "red"),
    [
        ("multiply", (-2, 1), (-3, 1), -2),
        ("screen", (1.5, 1), (0.5, 1), 1.5),
        ("screen", (-0.5, 1), (-1, 1), -0.5),
        ("conjoint-over", (2, 0.5), (7, 0.25), 2),
        ("disjoint-over", (2, 0.5), (7, 0.25), 9),
        ("disjoint-over", (2, 1), (0, 0), 2),
        ("difference", (1, 1), (3, 1), 2),
        ("color-burn", (0.25, 1), (0.5, 1), 0),
        ("color-burn", (0, 1), (0.5, 1), 0),
        ("color-burn", (0, 1), (1, 1), 0),
        ("color-burn", (-0.5, 1), (0.5, 1), -0.5),
        ("color-burn", (1, 1), (0.375, 1), 0.375),
        ("color-burn", (0.3, 1), (1, 1), 1),
        ("color-burn", (0.5, 1), (2, 1), 3),
        ("color-dodge", (0.5, 1), (0.25, 1), 0.5),
        ("color-dodge", (0, 1), (0.625, 1), 0.625),
        ("color-dodge", (0.9, 1), (0, 1), 0),
        ("color-dodge", (1, 1), (0.5, 1), 1),
        ("color-dodge", (1, 1), (0, 1), 1),
        ("color-dodge", (2.5, 1), (0.5, 1), 2.5),
        ("color-dodge", (-1, 1), (0.5, 1), 0.25),
        ("color-dodge", (0, 1), (3, 1), 1),
    ],
)
def test_merge_operations_at_their_limits(
    tmp_path: Path, operation: str, over: tuple[float, float], under: tuple[float, float], red: float
) -> None:
    merged = _inputs(tmp_path, over, under) + f"Merge2 {{ inputs 2 operation {operation} }}"
    assert _first(merged)[0] == pytest.approx(red)


def test_merge_without_a_is_b_and_a_mask_lets_it_through(tmp_path: Path) -> None:
    both = _inputs(tmp_path, A, B)
    single = "push 0\n" + _read(tmp_path, "UNDER", [[*B]], ("R", "A"))
    np.testing.assert_allclose(_first(single + "Merge2 { inputs 2 }"), B, rtol=1e-6)
    mask = _read(tmp_path, "MASK", [[0.25, 0.5]], ("R", "A"))
    half = [(0.5 + 1.3) / 2, (0.9 + 1.3) / 2]
    np.testing.assert_allclose(_first(mask + both + "Merge2 { inputs 2+1 operation plus }"), half, rtol=1e-6)
    quarter = [0.5 * 0.75 + 1.3 * 0.25, 0.9 * 0.75 + 1.3 * 0.25]
    masked = mask + both + "Merge2 { inputs 2+1 operation plus maskChannelMask rgba.red }"
    np.testing.assert_allclose(_first(masked), quarter, rtol=1e-6)


def test_an_input_and_a_mask_are_not_taken_for_one_another(tmp_path: Path) -> None:
    other = _read(tmp_path, "OTHER", [[*A]], ("R", "A"))
    under = "set N1 [stack 0]\n" + _read(tmp_path, "UNDER", [[*B]], ("R", "A")) + "set N2 [stack 0]\n"
    merges = (
        "Merge2 { inputs 2 operation plus name M1 }\npush $N1\npush 0\npush $N2\nMerge2 { inputs 2+1 operation plus }"
    )
    evaluator, last = evaluator_of(other + under + merges)
    first = next(node for node in evaluator.script.nodes if node.name == "M1")
    np.testing.assert_allclose(evaluator.pull(first, 1, ("R", "A")).pixels[0, 0], [1.3, 1.3], rtol=1e-6)
    np.testing.assert_allclose(evaluator.pull(last, 1, ("R", "A")).pixels[0, 0], B, rtol=1e-6)


def test_merge_takes_other_layers_from_b_unless_they_are_merged_too(tmp_path: Path) -> None:
    over = _read(tmp_path, "OVER", [[1, 0.5, 10, 100]], ("R", "A", "Z", "mask.a"))
    under = _read(tmp_path, "UNDER", [[2, 1, 20]], ("R", "A", "Z"))
    for also, depth, channels in (
        ("", 20, "RAZ"),
        ("also_merge depth", 10 + 20 * 0.5, "RAZ"),
        ("also_merge all", 20, "RAZm"),
    ):
        evaluator, last = evaluator_of(f"{over}{under}Merge2 {{ inputs 2 {also} }}")
        assert [name[0] for name in evaluator.channels(last)] == list(channels)
        shown = evaluator.pull(last, 1, ("Z", "R", "mask.a")).pixels[0, 0]
        assert shown.tolist() == [20 if also == "also_merge all" else depth, 2, 100 if also == "also_merge all" else 0]


@pytest.mark.parametrize(
    ("box", "window", "row"),
    [
        ("union", Window(0, 0, 4, 1), [1, 3, 3, 2]),
        ("intersection", Window(1, 0, 3, 1), [3, 3]),
        ("A", Window(0, 0, 3, 1), [1, 3, 3]),
        ("B", Window(1, 0, 4, 1), [3, 3, 2]),
    ],
)
def test_merge_boxes(tmp_path: Path, box: str, window: Window, row: list[float]) -> None:
    over = _read(tmp_path, "OVER", [[1]] * 5, ("R",)) + "Crop { box {0 0 3 1} }\n"
    under = _read(tmp_path, "UNDER", [[2]] * 5, ("R",)) + "Crop { box {1 0 4 1} }\n"
    merged = pull(f"{over}{under}Merge2 {{ inputs 2 operation plus bbox {box} }}")
    assert merged.data_window == window
    assert merged.display_window == Window(0, 0, 5, 1)
    assert merged.pixels[0, :, 0].tolist() == row


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        ("inputs 2 operation 30", "knob operation is '30', which is none of atop, average"),
        ("inputs 2 Achannels diffuse", "knob Achannels is 'diffuse', of which the channels are not known"),
        ("inputs 2 output rgba.alpha", "knob output is 'rgba.alpha', of which the channels are not known"),
        ("inputs 2 screen_alpha true", "knob screen_alpha set to 'true' cannot be evaluated"),
        ("inputs 2 sRGB true", "knob sRGB set to 'true' cannot be evaluated"),
        ("inputs 2 maskChannel rgba.red", "knob maskChannel set to 'rgba.red' cannot be evaluated"),
        ("inputs 3", "has 3 inputs, more than are evaluated"),
    ],
)
def test_merges_that_cannot_be_evaluated_are_named(tmp_path: Path, knobs: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=rf"Merge21 \(Merge2\), line 3: {what}"):
        pull(_inputs(tmp_path, A, B) + f"Merge2 {{ {knobs} }}")


def test_dissolve_goes_from_one_input_to_the_next(tmp_path: Path) -> None:
    """Inputs 0, 1 and 3 are 10, 20 and 40; 2 is the mask."""
    third, second, first = (_read(tmp_path, f"IN{value}", [[value, 1]], ("R", "A")) for value in (40, 20, 10))
    moving = f"{third}push 0\n{second}{first}Dissolve {{ inputs 3+1 which {{{{curve L x0 0 x8 2}}}} }}"
    assert [_first(moving, frame)[0] for frame in (-3, 0, 2, 4, 5, 8, 20)] == [10, 10, 15, 20, 25, 40, 40]
    with pytest.raises(UnderstudyError, match=r"Dissolve1 \(Dissolve\), line 4: has 3 inputs, more than are evaluated"):
        pull(third + second + first + "Dissolve { inputs 3 }")


@pytest.fixture
def layered(tmp_path: Path) -> str:
    channels = ("R", "G", "B", "A", "Z", "diffuse.R", "diffuse.G", "diffuse.B", "mask.a")
    return _read(tmp_path, "LAYERS", [[1, 2, 3, 0.5, 5, 6, 7, 8, 9]], channels)


def _shown(text: str, *channels: str) -> list[float]:
    return [round(float(value), 5) for value in pull(text, channels=channels).pixels[0, 0]]


def test_premult_and_unpremult(layered: str, tmp_path: Path) -> None:
    assert _shown(layered + "Premult {}", "R", "G", "B", "A", "diffuse.R") == [0.5, 1, 1.5, 0.5, 6]
    assert _shown(layered + "Unpremult {}", "R", "G", "B", "A", "diffuse.R") == [2, 4, 6, 0.5, 6]
    assert _shown(layered + "Premult { channels all alpha depth.Z }", "R", "A", "Z", "diffuse.R") == [5, 2.5, 5, 30]
    hole = _read(tmp_path, "HOLE", [[3, 0]], ("R", "A"))
    assert _shown(hole + "Unpremult {}", "R", "A") == [3, 0]
    assert _shown(_read(tmp_path, "OPAQUE", [[3]], ("R",)) + "Premult {}", "R") == [3]
    with pytest.raises(UnderstudyError, match=r"Premult1 \(Premult\), line 2: knob alpha selects 4 channels"):
        pull(layered + "Premult { alpha rgba }")


@pytest.mark.parametrize(
    ("node", "row"),
    [
        ("Multiply { channels rgb value 3 }", [3, 6, 9, 0.5]),
        ("Multiply { channels rgba value {1 2 3 4} }", [1, 4, 9, 2]),
        ("Multiply { channels rgba value {{parent.LAYERS.last+1}} }", [2, 4, 6, 1]),
        ("Add { channels rgba value {0.5 0 0 1} }", [1.5, 2, 3, 1.5]),
        ("Gamma { channels rgb value 2 }", [1, 2**0.5, 3**0.5, 0.5]),
        ("Clamp { channels rgba minimum 0.75 maximum {2 1 9 9} }", [1, 1, 3, 0.75]),
        ("Clamp { channels rgba maximum_enable false }", [1, 2, 3, 0.5]),
        ("Clamp { channels rgb }", [1, 1, 1, 0.5]),
        ("Invert { channels rgba }", [0, -1, -2, 0.5]),
        ("Invert { channels rgba clamp true }", [0, 0, 0, 0.5]),
    ],
)
def test_arithmetic(layered: str, node: str, row: list[float]) -> None:
    np.testing.assert_allclose(_shown(layered + node, "R", "G", "B", "A"), row, atol=1e-5)


def test_arithmetic_on_channels_that_are_no_colour(layered: str) -> None:
    assert _shown(layered + "Multiply { channels all value 2 }", "Z", "mask.a", "diffuse.G", "A") == [10, 18, 14, 1]
    with pytest.raises(UnderstudyError, match=r"Add1 \(Add\), line 2: knob channels selects Z, which is neither"):
        _shown(layered + "Add { channels all value {1 1 1 2} }", "Z")


def test_arithmetic_is_on_all_channels_where_the_script_names_none(tmp_path: Path, layered: str) -> None:
    assert _shown(layered + "Invert {}", "R", "A", "Z", "diffuse.G") == [0, 0.5, -4, -6]
    assert _shown(layered + "Multiply { value 2 }", "B", "A", "mask.a") == [6, 1, 18]
    assert _shown(layered + "Clamp {}", "R", "G", "Z", "A") == [1, 1, 1, 0.5]
    colour = _read(tmp_path, "COLOUR", [[1, 2, 3]], ("R", "G", "B"))
    with pytest.raises(UnderstudyError, match=r"Gamma1 \(Gamma\), line 2: knob value is 0 or less"):
        pull(colour + "Gamma { value 0 }")


@pytest.mark.parametrize(
    ("knobs", "row"),
    [
        # -1, 0.25, 1 and 3; beyond an end stands that end's own value, 0 below and 1 above unless it is stated
        ("MinClampTo_enable true MaxClampTo_enable true minimum 0.5 maximum 2", [0, 0, 1, 1]),
        ("MinClampTo_enable true MinClampTo 7", [7, 0.25, 1, 1]),
        ("MaxClampTo_enable true MaxClampTo {9 8 8 8}", [0, 0.25, 1, 9]),
        ("MaxClampTo_enable true maximum 0", [0, 1, 1, 1]),
        ("minimum_enable false MinClampTo_enable true MinClampTo 7", [-1, 0.25, 1, 1]),
        ("maximum inf", [0, 0.25, 1, 3]),
        ("maximum 1.#INF minimum 0.5", [0.5, 0.5, 1, 3]),
    ],
)
def test_clamp_to_values_of_its_own(tmp_path: Path, knobs: str, row: list[float]) -> None:
    values = _read(tmp_path, "VALUES", [[-1], [0.25], [1], [3]], ("R",))
    assert pull(f"{values}Clamp {{ {knobs} }}").pixels[0, :, 0].tolist() == row
