"""What the bench of quality counts, on pictures whose scores are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.quality.catalogue import DEVELOPMENT, FINAL
from benchmarks.quality.scores import STOPS, scores
from benchmarks.shots.shot import RGB, RGBA

from understudy.frames.image import FloatPixels


def moving(frame: int) -> FloatPixels:
    picture = np.empty((32, 64, 3), np.float32)
    picture[:] = np.roll(np.linspace(0.0, 4.0, 64), frame)[None, :, None]
    return picture


def test_the_truth_is_perfect() -> None:
    truths = {frame: moving(frame) for frame in (1, 2, 4)}
    found = scores(RGB, truths, truths)
    assert (found.psnr, found.flicker) == (120.0, 1.0)
    assert math.isnan(found.matte_error)


def test_highlights_count_in_stops_alone() -> None:
    truths = {1: moving(1)}
    clipped = scores(RGB, {1: np.minimum(truths[1], 1)}, truths)
    assert clipped.psnr == 120.0
    assert clipped.log_psnr < 30
    one_stop = scores(RGB, {1: np.full((8, 8, 3), 2.0, np.float32)}, {1: np.full((8, 8, 3), 1.0, np.float32)})
    assert one_stop.log_psnr == pytest.approx(20 * math.log10(STOPS), abs=0.1)


def test_a_matte_has_an_error_and_no_stops() -> None:
    truths = {1: np.zeros((8, 8, 1), np.float32)}
    found = scores(("A",), {1: np.full((8, 8, 1), 0.25, np.float32)}, truths)
    assert found.matte_error == 0.25
    assert math.isnan(found.log_psnr)
    assert math.isnan(found.flicker), "no two frames follow one another"


def test_what_jumps_about_flickers() -> None:
    truths = {frame: moving(frame) for frame in range(1, 9)}
    rng = np.random.default_rng(0)
    restless = {
        frame: np.abs(truth + rng.normal(0, 0.2, truth.shape)).astype(np.float32) for frame, truth in truths.items()
    }
    frozen = dict.fromkeys(truths, truths[1])
    assert scores(RGB, restless, truths).flicker > 1.2
    assert scores(RGB, frozen, truths).flicker == 0


@pytest.mark.parametrize("name", [name for name, shot in (DEVELOPMENT | FINAL).items() if shot.footage is None])
def test_a_shot_has_work_to_do_and_leaves_the_rest(name: str) -> None:
    shot = (DEVELOPMENT | FINAL)[name]
    pair = shot.example(shot.held_out[0])
    assert (pair.seen.shape[2], pair.wanted.shape[2]) == (len(shot.seen), len(shot.wanted))
    assert np.isfinite(pair.seen).all()
    assert np.isfinite(pair.wanted).all()
    if shot.kind in ("cleanup", "beauty"):
        changed = np.abs(pair.seen - pair.wanted).max(axis=2) > 0.01
        assert 0.002 < changed.mean() < 0.3
    if shot.kind == "matte":
        assert 0.005 < pair.wanted.mean() < 0.6
    if shot.wanted == RGBA:
        assert (pair.wanted == 0).all(axis=2).mean() > 0.5, "cut out"
