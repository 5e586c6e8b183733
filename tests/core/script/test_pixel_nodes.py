"""Grade, Crop and Remove against values worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.core.script.fixtures import evaluator_of, numbered_shot, pull, write_exr

from understudy.errors import UnderstudyError
from understudy.frames.window import Window

VALUES = (-0.5, 0.0, 0.25, 0.5, 2.0)
"""Red, green, blue and alpha of the five pixels of `strip` alike."""


@pytest.fixture
def strip(tmp_path: Path) -> str:
    write_exr(
        tmp_path / "a.exr", np.repeat(np.array([[VALUES]], np.float32).reshape(1, 5, 1), 4, axis=2), tuple("RGBA")
    )
    return f'Read {{ file "{(tmp_path / "a.exr").as_posix()}" }}\n'


def _graded(strip: str, knobs: str, channel: int = 0) -> list[float]:
    return [float(value) for value in pull(f"{strip}Grade {{ {knobs} }}").pixels[0, :, channel]]


@pytest.mark.parametrize(
    ("knobs", "expected"),
    [
        ("", [0, 0, 0.25, 0.5, 2]),
        ("black_clamp false", list(VALUES)),
        ("white_clamp true", [0, 0, 0.25, 0.5, 1]),
        ("multiply 2", [0, 0, 0.5, 1, 4]),
        ("add 0.1 black_clamp false", [-0.4, 0.1, 0.35, 0.6, 2.1]),
        # A = (0.9 - 0.2) / (0.6 - 0.1) = 1.4, B = 0.2 - 1.4 * 0.1 = 0.06
        ("blackpoint 0.1 whitepoint 0.6 black 0.2 white 0.9", [0, 0.06, 0.41, 0.76, 2.86]),
        # A = 3 * 1.4 = 4.2, B = 0.05 + 0.2 - 4.2 * 0.1 = -0.17
        ("blackpoint 0.1 whitepoint 0.6 black 0.2 white 0.9 multiply 3 add 0.05", [0, 0, 0.88, 1.93, 8.23]),
        # a power up to 1, its tangent 1 + (v - 1) / 2 above, nothing below 0
        ("gamma 2 black_clamp false", [-0.5, 0, 0.5, 0.5**0.5, 1.5]),
        ("gamma 0.5 black_clamp false", [-0.5, 0, 0.0625, 0.25, 3]),
        ("reverse true black_clamp false gamma 2", [-0.5, 0, 0.0625, 0.25, 3]),
        ("reverse true black_clamp false multiply 2 add 0.5", [-0.5, -0.25, -0.125, 0, 0.75]),
        ("reverse true multiply 2 add 0.5", [0, 0, 0, 0, 0.75]),
        ("multiply 2 mix 0.25", [-0.375, 0, 0.3125, 0.625, 2.5]),
        ("multiply 2 mix 0", list(VALUES)),
        ("multiply {{curve 2}}", [0, 0, 0.5, 1, 4]),
        ("multiply {2 1 1 1}", [0, 0, 0.5, 1, 4]),
        ("multiply {{curve x1 2} 1 1 1}", [0, 0, 0.5, 1, 4]),
        ("channels {-rgba.red rgba.green rgba.blue} multiply 2", list(VALUES)),
        ("channels alpha multiply 2", list(VALUES)),
        ("channels red multiply 2", [0, 0, 0.5, 1, 4]),
    ],
)
def test_grade_of_red(strip: str, knobs: str, expected: list[float]) -> None:
    np.testing.assert_allclose(_graded(strip, knobs), expected, atol=1e-5)


def test_grade_keeps_to_its_channels_and_their_values(strip: str) -> None:
    knobs = "multiply {1 2 3 4} black_clamp false"
    for channel, factor in enumerate((1, 2, 3, 1)):
        np.testing.assert_allclose(_graded(strip, knobs, channel), np.array(VALUES) * factor, atol=1e-5)
    np.testing.assert_allclose(_graded(strip, knobs + " channels rgba", 3), np.array(VALUES) * 4, atol=1e-5)
    np.testing.assert_allclose(_graded(strip, knobs + " channels all", 3), np.array(VALUES) * 4, atol=1e-5)


def test_grade_is_undone_by_its_reverse(strip: str) -> None:
    knobs = "blackpoint 0.03 whitepoint 1.3 black {0.1 0.2 0.05 0} white 0.8 add -0.02 gamma 1.7 black_clamp 0"
    twice = pull(f"{strip}Grade {{ {knobs} }}\nGrade {{ {knobs} reverse true }}\n")
    np.testing.assert_allclose(twice.pixels[0, :, 0], VALUES, atol=1e-5)


def test_grade_that_lifts_black_fills_the_format(strip: str) -> None:
    cropped = strip + "Crop { box {1 0 3 1} }\n"
    assert pull(cropped + "Grade { multiply 2 }").data_window == Window(1, 0, 3, 1)
    lifted = pull(cropped + "Grade { add 0.25 }")
    assert lifted.data_window == Window(0, 0, 5, 1)
    np.testing.assert_allclose(lifted.pixels[0, :, 0], [0.25, 0.25, 0.5, 0.25, 0.25], atol=1e-6)
    np.testing.assert_allclose(lifted.pixels[0, :, 3], [0, 0, 0.25, 0, 0], atol=1e-6)


def test_grade_leaves_infinities_and_not_a_numbers_to_themselves(tmp_path: Path) -> None:
    write_exr(tmp_path / "a.exr", np.array([[[np.inf], [np.nan], [1.0]]], np.float32), ("R",))
    graded = pull(f'Read {{ file "{tmp_path.as_posix()}/a.exr" }}\nGrade {{ gamma 2 multiply 2 mix 0.5 }}\n').pixels[
        0, :, 0
    ]
    assert graded[0] == np.inf
    assert np.isnan(graded[1])
    assert graded[2] == pytest.approx(1.25)


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        ("inject true", "knob inject set to 'true' cannot be evaluated"),
        ("unpremult rgba", r"knob unpremult selects 4 channels \(R, G, B, A\); choose one"),
        ("maskChannelInput rgb", r"knob maskChannelInput selects 3 channels \(R, G, B\); choose one"),
        ("gamma 0", "knob gamma is 0 or less"),
        ("gamma {{curve x1 0 x9 2}}", "knob gamma is 0 or less"),
        ("gamma {{curve}}", "knob gamma is a curve without a key"),
        ("gamma {{parent.Grade2.gamma}}", "knob gamma refers to 'parent.Grade2.gamma', and there is no 'Grade2'"),
        ("gamma {1 2}", "knob gamma has 2 values in place of 1 or 4"),
        ("gamma {[python {__import__('os').getpid()}]}", "knob gamma holds"),
        ("gamma nan", "knob gamma refers to 'nan', and there is no 'nan'"),
        ("multiply 1e400", "knob multiply holds '1e400' where a number is needed"),
        ("reverse maybe", "knob reverse refers to 'maybe', and there is no 'maybe'"),
        ("channels {[exec rm -rf /]}", "knob channels holds"),
        ("mix {}", "knob mix holds '' where a number is needed"),
    ],
)
def test_grade_knobs_that_cannot_be_evaluated_are_named(strip: str, knobs: str, what: str) -> None:
    with pytest.raises(
        UnderstudyError, match=rf"Grade1 \(Grade\), line 2: {what}.*; bake it, or render the node first"
    ):
        pull(f"{strip}Grade {{ {knobs} }}")


@pytest.fixture
def plate(tmp_path: Path) -> str:
    """4 x 3 pixels of frame + x/10 + (row from the bottom)/100."""
    return f'Read {{ file "{numbered_shot(tmp_path, range(1, 2))}" }}\n'


def _red(text: str) -> list[list[float]]:
    return [[round(float(value), 4) for value in row] for row in pull(text, channels=("R",)).pixels[..., 0]]


def test_crop_counts_from_the_lower_left(plate: str) -> None:
    image = pull(plate + "Crop { box {1 0 3 2} }")
    assert image.display_window == Window(0, 0, 4, 3)
    assert image.data_window == Window(1, 1, 3, 3)
    assert _red(plate + "Crop { box {1 0 3 2} }") == [[1.11, 1.21], [1.1, 1.2]]


def test_crop_with_reformat_moves_the_box_to_the_corner(plate: str) -> None:
    image = pull(plate + "Crop { box {1 1 4 3} reformat true }")
    assert image.display_window == image.data_window == Window(0, 0, 3, 2)
    assert _red(plate + "Crop { box {1 1 4 3} reformat true }") == [[1.12, 1.22, 1.32], [1.11, 1.21, 1.31]]
    twice = plate + "Crop { box {1 1 4 3} reformat true }\nCrop { box {0 0 2 1} reformat true }"
    assert _red(twice) == [[1.11, 1.21]]


def test_crop_beyond_the_picture(plate: str) -> None:
    assert pull(plate + "Crop { box {-1 -1 2 1} }").data_window == Window(-1, 2, 2, 4)
    assert _red(plate + "Crop { box {-1 -1 2 1} }") == [[0, 1, 1.1], [0, 0, 0]]
    assert pull(plate + "Crop { box {-1 -1 2 1} intersect true }").data_window == Window(0, 2, 2, 3)
    assert pull(plate + "Crop { box {9 9 12 12} intersect true }").data_window.is_empty


def test_crop_without_black_outside_repeats_the_edges(plate: str) -> None:
    text = plate + "Crop { box {1 1 3 2} crop false }"
    assert pull(text).data_window == Window(0, 0, 4, 3)
    assert _red(text) == [[1.11, 1.11, 1.21, 1.21]] * 3
    assert _red(plate + "Crop { box {9 9 12 12} intersect true crop false }") == []


def test_crops_follow_one_another(tmp_path: Path) -> None:
    numbered_shot(tmp_path, range(1, 2), width=6, height=5)
    read = f'Read {{ file "{tmp_path.as_posix()}/plate.0001.exr" }}\n'
    shifted = read + "Crop { box {2 1 6 5} }\nCrop { box {2 1 5 3} reformat true }\n"
    assert _red(shifted) == [[1.22, 1.32, 1.42], [1.21, 1.31, 1.41]]


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        ("box {0 0 2 2} softness 3", "knob softness set to '3' cannot be evaluated"),
        ("box {0 0 2.5 2}", "knob box is 0 0 2.5 2, which cuts pixels"),
        ("box {2 0 2 2}", "knob box is 2 0 2 2, which holds no pixel"),
        ("box {0 0 2}", "knob box has 3 values in place of x y r t"),
        ("box {0 0 1e9 1e9}", "knob box is 0 0 1000000000 1000000000, over 65536 pixels"),
        ("box {0 0 65536 65536}", "knob box is 0 0 65536 65536, over 65536 pixels, or 268435456 in all"),
        ("box {-2000000000 0 -1999999990 5}", "knob box lies far outside the format"),
        ("box {{parent.Crop2.box.x} 0 2 2}", "knob box refers to 'parent.Crop2.box.x', and there is no 'Crop2'"),
        ("", "knob box is 0 0 0 0, which holds no pixel"),
    ],
)
def test_crop_knobs_that_cannot_be_evaluated_are_named(plate: str, knobs: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=rf"Crop1 \(Crop\), line 2: {what}"):
        pull(f"{plate}Crop {{ {knobs} }}")


@pytest.fixture
def layered(tmp_path: Path) -> str:
    channels = ("R", "G", "B", "A", "Z", "diffuse.R", "diffuse.G", "diffuse.B", "mask.a")
    write_exr(tmp_path / "a.exr", np.arange(9, dtype=np.float32).reshape(1, 1, 9), channels)
    return f'Read {{ file "{tmp_path.as_posix()}/a.exr" }}\n'


@pytest.mark.parametrize(
    ("knobs", "left"),
    [
        ("", []),
        ("channels alpha", ["R", "G", "B", "Z", "diffuse.R", "diffuse.G", "diffuse.B", "mask.a"]),
        ("operation keep channels rgb", ["R", "G", "B"]),
        ("operation 1 channels rgba", ["R", "G", "B", "A"]),
        ("operation keep channels depth channels2 {rgba.red -rgba.green}", ["R", "Z"]),
        (
            "operation keep channels diffuse channels3 mask channels4 {rgba.alpha none}",
            ["A", "diffuse.R", "diffuse.G", "diffuse.B", "mask.a"],
        ),
        ("operation keep channels diffuse.green", ["diffuse.G"]),
        ("operation keep channels none", []),
        ("channels {-rgba.red -rgba.green -rgba.blue rgba.alpha} channels2 diffuse", ["R", "G", "B", "Z", "mask.a"]),
    ],
)
def test_remove(layered: str, knobs: str, left: list[str]) -> None:
    evaluator, last = evaluator_of(f"{layered}Remove {{ {knobs} }}")
    assert sorted(evaluator.channels(last)) == sorted(left)
    image = pull(f"{layered}Remove {{ {knobs} }}", channels=("R", "A"))
    assert [float(value) for value in image.pixels[0, 0]] == [0.0, 3.0 if "A" in left else 0.0]


def test_remove_names_an_unknown_operation(layered: str) -> None:
    with pytest.raises(
        UnderstudyError, match=r"Remove1 \(Remove\), line 2: knob operation is 'drop', which is none of"
    ):
        pull(layered + "Remove { operation drop }")
