"""Posterize against steps found by counting; what it shares with all nodes of colour: test_colour_behaviour."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.core.script.filter_fixtures import read
from tests.core.script.fixtures import evaluator_of, pull, write_exr

from understudy.errors import UnderstudyError
from understudy.frames.window import Window


def _row(text: str, frame: int = 1) -> list[float]:
    return [float(value) for value in pull(text, frame).pixels[0, :, 0]]


@pytest.mark.parametrize(
    ("knobs", "expected"),
    [
        # halves: up to 1/2 black, up to 1 white, then on in steps of 1
        ("Colors 2", [-2, -1, 0, 0, 0, 1, 1, 1, 2, 3]),
        # quarters: each span has its upper end
        ("Colors 4", [-4 / 3, -1 / 3, 0, 0, 1 / 3, 2 / 3, 2 / 3, 1, 4 / 3, 7 / 3]),
        ("Colors {{frame+3}}", [-4 / 3, -1 / 3, 0, 0, 1 / 3, 2 / 3, 2 / 3, 1, 4 / 3, 7 / 3]),
        ("Colors 4 mix 0", [-1, -0.25, 0, 0.25, 0.5, 0.625, 0.75, 1, 1.25, 2]),
    ],
)
def test_values_become_few(tmp_path: Path, knobs: str, expected: list[float]) -> None:
    values = [[-1, -0.25, 0, 0.25, 0.5, 0.625, 0.75, 1, 1.25, 2]]
    row = _row(read(tmp_path, "Row", values) + f"Posterize {{ channels rgb {knobs} }}")
    np.testing.assert_allclose(row, expected, atol=1e-6)


@pytest.mark.parametrize("count", [2, 3, 7, 17, 64])
def test_as_many_values_as_are_asked_for_evenly_from_black_to_white(tmp_path: Path, count: int) -> None:
    ramp = np.random.default_rng(3).random((1, 1500))
    row = _row(read(tmp_path, "Ramp", ramp) + f"Posterize {{ channels rgb Colors {count} }}")
    ends = [Fraction(step, count) for step in range(1, count)]  # between spans
    below = [sum(Fraction(float(value)) > end for end in ends) for value in ramp[0].astype(np.float32)]
    np.testing.assert_allclose(row, [step / (count - 1) for step in below], atol=1e-6)
    assert len(set(row)) == count


def test_what_is_no_number_stays_what_it_is(tmp_path: Path) -> None:
    row = _row(read(tmp_path, "Row", [[np.nan, np.inf, -np.inf, 0.3]]) + "Posterize { channels rgb Colors 2 }")
    np.testing.assert_array_equal(row, [np.nan, np.inf, -np.inf, 0])


def test_black_fills_no_format(tmp_path: Path) -> None:
    cropped = read(tmp_path, "Grey", np.full((6, 8), 0.6)) + "Crop { box {2 2 5 4} }\n"
    image = pull(cropped + "Posterize { channels rgb Colors 3 }")
    assert (image.data_window, image.display_window) == (Window(2, 2, 5, 4), Window(0, 0, 8, 6))
    np.testing.assert_array_equal(image.pixels, 0.5)


def test_alpha_needs_to_be_named(tmp_path: Path) -> None:
    write_exr(tmp_path / "a.exr", np.full((1, 1, 4), 0.6, np.float32), tuple("RGBA"))
    plate = f'Read {{ file "{tmp_path.as_posix()}/a.exr" }}\n'
    np.testing.assert_array_equal(pull(plate + "Posterize { channels rgba Colors 3 }").pixels[0, 0], [0.5] * 4)
    colours = pull(plate + "Posterize { channels rgb Colors 3 }").pixels[0, 0]
    np.testing.assert_array_equal(colours, np.array([0.5, 0.5, 0.5, 0.6], np.float32))
    with pytest.raises(UnderstudyError, match=r"Posterize1 \(Posterize\), line 2: knob channels is left out"):
        pull(plate + "Posterize { Colors 3 }")


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        ("", "knob Colors is left out, and what it is then is not known"),
        ("Colors 1", "knob Colors is 1, and makes no steps; make it 2 or more"),
        ("Colors 0", "knob Colors is 0, and makes no steps"),
        ("Colors -4", "knob Colors is -4, and makes no steps"),
        ("Colors 2.5", "knob Colors is 2.5, not a whole number"),
        ("Colors {4 4 8 4}", "knob Colors holds '4 4 8 4', which is not understood"),
        ("Colors 4 fringe true", "knob fringe set to 'true' cannot be evaluated"),
    ],
)
def test_knobs_that_cannot_be_evaluated_are_named(tmp_path: Path, knobs: str, what: str) -> None:
    evaluator, last = evaluator_of(read(tmp_path, "Grey", [[0.5]]) + f"Posterize {{ {knobs} }}")
    with pytest.raises(UnderstudyError, match=rf"Posterize1 \(Posterize\), line 2: {what}.*render the node first"):
        evaluator.check([last])
