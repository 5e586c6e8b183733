"""A crop moved by parts of a pixel is what a camera moved as little would have seen, and its matte stays true to it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from tests.core.train.decoded import decoded
from tests.core.train.lessons import machine
from torch import Tensor
from torch.nn import functional

from understudy.dataset import DecodedPair
from understudy.train.crops import SHIFTED_SHARE, CropPlan
from understudy.train.device_frames import DeviceFrames
from understudy.train.gather import gather, locate
from understudy.train.misses import Misses
from understudy.train.shifts import REACH, all_count, cubics, moved

SHIFTS = torch.tensor([[0.5, 0.0], [-0.3, 0.45], [0.0, 0.0], [-0.5, -0.5], [0.0, 0.2]])
STILL = 2
"""Of these the one that moves nothing."""
WEIGHTS = cubics([(down, right) for down, right in SHIFTS.tolist()])
ANYTHING = torch.tensor([[-9.0, 9.0]] * len(SHIFTS))


def waves(shifts: Tensor, beyond: int = 0) -> Tensor:
    """N 2 32 40, and so much more on each side: slow ones, as seen that much further down and right."""
    rows = torch.arange(-beyond, 32.0 + beyond)[None, :, None] + shifts[:, 0, None, None]
    columns = torch.arange(-beyond, 40.0 + beyond)[None, None] + shifts[:, 1, None, None]
    return torch.stack([torch.sin(rows / 3 + columns / 5), torch.cos(columns / 4 - rows / 6)], dim=1)


def test_a_crop_is_seen_from_that_much_further_down_and_right() -> None:
    seen = moved(waves(torch.zeros_like(SHIFTS), REACH), WEIGHTS, ANYTHING)
    still = waves(torch.zeros_like(SHIFTS))
    assert seen.shape == still.shape
    torch.testing.assert_close(seen, waves(SHIFTS), atol=0.02, rtol=0)
    differences = (seen - still).abs().amax((1, 2, 3))
    assert (differences > 0.04).tolist() == [number != STILL for number in range(len(SHIFTS))]
    assert seen[STILL].equal(moved(waves(SHIFTS[STILL:], REACH), WEIGHTS[STILL:], ANYTHING[STILL:])[0])
    assert seen[STILL].equal(waves(SHIFTS, REACH)[STILL, :, REACH:-REACH, REACH:-REACH]), "not moved, not touched"


def test_between_pixels_is_interpolated_by_pytorch_s_cubics() -> None:
    pixels = torch.rand(len(SHIFTS), 3, 20, 30, generator=torch.Generator().manual_seed(0)).half()
    rows, columns = ((torch.arange(size) + 0.5) / (size / 2) - 1 for size in (20, 30))
    places = torch.stack(torch.meshgrid(rows, columns, indexing="ij")[::-1], dim=-1)  # H W 2, across and down
    moves = SHIFTS.flip(1) * 2 / torch.tensor([30, 20])
    expected = functional.grid_sample(
        pixels.float(), places + moves[:, None, None], mode="bicubic", padding_mode="border", align_corners=False
    )
    given = moved(pixels, WEIGHTS, ANYTHING)
    assert given.dtype == torch.float32
    torch.testing.assert_close(given, expected[:, :, REACH:-REACH, REACH:-REACH], rtol=0, atol=1e-4)


def test_a_matte_stays_true_to_its_plate() -> None:
    matte = torch.rand(len(SHIFTS), 1, 20, 20, generator=torch.Generator().manual_seed(0))
    plate = 3.0 * matte + 0.2 * (1 - matte)
    moved_matte = moved(matte, WEIGHTS, ANYTHING)
    torch.testing.assert_close(moved(plate, WEIGHTS, ANYTHING), 3.0 * moved_matte + 0.2 * (1 - moved_matte))


def test_nothing_becomes_darker_or_brighter_than_its_frame() -> None:
    lamp = torch.zeros(len(SHIFTS), 1, 16, 16)
    lamp[:, :, 8, 8:] = 500.0
    ends = torch.tensor([[0.0, 500.0], [-0.5, 400.0]]).repeat(3, 1)[: len(SHIFTS)]
    seen = moved(lamp.half(), WEIGHTS, ends)
    assert seen.amin((1, 2, 3)).tolist() == [0.0, -0.5, 0.0, -0.5, 0.0]
    assert seen.amax((1, 2, 3))[[1, 2, 4]].tolist() == [400.0, 500.0, 500.0]
    assert ((seen > 200).sum((1, 2, 3)) > 0).all()


def test_what_is_made_of_what_does_not_count_does_not_count() -> None:
    mask = np.random.default_rng(1).random((20, 30)) < 0.98
    pixels = torch.rand(1, 1, 20, 30, generator=torch.Generator().manual_seed(0))
    other = torch.where(torch.from_numpy(mask), pixels, 9.0)
    counts = all_count(mask)
    assert counts.shape == (20 - 2 * REACH, 30 - 2 * REACH)
    assert 0 < counts.mean() < 1
    for weights, ends in zip(WEIGHTS[:, None], ANYTHING[:, None], strict=True):
        touched = moved(pixels, weights, ends) != moved(other, weights, ends)
        assert touched.any()
        assert not touched[0, 0].numpy()[counts].any()


def moving(pair: DecodedPair, *, may_shift: bool = True) -> CropPlan:
    return CropPlan((pair,), (np.ones((4, 4), np.float32),), crop_size=16, seed=3, may_shift=may_shift)


@pytest.mark.parametrize("may_shift", [False, True])
def test_crops_of_mattes_are_moved_when_they_are_gathered(may_shift: bool) -> None:
    pixels = np.random.default_rng(0).random((60, 60, 3), np.float32)
    pair = dataclasses.replace(decoded(pixels, pixels[..., :1]), valid=pixels[..., 1] < 0.99)
    still, batch = (
        gather((pair,), plan, Misses(plan.interest), range(200))
        for plan in (moving(pair, may_shift=may) for may in (False, may_shift))
    )
    are_moved = [not one.equal(other) for one, other in zip(batch.input.float(), still.input.float(), strict=True)]
    assert are_moved == [crop.is_moved for crop in batch.crops]
    assert sum(are_moved) / 200 == pytest.approx(SHIFTED_SHARE if may_shift else 0.0, abs=0.1)
    torch.testing.assert_close(batch.target, batch.input[:, :1], atol=1e-3, rtol=0)  # each between its own ends
    assert still.valid is not None
    assert batch.valid is not None
    all_, count = (valid.float().sum(dim=(1, 2, 3)) for valid in (still.valid, batch.valid))
    for is_moved, before, after in zip(are_moved, all_.tolist(), count.tolist(), strict=True):
        assert after <= before if is_moved and before == 16**2 else (after < before) == is_moved
    assert all(abs(part) <= 0.5 for crop in batch.crops for part in crop.shift)


@pytest.mark.parametrize("has_faults", [False, True])
def test_crops_that_a_gpu_cuts_out_are_moved_there(*, has_faults: bool) -> None:
    down, across = np.mgrid[:60, :60].astype(np.float32)
    slope = np.stack([down + across, 90 - down, 2 * across - down], axis=-1) / 64  # half has it exactly
    pair = decoded(slope, slope[..., :1])
    if has_faults:
        pair = dataclasses.replace(pair, valid=np.random.default_rng(0).random((60, 60)) < 0.99)
    plan = moving(pair)
    expected = gather((pair,), plan, Misses(plan.interest), range(50)).to(machine(torch.float32))
    frames = DeviceFrames((pair,), torch.device("cpu"))
    batch = locate((pair,), plan, Misses(plan.interest), range(50), frames).to(machine(torch.float32))
    assert batch.crops == expected.crops
    given, wanted = batch.tensors(), expected.tensors()
    assert given.keys() == wanted.keys()
    assert ("valid" in given) == has_faults
    for name, values in given.items():
        torch.testing.assert_close(values, wanted[name], rtol=0, atol=1e-6)  # mirrored before, or after


def test_where_a_crop_lies_does_not_depend_on_whether_it_is_moved() -> None:
    pair = decoded(np.zeros((60, 60, 3)), np.zeros((60, 60, 1)))
    still, moved = (
        CropPlan((pair,), (np.ones((4, 4), np.float32),), crop_size=16, seed=3, may_shift=may) for may in (False, True)
    )
    for sample in range(50):
        one, other = (plan.draw(sample, Misses(plan.interest).focus(sample)) for plan in (still, moved))
        assert (one.pair, one.y, one.x, one.mirrored) == (other.pair, other.y, other.x, other.mirrored)
