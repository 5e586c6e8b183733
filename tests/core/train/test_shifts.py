"""A crop moved by parts of a pixel is what a camera moved as little would have seen, and its matte stays true to it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from tests.core.train.decoded import decoded
from tests.core.train.lessons import machine
from torch import Tensor

from understudy.dataset import DecodedPair
from understudy.train.batches import gather, locate
from understudy.train.crops import SHIFTED_SHARE, CropPlan
from understudy.train.device_frames import DeviceFrames
from understudy.train.misses import Misses
from understudy.train.shifts import REACH, all_count, moved, shifted, still_valid

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
    seen = shifted(still, SHIFTS)
    assert seen.shape == still.shape
    torch.testing.assert_close(seen[INSIDE], waves(SHIFTS)[INSIDE], atol=0.02, rtol=0)
    assert ((seen[:2] - still[:2]).abs().amax((1, 2, 3)) > 0.1).all()
    assert seen[2].equal(still[2]), "not moved, not touched"


def test_a_matte_stays_true_to_its_plate() -> None:
    matte = torch.rand(3, 1, 20, 20, generator=torch.Generator().manual_seed(0))
    plate = 3.0 * matte + 0.2 * (1 - matte)
    moved_matte = shifted(matte, SHIFTS)
    torch.testing.assert_close(shifted(plate, SHIFTS), 3.0 * moved_matte + 0.2 * (1 - moved_matte))


def test_nothing_becomes_darker_or_brighter_than_it_was() -> None:
    lamp = torch.zeros(3, 1, 16, 16)
    lamp[:, :, 8, 8:] = 500.0
    at_once = shifted(lamp.half(), SHIFTS).numpy()
    one_by_one = [moved(one.permute(1, 2, 0).half().numpy(), (0.4, -0.3), (500.0, 500.0)) for one in lamp]
    for pixels in (at_once, *one_by_one):
        assert pixels.dtype == np.float32
        assert pixels.min() == 0.0
        assert 300 < pixels.max() <= 500.0


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


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("shift", [(0.5, 0.0), (-0.3, 0.45), (-0.5, -0.5), (0.0, 0.2)])
def test_a_crop_that_is_gathered_is_moved_as_those_of_a_gpu_are(shift: tuple[float, float], dtype: str) -> None:
    pixels = np.random.default_rng(0).random((20, 30, 3)).astype(dtype)
    pixels[0, 0], pixels[0, -1] = -9.0, 9.0  # so that nothing is held back
    whole = torch.from_numpy(pixels).permute(2, 0, 1)[None]
    expected = shifted(whole, torch.tensor([shift]))[0].permute(1, 2, 0)[REACH:-REACH, REACH:-REACH]
    given = moved(pixels, shift, (-9.0, 9.0))
    assert given.dtype == np.float32
    np.testing.assert_allclose(given, expected, rtol=0, atol=1e-4)
    mask = np.random.default_rng(1).random((20, 30)) < 0.98
    counts = still_valid(torch.from_numpy(mask)[None, None], torch.tensor([shift]))[0, 0] > 0
    assert 0 < all_count(mask).mean() < 1
    np.testing.assert_array_equal(all_count(mask), counts[REACH:-REACH, REACH:-REACH])


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
    slope = np.stack([down + across, 90 - down, 2 * across - down], axis=-1) / 90
    pair = decoded(slope, slope[..., :1])
    if has_faults:
        pair = dataclasses.replace(pair, valid=np.random.default_rng(0).random((60, 60)) < 0.99)
    plan = moving(pair)
    expected = gather((pair,), plan, Misses(plan.interest), range(50)).to(machine(torch.float32))
    frames = DeviceFrames((pair,), torch.device("cpu"))
    batch = locate((pair,), plan, Misses(plan.interest), range(50), frames).to(machine(torch.float32))
    assert batch.crops == expected.crops
    for name in ("input", "target"):
        one, other = batch.tensors()[name], expected.tensors()[name]
        # at its ends one crop sees the frame, the other itself; and each has its own for what is too dark or bright
        assert (one[INSIDE] - other[INSIDE]).abs().mean() < 1e-4 < (one - other).abs().max()
    assert (batch.valid is None) == (expected.valid is None) == (not has_faults)
    if batch.valid is not None and expected.valid is not None:
        assert batch.valid[INSIDE].equal(expected.valid[INSIDE])


def test_where_a_crop_lies_does_not_depend_on_whether_it_is_moved() -> None:
    pair = decoded(np.zeros((60, 60, 3)), np.zeros((60, 60, 1)))
    still, moved = (
        CropPlan((pair,), (np.ones((4, 4), np.float32),), crop_size=16, seed=3, may_shift=may) for may in (False, True)
    )
    for sample in range(50):
        one, other = (plan.draw(sample, Misses(plan.interest).focus(sample)) for plan in (still, moved))
        assert (one.pair, one.y, one.x, one.mirrored) == (other.pair, other.y, other.x, other.mirrored)
