"""Crops cut out of frames that lie together in a device's memory are those gathered from the frames."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from tests.core.train.decoded import decoded
from tests.core.train.lessons import machine, pairs

from understudy.dataset import DecodedPair
from understudy.train.crops import CropPlan
from understudy.train.device_frames import DeviceFrames, device_frames
from understudy.train.gather import gather, locate
from understudy.train.misses import Misses

DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=[pytest.mark.hardware, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")],
    ),
]


def unlike_pairs() -> tuple[DecodedPair, ...]:
    """Of three sizes, one of them in float32 and one read-only; in one some pixels do not count."""
    random = np.random.default_rng(0)
    plates = [random.random(shape) for shape in ((40, 48, 3), (32, 56, 3), (64, 33, 3))]
    bright, masked, plain = (
        decoded(plate * peak, plate[..., :1]) for plate, peak in zip(plates, (1e6, 1, 1), strict=True)
    )
    plain.input.flags.writeable = False
    return bright, dataclasses.replace(masked, valid=random.random((32, 56)) < 0.9), plain


@pytest.mark.parametrize("device", DEVICES)
def test_crops_are_those_that_are_gathered(device: str) -> None:
    held = unlike_pairs()
    plan = CropPlan(held, tuple(np.ones((4, 4), np.float32) for _ in held), crop_size=24, seed=3)
    frames, misses, samples = DeviceFrames(held, torch.device(device)), Misses(plan.interest), range(60)
    expected = gather(held, plan, misses, samples)
    places = locate(held, plan, misses, samples, frames)
    batch = places.to(machine(torch.float32, device))
    assert batch.input.device.type == device
    assert batch.input.is_contiguous(memory_format=torch.channels_last)
    assert batch.input.cpu().equal(expected.input)
    assert batch.target.cpu().equal(expected.target.float())
    assert batch.crops == expected.crops
    assert any(crop.mirrored for crop in batch.crops)
    assert min(crop.x for crop in batch.crops) < 0
    assert places.valid is not None
    assert expected.valid is not None
    assert places.valid.equal(expected.valid)


def test_a_cpu_leaves_frames_where_they_are() -> None:
    assert device_frames(pairs(), machine(torch.float32)) is None


@pytest.mark.hardware
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_a_gpu_takes_in_what_leaves_room_for_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = machine(torch.float32, "cuda")
    assert device_frames(pairs(), gpu)
    monkeypatch.setattr("understudy.train.device_frames.free_bytes", lambda _: 2**10)
    assert device_frames(pairs(), gpu) is None
