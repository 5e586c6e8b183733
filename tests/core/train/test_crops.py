"""Crops depend on seed and sample number alone, hang over their frame by little, and come from every pair equally."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.train.decoded import decoded

from understudy.frames.kinds import may_hold_directions
from understudy.frames.window import Window
from understudy.train.crops import BLOCK, MIRRORED_SHARE, POINTS, Crop, CropPlan, Focus, Share, most_interesting
from understudy.train.ends import BEYOND, part_of
from understudy.train.gather import gather
from understudy.train.misses import Misses


def plan_for(sizes: list[tuple[int, int]], *, crop: int = 16, seed: int = 0) -> CropPlan:
    pairs = tuple(decoded(np.zeros((h, w, 3)), np.zeros((h, w, 3))) for h, w in sizes)
    interest = tuple(np.ones((-(-h // BLOCK), -(-w // BLOCK)), np.float32) for h, w in sizes)
    return CropPlan(pairs, interest, crop_size=crop, seed=seed)


def drawn(plan: CropPlan, sample: int) -> Crop:
    """As before anything is learnt."""
    return plan.draw(sample, Focus(plan.interest))


@settings(max_examples=30)
@given(
    sizes=st.lists(st.tuples(st.integers(5, 70), st.integers(5, 70)), min_size=1, max_size=4),
    sample=st.integers(0, 10**9),
    seed=st.integers(0, 2**63 - 1),
)
def test_every_crop_lies_in_its_pair_or_hangs_over_a_little(
    sizes: list[tuple[int, int]], sample: int, seed: int
) -> None:
    plan = plan_for(sizes, crop=24, seed=seed)
    crop = drawn(plan, sample)
    height, width = sizes[crop.pair]
    assert plan.height == min(24, *(h for h, _ in sizes))
    assert -BEYOND <= crop.y <= height - plan.height + BEYOND
    assert -BEYOND <= crop.x <= width - plan.width + BEYOND
    assert crop == drawn(plan, sample)


def test_every_pair_comes_up_once_in_each_pass() -> None:
    plan = plan_for([(40, 40)] * 5)
    for turn in range(20):
        assert Counter(drawn(plan, 5 * turn + n).pair for n in range(5)) == Counter(range(5))


def test_seeds_and_samples_differ() -> None:
    plan, other = plan_for([(200, 200)]), plan_for([(200, 200)], seed=1)
    assert len({drawn(plan, n) for n in range(50)}) > 45
    assert [drawn(plan, n) for n in range(10)] != [drawn(other, n) for n in range(10)]


def test_half_of_the_crops_go_where_there_is_something_to_learn() -> None:
    pair = decoded(np.zeros((160, 160, 3)), np.zeros((160, 160, 3)))
    interest = np.zeros((10, 10), np.float32)
    interest[9, 0] = 1.0  # bottom left
    plan = CropPlan((pair,), (interest,), crop_size=16, seed=0)
    close = [crop for crop in (drawn(plan, n) for n in range(400)) if crop.y >= 160 - 2 * BLOCK and crop.x <= BLOCK]
    assert 180 < len(close) < 240
    assert most_interesting(interest, pair, 16, 16) == (144, 0)


@pytest.mark.parametrize("interest", [0.0, 1.0])
def test_the_ends_of_a_frame_are_seen_as_often_as_its_middle(interest: float) -> None:
    pair = decoded(np.zeros((200, 300, 3)), np.zeros((200, 300, 3)))
    plan = CropPlan((pair,), (np.full((13, 19), interest, np.float32),), crop_size=32, seed=0)
    rows, columns = np.zeros(200), np.zeros(300)
    for crop in (drawn(plan, n) for n in range(8000)):
        rows[max(crop.y, 0) : crop.y + 32] += 1
        columns[max(crop.x, 0) : crop.x + 32] += 1
    for often in (rows, columns):
        assert often[[0, -1]].min() > 0.4 * often.mean(), "within the frame alone: a sixteenth"


def test_a_crop_that_hangs_over_is_carried_on_mirrored() -> None:
    pixels = np.random.default_rng(0).random((40, 40, 3), np.float32)
    pair = decoded(pixels, pixels[..., :1])
    pair = dataclasses.replace(pair, valid=pixels[..., 0] > 0.1)
    plan = CropPlan((pair,), (np.ones((3, 3), np.float32),), crop_size=24, seed=3)
    batch = gather((pair,), plan, Misses(plan.interest), range(40))
    assert batch.valid is not None
    assert pair.valid is not None
    over = ((BEYOND, BEYOND), (BEYOND, BEYOND), (0, 0))
    whole = [np.pad(held, over, "symmetric") for held in (pair.input, pair.target, pair.valid[..., None])]
    for n, crop in enumerate(batch.crops):
        place = slice(crop.y + BEYOND, crop.y + BEYOND + 24), slice(crop.x + BEYOND, crop.x + BEYOND + 24)
        for got, held in zip((batch.input, batch.target, batch.valid), whole, strict=True):
            expected = held[place][:, ::-1] if crop.mirrored else held[place]
            np.testing.assert_array_equal(got[n].permute(1, 2, 0).numpy(), expected)
    assert min(crop.y for crop in batch.crops) < 0 < max(crop.x for crop in batch.crops) - 16


def test_a_crop_holds_the_pixels_of_its_place_and_mirror() -> None:
    pixels = np.arange(40 * 40 * 3, dtype=np.float32).reshape(40, 40, 3) / 4800
    pair = decoded(pixels, pixels[..., :1])
    plan = CropPlan((pair,), (np.ones((3, 3), np.float32),), crop_size=16, seed=3)
    batch = gather((pair,), plan, Misses(plan.interest), range(50))
    assert {drawn(plan, n).mirrored for n in range(50)} == {True, False}
    for n in range(50):
        crop = drawn(plan, n)
        expected = part_of(pair.input, Window.of_size(16, 16, crop.x, crop.y)).astype(np.float32)
        expected = expected[:, ::-1] if crop.mirrored else expected
        np.testing.assert_array_equal(batch.input[n].permute(1, 2, 0).numpy(), expected)
    assert batch.valid is None


def test_pairs_in_half_and_in_float_share_a_batch() -> None:
    pixels = np.random.default_rng(0).random((40, 40, 3), np.float32)
    pairs = (decoded(pixels, pixels), decoded(pixels * 1e6, pixels))
    assert [pair.input.dtype for pair in pairs] == [np.float16, np.float32]
    plan = CropPlan(pairs, (np.ones((3, 3), np.float32),) * 2, crop_size=16, seed=0)
    batch = gather(pairs, plan, Misses(plan.interest), range(2))
    for n in range(2):
        crop = drawn(plan, n)
        expected = part_of(pairs[crop.pair].input, Window.of_size(16, 16, crop.x, crop.y))
        got = batch.input[n].permute(1, 2, 0).numpy()[:, :: -1 if crop.mirrored else 1]
        np.testing.assert_array_equal(got, expected.astype(np.float32))
    assert batch.target.dtype == torch.float16


def test_past_the_end_nothing_counts_where_channels_hold_directions() -> None:
    pair = decoded(np.zeros((40, 40, 3)), np.zeros((40, 40, 2)))
    pair = dataclasses.replace(pair, valid=np.random.default_rng(0).random((40, 40)) < 0.9)
    assert pair.valid is not None
    plan = CropPlan((pair,), (np.ones((3, 3), np.float32),), crop_size=24, seed=3, may_mirror=False)
    batch = gather((pair,), plan, Misses(plan.interest), range(40))
    assert batch.valid is not None
    whole = np.pad(pair.valid, BEYOND)
    for n, crop in enumerate(batch.crops):
        expected = whole[crop.y + BEYOND : crop.y + BEYOND + 24, crop.x + BEYOND : crop.x + BEYOND + 24]
        np.testing.assert_array_equal(batch.valid[n, 0].numpy(), expected)


def test_channels_with_directions_are_never_mirrored() -> None:
    names = ("R", "diffuse.G", "A", "mask.mask", "Z", "depth.Z", "forward.u", "N.X", "N.Y", "N.Z")
    held = [name for name in names if may_hold_directions(name)]
    assert held == ["forward.u", "N.X", "N.Y", "N.Z"]
    pair = decoded(np.zeros((40, 40, 3)), np.zeros((40, 40, 1)))
    plan = CropPlan((pair,), (np.ones((3, 3), np.float32),), crop_size=16, seed=3, may_mirror=False)
    assert not any(drawn(plan, n).mirrored for n in range(50))


@given(size=st.integers(1, 40), batch_size=st.integers(1, 200), step=st.integers(0, 10**6))
def test_the_shares_of_a_step_are_alike_and_make_it_up(size: int, batch_size: int, step: int) -> None:
    samples = range(step * batch_size, (step + 1) * batch_size)
    shares = [Share(index=index, size=size) for index in range(size)]
    parts = [share.of(samples) for share in shares]
    assert [sample for part in parts for sample in part] == list(samples)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert [share.weight(batch_size) for share in shares] == [len(part) / batch_size for part in parts]
    assert sum(share.weight(batch_size) for share in shares) == pytest.approx(1)


def test_a_pairs_crops_cover_it_evenly_whatever_the_seed() -> None:
    """By chance each of these would be that many give or take 10."""
    pair = decoded(np.zeros((64, 80, 3)), np.zeros((64, 80, 3)))
    nowhere = np.zeros((4, 5), np.float32)  # nothing to learn: crops lie anywhere
    for seed in range(3):
        plan = CropPlan((pair,), (nowhere,), crop_size=32, seed=seed)
        crops = [drawn(plan, sample) for sample in range(POINTS)]
        assert sum(crop.mirrored for crop in crops) == POINTS * MIRRORED_SHARE
        places = range(-BEYOND, 64 - 32 + BEYOND + 1)
        upper = len([place for place in places if place < 16]) / len(places)
        assert sum(crop.y < 16 for crop in crops) == pytest.approx(POINTS * upper, abs=2)


@pytest.mark.parametrize(
    ("samples", "expected"),
    [(range(5, 10), [range(5, 7), range(7, 9), range(9, 10)]), (range(2, 4), [range(2, 3), range(3, 4), range(2, 3)])],
)
def test_a_rank_gets_its_share_of_the_crops_or_one_to_keep_it_busy(samples: range, expected: list[range]) -> None:
    assert [Share(index=index, size=3).computed(samples) for index in range(3)] == expected
