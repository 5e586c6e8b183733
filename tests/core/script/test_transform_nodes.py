"""Transform and TransformMasked: places worked out step by step, and what neighbours do together."""

from __future__ import annotations

from cmath import exp
from math import radians
from pathlib import Path
from typing import TypedDict

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.core.script.fixtures import evaluator_of, numbered_shot, pull
from tests.core.script.plates import assert_regions_of_a_strange_plate_are_cut_out, coordinates, noise, plate

from understudy.errors import UnderstudyError
from understudy.frames.image import FloatPixels
from understudy.frames.window import Window
from understudy.script.nodes.read import Read

HEIGHT, WIDTH = 40, 60


@pytest.fixture
def read(tmp_path: Path) -> str:
    return plate(tmp_path, noise(7, 9))


class Steps(TypedDict, total=False):
    """What the knobs say, as places in the plane."""

    translate: complex
    rotate: float
    scale: tuple[float, float]
    skew: tuple[float, float]
    y_first: bool
    center: complex


def _source_of(
    places: NDArray[np.complex128],
    *,
    translate: complex = 0,
    rotate: float = 0,
    scale: tuple[float, float] = (1, 1),
    skew: tuple[float, float] = (0, 0),
    y_first: bool = True,
    center: complex = 0,
    pixel_aspect: float = 1,
) -> NDArray[np.complex128]:
    """Where pixels come from: every step undone, the last one first; y goes up."""
    q = places - translate - center
    q = (q.real * pixel_aspect + 1j * q.imag) * exp(-1j * radians(rotate))
    for way in "xy" if y_first else "yx":
        q = q - skew[0] * q.imag if way == "x" else q - 1j * skew[1] * q.real
    return q.real / scale[0] / pixel_aspect + 1j * q.imag / scale[1] + center


@pytest.mark.parametrize(
    ("knobs", "steps"),
    [
        ("translate {5.25 -3.5}", {"translate": 5.25 - 3.5j}),
        ("translate 2", {"translate": 2 + 2j}),
        ("rotate 30 center {30 20}", {"rotate": 30, "center": 30 + 20j}),
        ("rotate -12", {"rotate": -12}),
        ("scale 1.5 center {20 10}", {"scale": (1.5, 1.5), "center": 20 + 10j}),
        ("scale {0.75 1.25} center {20 10}", {"scale": (0.75, 1.25), "center": 20 + 10j}),
        ("scale {-1 1} center {30 0}", {"scale": (-1, 1), "center": 30}),
        ("skewX 0.4", {"skew": (0.4, 0)}),
        ("skewY 0.3 center {30 20}", {"skew": (0, 0.3), "center": 30 + 20j}),
        ("skewX 0.4 skewY 0.3 center {30 20}", {"skew": (0.4, 0.3), "center": 30 + 20j}),
        (
            "skewX 0.4 skewY 0.3 center {30 20} skew_order YX",
            {"skew": (0.4, 0.3), "center": 30 + 20j, "y_first": False},
        ),
        (
            "translate {4 -2} rotate 20 scale {1.2 0.9} skewX 0.2 skewY -0.1 center {25 15}",
            {"translate": 4 - 2j, "rotate": 20, "scale": (1.2, 0.9), "skew": (0.2, -0.1), "center": 25 + 15j},
        ),
    ],
)
@pytest.mark.parametrize("pixel_aspect", [1.0, 2.0])
def test_pixels_come_from_where_the_knobs_say(tmp_path: Path, knobs: str, steps: Steps, pixel_aspect: float) -> None:
    """Of a picture that holds its own coordinates; Parzen leaves slopes alone."""
    read = plate(tmp_path, coordinates(HEIGHT, WIDTH), ("R", "G"), pixel_aspect=pixel_aspect)
    image = pull(f"{read}Transform {{ {knobs} filter Parzen }}", channels=("R", "G"))
    assert image.display_window == Window(0, 0, WIDTH, HEIGHT)
    assert image.pixel_aspect == pixel_aspect
    x, y = coordinates(HEIGHT, WIDTH)[..., 0], coordinates(HEIGHT, WIDTH)[..., 1]
    source = _source_of(x + 1j * y, pixel_aspect=pixel_aspect, **steps)
    inside = (abs(source.real - WIDTH / 2) < WIDTH / 2 - 4) & (abs(source.imag - HEIGHT / 2) < HEIGHT / 2 - 4)
    assert inside.sum() > 200
    seen = image.over(Window(0, 0, WIDTH, HEIGHT))[inside]
    # a filter that has been made wider holds a slope to a hundredth of a pixel only
    np.testing.assert_allclose(seen[:, 0] + 1j * seen[:, 1], source[inside], atol=0.03)


@pytest.mark.parametrize("knobs", ["translate {4 -2} rotate 20 scale {1.2 0.9} skewX 0.2 center {25 15}", "scale 2"])
def test_a_transform_and_its_inverse_leave_no_trace(read: str, knobs: str) -> None:
    both = pull(f"{read}Transform {{ {knobs} }}\nTransform {{ {knobs} invert_matrix true }}")
    plain = pull(read)
    assert both.data_window == plain.data_window
    np.testing.assert_array_equal(both.pixels, plain.pixels)


def test_whole_translates_are_copies(tmp_path: Path) -> None:
    pixels = noise(7, 9)
    pixels[3, 3], pixels[4, 4] = np.nan, np.inf
    read = plate(tmp_path, pixels, at=(-2, 1), display=Window(0, 0, 6, 8))
    image = pull(f"{read}Transform {{ translate {{3 -2}} }}")
    assert image.data_window == Window(1, 3, 10, 10)
    assert image.display_window == Window(0, 0, 6, 8)
    np.testing.assert_array_equal(image.pixels, pixels)
    undone = pull(f"{read}Transform {{ translate {{10.3 0.7}} }}\nTransform {{ translate {{-10.3 -0.7}} }}")
    np.testing.assert_array_equal(undone.pixels, pixels)


def test_quarter_turns_are_copies(tmp_path: Path) -> None:
    pixels = noise(4, 4)
    read = plate(tmp_path, pixels)
    for angle, times in ((90, 1), (180, 2), (-90, 3), (450, 1)):
        image = pull(f"{read}Transform {{ rotate {angle} center {{2 2}} }}")
        assert image.data_window == Window(0, 0, 4, 4)
        np.testing.assert_array_equal(image.pixels, np.rot90(pixels, times))


def test_the_format_may_lie_anywhere(tmp_path: Path) -> None:
    """The knobs count from its lower left corner."""
    pixels = noise(4, 4)
    read = plate(tmp_path, pixels, at=(10, -20))
    image = pull(f"{read}Transform {{ rotate 90 center {{2 2}} }}")
    assert image.data_window == image.display_window == Window(10, -20, 14, -16)
    np.testing.assert_array_equal(image.pixels, np.rot90(pixels))


def test_black_comes_in_unless_edges_are_to_be_repeated(tmp_path: Path) -> None:
    read = plate(tmp_path, noise(3, 4))
    pixels = noise(3, 4)
    black = pull(f"{read}Transform {{ translate {{2 0}} }}")
    assert black.data_window == Window(2, 0, 6, 3)
    repeated = pull(f"{read}Transform {{ translate {{2 0}} black_outside false }}")
    assert repeated.data_window == Window(0, 0, 6, 3)
    np.testing.assert_array_equal(repeated.pixels, pixels[:, [0, 0, 0, 1, 2, 3]])
    half = pull(f"{read}Transform {{ translate {{0.5 0}} black_outside false }}")
    np.testing.assert_allclose(half.pixels[:, 0], pixels[:, 0], rtol=1e-6)
    np.testing.assert_allclose(
        pull(f"{read}Transform {{ translate {{0.5 0}} }}").pixels[:, 0], pixels[:, 0] / 2, rtol=1e-6
    )


@pytest.mark.parametrize("between", ["Crop { box {0 0 4 3} }", "BlackOutside {}", "Transform {}"])
def test_edges_are_not_repeated_of_a_picture_with_black_around_it(tmp_path: Path, between: str) -> None:
    read = plate(tmp_path, noise(3, 4))
    moved = f"{read}{between}\nTransform {{ translate {{2 0}} black_outside false }}"
    assert pull(moved).data_window == Window(2, 0, 6, 3)
    small = plate(tmp_path, noise(3, 4), at=(1, 1), display=Window(0, 0, 9, 9), name="small")
    assert pull(f"{small}Transform {{ translate {{2 0}} black_outside false }}").data_window == Window(3, 1, 7, 4)


def test_black_outside_makes_an_alpha_where_there_is_none(tmp_path: Path) -> None:
    read = plate(tmp_path, noise(2, 3, 3), ("R", "G", "B"))
    moved = pull(f"{read}Transform {{ translate {{0.5 0}} }}")
    assert moved.channels == ("R", "G", "B", "A")
    np.testing.assert_allclose(moved.pixels[..., 3], [[0.5, 1, 1, 0.5]] * 2)
    twice = pull(f"{read}Transform {{ translate {{0.5 0}} }}\nTransform {{ translate {{0.5 0}} black_outside false }}")
    np.testing.assert_allclose(twice.over(Window(0, 0, 4, 2))[..., 3], [[0, 1, 1, 1]] * 2)
    assert pull(f"{read}Transform {{ translate {{0.5 0}} black_outside false }}").channels == ("R", "G", "B")
    own = plate(tmp_path, noise(2, 3), name="own")
    np.testing.assert_array_equal(pull(f"{own}Transform {{ }}").pixels, noise(2, 3))


def test_clamp_leaves_nothing_negative(read: str) -> None:
    plain = pull(f"{read}Transform {{ translate {{0.5 0.5}} filter Rifman }}").pixels
    clamped = pull(f"{read}Transform {{ translate {{0.5 0.5}} filter Rifman clamp true }}").pixels
    assert plain.min() < 0
    np.testing.assert_array_equal(clamped, np.maximum(plain, 0))


SHRINK = "Transform { scale 0.1 }\n"
GROW = "Transform { scale 10 filter Keys }\n"


@pytest.mark.parametrize(
    "between",
    [
        "",
        "Dot {}\nNoOp {}\n",
        "Keylight { disable true }\n",
        "Switch { which 0 }\n",
        "Group { }\n Input { inputs 0 }\n Output { }\nend_group\n",
        "Transform { translate 5 disable true }\n",
        "Reformat { type scale scale 3 resize none center false pbb true }\n",
    ],
)
def test_neighbours_filter_once(read: str, between: str) -> None:
    image = pull(f"{read}{SHRINK}{between}{GROW}")
    corner = Window(0, image.display_window.y1 - 7, 9, image.display_window.y1)
    np.testing.assert_array_equal(image.over(corner), noise(7, 9))


@pytest.mark.parametrize("between", ["Grade { black_clamp false }\n", "Crop { box {0 0 9 7} }\n", "BlackOutside {}\n"])
def test_what_comes_between_makes_two_filters(read: str, between: str) -> None:
    assert np.abs(pull(f"{read}{SHRINK}{between}{GROW}").over(Window(0, 0, 9, 7)) - noise(7, 9)).max() > 0.5


def test_the_last_filter_counts(read: str) -> None:
    both = pull(f"{read}Transform {{ translate {{0.25 0}} filter Parzen }}\nTransform {{ rotate 5 filter Simon }}")
    one = pull(f"{read}Transform {{ translate {{0.25 0}} filter Simon }}\nTransform {{ rotate 5 filter Simon }}")
    other = pull(f"{read}Transform {{ translate {{0.25 0}} filter Simon }}\nTransform {{ rotate 5 filter Parzen }}")
    np.testing.assert_array_equal(both.pixels, one.pixels)
    assert other.data_window != both.data_window or np.abs(other.pixels - both.pixels).max() > 0.1


def test_a_node_that_asks_for_another_frame_stands_between(tmp_path: Path) -> None:
    shot = f'Read {{ file "{numbered_shot(tmp_path, range(1, 9), 9, 7)}" last 8 }}\n'
    moving = (
        shot + "Transform { translate {{frame/4} 0} }\nFrameHold { first_frame 2 }\nTransform { translate {0.5 0} }"
    )
    once = shot + "FrameHold { first_frame 2 }\nTransform { translate 0 }\nTransform { translate {1 0} }"
    inner = Window(3, 0, 6, 7)
    assert np.abs(pull(moving, 4, ("R",)).over(inner) - pull(once, 4, ("R",)).over(inner)).max() < 1e-5
    assert pull(moving, 4, ("R",)).data_window == Window(0, 0, 11, 7)
    assert pull(once, 4, ("R",)).data_window == Window(1, 0, 10, 7)


def test_knobs_move_and_follow_a_tracker(tmp_path: Path) -> None:
    shot = f'Read {{ file "{numbered_shot(tmp_path, range(1, 9), 9, 7)}" last 8 }}\n'
    tracker = (
        "Tracker4 { inputs 0 tracks {{1 31 1}} translate {{curve x1 0 x3 4 x5 4} {curve x1 0 x3 -2}}"
        " rotate {{curve x1 0}} center {3 3} name Tracker1 }\n"
    )
    linked = (
        "Transform { translate {{parent.Tracker1.translate.x} {parent.Tracker1.translate.y}}"
        " rotate {{parent.Tracker1.rotate}} center {{parent.Tracker1.center} {parent.Tracker1.center}} }"
    )
    text = tracker + shot + linked
    assert [pull(text, frame).data_window for frame in (1, 3)] == [Window(0, 0, 9, 7), Window(4, 2, 13, 9)]
    own = shot + "Transform { translate {{frame} 0} scale {{curve x1 1 x3 2}} filter Impulse }"
    assert pull(own, 3).data_window.width == pytest.approx(18, abs=1)
    assert pull(shot + "Transform { translate {{parent.Gone.translate.x} 0} disable true }").data_window.width == 9


MANY = {
    "moved": "Transform { translate {1.3 -0.6} }",
    "turned": "Transform { rotate 33 center {4 3} filter Keys }",
    "on its side": "Transform { rotate 90 center {4 3} scale 0.7 }",
    "small": "Transform { scale 0.3 rotate 10 center {4 3} filter Mitchell }",
    "small and upright": "Transform { scale {0.3 0.6} center {4 3} filter Lanczos6 }",
    "large": "Transform { scale 3 center {4 3} filter Impulse }",
    "edges": "Transform { rotate 33 center {4 3} black_outside false filter Rifman clamp true }",
    "chain": "Transform { translate {0.4 0} }\nDot {}\nTransform { scale 0.5 }\nGrade { add 1 }\nTransform { rotate 5}",
    "masked": "TransformMasked { translate {1.3 -0.6} channels rgb maskChannelInput rgba.alpha }",
}


@pytest.mark.parametrize("nodes", MANY.values(), ids=MANY)
@pytest.mark.parametrize(
    ("at", "display"), [((0, 0), None), ((-2, 1), Window(0, 0, 6, 8)), ((2, 3), Window(0, 0, 20, 9))]
)
def test_a_region_is_the_whole_picture_cut(
    tmp_path: Path, nodes: str, at: tuple[int, int], display: Window | None
) -> None:
    assert_regions_of_a_strange_plate_are_cut_out(tmp_path, nodes, at, display)


def test_bands_meet_without_a_seam(tmp_path: Path) -> None:
    """A picture of more rows than go through the tree at once."""
    text = plate(tmp_path, noise(600, 5, 2), ("R", "G")) + "Transform { rotate 3 translate {0 0.3} }"
    whole = pull(text, channels=("R", "G"))
    evaluator, last = evaluator_of(text)
    for y in (254, 256, 511):
        part = evaluator.pull(last, 1, ("R", "G"), Window(0, y, 5, y + 3))
        np.testing.assert_array_equal(part.pixels, whole.over(part.data_window))


def test_no_more_is_asked_for_than_the_filter_reaches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Window] = []
    decode = Read.pixels

    def noted(self: Read, *given: object) -> FloatPixels:
        asked.append(given[2].region)  # type: ignore[attr-defined]
        return decode(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Read, "pixels", noted)
    read = plate(tmp_path, noise(100, 100, 1), ("R",))
    for knobs, most in (
        ("translate {0.5 0.5}", 14),
        ("rotate 45 center {50 50}", 20),
        ("scale 0.5 center {50 50}", 28),
        ("rotate 90 center {50 50} filter Lanczos6", 18),
    ):
        evaluator, last = evaluator_of(f"{read}Transform {{ {knobs} }}")
        evaluator.pull(last, 1, ("R",), Window(45, 45, 55, 55))
        assert asked.pop().width <= most
        assert not asked


def test_a_picture_without_pixels_stays_so(tmp_path: Path) -> None:
    read = plate(tmp_path, noise(3, 4)) + "Crop { box {9 9 12 12} intersect true }\n"
    for node in (
        "Transform { rotate 5 }",
        "Transform { rotate 5 black_outside false }",
        "TransformMasked { rotate 5 }",
    ):
        assert pull(read + node).data_window.is_empty
    far = plate(tmp_path, noise(3, 4)) + "Transform { translate 1000 }\nTransform { scale 0.5 }\n"
    assert pull(far).over(Window(0, 0, 4, 3)).tolist() == np.zeros((3, 4, 4)).tolist()


def test_a_mask_lets_the_transform_through(tmp_path: Path) -> None:
    pixels = noise(3, 4)
    pixels[..., 3] = [0, 0.25, 1, 1]
    mask = plate(tmp_path, np.full((3, 4, 1), 0.5, np.float32), ("A",), name="mask")
    read = plate(tmp_path, pixels)
    moved = np.zeros_like(pixels)
    moved[:, 1:] = pixels[:, :-1]
    whole = pull(read + "TransformMasked { translate {1 0} }")
    assert whole.data_window == Window(0, 0, 5, 3)
    np.testing.assert_array_equal(whole.over(Window(0, 0, 4, 3)), moved)
    half = pull(mask + read + "TransformMasked { inputs 1+1 translate {1 0} }").over(Window(0, 0, 4, 3))
    np.testing.assert_allclose(half, (pixels + moved) / 2, atol=1e-6)
    own = pull(read + "TransformMasked { translate {1 0} channels {rgba.red} maskChannelInput rgba.alpha mix 0.5 }")
    by = pixels[..., 3] / 2
    np.testing.assert_allclose(
        own.over(Window(0, 0, 4, 3))[..., 0], pixels[..., 0] * (1 - by) + moved[..., 0] * by, atol=1e-6
    )
    np.testing.assert_array_equal(own.over(Window(0, 0, 4, 3))[..., 1:], pixels[..., 1:])


def test_a_masked_transform_takes_those_above_into_its_own(read: str) -> None:
    shrink = SHRINK.replace("}", "filter Parzen }")
    np.testing.assert_array_equal(
        pull(read + shrink + GROW.replace("Transform", "TransformMasked")).over(Window(0, 0, 9, 7)), noise(7, 9)
    )
    below = pull(read + shrink.replace("Transform", "TransformMasked") + GROW).over(Window(0, 0, 9, 7))
    assert np.abs(below - noise(7, 9)).max() > 0.5


def test_a_long_chain_fits_on_the_stack(read: str) -> None:
    chain = (
        "Transform { translate {0.1 0} }\n" * 100 + "Transform { translate {-10 0} }\n" + "TransformMasked {}\n" * 40
    )
    np.testing.assert_array_equal(pull(read + chain).over(Window(0, 0, 9, 7)), noise(7, 9))


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        ("scale 0", "knob scale is 0 0, which leaves no picture; set it; bake"),
        ("scale {1 {curve x1 0 x9 2}}", "knob scale is 1 0, which leaves no picture"),
        ("scale 0 invert_matrix true", "knob scale is 0 0, which leaves no picture"),
        (
            "scale 100000",
            r"places the picture at 1000000x800000.* makes over 65536 pixels, or 268435456 in all; set it",
        ),
        ("scale 1e-12", "knob scale is 1e-12 1e-12, which leaves no picture"),
        ("translate 1e9", "places the picture at 9x7.*, which makes over 65536 pixels"),
        ("motionblur 1", "knob motionblur set to '1' cannot be evaluated"),
        ("skew 3", "knob skew set to '3' cannot be evaluated"),
        ("filter Gaussian", "knob filter is 'Gaussian', which is none of Impulse, Cubic, Keys"),
        ("translate {1 2 3}", "knob translate has 3 values in place of 1 or 2"),
        ("rotate {{parent.Tracker1.rotate}}", "knob rotate refers to 'parent.Tracker1.rotate', and there is no"),
        ("rotate nan", "knob rotate refers to 'nan'"),
        ("skew_order XZ", "knob skew_order is 'XZ', which is none of XY, YX"),
    ],
)
@pytest.mark.parametrize("name", ["Transform", "TransformMasked"])
def test_knobs_that_cannot_be_evaluated_are_named(read: str, name: str, knobs: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=rf"{name}\d \({name}\), line 2: {what}") as fault:
        _prepare(f"{read}{name} {{ {knobs} }}")
    assert "\n" not in str(fault.value)


def test_an_alpha_that_comes_and_goes_is_refused(read: str) -> None:
    with pytest.raises(UnderstudyError, match="knob black_outside changes with the frame"):
        _prepare(read + "Transform { black_outside {{frame>3}} }")
    _prepare(read + "TransformMasked { black_outside {{frame>3}} }")


def _prepare(text: str) -> None:
    """What is done with a script before any pixel."""
    evaluator, last = evaluator_of(text)
    evaluator.check([last])
    evaluator.files(last, 1)
    evaluator.info(last, 1)


@pytest.mark.parametrize(
    "node", ["Transform { scale %s }", "TransformMasked { scale %s }", "Transform { scale %s rotate 5 }"]
)
def test_pictures_that_vanish_are_named(read: str, node: str) -> None:
    name, what = node.split()[0], "makes one of over 1024 pixels, alone or with those above it; set their scale"
    for above, scale in (("", "0.0009"), ("Transform { scale 0.01 }\n", "0.01")):
        with pytest.raises(UnderstudyError, match=rf"{name}\d \({name}\), line {3 if above else 2}: {what}"):
            _prepare(read + above + node % scale)
    _prepare(read + node % "0.001")


def test_what_vanishes_may_come_back_in_a_chain(read: str) -> None:
    _prepare(read + "Transform { scale 0.0001 }\nTransform { scale 1000 }")
    with pytest.raises(UnderstudyError, match=r"Last \(Transform\), line 3: makes one of over 1024 pixels"):
        _prepare(read + "Transform { scale 1e-8 }\nTransform { scale 1e-8 name Last }")
