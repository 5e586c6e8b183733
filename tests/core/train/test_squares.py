"""Validation squares: drawn alike everywhere, small and few, never learnt from, and measured as they are applied."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.core.train.decoded import decoded

from understudy.dataset import DecodedPair
from understudy.frames.psnr import PooledPsnr
from understudy.frames.window import Window
from understudy.train.crops import BLOCK, CropPlan
from understudy.train.device import Machine
from understudy.train.ends import BEYOND
from understudy.train.gather import gather
from understudy.train.misses import Misses
from understudy.train.network import NetworkSpec, Understudy
from understudy.train.squares import (
    FEWEST,
    MANY_PAIRS,
    MARGIN,
    MOST,
    MOST_DECIBELS,
    SHARE_OF_INTEREST,
    SHARE_OF_PIXELS,
    Square,
    draw_squares,
    left_to_learn,
    squares_psnr,
    withheld,
)

Interest = tuple[NDArray[np.float32], ...]
CPU = Machine(device=torch.device("cpu"), bfloat16=False)


def pairs_of(sizes: list[tuple[int, int]]) -> tuple[DecodedPair, ...]:
    """Noise on both sides, the same in each as far as it goes."""
    plate, paint = np.random.default_rng(1).random((2, max(h for h, _ in sizes), max(w for _, w in sizes), 3))
    return tuple(decoded(plate[:h, :w], paint[:h, :w]) for h, w in sizes)


def unlike_pairs(count: int) -> tuple[DecodedPair, ...]:
    """As of so many photographs: noise that is another one in each."""
    random = np.random.default_rng(1)
    return tuple(decoded(*random.random((2, 320, 480, 3))) for _ in range(count))


def even(pairs: tuple[DecodedPair, ...]) -> Interest:
    return tuple(np.ones((-(-p.window.height // BLOCK), -(-p.window.width // BLOCK)), np.float32) for p in pairs)


@settings(max_examples=40)
@given(
    sizes=st.lists(st.tuples(st.integers(16, 400), st.integers(16, 400)), min_size=2, max_size=6),
    seed=st.integers(0, 2**63 - 1),
    scattered=st.booleans(),
)
def test_squares_are_inside_few_and_nowhere_twice(sizes: list[tuple[int, int]], seed: int, scattered: bool) -> None:
    pairs = pairs_of(sizes)
    random = np.random.default_rng(2)
    interest = tuple(random.random(blocks.shape, np.float32) ** 8 if scattered else blocks for blocks in even(pairs))
    squares = draw_squares(pairs, interest, seed=seed)
    assert squares == draw_squares(pairs, interest, seed=seed)
    assert not squares or FEWEST <= len(squares) <= MOST
    assert sum(one.side**2 for one in squares) <= SHARE_OF_PIXELS * sum(h * w for h, w in sizes)
    before = sum(float(blocks.sum()) for blocks in interest)
    left = sum(float(blocks.sum()) for blocks in left_to_learn(interest, squares))
    assert before - left <= (SHARE_OF_INTEREST + 1e-5) * before
    for number, one in enumerate(squares):
        height, width = sizes[one.pair]
        assert 0 <= one.y <= height - one.side
        assert 0 <= one.x <= width - one.side
        assert not any(
            abs(one.y - other.y) < one.side and abs(one.x - other.x) < one.side for other in squares[:number]
        )


def test_large_frames_have_large_squares_spread_over_the_pairs() -> None:
    pairs = pairs_of([(540, 960)] * 4)
    squares = draw_squares(pairs, even(pairs), seed=0)
    assert {one.side for one in squares} == {64}
    assert sorted(sum(one.pair == pair for one in squares) for pair in range(4)) == [3, 4, 4, 4]


def test_they_lie_where_there_is_something_to_learn() -> None:
    pairs = pairs_of([(320, 480)] * 4)
    interest = even(pairs)
    for blocks in interest:
        blocks[:, :15] = 0  # the left half is right as it is
    squares = draw_squares(pairs, interest, seed=3)
    assert len(squares) >= FEWEST
    assert all(interest[one.pair][one.blocks].any() for one in squares)


def test_where_all_is_right_they_lie_anywhere() -> None:
    pairs = pairs_of([(320, 480)] * 4)
    assert len(draw_squares(pairs, tuple(map(np.zeros_like, even(pairs))), seed=3)) >= FEWEST


@pytest.mark.parametrize("sizes", [[(540, 960)], [(64, 96), (64, 96)], [(40, 4000), (8, 9000)]])
def test_one_pair_and_small_frames_have_none(sizes: list[tuple[int, int]]) -> None:
    pairs = pairs_of(sizes)
    squares = draw_squares(pairs, even(pairs), seed=0)
    assert not squares or {one.pair for one in squares} == {0}, "a strip of 8 rows has room for none"
    if len(sizes) == 1 or sizes[0] == (64, 96):
        assert not squares


def test_paint_in_one_spot_is_not_withheld() -> None:
    pairs = pairs_of([(320, 480)] * 4)
    interest = tuple(np.zeros_like(blocks) for blocks in even(pairs))
    interest[0][3, 4] = 1
    assert draw_squares(pairs, interest, seed=0) == ()


def test_pixels_that_are_not_finite_are_no_part_of_a_square() -> None:
    pairs = pairs_of([(320, 480)] * 4)
    paint = pairs[0].target.astype(np.float32)
    paint[:, 100:] = np.nan
    pairs = (decoded(pairs[0].input, paint), *pairs[1:])
    squares = draw_squares(pairs, even(pairs), seed=0)
    assert {one.pair for one in squares} == {0, 1, 2, 3}
    assert all(one.x + one.side <= 100 for one in squares if one.pair == 0)


def test_what_is_withheld_is_never_valid_and_the_frames_are_not_copied() -> None:
    pairs = pairs_of([(128, 160), (128, 160)])
    squares = (Square(pair=0, y=32, x=64, side=32), Square(pair=0, y=96, x=0, side=32))
    learnt = withheld(pairs, squares)
    assert learnt[1] is pairs[1]
    assert learnt[0].input is pairs[0].input
    assert learnt[0].valid is not None
    assert int((~learnt[0].valid).sum()) == 2 * 32**2
    assert not learnt[0].valid[32:64, 64:96].any()


def test_only_crops_that_touch_a_square_bring_a_mask() -> None:
    """A mask takes time, and most crops need none."""
    pairs = pairs_of([(128, 160), (128, 160)])
    squares = (Square(pair=0, y=0, x=0, side=16),)
    learnt = withheld(pairs, squares)
    plan = CropPlan(learnt, left_to_learn(even(pairs), squares), crop_size=32, seed=0)
    misses = Misses(plan.interest)
    seen = set()
    for sample in range(400):
        (crop,) = (batch := gather(learnt, plan, misses, range(sample, sample + 1))).crops
        touches = crop.pair == 0 and crop.y < 16 and crop.x < 16
        assert (batch.valid is not None) == touches
        if batch.valid is not None:
            assert int((batch.valid == 0).sum()) == (16 - crop.y) * (16 - crop.x)
        seen.add(touches)
    assert seen == {True, False}


def test_psnr_is_that_of_the_squares_alone() -> None:
    """A new model answers its guess: here, the input."""
    pairs = pairs_of([(80, 400), (300, 80), (160, 160)])
    model = Understudy(NetworkSpec(input_channels=("R", "G", "B"), target_channels=("R", "G", "B"), model_size="small"))
    model.guess_matrix.copy_(torch.eye(3))
    squares = (
        Square(pair=0, y=0, x=0, side=32),
        Square(pair=0, y=48, x=368, side=32),
        Square(pair=1, y=128, x=16, side=32),
        Square(pair=2, y=64, x=64, side=32),
    )
    wanted = []
    for one in squares:
        pair, own = pairs[one.pair], PooledPsnr(("R", "G", "B"))
        own.add(pair.input[one.place].astype(np.float32), pair.target[one.place].astype(np.float32))
        wanted.append(own.decibels())
    assert squares_psnr(model, pairs, squares, CPU) == pytest.approx(sum(wanted) / len(wanted), abs=1e-3)


def test_a_square_that_is_nearly_right_does_not_hide_the_others() -> None:
    (noisy, other) = pairs_of([(64, 64), (64, 64)])
    pairs = (noisy, dataclasses.replace(other, target=other.input))
    model = Understudy(NetworkSpec(input_channels=("R", "G", "B"), target_channels=("R", "G", "B"), model_size="small"))
    model.guess_matrix.copy_(torch.eye(3))
    squares = tuple(Square(pair=pair, y=0, x=0, side=32) for pair in (0, 1))
    alone = squares_psnr(model, pairs, squares[:1], CPU)
    assert squares_psnr(model, pairs, squares, CPU) == pytest.approx((alone + MOST_DECIBELS) / 2, abs=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_painted_in_one_frame_alone_is_not_withheld(seed: int) -> None:
    pairs = pairs_of([(320, 480)] * 4)
    pairs[2].target[96:192, 208:304] += 3
    squares = draw_squares(pairs, even(pairs), seed=seed)
    assert len(squares) >= FEWEST
    spot = Window(208, 96, 304, 192)
    taken = [Window(one.x, one.y, one.x + one.side, one.y + one.side) for one in squares if one.pair == 2]
    assert all(square.intersect(spot).is_empty for square in taken)


def test_few_frames_that_show_different_things_have_none_and_many_have() -> None:
    few, many = unlike_pairs(MANY_PAIRS - 1), unlike_pairs(MANY_PAIRS)
    assert draw_squares(few, even(few), seed=0) == ()
    assert len(draw_squares(many, even(many), seed=0)) >= FEWEST


@pytest.mark.parametrize("seed", range(4))
def test_what_is_withheld_stands_in_another_frame_where_it_is_learnt_from(seed: int) -> None:
    """A camera moves along a wall, 80 pixels from frame to frame: what comes in last is seen in that frame alone."""
    move, width = 80, 320
    wall = np.random.default_rng(1).random((240, width + 3 * move, 3))
    frames = [wall[:, number * move : number * move + width] for number in range(4)]
    pairs = tuple(decoded(frame, 1 - frame) for frame in frames)
    squares = draw_squares(pairs, even(pairs), seed=seed)
    assert len(squares) >= FEWEST
    shown = np.zeros(wall.shape[:2], np.int64)  # in how many frames, where it is learnt from
    for number in range(4):
        shown[:, number * move : number * move + width] += 1
    for one in squares:
        shown[one.y : one.y + one.side, one.pair * move + one.x : one.pair * move + one.x + one.side] -= 1
    assert (shown > 0).all()


@pytest.mark.parametrize(("y", "x"), [(0, 0), (96, 112), (240, 336)])
def test_a_square_is_seen_with_its_surroundings(y: int, x: int) -> None:
    (pair,) = pairs_of([(272, 368)])
    seen = Square(pair=0, y=y, x=x, side=32).seen(pair)
    assert (seen.height, seen.width) == (32 + 2 * MARGIN, 32 + 2 * MARGIN)
    assert -BEYOND <= seen.y0 <= y
    assert seen.y1 <= 272 + BEYOND
    assert seen.x1 <= 368 + BEYOND
