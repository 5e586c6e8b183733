"""CornerPin2D against the equations of four points, and Trackers against the Transform that their knobs stand for."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, hypot, sqrt
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.core.script.fixtures import evaluator_of, numbered_shot, pull
from tests.core.script.plates import assert_regions_of_a_strange_plate_are_cut_out, coordinates, noise, plate

from understudy.errors import UnderstudyError
from understudy.frames.image import FloatPixels
from understudy.frames.window import Window
from understudy.script.nodes.homography import Homography
from understudy.script.nodes.kernels import KERNELS
from understudy.script.nodes.projecting import Projecting

HEIGHT, WIDTH = 40, 60
FULL = Window(0, 0, WIDTH, HEIGHT)
CORNERS = [(0, 0), (60, 0), (60, 40), (0, 40)]
QUAD = [(5.5, 3), (52, 8.25), (48, 35), (9, 30)]

Points = Sequence[tuple[float, float]]
Matrix = NDArray[np.float64]


@pytest.fixture
def read(tmp_path: Path) -> str:
    return plate(tmp_path, noise(7, 9))


def _pin(start: Points, end: Points, more: str = "") -> str:
    sides = (("from", start), ("to", end))
    points = "".join(f" {side}{n} {{{x} {y}}}" for side, all_ in sides for n, (x, y) in enumerate(all_, 1))
    return f"CornerPin2D {{{points} invert false {more} }}\n"


def _solved(start: Points, end: Points) -> Matrix:
    """The 3 x 3 matrix that takes each point to the other, from its eight linear equations."""
    rows, values = [], []
    for (x, y), (u, v) in zip(start, end, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    return np.append(np.linalg.solve(np.array(rows), np.array(values)), 1).reshape(3, 3)


def _source_of(matrix: Matrix) -> NDArray[np.float64]:
    """H W 2: where each pixel comes from, y going up."""
    places = coordinates(HEIGHT, WIDTH).astype(np.float64)
    there = np.concatenate((places, np.ones((HEIGHT, WIDTH, 1))), axis=2) @ np.linalg.inv(matrix).T
    return np.asarray(there[..., :2] / there[..., 2:])


def _assert_comes_from(text: str, matrix: Matrix, least: int = 200) -> None:
    image = pull(text, channels=("R", "G"))
    source = _source_of(matrix)
    away = np.abs(source - (WIDTH / 2, HEIGHT / 2))
    inside = (away[..., 0] < WIDTH / 2 - 4) & (away[..., 1] < HEIGHT / 2 - 4)
    assert inside.sum() > least
    # a filter that has been made wider holds a slope to a hundredth of a pixel only
    np.testing.assert_allclose(image.over(FULL)[inside], source[inside], atol=0.03)


@pytest.fixture
def slopes(tmp_path: Path) -> str:
    """A picture that holds its own coordinates; Parzen leaves slopes alone."""
    return plate(tmp_path, coordinates(HEIGHT, WIDTH), ("R", "G"), name="slopes")


EXTRA = "transform_matrix {{1.1 0.1 0 2} {-0.05 0.9 0 3} {0 0 1 0} {0.0005 0.001 0 1}}"
EXTRA_MATRIX = np.array([[1.1, 0.1, 2], [-0.05, 0.9, 3], [0.0005, 0.001, 1]])


@pytest.mark.parametrize(
    ("start", "end", "more", "matrix"),
    [
        (CORNERS, QUAD, "", _solved(CORNERS, QUAD)),
        (QUAD, CORNERS, "", _solved(QUAD, CORNERS)),
        (QUAD, CORNERS, "invert true", _solved(CORNERS, QUAD)),
        ([(10, 5), (50, 9), (44, 31), (12, 33)], QUAD, "", _solved([(10, 5), (50, 9), (44, 31), (12, 33)], QUAD)),
        (CORNERS, CORNERS, EXTRA, EXTRA_MATRIX),
        (CORNERS, QUAD, EXTRA, EXTRA_MATRIX @ _solved(CORNERS, QUAD)),
        (CORNERS, QUAD, EXTRA + " invert true", np.linalg.inv(EXTRA_MATRIX @ _solved(CORNERS, QUAD))),
        # 90 degrees anticlockwise about the middle
        (CORNERS, [(50, -10), (50, 50), (10, 50), (10, -10)], "", np.array([[0, -1, 50], [1, 0, -10], [0, 0, 1]])),
    ],
)
def test_pixels_come_from_where_the_points_say(
    slopes: str, start: Points, end: Points, more: str, matrix: Matrix
) -> None:
    _assert_comes_from(slopes + _pin(start, end, f"{more} filter Parzen"), matrix)


@pytest.mark.parametrize(
    ("disabled", "matrix"),
    [
        ((1, 2, 3, 4), np.eye(3)),
        ((1, 2, 4), np.array([[1, 0, QUAD[2][0] - 60], [0, 1, QUAD[2][1] - 40], [0, 0, 1]])),
        # 0, 0 -> 5.5, 3 and 60, 0 -> 52, 8.25: turned and scaled by the complex number (46.5 + 5.25i) / 60
        ((3, 4), np.array([[46.5 / 60, -5.25 / 60, 5.5], [5.25 / 60, 46.5 / 60, 3], [0, 0, 1]])),
        # 0, 0 and 60, 0 and 0, 40 -> 9, 30
        ((3,), np.array([[46.5 / 60, 3.5 / 40, 5.5], [5.25 / 60, 27 / 40, 3], [0, 0, 1]])),
    ],
)
def test_fewer_points_leave_less_freedom(slopes: str, disabled: tuple[int, ...], matrix: Matrix) -> None:
    off = " ".join(f"enable{number} false" for number in disabled)
    _assert_comes_from(slopes + _pin(CORNERS, QUAD, f"{off} filter Parzen"), matrix)


def test_points_count_from_the_formats_lower_left_corner(tmp_path: Path) -> None:
    read = plate(tmp_path, noise(4, 4), at=(10, -20), pixel_aspect=2)
    turned = [(4.0, 0.0), (4.0, 4.0), (0.0, 4.0), (0.0, 0.0)]
    image = pull(read + _pin([(0, 0), (4, 0), (4, 4), (0, 4)], turned))
    assert image.data_window == image.display_window == Window(10, -20, 14, -16)
    np.testing.assert_array_equal(image.pixels, np.rot90(noise(4, 4)))


def test_points_may_move(tmp_path: Path) -> None:
    shot = f'Read {{ file "{numbered_shot(tmp_path, range(1, 9), 9, 7)}" last 8 }}\n'
    moving = "CornerPin2D { from1 0 from2 0 from3 0 from4 0 to1 {{curve x1 0 x3 4} 1} enable2 0 enable3 0 enable4 0 }"
    assert [pull(shot + moving, frame).data_window for frame in (1, 3)] == [
        Window(0, -1, 9, 6),
        Window(4, -1, 13, 6),
    ]


def _parzen(t: float) -> float:
    return 2 / 3 - t**2 + t**3 / 2 if t < 1 else (2 - t) ** 3 / 6 if t < 2 else 0.0


def _read_at(old: FloatPixels, x: float, y: float, across: float, down: float) -> FloatPixels:
    """All pixels, one by one; outside it is black."""
    total, whole = np.zeros(old.shape[2]), 0.0
    for row in range(floor(y - 2 * down) - 1, floor(y + 2 * down) + 2):
        for column in range(floor(x - 2 * across) - 1, floor(x + 2 * across) + 2):
            share = _parzen(abs(column + 0.5 - x) / across) * _parzen(abs(row + 0.5 - y) / down)
            whole += share
            if 0 <= row < old.shape[0] and 0 <= column < old.shape[1]:
                total += share * old[row, column].astype(np.float64)
    result: FloatPixels = (total / whole).astype(np.float32)
    return result


def test_a_pixel_is_read_over_what_it_covers(tmp_path: Path) -> None:
    """The rectangle has the area and the sides' ratio of the derivatives, taken here by differences."""
    old = noise(30, 30, 3)
    start, end = [(0, 0), (30, 0), (30, 30), (0, 30)], [(0, 0), (20, 0), (14, 12), (5, 12)]
    image = pull(plate(tmp_path, old, ("R", "G", "B")) + _pin(start, end, "filter Parzen"), channels=("R", "G", "B"))
    back = np.linalg.inv(_solved(start, end))

    def source(x: float, y: float) -> tuple[float, float]:
        u, v, w = back @ (x, y, 1)
        return u / w, v / w

    for x, y in ((10, 11), (7, 10), (9, 5), (3, 2), (12, 11), (17, 1)):
        middle, step = source(x + 0.5, y + 0.5), 1e-4
        right, up = source(x + 0.5 + step, y + 0.5), source(x + 0.5, y + 0.5 + step)
        xx, yx = ((there - here) / step for here, there in zip(middle, right, strict=True))
        xy, yy = ((there - here) / step for here, there in zip(middle, up, strict=True))
        same_area = sqrt(abs(xx * yy - xy * yx) / (hypot(xx, xy) * hypot(yx, yy)))
        across, down = max(1.0, hypot(xx, xy) * same_area), max(1.0, hypot(yx, yy) * same_area)
        seen = image.over(Window(x, 29 - y, x + 1, 30 - y))[0, 0]
        np.testing.assert_allclose(seen, _read_at(old, middle[0], 30 - middle[1], across, down), atol=2e-4)


def test_perspective_and_its_inverse_leave_no_trace(read: str) -> None:
    there = _pin([(0, 0), (9, 0), (9, 7), (0, 7)], [(1, 1), (8, 0), (7, 5), (2, 6.5)])
    for back in (there.replace("invert false", "invert true"), _pin([(1, 1), (8, 0), (7, 5), (2, 6.5)], CORNERS97)):
        image = pull(read + there + back)
        np.testing.assert_allclose(image.over(Window(0, 0, 9, 7)), noise(7, 9), atol=1e-6)


CORNERS97: Points = [(0, 0), (9, 0), (9, 7), (0, 7)]
SHRINK = "Transform { scale 0.1 }\n"
GROWN = _pin([(0, 0), (0.9, 0), (0.9, 0.7), (0, 0.7)], CORNERS97, "filter Keys")


@pytest.mark.parametrize("between", ["", "Dot {}\n", "Tracker4 { translate {3 3} }\n", "Transform { disable true }\n"])
def test_neighbours_filter_once(read: str, between: str) -> None:
    np.testing.assert_allclose(pull(read + SHRINK + between + GROWN).over(Window(0, 0, 9, 7)), noise(7, 9), atol=1e-6)
    tracked = "Tracker4 { transform stabilize scale 0.1 translate 0 }\n"
    np.testing.assert_allclose(pull(read + tracked + between + GROWN).over(Window(0, 0, 9, 7)), noise(7, 9), atol=1e-6)
    apart = pull(read + SHRINK + "Grade { black_clamp false }\n" + GROWN).over(Window(0, 0, 9, 7))
    assert np.abs(apart - noise(7, 9)).max() > 0.5


def test_a_masked_transform_takes_the_pin_above_into_its_own(read: str) -> None:
    pinned = _pin(CORNERS97, [(0, 0), (0.9, 0), (0.9, 0.7), (0, 0.7)])
    image = pull(read + pinned + "TransformMasked { scale 10 }\n")
    np.testing.assert_allclose(image.over(Window(0, 0, 9, 7)), noise(7, 9), atol=1e-6)


SLANTED = [(1, 1), (8, 0), (7, 5), (2, 6.5)]
MANY = {
    "smaller": _pin(CORNERS97, [(2, 1), (6, 1.5), (5, 3), (3, 4)], "filter Mitchell"),
    "larger": _pin(CORNERS97, [(-9, -5), (20, 0), (17, 15), (-2, 16)], "filter Impulse clamp true"),
    "edges": _pin(CORNERS97, SLANTED, "black_outside false filter Rifman"),
    "chain": "Transform { rotate 9 }\n" + _pin(CORNERS97, SLANTED) + "Transform { scale 0.5 filter Keys }\n",
    "three points": _pin(CORNERS97, SLANTED, "enable2 false"),
    "steep": _pin(CORNERS97, [(0, 0), (9, 0), (5, 3), (4, 3)], "filter Lanczos6"),
    "tracked": "Tracker4 { transform match-move translate {1.3 -0.6} rotate 20 center {4 3} filter Keys }",
}


@pytest.mark.parametrize("nodes", MANY.values(), ids=MANY)
@pytest.mark.parametrize(
    ("at", "display"), [((0, 0), None), ((-2, 1), Window(0, 0, 6, 8)), ((2, 3), Window(0, 0, 20, 12))]
)
def test_a_region_is_the_whole_picture_cut(
    tmp_path: Path, nodes: str, at: tuple[int, int], display: Window | None
) -> None:
    assert_regions_of_a_strange_plate_are_cut_out(tmp_path, nodes, at, display)


def test_bands_meet_without_a_seam(tmp_path: Path) -> None:
    text = plate(tmp_path, noise(600, 5, 2), ("R", "G"))
    text += _pin([(0, 0), (5, 0), (5, 600), (0, 600)], [(0, 0), (5, 1), (4, 560), (1, 599)])
    whole = pull(text, channels=("R", "G"))
    evaluator, last = evaluator_of(text)
    for y in (254, 256, 511):
        part = evaluator.pull(last, 1, ("R", "G"), Window(0, y, 5, y + 3))
        np.testing.assert_array_equal(part.pixels, whole.over(part.data_window))


@pytest.mark.parametrize("name", ["Impulse", "Cubic", "Parzen", "Lanczos6"])
@pytest.mark.parametrize("end", [SLANTED, [(2, 1), (6, 1.5), (5, 3), (3, 4)], [(-9, -5), (20, 0), (17, 15), (-2, 16)]])
def test_hardly_anything_lies_beyond_the_window(name: str, end: Points) -> None:
    """How far the filter reaches is known at the corners alone."""
    there, matrix = Window(0, 0, 9, 7), _solved(CORNERS97, end)
    (xx, xy, x0), (yx, yy, y0), (wx, wy, w0) = matrix.tolist()
    forward = Homography(xx=xx, xy=xy, x0=x0, yx=yx, yy=yy, y0=y0, wx=wx, wy=wy, w0=w0)
    how = Projecting(back=forward.inverse(), kernel=KERNELS[name], repeats_edges=False, there=there)
    window = how.window(there)
    region = Window(window.x0 - 9, window.y0 - 9, window.x1 + 9, window.y1 + 9)
    assert how.part(region, there) == there
    pixels = how.pixels(np.ones((7, 9, 1), np.float32), there, region)
    assert pixels[9:-9, 9:-9].max() > 0.5
    pixels[9:-9, 9:-9] = 0
    assert np.abs(pixels).max() < 0.02


def test_black_outside_and_alpha(tmp_path: Path) -> None:
    plain = plate(tmp_path, noise(7, 9, 3), ("R", "G", "B"), name="plain")
    pinned = pull(plain + _pin(CORNERS97, SLANTED))
    assert pinned.channels == ("R", "G", "B", "A")
    alpha = pinned.over(Window(0, 0, 9, 7))[..., 3]
    assert (alpha[3, 4], alpha[0, 0]) == (pytest.approx(1), 0)
    assert pull(plain + _pin(CORNERS97, SLANTED, "black_outside false")).channels == ("R", "G", "B")
    empty = plain + "Crop { box {9 9 12 12} intersect true }\n" + _pin(CORNERS97, SLANTED)
    assert pull(empty).data_window.is_empty


@pytest.mark.parametrize(
    ("node", "what"),
    [
        ("CornerPin2D { to1 {0 0} to2 {9 0} to3 {9 9} to4 {0 9} }", "knob from1 is left out; set it; bake"),
        (_pin(CORNERS97, [(0, 0), (1, 0), (2, 0), (3, 0)]), "knob to1 lies so that to1, to2, to3, to4 leave no pict"),
        (_pin(CORNERS97, [(0, 0), (0, 0), (2, 0), (3, 0)], "enable3 0 enable4 0"), "knob to1 lies so that to1, to2 le"),
        (_pin(CORNERS97, SLANTED, "motionblur 1"), "knob motionblur set to '1' cannot be evaluated"),
        (_pin(CORNERS97, SLANTED, "transform_matrix {{1 0} {0 1}}"), "knob transform_matrix has 2 rows in place of 4"),
        (
            _pin(CORNERS97, SLANTED, "transform_matrix {{1 0 0} {0 1 0 0} {0 0 1 0} {0 0 0 1}}"),
            "knob transform_matrix has a row of 3 values in place of 4",
        ),
        (
            _pin(CORNERS97, SLANTED, "transform_matrix {{0 0 0 0} {0 1 0 0} {0 0 1 0} {0 0 0 1}}"),
            "knob transform_matrix leaves no picture",
        ),
        (_pin([(0, 0), (9, 0), (6, 2), (3, 2)], CORNERS97), "places a part of the picture beyond the horizon; move"),
        (
            _pin(CORNERS97, [(0, 0), (9, 0), (5, 3), (4, 3)], "black_outside false"),
            "places a part of the picture beyond the horizon",
        ),
        ("Tracker4 { transform match-move }", "knob translate is left out, and so are rotate and scale, though it is"),
        ("Tracker4 { transform stabilize translate 1 motionblur 1 }", "knob motionblur set to '1' cannot be"),
        ("Tracker4 { transform stabilize translate 1 smoothT 5 }", "knob smoothT set to '5' cannot be evaluated"),
        ("Tracker4 { transform stabilize translate 1 livelink_transform true }", "knob livelink_transform set to 'tr"),
        ('Tracker4 { transform "remove jitter" translate 1 }', "knob transform is 'remove jitter', which is none of"),
        ("Tracker4 { transform stabilize translate {{parent.Gone.x}} }", "knob translate refers to 'parent.Gone.x'"),
        ("Tracker3 { transform stabilize translate 1 }", "knob transform is 'stabilize', which is none of none, match"),
    ],
)
def test_what_cannot_be_evaluated_is_named(read: str, node: str, what: str) -> None:
    name = node.split()[0]
    with pytest.raises(UnderstudyError, match=rf"{name}\d \({name}\), line 2: {what}") as fault:
        _prepare(read + node)
    assert "\n" not in str(fault.value)


def _prepare(text: str) -> None:
    """What is done with a script before any pixel."""
    evaluator, last = evaluator_of(text)
    evaluator.check([last])
    evaluator.info(last, 1)


@pytest.mark.parametrize("name", ["Tracker4", "Tracker3"])
def test_a_tracker_that_only_tracks_hands_its_input_on(tmp_path: Path, name: str) -> None:
    read = plate(tmp_path, noise(7, 9, 3), ("R", "G", "B"))
    for knobs in ("translate {3 3}", "translate {{parent.Gone.x}} motionblur 2 smoothT 3", "transform none rotate 3"):
        image = pull(f"{read}{name} {{ {knobs} }}")
        assert image.channels == ("R", "G", "B")
        np.testing.assert_array_equal(image.pixels, noise(7, 9, 3))


@pytest.mark.parametrize(
    ("name", "does"),
    [
        ("Tracker4", "stabilize"),
        ("Tracker4", '"stabilize 1-pt"'),
        ("Tracker4", "match-move"),
        ("Tracker4", '"match-move 1-pt"'),
        ("Tracker3", "match-move"),
    ],
)
def test_a_tracker_does_what_a_transform_does_with_its_knobs(read: str, name: str, does: str) -> None:
    knobs = "translate {{curve x1 0 x2 1.5} {curve x1 0 x2 -0.75}} rotate 10 scale 1.2 center {4 3} filter Keys"
    tracked = f"{read}{name} {{ tracks {{1 31 1}} transform {does} reference_frame 1 {knobs} previous_filter 1 }}"
    one, other = pull(tracked, 2), pull(f"{read}Transform {{ {knobs} }}", 2)
    assert one.data_window == other.data_window
    np.testing.assert_array_equal(one.pixels, other.pixels)
    assert np.abs(one.over(Window(0, 0, 9, 7)) - noise(7, 9)).max() > 0.5


def test_what_one_tracker_stabilizes_another_moves_back(tmp_path: Path) -> None:
    """By the numbers that Nuke writes for both: a track at 3, 2 at frame 1 that is at 5, 1 at frame 2."""
    read = plate(tmp_path, noise(7, 9), display=Window(0, 0, 9, 7))
    steady = 'Tracker4 { transform "stabilize 1-pt" translate {{curve x1 0 -2} {curve x1 0 1}}'
    steady += " center {{curve x1 3 5} {curve x1 2 1}} filter Keys }\n"
    moving = 'Tracker4 { transform "match-move 1-pt" translate {{curve x1 0 2} {curve x1 0 -1}}'
    moving += " center {{curve x1 3 3} {curve x1 2 2}} filter Keys }\n"
    # three pixels of the track's neighbourhood, at 5, 1 from the lower left corner and then at 3, 2
    np.testing.assert_array_equal(pull(read + steady, 2).over(Window(3, 4, 6, 5)), noise(7, 9)[5:6, 5:8])
    np.testing.assert_array_equal(pull(read + steady + moving, 2).over(Window(0, 0, 9, 7)), noise(7, 9))
