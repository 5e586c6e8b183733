"""MergeExpression against Python's own arithmetic, pixel by pixel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.core.script.fixtures import evaluator_of, pull
from tests.core.script.plates import assert_regions_are_cut_out, noise, plate

from understudy.errors import UnderstudyError
from understudy.frames.window import Window

Pixel = tuple[float, ...]


def _a() -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """H W 4, other numbers than those of B."""
    return np.ascontiguousarray(noise(3, 4)[::-1, ::-1] + 0.25)


@pytest.fixture
def inputs(tmp_path: Path) -> str:
    """A (input 1), then B on top of it (input 0)."""
    return plate(tmp_path, _a(), name="a") + plate(tmp_path, noise(3, 4), name="b")


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("Ar + Br", lambda a, b: a[0] + b[0]),
        ("Ag*Bb - Aa", lambda a, b: a[1] * b[2] - a[3]),
        ("Ar/Ba", lambda a, b: a[0] / b[3]),
        ("A.r - B.g", lambda a, b: a[0] - b[1]),
        ("A.alpha + B.red*10", lambda a, b: a[3] + b[0] * 10),
        ("(1-a)*Aa+a", lambda a, b: (1 - b[3]) * a[3] + b[3]),
        ("max(0, r+Ar)", lambda a, b: max(0, b[0] + a[0])),
        ("Argba.green + Brgba.b", lambda a, b: a[1] + b[2]),
        ("Ar>Br ? frame : width", lambda a, b: 3 if a[0] > b[0] else 4),
    ],
)
def test_names_tell_the_inputs_apart(inputs: str, text: str, made: Callable[[Pixel, Pixel], float]) -> None:
    node = f'{inputs}MergeExpression {{ inputs 2 expr0 "{text}" }}'
    image = pull(node, 3)
    over, below = _a().tolist(), noise(3, 4).tolist()
    expected = [[made(over[row][column], below[row][column]) for column in range(4)] for row in range(3)]
    np.testing.assert_allclose(image.pixels[..., 0], expected, rtol=1e-5)
    np.testing.assert_array_equal(image.pixels[..., 1:], noise(3, 4)[..., 1:])


def test_variables_and_places(inputs: str) -> None:
    node = 'MergeExpression { inputs 2 temp_name0 Al temp_expr0 "Ar*2" temp_name1 b temp_expr1 y expr0 Al+b+x }'
    expected = _a()[..., 0] * 2 + np.array([[2], [1], [0]]) + np.arange(4)
    np.testing.assert_allclose(pull(inputs + node).pixels[..., 0], expected, rtol=1e-5)


def test_other_layers(tmp_path: Path) -> None:
    names = ("R", "G", "B", "matte.a")
    text = plate(tmp_path, _a(), names, name="a") + plate(tmp_path, noise(3, 4), ("R", "A", "around.R", "Z"), name="b")
    node = 'MergeExpression { inputs 2 expr0 "Amatte.a + around.red + Bdepth.Z" channel3 alpha expr3 "Aa + Bg" }'
    image = pull(text + node)
    assert image.channels == ("R", "A", "Z", "around.R")
    a, b = _a(), noise(3, 4)
    np.testing.assert_allclose(image.pixels[..., 0], a[..., 3] + b[..., 2] + b[..., 3], rtol=1e-5)
    assert not image.pixels[..., 1].any()  # A has no alpha and B no green: both are black
    np.testing.assert_array_equal(image.pixels[..., 2:], b[..., [3, 2]])


def test_mask_and_mix(tmp_path: Path) -> None:
    mask = plate(tmp_path, np.full((3, 4, 1), 0.5, np.float32), ("A",), name="mask")
    pair = plate(tmp_path, _a(), name="a") + plate(tmp_path, noise(3, 4), name="b")
    node = "MergeExpression {{ inputs 2{} expr0 Ar mix 0.5 {} }}"
    a, b = _a()[..., 0], noise(3, 4)[..., 0]
    shown = pull(mask + pair + node.format("+1", "")).pixels[..., 0]
    np.testing.assert_allclose(shown, b + (a - b) * 0.25, atol=1e-6)
    own = pull(pair + node.format("", "maskChannelInput rgba.green")).pixels[..., 0]
    np.testing.assert_allclose(own, b + (a - b) * 0.5 * noise(3, 4)[..., 1], atol=1e-6)


@pytest.mark.parametrize("expression", ["Ar+Br", "Ar*Br", "Ar+1"])
def test_windows(tmp_path: Path, expression: str) -> None:
    """Both pictures' pixels are there; what makes something of black fills B's format, too."""
    over = plate(tmp_path, _a(), at=(5, 2), display=Window(0, 0, 30, 30), name="a")
    below = plate(tmp_path, noise(3, 4), at=(-1, 1), display=Window(0, 0, 8, 6), name="b")
    text = f'{over}{below}MergeExpression {{ inputs 2 expr0 "{expression}" }}'
    image = pull(text)
    both = Window(-1, 1, 9, 5)
    assert image.display_window == Window(0, 0, 8, 6)
    assert image.data_window == (both.union(Window(0, 0, 8, 6)) if expression == "Ar+1" else both)
    assert_regions_are_cut_out(text, image)
    empty = over + below.rstrip() + "\nCrop { box {90 90 91 91} intersect true }\nMergeExpression { inputs 2 expr0 Ar }"
    np.testing.assert_array_equal(pull(empty).over(Window(5, 2, 9, 5))[..., 0], _a()[..., 0])


def test_not_a_number_stays_where_it_is(tmp_path: Path) -> None:
    over, below = _a(), noise(3, 4)
    over[1, 1], below[2, 2] = np.nan, np.inf
    text = plate(tmp_path, over, name="a") + plate(tmp_path, below, name="b")
    shown = pull(text + "MergeExpression { inputs 2 expr0 Ar+Br }").pixels[..., 0]
    np.testing.assert_allclose(shown, over[..., 0] + below[..., 0], rtol=1e-5)


@pytest.mark.parametrize(
    ("node", "what"),
    [
        ("MergeExpression { expr0 Br }", "nothing is connected to its input 1; connect it or delete the node"),
        ("MergeExpression { inputs 2 expr0 Ar(0,0) }", r"knob expr0 holds the function Ar\(\) in"),
        ("MergeExpression { inputs 2 expr1 Agarbage }", "knob expr1 refers to 'Agarbage', and there is no"),
        ("MergeExpression { inputs 2 expr1 Amatte.a }", "knob expr1 refers to 'Amatte.a', and there is no"),
        ("MergeExpression { inputs 2 expr0 Ar unpremult rgba.alpha }", "knob unpremult set to 'rgba.alpha' cannot be"),
    ],
)
def test_what_cannot_be_evaluated_is_named(inputs: str, node: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=what) as fault:
        _prepare(inputs + node)
    assert "MergeExpression1 (MergeExpression), line 3: " in str(fault.value)
    assert "\n" not in str(fault.value)


def _prepare(text: str) -> None:
    """What is done with a script before any pixel."""
    evaluator, last = evaluator_of(text)
    evaluator.check([last])
    evaluator.channels(last)
