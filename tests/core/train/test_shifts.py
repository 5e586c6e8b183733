"""A crop moved by parts of a pixel is what a camera moved as little would have seen, and its matte stays true to it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from tests.core.train.decoded import decoded
from tests.core.train.lessons import machine
from torch import Tensor

from understudy.train.batches import gather
from understudy.train.crops import SHIFTED_SHARE, CropPlan
from understudy.train.misses import Misses
from understudy.train.shifts import REACH, shifted, still_valid

SHIFTS = torch.tensor([[0.5, 0.0], [-0.3, 0.45], [0.0, 0.0]])
INSIDE = (slice(None), slice(None), slice(REACH, -REACH), slice(REACH, -REACH))
"""Where nothing is made of what is beyond the crop."""


def waves(shifts: Tensor) -> Tensor:
    """N 2 32 40: slow ones, as seen that much further down and right."""
    rows = torch.arange(32.0)[None, :, None] + shifts[:, 0, None, None]
    columns = torch.arange(40.0)[None, None] + shifts[:, 1, None, None]
    return torch.stack([torch.sin(rows / 3 + columns / 5), torch.cos(columns / 4 - rows / 6)], dim=1)


def test_a_crop_is_seen_from_that_much_further_down_and_right() -> None:
    still = waves(torch.zeros(3, 2))
    moved = shifted(still, SHIFTS)
    assert moved.shape == still.shape
    torch.testing.assert_close(moved[INSIDE], waves(SHIFTS)[INSIDE], atol=0.02, rtol=0)
    assert ((moved[:2] - still[:2]).abs().amax((1, 2, 3)) > 0.1).all()
    assert moved[2].equal(still[2]), "not moved, not touched"


def test_a_matte_stays_true_to_its_plate() -> None:
    matte = torch.rand(3, 1, 20, 20, generator=torch.Generator().manual_seed(0))
    plate = 3.0 * matte + 0.2 * (1 - matte)
    moved_matte = shifted(matte, SHIFTS)
    torch.testing.assert_close(shifted(plate, SHIFTS), 3.0 * moved_matte + 0.2 * (1 - moved_matte))


def test_nothing_becomes_darker_or_brighter_than_it_was() -> None:
    lamp = torch.zeros(3, 1, 16, 16)
    lamp[:, :, 8, 8:] = 500.0
    moved = shifted(lamp.half(), SHIFTS)
    assert moved.dtype == torch.float32
    assert moved.min() == 0.0
    assert moved.max() <= 500.0


def test_what_is_made_of_what_does_not_count_does_not_count() -> None:
    valid = torch.ones(3, 1, 16, 16)
    valid[:, :, 7, 9] = 0.0
    pixels = torch.rand(3, 1, 16, 16, generator=torch.Generator().manual_seed(0))
    other = torch.where(valid == 0, 9.0, pixels)
    counts = still_valid(valid, SHIFTS)
    assert counts[2].equal(valid[2]), "not moved"
    assert counts[:2].sum(dim=(1, 2, 3)).tolist() == [16**2 - 25] * 2
    touched = shifted(pixels.clamp(0.2, 0.8), SHIFTS) != shifted(other.clamp(0.2, 0.8), SHIFTS)
    assert touched[:2].any()
    assert not (touched & (counts == 1)).any()


@pytest.mark.parametrize("may_shift", [False, True])
def test_crops_of_mattes_are_moved_on_their_way_to_the_device(may_shift: bool) -> None:
    pixels = np.random.default_rng(0).random((60, 60, 3), np.float32)
    pair = dataclasses.replace(decoded(pixels, pixels[..., :1]), valid=pixels[..., 1] < 0.99)
    plan = CropPlan((pair,), (np.ones((4, 4), np.float32),), crop_size=16, seed=3, may_shift=may_shift)
    batch = gather((pair,), plan, Misses(plan.interest), range(200))
    learnt = batch.to(machine(torch.float32))
    moved = [not one.equal(other) for one, other in zip(learnt.input, batch.input.float(), strict=True)]
    assert moved == [crop.shift != (0.0, 0.0) for crop in batch.crops]
    assert sum(moved) / 200 == pytest.approx(SHIFTED_SHARE if may_shift else 0.0, abs=0.1)
    torch.testing.assert_close(learnt.target, learnt.input[:, :1])
    assert batch.valid is not None
    assert learnt.valid is not None
    counted, count = (valid.float().sum(dim=(1, 2, 3)) for valid in (batch.valid, learnt.valid))
    assert (count < counted).tolist() == [one and bool(all_ < 256) for one, all_ in zip(moved, counted, strict=True)]
    assert all(abs(part) <= 0.5 for crop in batch.crops for part in crop.shift)


def test_where_a_crop_lies_does_not_depend_on_whether_it_is_moved() -> None:
    pair = decoded(np.zeros((60, 60, 3)), np.zeros((60, 60, 1)))
    still, moved = (
        CropPlan((pair,), (np.ones((4, 4), np.float32),), crop_size=16, seed=3, may_shift=may) for may in (False, True)
    )
    for sample in range(50):
        one, other = (plan.draw(sample, Misses(plan.interest).focus(sample)) for plan in (still, moved))
        assert (one.pair, one.y, one.x, one.mirrored) == (other.pair, other.y, other.x, other.mirrored)
