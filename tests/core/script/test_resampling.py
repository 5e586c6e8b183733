"""The resampler against filters as textbooks print them, applied pixel by pixel, and against ImageBufAlgo."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, cos, floor, hypot, pi, radians, sin, sqrt
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest
from tests.core.script.fixtures import pull
from tests.core.script.plates import noise, plate

from understudy.frames.image import FloatPixels
from understudy.frames.window import Window
from understudy.script.nodes.homography import Homography, moved, scaled, turned
from understudy.script.nodes.kernels import KERNELS
from understudy.script.nodes.resample import Resampling

HEIGHT, WIDTH = 7, 9
THERE = Window(0, 0, WIDTH, HEIGHT)


def _cardinal(a: float) -> Callable[[float], float]:
    """Keys' cubic convolution with the slope a at 1."""

    def weight(t: float) -> float:
        if t < 1:
            return (a + 2) * t**3 - (a + 3) * t**2 + 1
        return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0.0

    return weight


def _mitchell(t: float) -> float:
    if t < 1:
        return (7 * t**3 - 12 * t**2 + 16 / 3) / 6
    return (-7 / 3 * t**3 + 12 * t**2 - 20 * t + 32 / 3) / 6 if t < 2 else 0.0


def _b_spline(t: float) -> float:
    if t < 1:
        return 2 / 3 - t**2 + t**3 / 2
    return (2 - t) ** 3 / 6 if t < 2 else 0.0


def _notch(t: float) -> float:
    return 0.5 - t**2 / 4 if t < 1 else (2 - t) ** 2 / 4 if t < 2 else 0.0


def _sinc(t: float) -> float:
    return sin(pi * t) / (pi * t) if t else 1.0


TEXTBOOK: dict[str, tuple[float, Callable[[float], float]]] = {
    "Cubic": (1, _cardinal(0)),
    "Keys": (2, _cardinal(-0.5)),
    "Simon": (2, _cardinal(-0.75)),
    "Rifman": (2, _cardinal(-1)),
    "Mitchell": (2, _mitchell),
    "Parzen": (2, _b_spline),
    "Notch": (2, _notch),
    "Lanczos4": (2, lambda t: _sinc(t) * _sinc(t / 2) if t < 2 else 0),
    "Lanczos6": (3, lambda t: _sinc(t) * _sinc(t / 3) if t < 3 else 0),
    "Sinc4": (2, lambda t: _sinc(t) if t < 2 else 0),
}
"""Radius and weight by distance."""

MAPS = {
    "moved": moved(0.3, -1.75),
    "smaller": scaled(0.4, 0.7).then(moved(0.2, 0.1)),
    "larger": scaled(2.5, 1.3),
    "mirrored": scaled(-1, 1.2).then(moved(8.6, 0)),
    "on its side": turned(90).then(moved(7.25, 0.5)),
    "turned": turned(31).then(moved(2.5, -1)),
    "turned and smaller": turned(-20).then(scaled(0.5, 0.3)).then(moved(0, 2)),
    "skewed": Homography(xy=0.6).then(moved(-1, 0)),
}


def _resampled(old: FloatPixels, forward: Homography, name: str, region: Window, *, repeats_edges: bool) -> FloatPixels:
    how = Resampling(back=forward.inverse(), kernel=KERNELS[name], repeats_edges=repeats_edges)
    part = how.part(region, THERE)
    return how.pixels(old[part.y0 : part.y1, part.x0 : part.x1], part, region)


def _read_at(
    old: FloatPixels, x: float, y: float, widths: tuple[float, float], name: str, repeats: bool
) -> FloatPixels:
    """Every pixel within the filter's reach of a place, one by one in double precision."""
    radius, weight = TEXTBOOK[name]
    across, down = widths
    total, whole = np.zeros(old.shape[2]), 0.0
    for row in range(floor(y - radius * down) - 1, ceil(y + radius * down) + 1):
        for column in range(floor(x - radius * across) - 1, ceil(x + radius * across) + 1):
            share = weight(abs(column + 0.5 - x) / across) * weight(abs(row + 0.5 - y) / down)
            whole += share
            nearest = min(max(row, 0), HEIGHT - 1), min(max(column, 0), WIDTH - 1)
            if repeats or nearest == (row, column):
                total += share * old[nearest].astype(np.float64)
    result: FloatPixels = (total / whole).astype(np.float32)
    return result


@pytest.mark.parametrize("repeats_edges", [False, True])
@pytest.mark.parametrize("forward", MAPS.values(), ids=MAPS)
@pytest.mark.parametrize("name", TEXTBOOK)
def test_each_filter_is_what_textbooks_print(name: str, forward: Homography, repeats_edges: bool) -> None:
    old, region = noise(HEIGHT, WIDTH, 3), Window(-1, -1, 8, 7)
    new = _resampled(old, forward, name, region, repeats_edges=repeats_edges)
    rows = (forward.xx, forward.xy, forward.x0), (forward.yx, forward.yy, forward.y0), (0.0, 0.0, 1.0)
    back = np.linalg.inv(np.array(rows))
    across, down = hypot(back[0, 0], back[0, 1]), hypot(back[1, 0], back[1, 1])
    square = sqrt(abs(np.linalg.det(back)) / (across * down))
    widths = max(1.0, across * square), max(1.0, down * square)
    for row in range(region.height):
        for column in range(region.width):
            x, y, _ = back @ (region.x0 + column + 0.5, region.y0 + row + 0.5, 1)
            expected = _read_at(old, x, y, widths, name, repeats_edges)
            np.testing.assert_allclose(new[row, column], expected, atol=2e-5)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("Cubic", "cubic"),
        ("Keys", "keys"),
        ("Simon", "simon"),
        ("Rifman", "rifman"),
        ("Mitchell", "mitchell"),
        ("Parzen", "bspline"),
        ("Lanczos6", "lanczos3"),
    ],
)
def test_filters_that_image_buf_algo_has_agree_with_it(name: str, theirs: str) -> None:
    old, forward, region = noise(HEIGHT, WIDTH, 3), MAPS["turned"], Window(0, 0, 8, 7)
    matrix = (forward.xx, forward.yx, 0, forward.xy, forward.yy, 0, forward.x0, forward.y0, 1)
    roi = oiio.ROI(0, 8, 0, 7, 0, 1, 0, 3)
    warped = oiio.ImageBufAlgo.warp(oiio.ImageBuf(old), matrix, theirs, wrap="black", roi=roi).get_pixels(oiio.FLOAT)
    assert warped is not None
    np.testing.assert_allclose(_resampled(old, forward, name, region, repeats_edges=False), warped, atol=2e-5)


INTERPOLATING = ("Impulse", "Cubic", "Keys", "Simon", "Rifman", "Lanczos4", "Lanczos6", "Sinc4")


@pytest.mark.parametrize("name", KERNELS)
def test_whole_pixels_are_copied_exactly_by_filters_that_interpolate(name: str) -> None:
    old = noise(HEIGHT, WIDTH)
    old[2, 3], old[4, 4], old[0, 0] = np.inf, np.nan, -np.inf
    copies = (
        (Homography(), old),
        (moved(10.3, 7.1).then(moved(-10.3, -7.1)), old),
        (scaled(-1, 1).then(moved(WIDTH, 0)), old[:, ::-1]),
        (turned(30).then(turned(60)).then(moved(HEIGHT, 0)), np.rot90(old, -1)),
    )
    for forward, expected in copies:
        region = Window.of_size(expected.shape[1], expected.shape[0])
        new = _resampled(old, forward, name, region, repeats_edges=False)
        assert np.array_equal(new, expected, equal_nan=True) == (name in INTERPOLATING)
        assert (
            Resampling(back=forward.inverse(), kernel=KERNELS[name], repeats_edges=False).window(THERE).contains(region)
        )


@pytest.mark.parametrize(
    "forward", [moved(0.5, 0), moved(0, 2), turned(31).then(moved(2.5, -1)), scaled(3, 3), Homography(xx=3, yy=3, xy=1)]
)
def test_an_infinity_stays_where_the_filter_reaches(forward: Homography) -> None:
    old = np.ones((HEIGHT, WIDTH, 1), np.float32)
    old[3, 4] = np.inf
    region = Window(0, 0, 3 * WIDTH, 3 * HEIGHT)
    new = _resampled(old, forward, "Cubic", region, repeats_edges=True)
    for row in range(region.height):
        for column in range(region.width):
            x, y = forward.inverse().of(column + 0.5, row + 0.5)
            is_reached = max(abs(x - 4.5), abs(y - 3.5)) < 1 - 1e-5
            assert new[row, column, 0] == pytest.approx(np.inf if is_reached else 1, abs=1e-6)


def test_the_pixel_below_the_place_is_taken_by_impulse() -> None:
    """Of two that are as near the one to the right and above, as a place is cut to a whole number, y upwards."""
    old = np.arange(HEIGHT * WIDTH, dtype=np.float32).reshape(HEIGHT, WIDTH, 1)
    halved = _resampled(old, scaled(0.5, 0.5), "Impulse", Window(0, 0, 4, 3), repeats_edges=False)
    np.testing.assert_array_equal(halved, old[0:6:2, 1:8:2])
    doubled = _resampled(old, scaled(2, 2), "Impulse", Window(0, 0, 18, 14), repeats_edges=False)
    np.testing.assert_array_equal(doubled, old.repeat(2, axis=0).repeat(2, axis=1))
    angle = radians(31)
    turned_by = _resampled(old, turned(31), "Impulse", Window(1, 4, 2, 5), repeats_edges=False)
    x, y = 1.5 * cos(angle) + 4.5 * sin(angle), -1.5 * sin(angle) + 4.5 * cos(angle)
    assert turned_by[0, 0, 0] == old[int(y), int(x), 0]


@pytest.mark.parametrize("forward", MAPS.values(), ids=MAPS)
@pytest.mark.parametrize("name", ["Impulse", "Cubic", "Parzen", "Lanczos6"])
def test_nothing_lies_beyond_the_window(name: str, forward: Homography) -> None:
    old = np.ones((HEIGHT, WIDTH, 1), np.float32)
    how = Resampling(back=forward.inverse(), kernel=KERNELS[name], repeats_edges=False)
    window = how.window(THERE)
    around = Window(window.x0 - 3, window.y0 - 3, window.x1 + 3, window.y1 + 3)
    new = how.pixels(old, THERE, around)[..., 0]
    seen = np.argwhere(new != 0)
    assert (seen >= 3).all()
    assert (seen[:, 0] < 3 + window.height).all()
    assert (seen[:, 1] < 3 + window.width).all()
    if name in ("Cubic", "Parzen"):  # the others are 0 here and there within their reach
        assert (seen.min(axis=0) <= 4).all()


def test_a_moved_picture_has_no_pixel_more_than_it_needs(tmp_path: Path) -> None:
    read = plate(tmp_path, noise(HEIGHT, WIDTH))
    for translate, window in (
        ("3 2", Window(3, -2, 12, 5)),
        ("0.25 0", Window(0, 0, 10, 7)),
        ("0 -0.5", Window(0, 0, 9, 8)),
    ):
        assert pull(f"{read}Transform {{ translate {{{translate}}} }}").data_window == window
