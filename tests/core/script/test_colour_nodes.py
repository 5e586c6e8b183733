"""Saturation, HueShift, ColorMatrix and ColorCorrect against values worked out by hand or by plain loops."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.core.script.fixtures import pull, write_exr

from understudy.errors import UnderstudyError
from understudy.frames.window import Window

PIXELS = ((0.8, 0.4, 0.2, 0.5), (-0.25, 0.5, 2.0, 1.0), (0.02, 0.05, 0.03, 0.0), (0.0, 0.0, 0.0, 0.25))
REC709 = (0.2125, 0.7154, 0.0721)


@pytest.fixture
def plate(tmp_path: Path) -> str:
    write_exr(tmp_path / "a.exr", np.array([PIXELS], np.float32), tuple("RGBA"))
    return f'Read {{ file "{tmp_path.as_posix()}/a.exr" }}\n'


def _row(text: str) -> list[list[float]]:
    return [[float(value) for value in pixel] for pixel in pull(text, channels=("R", "G", "B", "A")).pixels[0]]


def _luma(pixel: tuple[float, ...], weights: tuple[float, ...] = REC709) -> float:
    return math.fsum(value * weight for value, weight in zip(pixel[:3], weights, strict=True))


@pytest.mark.parametrize("saturation", [0.0, 0.5, 1.0, 2.5, -1.0])
@pytest.mark.parametrize(
    ("mode", "weights"),
    [
        ("", REC709),
        ('mode "Rec 709"', REC709),
        ('mode "Ccir 601"', (0.299, 0.587, 0.114)),
        ("mode Average", (1 / 3, 1 / 3, 1 / 3)),
        ("mode 1", (0.299, 0.587, 0.114)),
    ],
)
def test_saturation(plate: str, mode: str, weights: tuple[float, ...], saturation: float) -> None:
    expected = [
        [*(saturation * value + (1 - saturation) * _luma(pixel, weights) for value in pixel[:3]), pixel[3]]
        for pixel in PIXELS
    ]
    np.testing.assert_allclose(_row(f"{plate}Saturation {{ saturation {saturation} {mode} }}"), expected, atol=1e-6)


def test_saturation_by_the_largest(plate: str) -> None:
    assert _row(plate + "Saturation { saturation 0 mode Maximum }")[0] == pytest.approx([0.8, 0.8, 0.8, 0.5])
    assert _row(plate + "Saturation { saturation 0.5 mode Maximum }")[1] == pytest.approx([0.875, 1.25, 2, 1])


def test_one_colour_is_changed_by_all_three(plate: str) -> None:
    """Green alone is selected, asked for alone, and depends on the others."""
    text = plate + "Saturation { saturation 0 channels {-rgba.red rgba.green -rgba.blue} }"
    assert _row(text)[0][:3] == pytest.approx([0.8, _luma(PIXELS[0]), 0.2])
    assert pull(text, channels=("G",)).pixels[0, 0, 0] == pytest.approx(_luma(PIXELS[0]))
    assert pull(text, channels=("A", "R")).pixels[0, 0].tolist() == pytest.approx([0.5, 0.8])


def test_each_layer_has_its_own_luminance(tmp_path: Path) -> None:
    """A layer without green and blue has none of them in its luminance."""
    names = ("R", "G", "B", "diffuse.B", "diffuse.G", "diffuse.R", "key.R", "Z")
    write_exr(tmp_path / "a.exr", np.array([[[0.8, 0.4, 0.2, 1, 2, 3, 10, 7]]], np.float32), names)
    text = f'Read {{ file "{tmp_path.as_posix()}/a.exr" }}\nSaturation {{ saturation 0 channels all }}'
    assert set(pull(text).channels) == set(names)
    shown = pull(text, channels=("R", "diffuse.R", "diffuse.G", "key.R", "Z")).pixels[0, 0]
    assert shown.tolist() == pytest.approx([_luma((0.8, 0.4, 0.2)), _luma((3, 2, 1)), _luma((3, 2, 1)), 2.125, 7])


def test_hueshift_scales_saturation_and_brightness(plate: str) -> None:
    light = _luma(PIXELS[0])
    expected = [2 * (light + 0.5 * (value - light)) for value in PIXELS[0][:3]]
    assert _row(plate + "HueShift { saturation 0.5 brightness 2 }")[0][:3] == pytest.approx(expected)
    for knobs in ("ingray {0.5 0.25 0.25}", "outgray 1"):
        with pytest.raises(UnderstudyError, match=rf"HueShift1 \(HueShift\), line 2: knob {knobs.split()[0]} set to"):
            pull(f"{plate}HueShift {{ {knobs} }}")


XZ = ((0.4123908, 0.3575843, 0.1804808), (0.0193308, 0.1191948, 0.9505322))
"""X and Z of red, green and blue with the primaries of sRGB under D65."""


def _turned(pixel: tuple[float, ...], degrees: float) -> list[float]:
    """By our reading: Y stays, and what X and Z are more than those of a grey of that Y turns."""
    light = _luma(pixel)
    x, z = (math.fsum(w * value for w, value in zip(row, pixel[:3], strict=True)) - sum(row) * light for row in XZ)
    angle = math.radians(degrees)
    x, z = x * math.cos(angle) + z * math.sin(angle), z * math.cos(angle) - x * math.sin(angle)
    wanted = [x + sum(XZ[0]) * light, light, z + sum(XZ[1]) * light]
    return [float(value) for value in np.linalg.solve(np.array([XZ[0], REC709, XZ[1]]), wanted)]


@pytest.mark.parametrize("degrees", [0.0, 10.0, -35.0, 120.0, 360.0])
def test_hueshift_turns_colours_about_grey(plate: str, degrees: float) -> None:
    shown = np.array(_row(f"{plate}HueShift {{ hue_rotation {degrees} }}"))
    np.testing.assert_allclose(shown[:, :3], [_turned(pixel, degrees) for pixel in PIXELS], atol=2e-5)
    np.testing.assert_array_equal(shown[:, 3], np.array(PIXELS, np.float32)[:, 3])
    assert [_luma(tuple(pixel)) for pixel in shown] == pytest.approx([_luma(pixel) for pixel in PIXELS], abs=1e-5)


def test_a_turned_hue_is_saturated_and_lit_too_and_may_move(plate: str) -> None:
    plain = np.array([_turned(pixel, 50) for pixel in PIXELS])
    light = np.array([[_luma(pixel)] for pixel in PIXELS])
    text = plate + "HueShift { hue_rotation {{frame*10}} saturation 0.4 brightness 1.5 }"
    shown = pull(text, 5, ("R", "G", "B")).pixels[0]
    np.testing.assert_allclose(shown, (light + (plain - light) * 0.4) * 1.5, atol=3e-5)
    np.testing.assert_array_equal(
        pull(text.replace("saturation 0.4", ""), 0, ("R",)).pixels,
        pull(plate + "HueShift { brightness 1.5 }", 0, ("R",)).pixels,
    )


def test_hueshift_scales_along_the_axis_of_one_colour(tmp_path: Path) -> None:
    """That colour goes half the way to its grey, and grey itself stays; two axes at right angles make all of it."""
    write_exr(tmp_path / "a.exr", np.array([[(0.9, 0.1, 0.1), (0.4, 0.4, 0.4)]], np.float32))
    red = f'Read {{ file "{tmp_path.as_posix()}/a.exr" }}\nHueShift {{ color_saturation 0.5 %s }}'
    light = _luma((0.9, 0.1, 0.1))
    expected = [[light + (value - light) / 2 for value in (0.9, 0.1, 0.1)], [0.4] * 3]
    np.testing.assert_allclose(pull(red % "").pixels[0], expected, atol=1e-6)
    assert not np.allclose(pull(red % "color {0 1 0}").pixels[0], expected, atol=1e-3)
    with pytest.raises(UnderstudyError, match="knob color is grey, which has no direction; choose a colour"):
        pull(red % "color 0.5")


def test_a_matrix_makes_each_colour_of_a_row(plate: str) -> None:
    rows = "matrix {\n     {0.5 1 2}\n     {{frame} 0 {parent.Constants.gain}}\n     {0 0 -1}\n   }\n"
    text = f"NoOp {{ name Constants addUserKnob {{7 gain}} gain 3 }}\n{plate.replace('{', '{ inputs 0', 1)}"
    expected = [[0.5 * r + g + 2 * b, 4 * r + 3 * b, -b, a] for r, g, b, a in PIXELS]
    shown = pull(f"push 0\n{text}ColorMatrix {{ {rows} }}", 4, ("R", "G", "B", "A")).pixels[0]
    np.testing.assert_allclose(shown, expected, atol=1e-6)


def test_a_matrix_is_undone_by_its_inverse(plate: str) -> None:
    matrix = "matrix {{0.4 0.3 0.2} {0.1 0.8 0.1} {0 0.2 1.5}}"
    twice = f"{plate}ColorMatrix {{ {matrix} }}\nColorMatrix {{ {matrix} invert true }}"
    np.testing.assert_allclose(_row(twice), PIXELS, atol=1e-6)


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        ("matrix {{1 0 0} {0 1 0}}", "knob matrix has 2 rows in place of 3"),
        ("matrix {{1 0 0} {0 1 0} {0 0}}", "knob matrix has a row of 2 values in place of 3"),
        ("matrix {{1 0 0} {0 1 0} {0 0 x}}", "knob matrix refers to 'x'"),
        ("matrix {{1 0 0} {2 0 0} {0 0 1}} invert true", "knob matrix has no inverse; set it, or switch invert off"),
    ],
)
def test_matrices_that_cannot_be_evaluated_are_named(plate: str, knobs: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=rf"ColorMatrix1 \(ColorMatrix\), line 2: {what}"):
        pull(f"{plate}ColorMatrix {{ {knobs} }}")


def _smooth(low: float, high: float, value: float) -> float:
    along = min(max((value - low) / (high - low), 0), 1)
    return 3 * along**2 - 2 * along**3


def _corrected(value: float, light: float, own: dict[str, float], master: dict[str, float], pivot: float) -> float:
    """One channel in one range, one operation after the other, each of the range before that of all."""
    both = {name: own.get(name, 1) * master.get(name, 1) for name in ("saturation", "gamma", "gain")}
    value = both["saturation"] * value + (1 - both["saturation"]) * light
    if value > 0:
        value = (value / pivot) ** own.get("contrast", 1) * pivot
        value = (value / 0.18) ** master.get("contrast", 1) * 0.18
        value = value ** (1 / both["gamma"])
    else:  # no power, but what the pivots leave is multiplied all the same
        bend = 1 / both["gamma"]
        value *= pivot ** ((1 - own.get("contrast", 1)) * master.get("contrast", 1) * bend)
        value *= 0.18 ** ((1 - master.get("contrast", 1)) * bend)
    return value * both["gain"] + own.get("offset", 0) + master.get("offset", 0)


@pytest.mark.parametrize(
    "stated",
    [
        {"": {"saturation": 0.3, "contrast": 1.4, "gamma": 0.8, "gain": 2.0, "offset": 0.1}},
        {"": {"gain": 1.5}, "shadows.": {"gain": 2.0, "offset": -0.02}},
        {"midtones.": {"contrast": 0.6, "saturation": 2.0}, "highlights.": {"gamma": 1.7}},
        {"shadows.": {"contrast": 1.3}, "highlights.": {"contrast": 0.7, "gain": 0.5}, "": {"contrast": 1.1}},
    ],
)
def test_colorcorrect_mixes_its_ranges_by_luminance(plate: str, stated: dict[str, dict[str, float]]) -> None:
    knobs = " ".join(f"{prefix}{name} {value}" for prefix, own in stated.items() for name, value in own.items())
    expected = []
    for pixel in PIXELS:
        light = _luma(pixel)
        shadow, highlight = 1 - _smooth(0, 0.09, light), _smooth(0.5, 1, light)
        ranges = (
            ("shadows.", shadow, 0.04),
            ("midtones.", 1 - shadow - highlight, 0.18),
            ("highlights.", highlight, 0.65),
        )
        colours = [
            sum(
                share * _corrected(value, light, stated.get(prefix, {}), stated.get("", {}), pivot)
                for prefix, share, pivot in ranges
            )
            for value in pixel[:3]
        ]
        expected.append([*colours, pixel[3]])
    np.testing.assert_allclose(_row(f"{plate}ColorCorrect {{ {knobs} }}"), expected, rtol=1e-4, atol=2e-6)


def test_colorcorrect_has_values_for_each_channel_and_alpha(plate: str) -> None:
    expected = [[1.6, 0.4, 0.3, 2.5], *([2 * r, g, b + 0.1, 4 * a + 0.5] for r, g, b, a in PIXELS[1:])]
    text = f"{plate}ColorCorrect {{ channels rgba gain {{2 1 1 4}} offset {{0 0 0.1 0.5}} }}"
    np.testing.assert_allclose(_row(text), expected, atol=1e-6)
    matte = f"{plate}ColorCorrect {{ channels alpha gain {{1 1 1 0}} shadows.offset {{0 0 0 1}} }}"
    assert _row(matte)[3] == pytest.approx([0, 0, 0, 1])
    assert _row(matte)[0] == pytest.approx([0.8, 0.4, 0.2, 0])
    assert pull(matte, channels=("A",)).pixels[0, 2, 0] == pytest.approx(1 - _smooth(0, 0.09, _luma(PIXELS[2])))


def test_colorcorrect_without_contrast_is_the_grey_that_it_leaves_alone(plate: str) -> None:
    assert _row(plate + "ColorCorrect { contrast 0 }")[0][:3] == pytest.approx([0.18] * 3, rel=1e-5)
    assert _row(plate + "ColorCorrect { gamma 0 }")[0][:3] == pytest.approx([0] * 3)
    assert _row(plate + "ColorCorrect { contrast 1e9 gamma 1e-9 gain 1e9 }")[3][3] == 0.25  # no power is too large


def test_colorcorrect_takes_ranges_of_its_own_only(plate: str) -> None:
    own = "lookup {shadow {curve 1 s0 x0.09 0 s0}\n midtone {1-shadow-highlight}\n highlight {}}"
    assert _row(f"{plate}ColorCorrect {{ shadows.gain 2 {own} }}") == _row(f"{plate}ColorCorrect {{ shadows.gain 2 }}")
    for knobs in ("lookup {shadow {curve x0 1 x0.2 0} midtone {} highlight {}}", "test true", "lookup {shadow}"):
        with pytest.raises(UnderstudyError, match=rf"ColorCorrect1 \(ColorCorrect\), line 2: knob {knobs.split()[0]}"):
            pull(f"{plate}ColorCorrect {{ {knobs} }}")


def test_what_lifts_black_fills_the_format_and_what_does_not_keeps_its_window(plate: str) -> None:
    cropped = plate + "Crop { box {1 0 3 1} }\n"
    for node in ("Saturation { saturation 0 }", "ColorMatrix { matrix {{2 0 0} {0 2 0} {0 0 2}} }", "HueShift {}"):
        assert pull(cropped + node).data_window == Window(1, 0, 3, 1)
    assert pull(cropped + "ColorCorrect { gain 3 highlights.offset 1 }").data_window == Window(1, 0, 3, 1)
    lifted = pull(cropped + "ColorCorrect { shadows.offset 0.25 }", channels=("R", "A"))
    assert lifted.data_window == Window(0, 0, 4, 1)
    assert lifted.pixels[0, 0].tolist() == [0.25, 0]
    alpha = pull(cropped + "ColorCorrect { channels alpha offset {1 1 1 0.25} }", channels=("R", "A"))
    assert alpha.pixels[0, 0].tolist() == [0, 0.25]


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        ("Saturation { mode 601 }", "knob mode is '601', which is none of Rec 709, Ccir 601, Average, Maximum"),
        ("Saturation { fringe true }", "knob fringe set to 'true' cannot be evaluated"),
        ("ColorCorrect { shadows.gain {1 2} }", "knob shadows.gain has 2 values in place of 1 or 4"),
        ("ColorCorrect { midtones.gamma {{1/(frame-frame)}} }", "knob midtones.gamma holds"),
    ],
)
def test_colour_knobs_that_cannot_be_evaluated_are_named(plate: str, knobs: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=rf"line 2: {what}"):
        pull(plate + knobs)
