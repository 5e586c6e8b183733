"""OpenColorIO's nodes against OpenColorIO itself, called by OpenImageIO with configs that say the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest
from tests.core.script.fixtures import script_of, write_exr

from understudy.errors import UnderstudyError
from understudy.frames.colour import ColourRules
from understudy.frames.image import FloatPixels, Image
from understudy.frames.window import Window
from understudy.script.evaluate import Evaluator
from understudy.script.nodes.base import Reading
from understudy.script.paths import PathRules

BUILT_IN, STUDIO = "ocio://default", "ocio://studio-config-latest"
LINEAR = "Linear Rec.709 (sRGB)"
PIXELS = ((0.8, 0.4, 0.2, 0.5), (0.1, 0.7, 0.3, 1.0), (-0.25, 0.5, 2.0, 0.0), (0.0, 0.0, 0.0, 0.25))
COLOURS = np.array([[pixel[:3] for pixel in PIXELS]], np.float32)
CDL = "slope: [1.2, 0.9, 0.5], offset: [0.05, -0.1, 0.2], power: [1.5, 0.8, 1], sat: 0.7"
KNOBS = "slope {1.2 0.9 0.5} offset {0.05 -0.1 0.2} power {1.5 0.8 1} saturation 0.7"


@pytest.fixture
def plate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("OCIO", raising=False)
    write_exr(tmp_path / "a.exr", np.array([PIXELS], np.float32), tuple("RGBA"))
    return f'Read {{ file "{tmp_path.as_posix()}/a.exr" }}\n'


def _pull(text: str, colour: ColourRules | None = None, folder: Path | None = None) -> Image:
    script = script_of(text, folder)
    reading = Reading(paths=PathRules(script=script), colour=colour or ColourRules())
    evaluator, last = Evaluator(script, reading), script.nodes[-1]
    evaluator.check([last])
    return evaluator.pull(last, 1, ("R", "G", "B", "A"))


def _shown(text: str, colour: ColourRules | None = None, folder: Path | None = None) -> FloatPixels:
    """Colours as 1 W 3, alpha seen to be what it was."""
    pixels = _pull(text, colour, folder).pixels
    assert pixels[0, :, 3].tolist() == [pixel[3] for pixel in PIXELS]
    return pixels[..., :3]


def _converted(source: str, target: str, config: str, pixels: FloatPixels = COLOURS) -> FloatPixels:
    return _made(oiio.ImageBufAlgo.colorconvert(_buffer(pixels), source, target, colorconfig=config))


def _buffer(pixels: FloatPixels) -> oiio.ImageBuf:
    return oiio.ImageBuf(np.ascontiguousarray(pixels, np.float32))


def _made(buffer: oiio.ImageBuf) -> FloatPixels:
    assert not buffer.has_error, buffer.geterror()
    return np.asarray(buffer.get_pixels(oiio.FLOAT), np.float32)


def _config(folder: Path, transform: str) -> str:
    """A config whose space `after` is made of `linear` by the transform."""
    path = folder / "config.ocio"
    path.write_text(
        "ocio_profile_version: 2\nroles: {default: linear, scene_linear: linear}\n"
        "file_rules: [!<Rule> {name: Default, colorspace: linear}]\n"
        "displays: {none: [!<View> {name: none, colorspace: linear}]}\n"
        "colorspaces:\n  - !<ColorSpace> {name: linear}\n"
        f"  - !<ColorSpace> {{name: after, from_scene_reference: {transform}}}\n"
    )
    return path.as_posix()


@pytest.mark.parametrize(
    ("knobs", "source", "target"),
    [
        ("out_colorspace ACEScct", LINEAR, "ACEScct"),
        ("in_colorspace ACEScg out_colorspace linear", "ACEScg", LINEAR),
        ('in_colorspace "sRGB Encoded AP1" out_colorspace "ACES/ACES2065-1"', "sRGB Encoded AP1", "ACES2065-1"),
        ("in_colorspace sRGB", "sRGB Encoded Rec.709 (sRGB)", LINEAR),
        ('out_colorspace "color_timing (ACES - ACEScct)"', LINEAR, "ACEScct"),
        ("in_colorspace Raw out_colorspace ACEScg", LINEAR, LINEAR),
    ],
)
def test_ociocolorspace(plate: str, knobs: str, source: str, target: str) -> None:
    shown = _shown(f"{plate}OCIOColorSpace {{ {knobs} }}")
    np.testing.assert_allclose(shown, _converted(source, target, BUILT_IN), rtol=1e-5, atol=1e-6)


def test_scene_linear_is_the_working_space_that_files_are_read_in(plate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    node = plate + 'OCIOColorSpace { in_colorspace "S-Log3 S-Gamut3" out_colorspace scene_linear }'
    stated = ColourRules(config=STUDIO, working_space="Linear P3-D65")
    np.testing.assert_allclose(
        _shown(node, stated), _converted("S-Log3 S-Gamut3", "Linear P3-D65", STUDIO), rtol=1e-5, atol=1e-6
    )
    monkeypatch.setenv("OCIO", STUDIO)
    np.testing.assert_allclose(_shown(node), _converted("S-Log3 S-Gamut3", "ACEScg", STUDIO), rtol=1e-5, atol=1e-6)


def test_ociologconvert_takes_the_roles(plate: str) -> None:
    there = f'{plate}OCIOLogConvert {{ operation "lin to log" }}\n'
    np.testing.assert_allclose(_shown(there), _converted(LINEAR, "ACEScct", BUILT_IN), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(_shown(there + "OCIOLogConvert {}"), COLOURS, rtol=1e-4, atol=1e-5)


def test_ociodisplay(plate: str) -> None:
    display, view = "sRGB - Display", "Un-tone-mapped"
    direct = _made(oiio.ImageBufAlgo.ociodisplay(_buffer(COLOURS * 2), display, view, LINEAR, colorconfig=BUILT_IN))
    stated = f'display "{display}" view {view}'
    np.testing.assert_allclose(_shown(f"{plate}OCIODisplay {{ {stated} gain 2 }}"), direct, rtol=1e-5, atol=1e-6)
    bent = np.maximum(direct, 0) ** 0.5
    np.testing.assert_allclose(_shown(f"{plate}OCIODisplay {{ {stated} gain 2 gamma 2 }}"), bent, rtol=1e-5, atol=1e-6)
    log = f"{plate}OCIOColorSpace {{ out_colorspace ACEScct }}\nOCIODisplay {{ {stated} colorspace ACEScct"
    np.testing.assert_allclose(_shown(f"{log} gain 2 }}"), direct, rtol=1e-4, atol=1e-5)
    default = _made(oiio.ImageBufAlgo.ociodisplay(_buffer(COLOURS), "default", "default", LINEAR, colorconfig=BUILT_IN))
    np.testing.assert_allclose(_shown(plate + "OCIODisplay {}"), default, rtol=1e-5, atol=1e-6)


def test_ociodisplay_is_undone_by_its_inverse(plate: str) -> None:
    stated = 'display "Rec.1886 Rec.709 - Display" view "Un-tone-mapped"'
    both = f"{plate}OCIODisplay {{ {stated} }}\nOCIODisplay {{ {stated} invert true }}"
    np.testing.assert_allclose(_shown(both), COLOURS, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("space", ["", "ACEScg"])
def test_ociocdltransform(plate: str, tmp_path: Path, direction: str, space: str) -> None:
    config = _config(tmp_path, f"!<CDLTransform> {{{CDL}, style: noclamp}}")
    ends = ("linear", "after") if direction == "forward" else ("after", "linear")
    before = _converted(LINEAR, space, BUILT_IN) if space else COLOURS
    expected = _converted(*ends, config, before)
    if space:
        expected = _converted(space, LINEAR, BUILT_IN, expected)
    working = f"working_space {space}" if space else ""
    shown = _shown(f"{plate}OCIOCDLTransform {{ {KNOBS} direction {direction} {working} }}")
    np.testing.assert_allclose(shown, expected, rtol=1e-4, atol=1e-5)


CUBE = "LUT_3D_SIZE 2\n" + "\n".join(f"{r * b} {g * r} {b}" for b in (0.0, 1.0) for g in (0.0, 1.0) for r in (0.0, 1.0))
"""Corners of (r b, g r, b): a line along each axis, a product within."""


def test_ociofiletransform_interpolates_as_it_is_told(plate: str, tmp_path: Path) -> None:
    (tmp_path / "look.cube").write_text(CUBE)
    node = f'{plate}OCIOFileTransform {{ file "{tmp_path.as_posix()}/look.cube" %s }}'
    inside = np.clip(COLOURS, 0, 1)
    red, green, blue = np.moveaxis(inside, 2, 0)
    straight = np.stack((red * blue, green * red, blue), axis=2)
    np.testing.assert_allclose(_shown(node % ""), straight, atol=1e-5)
    np.testing.assert_allclose(_shown(node % "interpolation linear"), straight, atol=1e-5)
    cut = np.stack((np.minimum(red, blue), np.minimum(green, red), blue), axis=2)  # along the diagonal's tetrahedra
    np.testing.assert_allclose(_shown(node % "interpolation tetrahedral"), cut, atol=1e-5)


def test_ociofiletransform_in_both_directions_and_in_another_space(plate: str, tmp_path: Path) -> None:
    (tmp_path / "double.spimtx").write_text("2 0 0 0\n0 2 0 0\n0 0 4 0\n")
    node = f'{plate}OCIOFileTransform {{ file "./double.spimtx" %s }}'  # from the script's folder
    scale = np.array([2, 2, 4], np.float32)
    np.testing.assert_allclose(_shown(node % "", folder=tmp_path), COLOURS * scale, rtol=1e-5)
    np.testing.assert_allclose(_shown(node % "direction inverse", folder=tmp_path), COLOURS / scale, rtol=1e-5)
    np.testing.assert_allclose(_shown(node % "working_space raw", folder=tmp_path), COLOURS * scale, rtol=1e-5)
    within = _converted("ACEScg", LINEAR, BUILT_IN, _converted(LINEAR, "ACEScg", BUILT_IN) * scale)
    shown = _shown(node % "working_space ACEScg", folder=tmp_path)
    np.testing.assert_allclose(shown, within, rtol=1e-4, atol=1e-5)


def test_ociofiletransform_takes_an_entry_of_a_collection(plate: str, tmp_path: Path) -> None:
    entries = "".join(
        f'<ColorCorrection id="{name}"><SOPNode><Slope>{slope} {slope} {slope}</Slope><Offset>0 0 0</Offset>'
        "<Power>1 1 1</Power></SOPNode></ColorCorrection>"
        for name, slope in (("first", 2), ("second, the other", 3))
    )
    path = tmp_path / "grades.ccc"
    path.write_text(f'<ColorCorrectionCollection xmlns="urn:ASC:CDL:v1.2">{entries}</ColorCorrectionCollection>')
    node = f'{plate}OCIOFileTransform {{ file "{path.as_posix()}" cccid "%s" }}'
    np.testing.assert_allclose(_shown(node % "first"), COLOURS * 2, rtol=1e-5)
    np.testing.assert_allclose(_shown(node % "second, the other"), COLOURS * 3, rtol=1e-5)
    with pytest.raises(UnderstudyError, match=r"line 2: knob file cannot be applied: .*third"):
        _shown(node % "third")


def test_nothing_is_filled_beside_the_data_window(plate: str) -> None:
    cropped = plate + "Crop { box {1 0 3 1} }\nOCIOColorSpace { out_colorspace ACEScct }"
    assert _pull(cropped).data_window == Window(1, 0, 3, 1)


@pytest.mark.parametrize(
    ("node", "what"),
    [
        ("OCIOColorSpace { out_colorspace Nix }", "knob out_colorspace is 'Nix', which the OCIO config has not"),
        ("OCIOColorSpace { in_colorspace {} }", "knob in_colorspace is '', which the OCIO config has not"),
        ("OCIOColorSpace { key1 SHOT value1 a }", "knob key1 set to 'SHOT' cannot be evaluated"),
        ("OCIODisplay { display nix }", "knob view cannot be shown: display 'nix' is not in the OCIO config"),
        ('OCIODisplay { view "a b" }', "knob view cannot be shown: view 'a b' is not a view of display"),
        ("OCIODisplay { channel_selector R }", "knob channel_selector set to 'R' cannot be evaluated"),
        ("OCIODisplay { invert true gain 2 }", "knob invert is set beside gain, which cannot be evaluated"),
        ("OCIOFileTransform {}", "knob file is empty: no such file"),
        ("OCIOFileTransform { file /nowhere/a.cube }", "knob file is /nowhere/a.cube: no such file"),
        ("OCIOFileTransform { interpolation cubic }", "knob interpolation is 'cubic', which is none of nearest"),
        ("OCIOCDLTransform { power 0 }", "knob power is 0 or less"),
        ("OCIOCDLTransform { slope {1 0 1} direction inverse }", "knob slope is 0, which has no inverse"),
        ("OCIOCDLTransform { saturation 0 direction inverse }", "knob saturation is 0, which has no inverse"),
        ("OCIOCDLTransform { read_from_file true }", "knob read_from_file set to 'true' cannot be evaluated"),
        ("OCIOCDLTransform { slope {1 2} }", "knob slope has 2 values in place of 1 or 3"),
    ],
)
def test_what_cannot_be_evaluated_is_named(plate: str, node: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=rf"line 2: {what}"):
        _shown(plate + node)


def test_a_config_without_the_role_is_named(plate: str, tmp_path: Path) -> None:
    colour = ColourRules(config=_config(tmp_path, "!<MatrixTransform> {}"))
    with pytest.raises(UnderstudyError, match="needs the role compositing_log, which the OCIO config has not"):
        _shown(plate + "OCIOLogConvert {}", colour)
    (tmp_path / "text.cube").write_text("no cube")
    with pytest.raises(UnderstudyError, match=r"knob file cannot be applied: .*text.cube: OpenColorIO refused"):
        _shown(f'{plate}OCIOFileTransform {{ file "{tmp_path.as_posix()}/text.cube" }}')
