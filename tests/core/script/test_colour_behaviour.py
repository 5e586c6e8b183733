"""What all nodes of colour share: regions, data windows, masks, and pixels that are no ordinary numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest
from tests.core.script.fixtures import evaluator_of, pull, write_exr

from understudy.frames.image import FloatPixels
from understudy.frames.window import Window

FORMAT = Window(0, 0, 9, 300)
DATA = Window(-2, 3, 7, 310)
STRANGE = np.s_[4:7, 2:7]

NODES = {
    "multiply": "Multiply { value 3 }",
    "posterize": "Posterize { channels rgba Colors 5 }",
    "clamp": "Clamp { minimum 0.1 MinClampTo_enable true MinClampTo 0.3 }",
    "saturation": "Saturation { saturation 0.3 }",
    "largest": "Saturation { saturation 2 mode Maximum }",
    "hueshift": "HueShift { saturation 0.5 brightness 1.5 }",
    "turned": "HueShift { hue_rotation 40 color_saturation 0.7 }",
    "levels": "Histogram { channels rgba in {0.1 0.8 0.9} out {0.2 1.1} }",
    "colormatrix": "ColorMatrix { matrix {{0.5 0.25 0.125} {0 2 -1} {1 1 1}} invert true }",
    "colorcorrect": "ColorCorrect { saturation 0.5 contrast 1.3 gamma 1.2 shadows.gain 2 highlights.offset 0.1 }",
    "curves": "Colorspace { colorspace_in AlexaV3LogC colorspace_out Cineon }",
    "xyz": "Colorspace { colorspace_out CIE-XYZ }",
    "yxy": "Colorspace { colorspace_out CIE-Yxy }",
    "hsv": "Colorspace { colorspace_out HSV }",
    "from hsl": "Colorspace { colorspace_in HSL }",
    "log2lin": "Log2Lin { operation lin2log }",
    "ploglin": "PLogLin { }",
    "exposure": "EXPTool { mode Stops red 1 green 2 blue -1 }",
    "place": 'Expression { expr0 "r*x/width + y" expr1 "1/(r-g)" expr2 "b > 0 ? log(b) : a" }',
    "colours": 'Expression { temp_name0 m temp_expr0 "max(r,g,b)" expr0 m-r expr3 "clamp(a)" }',
    "ociocolorspace": 'OCIOColorSpace { in_colorspace scene_linear out_colorspace "ACEScct" }',
    "ociodisplay": 'OCIODisplay { display "sRGB - Display" view "ACES 2.0 - SDR 100 nits (Rec.709)" gamma 1.2 gain 2 }',
    "ociocdl": "OCIOCDLTransform { slope {1.2 1 0.8} power 1.3 saturation 0.8 working_space ACEScct }",
}
SHARED = {"plain": "", "masked": " mix 0.7 maskChannelInput rgba.alpha unpremult rgba.alpha"}


def _strange() -> FloatPixels:
    """Random light over the data window, H W 4, with rows of what is not."""
    pixels = np.random.default_rng(5).uniform(-0.5, 2, (DATA.height, DATA.width, 4)).astype(np.float32)
    pixels[STRANGE] = (
        (np.nan, 0.5, 0.5, 1),
        (np.inf, 0.5, -np.inf, 1),
        (1e38, -1e38, 3e38, 0.5),
        (0, 0, 0, 0),
        (0.25, 1e-30, 0.5, np.nan),
    )
    return pixels


def _read(file: Path, pixels: FloatPixels) -> str:
    """A Read of a picture taller than a band, over the format's edges and not up to all of them."""
    spec = oiio.ImageSpec(DATA.width, DATA.height, 4, oiio.FLOAT)
    spec.x, spec.y = DATA.x0, DATA.y0
    spec.full_x, spec.full_y, spec.full_width, spec.full_height = 0, 0, FORMAT.width, FORMAT.height
    buffer = oiio.ImageBuf(spec)
    buffer.set_pixels(oiio.ROI(DATA.x0, DATA.x1, DATA.y0, DATA.y1, 0, 1, 0, 4), pixels)
    assert buffer.write(str(file)), buffer.geterror()
    return f'Read {{ file "{file.as_posix()}" }}\n'


@pytest.fixture
def plate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("OCIO", raising=False)
    return _read(tmp_path / "a.exr", _strange())


def _comp(plate: str, name: str, shared: str = "") -> str:
    knobs = SHARED[shared or "plain"]
    if name in ("place", "colours"):
        knobs = knobs.replace(" unpremult rgba.alpha", "")
    return plate + NODES[name].rpartition("}")[0] + knobs + " }"


@pytest.mark.parametrize("shared", SHARED)
@pytest.mark.parametrize("name", NODES)
def test_a_region_is_the_whole_picture_cut(plate: str, name: str, shared: str) -> None:
    text = _comp(plate, name, shared)
    whole = pull(text)
    assert whole.display_window == FORMAT
    assert whole.data_window in (DATA, DATA.union(FORMAT))
    for region in (Window(0, 0, 9, 300), Window(-1, 5, 4, 9), Window(5, 250, 12, 262), Window(20, 20, 22, 22)):
        evaluator, last = evaluator_of(text)
        part = evaluator.pull(last, 1, ("B", "A", "R"), region)
        np.testing.assert_array_equal(part.over(region), whole.over(region)[..., [2, 3, 0]])
    evaluator, last = evaluator_of(text)
    narrow = Window(2, 6, 5, 7)
    np.testing.assert_array_equal(evaluator.pull(last, 1, ("G",), narrow).over(narrow), whole.over(narrow)[..., [1]])


@pytest.mark.parametrize("name", NODES)
def test_a_strange_pixel_spoils_no_other(plate: str, name: str, tmp_path: Path) -> None:
    is_ordinary = np.ones((DATA.height, DATA.width), np.bool_)
    is_ordinary[STRANGE] = False
    tame = _read(tmp_path / "b.exr", np.where(is_ordinary[..., None], _strange(), np.float32(0)))
    among, alone = pull(_comp(plate, name)).over(DATA), pull(_comp(tame, name)).over(DATA)
    np.testing.assert_array_equal(among[is_ordinary], alone[is_ordinary])
    assert np.isfinite(among[is_ordinary]).all()


@pytest.mark.parametrize("name", NODES)
def test_a_mask_keeps_what_was_there(plate: str, name: str, tmp_path: Path) -> None:
    """Where it is black, and half of the change where it is a half; beside its data window it is black."""
    mask = np.zeros((300, 9, 1), np.float32)
    mask[100:200], mask[200:] = 0.5, 1
    write_exr(tmp_path / "m.exr", mask[:250], ("A",))
    matte = f'Read {{ inputs 0 file "{tmp_path.as_posix()}/m.exr" name M }}\n' + plate.replace("{", "{ inputs 0", 1)
    masked = pull(matte + NODES[name].replace("{", "{ inputs 1+1", 1)).over(FORMAT)
    before, after = pull(plate).over(FORMAT), pull(_comp(plate, name)).over(FORMAT)
    np.testing.assert_array_equal(masked[:100], before[:100])
    np.testing.assert_array_equal(masked[200:250], after[200:250])
    np.testing.assert_array_equal(masked[250:], before[250:])
    half = before[100:200] + (after[100:200] - before[100:200]) * np.float32(0.5)
    np.testing.assert_allclose(masked[100:200], half, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NODES)
def test_nothing_is_asked_of_an_empty_picture(plate: str, name: str) -> None:
    """A data window without a pixel: black, and what becomes of black in the format."""
    empty = plate + "Crop { box {-50 0 -40 5} }\nCrop { box {0 0 5 5} intersect true }\n"
    shown = pull(empty + NODES[name], 1, ("R", "G", "B"))
    assert shown.data_window.is_empty or shown.data_window == FORMAT
    black = pull(plate + "Expression { channel0 rgba expr0 0*x }\n" + NODES[name], 1, ("R", "G", "B"))
    if not shown.data_window.is_empty:
        np.testing.assert_array_equal(shown.over(FORMAT), black.over(FORMAT))


def test_layers_and_other_channels_stay_where_none_is_chosen(plate: str) -> None:
    before = pull(plate).over(FORMAT)
    for name in NODES:
        if name not in ("place", "colours"):
            unchanged = pull(plate + NODES[name].rpartition("}")[0] + " channels depth }").over(FORMAT)
            np.testing.assert_array_equal(unchanged, before, name)
