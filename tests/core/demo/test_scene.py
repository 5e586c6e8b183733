"""The demo's pictures: alike from one seed, bright, moving, and clean where nothing is to be painted out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from understudy.demo.camera import camera_at
from understudy.demo.filters import float32
from understudy.demo.grain import grain
from understudy.demo.rigging import MARKERS
from understudy.demo.scene import render_frame
from understudy.demo.shot import DemoShot
from understudy.demo.street import build_street
from understudy.frames.image import FloatPixels
from understudy.frames.psnr import PooledPsnr

SHOT = DemoShot(width=240, height=135)
FULL_SIZE = DemoShot()


def psnr(a: FloatPixels, b: FloatPixels) -> float:
    error = PooledPsnr(("R", "G", "B"))
    error.add(a, b)
    return error.decibels()


def test_a_shot_of_the_issue_by_default() -> None:
    assert (FULL_SIZE.width, FULL_SIZE.height, len(FULL_SIZE.frames)) == (480, 270, 48)
    assert len(FULL_SIZE.painted_frames) == 5
    assert len(FULL_SIZE.unpainted_frames) == 43
    assert not set(FULL_SIZE.unpainted_frames) & set(FULL_SIZE.painted_frames)


def test_pictures_are_float32_rgb_and_finite() -> None:
    for picture in render_frame(SHOT, 1001):
        assert picture.shape == (135, 240, 3)
        assert picture.dtype == np.float32
        assert np.isfinite(picture).all()


def test_equal_seeds_give_equal_streets_and_frames() -> None:
    first, second = build_street(SHOT.seed), build_street(SHOT.seed)
    np.testing.assert_array_equal(first.back, second.back)
    np.testing.assert_array_equal(first.ground, second.ground)
    for before, after in zip(render_frame(SHOT, 1020), render_frame(SHOT, 1020), strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("frame", [1001, 1024, 1048])
def test_truth_is_the_plate_but_for_a_small_part(frame: int) -> None:
    plate, truth = render_frame(FULL_SIZE, frame)
    changed = (plate != truth).any(axis=2)
    assert 0.015 < changed.mean() < 0.08
    assert not changed[:10, 180:300].any(), "nothing is stuck or hung above the neon letters"
    assert 24 < psnr(plate, truth) < 32


@pytest.mark.parametrize("frame", [1001, 1025, 1048])
def test_the_plate_shows_the_markers_that_the_truth_lacks(frame: int) -> None:
    plate, truth = render_frame(FULL_SIZE, frame)
    camera = camera_at(FULL_SIZE, frame)
    num_seen = 0
    for marker in MARKERS:
        x, y, _ = (float(part) for part in camera.project(*marker.plane.place(float32(marker.u), float32(marker.v))))
        if 8 < x < FULL_SIZE.width - 8 and 8 < y < 0.75 * FULL_SIZE.height:  # below, the rail may hide one
            difference = np.abs(plate - truth)[int(y), int(x)].max()
            assert difference > 0.02, f"{marker} at {x:.0f}, {y:.0f}"
            num_seen += 1
    assert num_seen >= 8


def test_a_wire_crosses_every_column() -> None:
    plate, truth = render_frame(FULL_SIZE, 1010)
    assert (plate != truth).any(axis=(0, 2)).all()


def test_highlights_lie_far_above_one() -> None:
    _, truth = render_frame(SHOT, 1030)
    assert 4 < truth.max() < 30
    assert (truth.max(axis=2) > 1).mean() > 0.003


def test_the_camera_moves() -> None:
    first, second, last = (render_frame(SHOT, frame)[1] for frame in (1001, 1002, 1048))
    assert psnr(first, second) > psnr(first, last) + 4
    assert psnr(first, last) < 20


def test_the_wire_sways() -> None:
    def rows_of_wire(frame: int) -> float:
        plate, truth = render_frame(FULL_SIZE, frame)
        return float(np.flatnonzero((plate != truth)[:, 240].any(axis=1)).min())

    assert len({rows_of_wire(frame) for frame in (1001, 1008, 1015)}) == 3


def test_grain_is_new_on_every_frame_and_stronger_in_light() -> None:
    dark, light = np.full((64, 64, 3), 0.01, np.float32), np.full((64, 64, 3), 0.5, np.float32)
    assert not np.array_equal(grain(SHOT, 1001, dark), grain(SHOT, 1002, dark))
    assert not np.array_equal(grain(SHOT, 1001, dark), grain(replace(SHOT, seed=8), 1001, dark))
    assert grain(SHOT, 1001, light).std() > 2 * grain(SHOT, 1001, dark).std()
    red, _, blue = grain(SHOT, 1001, light).std(axis=(0, 1))
    assert blue > red


def test_grain_is_soft() -> None:
    field = grain(SHOT, 1001, np.full((128, 128, 3), 0.2, np.float32))[..., 1]
    neighbours = np.corrcoef(field[:, :-1].ravel(), field[:, 1:].ravel())[0, 1]
    assert 0.15 < neighbours < 0.8
