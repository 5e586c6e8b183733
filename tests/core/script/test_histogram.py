"""Histogram by our reading: against values worked out by hand, one after the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.core.script.fixtures import pull, write_exr

from understudy.errors import UnderstudyError
from understudy.frames.window import Window

VALUES = (-0.5, 0.0, 0.1, 0.2, 0.3, 0.5, 0.9, 1.0, 4.0)


@pytest.fixture
def plate(tmp_path: Path) -> str:
    row = np.repeat(np.array(VALUES, np.float32)[None, :, None], 4, axis=2)
    write_exr(tmp_path / "a.exr", row, tuple("RGBA"))
    return f'Read {{ file "{tmp_path.as_posix()}/a.exr" }}\n'


def _red(text: str, frame: int = 1) -> list[float]:
    return [float(value) for value in pull(text, frame, ("R",)).pixels[0, :, 0]]


@pytest.mark.parametrize(
    ("knobs", "expected"),
    [
        ("", [0, 0, 0.1, 0.2, 0.3, 0.5, 0.9, 1, 1]),
        ("in {0.1 1 0.5}", [0, 0, 0, 0.25, 0.5, 1, 1, 1, 1]),
        ("in {0.1 0.5 0.5}", [0, 0, 0, 0.5, 0.5**0.5, 1, 1, 1, 1]),
        ("in {0.1 2 0.5}", [0, 0, 0, 0.0625, 0.25, 1, 1, 1, 1]),
        ("out {0.2 0.7}", [0.2, 0.2, 0.25, 0.3, 0.35, 0.45, 0.65, 0.7, 0.7]),
        ("in {0.1 0.5 0.5} out {1 0}", [1, 1, 1, 0.5, 1 - 0.5**0.5, 0, 0, 0, 0]),
        ("in {1 1 0}", [1, 1, 0.9, 0.8, 0.7, 0.5, 0.1, 0, 0]),
    ],
)
def test_levels(plate: str, knobs: str, expected: list[float]) -> None:
    assert _red(f"{plate}Histogram {{ channels rgb {knobs} }}") == pytest.approx(expected, abs=1e-6)
    alpha = pull(f"{plate}Histogram {{ channels rgb {knobs} }}", 1, ("A",)).pixels[0, :, 0]
    np.testing.assert_array_equal(alpha, np.array(VALUES, np.float32))


def test_levels_may_move_and_fill_the_format_where_black_is_lifted(plate: str) -> None:
    text = plate + "Histogram { channels rgb in {0 1 {frame/4}} }"
    assert _red(text, 2) == pytest.approx([0, 0, 0.2, 0.4, 0.6, 1, 1, 1, 1], abs=1e-6)
    cropped = plate + "Crop { box {1 0 3 1} }\nHistogram { channels rgb %s }"
    assert pull(cropped % "").data_window == Window(1, 0, 3, 1)
    lifted = pull(cropped % "out {0.25 1}", 1, ("R", "A"))
    assert lifted.data_window == Window(0, 0, 9, 1)
    assert lifted.pixels[0, 0].tolist() == [0.25, 0]


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        ("channels rgb in {0.5 1 0.5}", "knob in has black and white at 0.5, which leaves no picture; set one"),
        ("channels rgb in {0 0 1}", "knob in has the midtone 0; set it above 0"),
        ("channels rgb in {0 1}", "knob in has 2 values in place of 1 or 3"),
        ("", "knob channels is left out, and whether that means A, too, is not known"),
    ],
)
def test_what_cannot_be_evaluated_is_named(plate: str, knobs: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=rf"Histogram1 \(Histogram\), line 2: {what}"):
        pull(f"{plate}Histogram {{ {knobs} }}")
