"""Synthetic pairs: the same from the same numbers, scene-linear with lights, and both sides of one scene."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.shots.shot import Example
from benchmarks.shots.spoiling import behind_iris, disk
from benchmarks.starting_weights.mattes import any_figure, plate_and_matte, rough
from benchmarks.starting_weights.pictures import picture
from benchmarks.starting_weights.tasks import TASKS, noise

SIDES = (48, 64)


def example(task: str, seed: int) -> Example:
    return TASKS[task].example(np.random.default_rng(seed), *SIDES)


@pytest.mark.parametrize("task", TASKS)
def test_a_seed_is_a_pair(task: str) -> None:
    first, again, other = example(task, 3), example(task, 3), example(task, 4)
    np.testing.assert_array_equal(first.seen, again.seen)
    np.testing.assert_array_equal(first.wanted, again.wanted)
    assert np.abs(first.seen - other.seen).mean() > 1e-3


@pytest.mark.parametrize("task", TASKS)
def test_both_sides_are_of_one_size_and_fit_the_channels(task: str) -> None:
    pair = example(task, 5)
    assert pair.seen.shape == (*SIDES, len(TASKS[task].seen))
    assert pair.wanted.shape == (*SIDES, len(TASKS[task].wanted))
    assert pair.seen.dtype == pair.wanted.dtype == np.float32
    assert np.isfinite(pair.seen).all()
    assert np.isfinite(pair.wanted).all()


def test_pictures_reach_from_near_black_to_far_above_white() -> None:
    pictures = [picture(np.random.default_rng(seed), *SIDES) for seed in range(12)]
    assert min(float(one.min()) for one in pictures) >= 0
    assert min(float(np.quantile(one, 0.2)) for one in pictures) < 0.015
    assert max(float(one.max()) for one in pictures) > 20
    detail = [float(np.abs(np.diff(np.arcsinh(16 * one), axis=1)).mean()) for one in pictures]
    assert min(detail) > 0.003, "none is empty"


@pytest.mark.parametrize("task", ["denoise", "deblur"])
def test_what_is_seen_is_what_is_wanted_but_for_the_fault(task: str) -> None:
    """In shadows and mid-tones: a lamp may be spread over half the picture."""
    for seed in range(4):
        pair = example(task, seed)
        seen, wanted = (np.arcsinh(16 * np.clip(side, 0, 1)).ravel() for side in (pair.seen, pair.wanted))
        others = np.arcsinh(16 * np.clip(example(task, seed + 50).wanted, 0, 1)).ravel()
        assert 0 < np.abs(seen - wanted).mean() < 0.7 * np.abs(others - wanted).mean()


def test_noise_grows_with_light_and_has_no_bias() -> None:
    clean = np.concatenate([np.zeros((128, 64, 3)), np.full((128, 64, 3), 4.0)], axis=1).astype(np.float32)
    drawn = noise(np.random.default_rng(1), clean, 0.01, 0.0025, 0.0)
    assert drawn.std(axis=(0, 1)) == pytest.approx(drawn.std(axis=(0, 1)).mean(), rel=0.4)
    assert drawn[:, 64:].std() / drawn[:, :64].std() == pytest.approx(10.05, rel=0.1)
    assert abs(float(drawn.mean())) < 0.003


def test_an_iris_spreads_light_and_loses_none() -> None:
    point = np.zeros((31, 31, 1), np.float32)
    point[15, 15] = 50
    spread = behind_iris(point, disk(3.0))
    assert float(spread.sum()) == pytest.approx(50, rel=1e-4)
    assert np.argwhere(spread[..., 0] > 0).min() == 12
    assert float(spread[15, 15, 0]) == pytest.approx(50 / (np.pi * 9), rel=0.15)


def test_mattes_cover_the_figure_and_rough_ones_nearly_do() -> None:
    closeness = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        plate, matte, figure = plate_and_matte(rng, 160, 192)
        hurried = rough(rng, figure, 160, 192)
        assert plate.shape == (160, 192, 3)
        assert 0 <= matte.min() <= matte.max() <= 1
        assert 0 <= hurried.min() <= hurried.max() <= 1
        assert matte.max() > 0.5, "the figure is in the picture"
        assert np.abs(hurried - matte).mean() > 1e-3, "there is work to do"
        closeness.append(float(np.corrcoef(hurried.ravel(), matte.ravel())[0, 1]))
    assert np.median(closeness) > 0.6


def test_motion_leaves_a_matte_half_transparent() -> None:
    figure = any_figure(np.random.default_rng(2), 96, 96)
    still, moving = (
        type(figure)(shapes=figure.shapes, motion=motion, softness=1.0).matte(96, 96) for motion in ((0, 0), (14.0, 0))
    )
    assert _half_transparent(moving) > 2 * _half_transparent(still)


def _half_transparent(matte: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> int:
    return int(((matte > 0.1) & (matte < 0.9)).sum())
