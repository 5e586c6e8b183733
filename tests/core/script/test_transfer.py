"""Curves, primaries and colour models of Colorspace, Log2Lin, PLogLin and EXPTool, against other sources of them."""

from __future__ import annotations

import colorsys
import math
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest
from tests.core.script.fixtures import pull, write_exr

from understudy.errors import UnderstudyError
from understudy.frames.image import FloatPixels
from understudy.frames.window import Window
from understudy.script.nodes.colorspace import to_xyz
from understudy.script.nodes.transfer import TRANSFERS

STUDIO = "ocio://studio-config-latest"
CODES = np.concatenate((np.linspace(-0.1, 1.1, 241), [0.0, 0.5, 1.0])).astype(np.float32)


def _ocio(pixels: FloatPixels, source: str, target: str) -> FloatPixels:
    """H W 3 by OpenColorIO's own curves and matrices."""
    buffer = oiio.ImageBuf(np.ascontiguousarray(pixels, np.float32))
    made = oiio.ImageBufAlgo.colorconvert(buffer, source, target, colorconfig=STUDIO)
    assert not made.has_error, made.geterror()
    return np.asarray(made.get_pixels(oiio.FLOAT), np.float32)


@pytest.mark.parametrize(
    ("name", "encoded", "linear", "tolerance"),
    [
        ("sRGB", "sRGB Encoded Rec.709 (sRGB)", "Linear Rec.709 (sRGB)", 2e-6),
        ("rec709", "Camera Rec.709", "Linear Rec.709 (sRGB)", 1e-4),  # whose slope meets its curve, 4.5137 for 4.5
        ("Gamma1.8", "Gamma 1.8 Encoded Rec.709", "Linear Rec.709 (sRGB)", 2e-6),
        ("Gamma2.2", "Gamma 2.2 Encoded Rec.709", "Linear Rec.709 (sRGB)", 2e-6),
        ("Gamma2.4", "Gamma 2.4 Encoded Rec.709", "Linear Rec.709 (sRGB)", 2e-6),
        ("AlexaV3LogC", "ARRI LogC3 (EI800)", "Linear ARRI Wide Gamut 3", 5e-5),
        ("SLog3", "S-Log3 S-Gamut3", "Linear S-Gamut3", 5e-5),
    ],
)
def test_curves_are_those_of_opencolorio(name: str, encoded: str, linear: str, tolerance: float) -> None:
    codes = CODES[CODES >= 0] if name.startswith("Gamma") else CODES  # below 0 OpenColorIO mirrors gamma
    grey = np.repeat(codes[None, :, None], 3, axis=2)  # 1 W 3
    light = _ocio(grey, encoded, linear)[0, :, 0]
    np.testing.assert_allclose(TRANSFERS[name].to_linear(codes), light, rtol=2e-4, atol=tolerance)
    np.testing.assert_allclose(TRANSFERS[name].from_linear(light), codes, atol=4e-4)


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        # what codes mean by the definition of each: black, white, and what lies between
        (
            "Cineon",
            {95 / 1023: 0.0, 685 / 1023: 1.0, 445 / 1023: (10**-0.8 - 10 ** (-59 / 30)) / (1 - 10 ** (-59 / 30))},
        ),
        ("Panalog", {64 / 1023: 0.0, 681 / 1023: 1.0}),
        ("REDLog", {0.0: 0.0, 1.0: 1.0}),
        ("PLogLin", {445 / 1023: 0.18, 745 / 1023: 1.8, 145 / 1023: 0.018}),
        ("SLog", {0.030001223: 0.0, 0.646596: 1 - 0.037584}),
        ("Gamma2.6", {0.5: 0.5**2.6, -0.5: -0.5, 2.0: 2**2.6}),
        ("Linear", {0.3: 0.3}),
    ],
)
def test_curves_by_their_definitions(name: str, codes: dict[float, float]) -> None:
    for code, light in codes.items():
        decoded = TRANSFERS[name].to_linear(np.array([code], np.float32))[0]
        encoded = TRANSFERS[name].from_linear(np.array([light], np.float32))[0]
        assert decoded == pytest.approx(light, abs=3e-6), code
        assert encoded == pytest.approx(code, abs=3e-6), light


@pytest.mark.parametrize("name", TRANSFERS)
def test_curves_rise_and_are_undone(name: str) -> None:
    light = np.array([-1e30, -1, -0.01, -1e-4, 0, 1e-5, 0.001, 0.01, 0.018, 0.18, 1, 30, 1e30], np.float32)
    codes = TRANSFERS[name].from_linear(light)
    assert np.isfinite(codes).all()
    assert (np.diff(codes) >= 0).all()
    seen = light[(light >= 1e-5) & (light <= 30)]
    back = TRANSFERS[name].to_linear(TRANSFERS[name].from_linear(seen))
    np.testing.assert_allclose(back, seen, rtol=2e-4, atol=2e-6)
    assert np.isnan(TRANSFERS[name].from_linear(np.array([np.nan], np.float32)))[0]


@pytest.mark.parametrize(
    ("primaries", "linear"), [("sRGB", "Linear Rec.709 (sRGB)"), ("Adobe (1998)", "Linear AdobeRGB")]
)
def test_primaries_are_those_of_opencolorio(primaries: str, linear: str) -> None:
    colours = np.eye(3, dtype=np.float32)[None]  # 1 3 3
    theirs = _ocio(colours, linear, "CIE XYZ-D65 - Scene-referred")[0].T
    np.testing.assert_allclose(to_xyz(primaries), theirs, atol=3e-5)


PIXELS = ((0.8, 0.4, 0.2, 0.5), (0.1, 0.7, 0.3, 1.0), (0.2, 0.3, 0.9, 0.0), (0.0, 0.0, 0.0, 0.25), (0.6, 0.6, 0.6, 1))


@pytest.fixture
def plate(tmp_path: Path) -> str:
    write_exr(tmp_path / "a.exr", np.array([PIXELS], np.float32), tuple("RGBA"))
    return f'Read {{ file "{tmp_path.as_posix()}/a.exr" }}\n'


def _row(text: str) -> list[list[float]]:
    return [[float(value) for value in pixel] for pixel in pull(text, channels=("R", "G", "B", "A")).pixels[0]]


def test_colorspace_leaves_alpha_and_changes_colours(plate: str) -> None:
    colours = np.array([[pixel[:3] for pixel in PIXELS]], np.float32)
    for knobs, source, target in (
        ("colorspace_out sRGB", "Linear Rec.709 (sRGB)", "sRGB Encoded Rec.709 (sRGB)"),
        ('colorspace_in "sRGB(~2.2)"', "sRGB Encoded Rec.709 (sRGB)", "Linear Rec.709 (sRGB)"),
        ("colorspace_in Gamma2.20 colorspace_out rec709(~1.95)", "Gamma 2.2 Encoded Rec.709", "Camera Rec.709"),
        ("colorspace_out CIE-XYZ", "Linear Rec.709 (sRGB)", "CIE XYZ-D65 - Scene-referred"),
        ("colorspace_in sRGB primary_out {Adobe (1998)}", "sRGB Encoded Rec.709 (sRGB)", "Linear AdobeRGB"),
        ("colorspace_in CIE-XYZ primary_in ACES", "CIE XYZ-D65 - Scene-referred", "Linear Rec.709 (sRGB)"),
    ):
        shown = np.array(_row(f"{plate}Colorspace {{ {knobs} }}"))
        np.testing.assert_allclose(shown[:, :3], _ocio(colours, source, target)[0], rtol=1e-4, atol=1e-4)
        assert shown[:, 3].tolist() == [pixel[3] for pixel in PIXELS]


def test_colorspace_that_changes_nothing_is_free_of_what_is_not_known(plate: str) -> None:
    for knobs in (
        "",
        "colorspace_in sRGB colorspace_out sRGB illuminant_in D50 illuminant_out D50",
        "bradford_matrix 1",
    ):
        np.testing.assert_array_equal(_row(f"{plate}Colorspace {{ {knobs} }}"), np.array(PIXELS, np.float32))
    moved = (
        plate + "Colorspace { colorspace_out sRGB primary_in ACES primary_out ACES illuminant_in E illuminant_out E }"
    )
    np.testing.assert_array_equal(_row(moved), _row(plate + "Colorspace { colorspace_out sRGB }"))


def test_colorspace_hsv_and_hsl_are_those_of_colorsys(plate: str) -> None:
    for space, model in (("HSV", colorsys.rgb_to_hsv), ("HSL", colorsys.rgb_to_hls)):
        order = (0, 1, 2) if space == "HSV" else (0, 2, 1)
        expected = [[*(model(*pixel[:3])[place] for place in order), pixel[3]] for pixel in PIXELS]
        there = f"{plate}Colorspace {{ colorspace_out {space} }}\n"
        np.testing.assert_allclose(_row(there), expected, atol=1e-6)
        np.testing.assert_allclose(_row(f"{there}Colorspace {{ colorspace_in {space} }}"), PIXELS, atol=1e-6)


def test_colorspace_yxy_is_light_and_chromaticity(plate: str) -> None:
    shown = _row(plate + "Colorspace { colorspace_out CIE-Yxy }")
    assert shown[4][:3] == pytest.approx([0.6, 0.3127, 0.3290], abs=1e-5)
    assert shown[3] == [0, 0, 0, 0.25]
    both = plate + "Colorspace { colorspace_out CIE-Yxy }\nColorspace { colorspace_in CIE-Yxy }"
    np.testing.assert_allclose(_row(both), PIXELS, atol=1e-5)


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        ("colorspace_out YCbCr", "knob colorspace_out is 'YCbCr', and how Nuke computes that is not known"),
        ("colorspace_in {{parent.A.colorspace_out}}", "knob colorspace_in refers to 'parent.A"),
        ("colorspace_out SLog2", "knob colorspace_out is 'SLog2', and how"),
        ("colorspace_out CIE-XYZ primary_in ACES", "knob primary_in is 'ACES', which is none of sRGB, Adobe"),
        ("colorspace_out sRGB illuminant_out D50", "knob illuminant_out is 'D50', and illuminant_in is 'D65': how"),
        (
            "colorspace_out CIE-XYZ illuminant_in D50 illuminant_out D50",
            "knob illuminant_in is 'D50', and only primaries under D65 are known",
        ),
    ],
)
def test_colorspaces_that_are_not_known_are_named(plate: str, knobs: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=rf"Colorspace1 \(Colorspace\), line 2: {what}"):
        pull(f"{plate}Colorspace {{ {knobs} }}")


def _cineon(light: float, black: float = 95, white: float = 685, gamma: float = 0.6) -> float:
    offset = 10 ** ((black - white) * 0.002 / gamma)
    return (white + math.log10(light * (1 - offset) + offset) * gamma / 0.002) / 1023


def test_log2lin_by_its_knobs(plate: str) -> None:
    shown = _row(plate + "Log2Lin { operation lin2log }")
    expected = [[*(_cineon(value) for value in pixel[:3]), pixel[3]] for pixel in PIXELS]
    np.testing.assert_allclose(shown, expected, atol=1e-6)
    knobs = "black {64 95 95 95} white {700 685 685 685} gamma {0.6 1 0.6 0.6}"
    red, green = _cineon(0.8, 64, 700), _cineon(0.4, gamma=1)
    assert _row(f"{plate}Log2Lin {{ operation lin2log {knobs} }}")[0][:2] == pytest.approx([red, green])
    both = f"{plate}Log2Lin {{ operation lin2log {knobs} }}\nLog2Lin {{ {knobs} }}"
    np.testing.assert_allclose(_row(both), PIXELS, atol=2e-6)
    ignored = _row(plate + "Log2Lin { ignore_black true }")[0][0]
    assert ignored == pytest.approx(10 ** ((1023 * 0.8 - 685) / 300), rel=1e-5)


def test_ploglin_is_on_alpha_too(plate: str) -> None:
    def light(code: float) -> float:
        return 0.18 * math.pow(10, (1023 * code - 445) * 0.002 / 0.6)

    expected = [[light(value) for value in pixel] for pixel in PIXELS]
    np.testing.assert_allclose(_row(plate + "PLogLin {}"), expected, rtol=1e-5)
    other = "linref 0.2 logref 470 ngamma 0.5 density 0.0025"
    there = f'{plate}PLogLin {{ operation "lin to log" {other} channels rgb }}\n'
    assert _row(there)[0][0] == pytest.approx((470 + math.log10(0.8 / 0.2) * 0.5 / 0.0025) / 1023)
    assert _row(there)[3][0] == pytest.approx((470 + math.log10(1e-10 / 0.2) * 0.5 / 0.0025) / 1023)
    assert _row(f"{there}PLogLin {{ {other} channels rgb }}")[0] == pytest.approx(PIXELS[0], rel=1e-5)


@pytest.mark.parametrize(
    ("knobs", "factors"),
    [
        ("mode Stops red 1 green -2 blue 0.5", (2, 0.25, 2**0.5)),
        ("red 0.6 green -0.6", (10, 0.1, 1)),
        ("mode Cineon red 300 blue -90", (10, 1, 10**-0.3)),
        ("mode Stops red {{frame}}", (2, 1, 1)),
    ],
)
def test_exposure(plate: str, knobs: str, factors: tuple[float, float, float]) -> None:
    expected = [
        [*(value * factor for value, factor in zip(pixel[:3], factors, strict=True)), pixel[3]] for pixel in PIXELS
    ]
    np.testing.assert_allclose(_row(f"{plate}EXPTool {{ {knobs} }}"), expected, rtol=1e-5)


def test_log_of_black_fills_the_format(plate: str) -> None:
    cropped = plate + "Crop { box {1 0 3 1} }\n"
    assert pull(cropped + "Log2Lin { operation lin2log }").data_window == Window(0, 0, 5, 1)
    assert pull(cropped + "Colorspace { colorspace_out Cineon }", channels=("R",)).pixels[0, 0, 0] == pytest.approx(
        95 / 1023, abs=1e-6
    )
    assert pull(cropped + "Colorspace { colorspace_out sRGB }").data_window == Window(1, 0, 3, 1)
    assert pull(cropped + "EXPTool { red 3 }").data_window == Window(1, 0, 3, 1)


@pytest.mark.parametrize(
    ("node", "what"),
    [
        ("Log2Lin { black 700 }", "knob black is 700, and white is 685; set it below"),
        ("Log2Lin { gamma 0 }", "knob gamma is 0 or less"),
        ("Log2Lin { operation log }", "knob operation is 'log', which is none of log2lin, lin2log"),
        ("PLogLin { linref 0 }", "knob linref is 0 or less"),
        ("EXPTool { mode Lights }", "knob mode is 'Lights', which is none of Stops, Densities, Cineon"),
        ("EXPTool { colorspace Cineon }", "knob colorspace set to 'Cineon' cannot be evaluated"),
        ("EXPTool { blackpoint 0.1 }", "knob blackpoint set to '0.1' cannot be evaluated"),
        ("EXPTool { channels rgba }", "knob channels selects A, and what exposure does to that is not known"),
        ("EXPTool { mode Stops green 1e9 }", "knob green is 1e\\+09, which leaves no picture"),
    ],
)
def test_knobs_of_logarithms_that_cannot_be_evaluated_are_named(plate: str, node: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=rf"line 2: {what}"):
        pull(plate + node)
