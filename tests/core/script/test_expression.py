"""Expression against Python's own arithmetic, pixel by pixel."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tests.core.script.fixtures import evaluator_of, pull, write_exr

from understudy.errors import UnderstudyError
from understudy.frames.image import FloatPixels
from understudy.frames.window import Window

WIDTH, HEIGHT = 5, 4


def _values() -> FloatPixels:
    """H W 4, with a pixel of 0 and negative ones; a column is transparent."""
    rows = range(HEIGHT - 1, -1, -1)
    return np.array([[[0.3 * x - 0.5, 0.1 * y, 0.25 * x * y, x / 4] for x in range(WIDTH)] for y in rows], np.float32)


def _lowest() -> list[list[float]]:
    lowest: list[list[float]] = _values()[-1].tolist()
    return lowest


@pytest.fixture
def plate(tmp_path: Path) -> str:
    write_exr(tmp_path / "a.exr", _values(), tuple("RGBA"))
    return f'Read {{ file "{tmp_path.as_posix()}/a.exr" }}\n'


@dataclass(frozen=True)
class Pixel:
    """As Python's own numbers."""

    x: int
    y: int
    r: float
    g: float
    b: float
    a: float


def _expected(made: Callable[[Pixel], float]) -> list[list[float]]:
    return [
        [made(Pixel(x, HEIGHT - 1 - row, *values)) for x, values in enumerate(line)]
        for row, line in enumerate(_values().tolist())
    ]


def _quotient(over: float, under: float) -> float:
    if under:
        return over / under
    return math.copysign(math.inf, over) if over else math.nan


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("r*2+0.5", lambda p: p.r * 2 + 0.5),
        ("x", lambda p: p.x),
        ("y", lambda p: p.y),
        ("(x+0.5)/width", lambda p: (p.x + 0.5) / 5),
        ("(y+.5)/height*pixel_aspect", lambda p: (p.y + 0.5) / 4),
        ("r>g ? b : -a", lambda p: p.b if p.r > p.g else -p.a),
        ("r<0 ? 1 : r<0.2 ? 2 : 3", lambda p: 1 if p.r < 0 else 2 if p.r < 0.2 else 3),
        ("r>=0 && g<0.2 || !a", lambda p: float((p.r >= 0 and p.g < 0.2) or not p.a)),
        ("r/g", lambda p: _quotient(p.r, p.g)),
        ("a==0 ? 0 : r/a", lambda p: p.r / p.a if p.a else 0),
        ("pow(fabs(r), 2.2)", lambda p: abs(p.r) ** 2.2),
        ("r**2-g**0.5", lambda p: p.r**2 - p.g**0.5),
        ("sqrt(r)", lambda p: math.sqrt(p.r) if p.r >= 0 else math.nan),
        ("isnan(sqrt(r)) ? 7 : sqrt(r)", lambda p: math.sqrt(p.r) if p.r >= 0 else 7),
        ("log10(max(r, 1e-10))", lambda p: math.log10(max(p.r, 1e-10))),
        ("min(r,g,b) + max(r, g, b, a)", lambda p: min(p.r, p.g, p.b) + max(p.r, p.g, p.b, p.a)),
        ("clamp(r) + clamp(b, 0.5, 1)", lambda p: min(max(p.r, 0), 1) + min(max(p.b, 0.5), 1)),
        (
            "smoothstep(0, 4, x) + lerp(r, b, a)",
            lambda p: 3 * (p.x / 4) ** 2 - 2 * (p.x / 4) ** 3 + p.r + (p.b - p.r) * p.a,
        ),
        (
            "fmod(x, 2) + x%3 + floor(r) + int(r*3)",
            lambda p: p.x % 2 + p.x % 3 + math.floor(p.r) + math.trunc(p.r * 3),
        ),
        (
            "sin(r)*cos(PI*y) + atan2(y, x+1)",
            lambda p: math.sin(p.r) * math.cos(math.pi * p.y) + math.atan2(p.y, p.x + 1),
        ),
        ("sign(r)*hypot(x,y)", lambda p: (float(p.r > 0) - float(p.r < 0)) * math.hypot(p.x, p.y)),
        ("equal(x, 1, 3) + isfinite(r/g)", lambda p: float(p.x in (1, 3)) + float(p.g != 0)),
        ("red + rgba.green*2 + rgba.b - alpha", lambda p: p.r + p.g * 2 + p.b - p.a),
        ("frame*10 + t", lambda _: 33),
        ("5", lambda _: 5),
    ],
)
def test_expressions_of_pixels(plate: str, text: str, made: Callable[[Pixel], float]) -> None:
    shown = pull(f'{plate}Expression {{ expr0 "{text}" }}', 3, ("R",)).pixels[..., 0]
    np.testing.assert_allclose(shown, _expected(made), rtol=1e-5, atol=1e-6)


def _row(text: str, frame: int = 1) -> list[list[float]]:
    """The lowest row of R, G, B, A."""
    lowest: list[list[float]] = pull(text, frame, ("R", "G", "B", "A")).pixels[-1].tolist()
    return lowest


def test_numbers_are_as_single_as_pixels(tmp_path: Path) -> None:
    write_exr(tmp_path / "a.exr", np.array([[[0.1], [0.2], [np.nan], [np.inf], [-1e38]]], np.float32), ("R",))
    read = f'Read {{ file "{tmp_path.as_posix()}/a.exr" }}\n'
    assert pull(read + "Expression { expr0 r==0.1 }").pixels[0, :, 0].tolist() == [1, 0, 0, 0, 0]
    shown = pull(read + "Expression { expr0 r*100 }").pixels[0, :, 0]
    np.testing.assert_allclose(shown, [10, 20, np.nan, np.inf, -np.inf])
    assert pull(read + "Expression { expr0 r<=0.2 }").pixels[0, :, 0].tolist() == [1, 1, 0, 0, 1]


def test_rows_see_the_input_and_leave_other_channels(plate: str) -> None:
    swapped = plate + "Expression { expr0 g expr1 r }"
    assert [pixel[:2] for pixel in _row(swapped)] == [[g, r] for r, g, *_ in _lowest()]
    opaque = np.array(_row(plate + "Expression { expr3 1 }"))
    np.testing.assert_array_equal(opaque[:, :3], _values()[-1, :, :3])
    assert (opaque[:, 3] == 1).all()
    assert _row(plate + "Expression { }") == _lowest()


def test_a_row_may_give_several_channels(plate: str) -> None:
    both = (
        plate + "Expression { channel0 {rgba.red rgba.green -rgba.blue -rgba.alpha} expr0 x+1 channel1 none expr1 9 }"
    )
    assert [pixel[:2] for pixel in _row(both)] == [[x + 1, x + 1] for x in range(WIDTH)]
    every = plate + "Expression { channel0 rgba expr0 a channel3 none }"
    assert [len(set(pixel)) for pixel in _row(every)] == [1] * WIDTH
    with pytest.raises(UnderstudyError, match=r"knob expr2 gives B, as expr0 does; leave one of them"):
        pull(plate + "Expression { channel0 rgb expr0 1 expr2 2 }")


def test_variables_are_computed_in_their_order(plate: str) -> None:
    text = (
        plate + 'Expression { temp_name0 m temp_expr0 "max(r,g,b)" temp_name1 n temp_expr1 m*2 temp_name2 z expr0 n+z }'
    )
    expected = [2 * max(pixel[:3]) for pixel in _lowest()]
    assert [pixel[0] for pixel in _row(text)] == pytest.approx(expected)
    shadowing = plate + "Expression { temp_name0 r temp_expr0 x+10 expr0 r temp_name1 width temp_expr1 3 expr1 width }"
    assert [pixel[:2] for pixel in _row(shadowing)] == [[x + 10, 3] for x in range(WIDTH)]
    with pytest.raises(UnderstudyError, match=r"knob temp_expr0 uses n, which is computed after it"):
        pull(plate + "Expression { temp_name0 m temp_expr0 n temp_name1 n temp_expr1 1 expr0 m }")
    with pytest.raises(UnderstudyError, match=r"knob temp_expr0 uses m, which is computed after it"):
        pull(plate + "Expression { temp_name0 m temp_expr0 m+1 expr0 m }")


def test_knobs_are_linked_at_the_frame(plate: str) -> None:
    """The node's own knobs go before the frame, and after channels; others are found as from any knob."""
    own = "addUserKnob {7 t} t {{curve L x0 0 x10 20}} addUserKnob {7 g} g 100 addUserKnob {18 tint} tint {5 6 7} "
    text = "Constant { name K value {{frame*2}} }\n" + plate.replace("{", "{ inputs 0", 1)
    text += f'Expression {{ {own} expr0 "t + g" expr1 "this.g + tint.1" expr2 "parent.K.value + parent.K.value(7)" }}'
    for frame in (1, 4):
        shown = pull(text, frame, ("R", "G", "B")).pixels[-1, 0]
        assert shown.tolist() == pytest.approx([2 * frame, 106, 2 * frame + 14])


def test_frames_are_kept_apart(plate: str) -> None:
    moving = "NoOp { inputs 0 name N addUserKnob {7 v} v {{frame}} }\n"
    evaluator, last = evaluator_of(f"{moving}{plate.replace('{', '{ inputs 0', 1)}Expression {{ expr0 parent.N.v }}")
    assert [evaluator.pull(last, frame, ("R",)).pixels[0, 0, 0] for frame in (1, 2, 1)] == [1, 2, 1]


def test_channels_are_made_and_layers_seen(tmp_path: Path) -> None:
    names = ("R", "G", "B", "forward.u", "forward.v", "diffuse.R")
    write_exr(tmp_path / "a.exr", np.array([[[1, 2, 3, 4, 5, 6]]], np.float32), names)
    read = f'Read {{ file "{tmp_path.as_posix()}/a.exr" }}\n'
    made = pull(
        read + "Expression { channel0 alpha expr0 forward.u+diffuse.red channel1 depth expr1 a+1 channel3 none }"
    )
    assert set(made.channels) == {*names, "A", "Z"}
    shown = pull(read + "Expression { expr3 r channel0 forward expr0 forward.v*2 }", 1, ("A", "forward.u", "forward.v"))
    assert shown.pixels[0, 0].tolist() == [1, 10, 10]
    with pytest.raises(UnderstudyError, match=r"knob expr0 gives the layer 'backward', which the input lacks"):
        pull(read + "Expression { channel0 backward expr0 1 }")
    with pytest.raises(UnderstudyError, match=r"knob expr0 refers to 'backward.u', and there is no 'backward'"):
        pull(read + "Expression { expr0 backward.u }")


def test_places_count_from_the_formats_corner(plate: str) -> None:
    """Whatever the data window is; a format that moves takes its corner along."""
    for crop, corner in (("Crop { box {1 1 4 3} }", (0, 0)), ("Crop { box {1 1 4 3} reformat true }", (0, 0))):
        image = pull(f"{plate}{crop}\nExpression {{ expr0 x expr1 y expr2 width*10+height }}", 1, ("R", "G", "B"))
        assert image.data_window == image.display_window
        lowest = image.pixels[-1, 0]
        size = (3, 2) if "reformat" in crop else (WIDTH, HEIGHT)
        assert lowest.tolist() == [*corner, size[0] * 10 + size[1]]
        assert image.pixels[0, -1, :2].tolist() == [size[0] - 1, size[1] - 1]


def test_what_makes_something_of_black_fills_the_format(plate: str) -> None:
    cropped = plate + "Crop { box {1 1 4 3} }\n"
    for text, fills in (
        ("r*2", False),
        ("r+0.5", True),
        ("x*r", True),
        ("r/a", False),
        ("r==0", True),
        ("a?1:0", False),
    ):
        image = pull(f"{cropped}Expression {{ expr0 {text} }}", 1, ("R",))
        assert image.data_window == (Window(0, 0, WIDTH, HEIGHT) if fills else Window(1, 1, 4, 3)), text
    assert pull(cropped + "Expression { expr0 r+0.5 }", 1, ("R",)).pixels[0, 0, 0] == 0.5


def test_mask_and_mix(plate: str) -> None:
    shown = _row(plate + "Expression { expr0 8 mix 0.5 maskChannelInput rgba.alpha }")
    expected = [r + (8 - r) * 0.5 * a for r, _, _, a in _lowest()]
    assert [pixel[0] for pixel in shown] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        ("expr0 cx", "knob expr0 holds cx, whose exact value is not known"),
        ("expr0 aspect*r", "knob expr0 holds aspect, whose exact value is not known"),
        ('expr0 "r(x+1,y)"', r"knob expr0 holds the function r\(\) in 'r\(x\+1,y\)', which is not known"),
        ("expr1 g(x+1)", "knob expr1 asks for g of another pixel, which is not evaluated"),
        ("expr0 noise(x)", "knob expr0 refers to 'noise', and there is no 'noise'"),
        ('expr0 "random(x,y)"', r"knob expr0 holds the function random\(\)"),
        ("expr0 r+", r"knob expr0 holds 'r\+', which is not understood at its end"),
        (r'expr0 "\[python {1}]"', "knob expr0 holds the command"),
        ("expr0 1 temp_name0 k temp_expr0 nix", "knob temp_expr0 refers to 'nix', and there is no 'nix'"),
        ("expr0 parent.Read1.last(x)", "knob expr0 holds 'parent.Read1.last\\(x\\)', which asks for another frame"),
        ("expr0 1 unpremult alpha", "knob unpremult set to 'alpha' cannot be evaluated"),
    ],
)
def test_expressions_that_cannot_be_evaluated_are_named(plate: str, knobs: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=rf"Expression1 \(Expression\), line 2: {what}"):
        pull(f"{plate}Expression {{ {knobs} }}")


def test_a_name_without_a_number_at_one_frame_is_named_before_any_pixel(plate: str) -> None:
    evaluator, last = evaluator_of(plate + "Expression { expr0 q*r addUserKnob {7 q} q {{1/(frame-5)}} }")
    evaluator.check([last])
    assert len(evaluator.files(last, 4)) == 1
    with pytest.raises(UnderstudyError, match=r"knob expr0 holds '1/\(frame-5\)', which comes to no number"):
        evaluator.files(last, 5)
