"""Frames that are encoded once give what each of their crops would; where that is not so, there are none."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.core.train.lessons import CROP_SIZE, crops, first_state, machine, mapped_pairs, pairs, small_run

from understudy.dataset import DecodedPair
from understudy.train import encoded_frames as module
from understudy.train.batches import batches_from
from understudy.train.crops import CropPlan, Share
from understudy.train.drawn import Batch
from understudy.train.encoded_frames import EncodedFrames, encoded_frames
from understudy.train.gather import gather
from understudy.train.misses import Misses
from understudy.train.network import Understudy

PLENTY = 2**40
STEPS = range(1, 21)
"""Some of whose crops have pixels that do not count, some are mirrored, some hang over the frame."""


@functools.cache
def model() -> Understudy:
    return first_state(torch.float32).model


def encoded(given_pairs: tuple[DecodedPair, ...], memory_bytes: int = PLENTY) -> EncodedFrames | None:
    return encoded_frames(given_pairs, model(), machine(torch.float32), memory_bytes=memory_bytes)


def shifting() -> CropPlan:
    return CropPlan(pairs(), crops().interest, crop_size=CROP_SIZE, seed=3, may_shift=True)


def in_float32() -> tuple[DecodedPair, ...]:
    """The plates; the paint in half."""
    return tuple(replace(pair, input=pair.input.astype("float32")) for pair in pairs())


@pytest.mark.parametrize("are_moved", [False, True])
@pytest.mark.parametrize("are_large", [False, True])
def test_steps_see_what_they_would_have_encoded(*, are_large: bool, are_moved: bool) -> None:
    scene, plan = in_float32() if are_large else pairs(), shifting() if are_moved else crops()
    run = replace(small_run(training=scene), encoded=encoded(scene), crops=plan)
    misses = Misses(plan.interest)
    with batches_from(1, run, misses, Share()) as batches:
        for step, drawn in zip(STEPS, batches, strict=False):
            seen = drawn.to(run.machine).encoded(model(), 1)
            crops_of_it = gather(scene, plan, misses, run.batch.samples(step))
            expected = crops_of_it.to(run.machine).encoded(model(), 1)
            assert isinstance(drawn, Batch)
            assert drawn.is_encoded
            assert seen.crops == expected.crops
            given, wanted = seen.tensors(), expected.tensors()
            assert given.keys() == wanted.keys()
            for name, values in given.items():
                # arithmetic on whole vectors of numbers may round otherwise than on those left over
                assert torch.allclose(
                    values.float(), wanted[name].float(), rtol=0, atol=2e-7 if are_large or are_moved else 0
                )


def test_none_where_steps_encode_what_they_see(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert encoded(pairs()) is not None
    assert encoded(mapped_pairs(tmp_path)) is None
    assert encoded_frames(pairs(), model(), machine(torch.float64), memory_bytes=PLENTY) is None
    elsewhere = machine(torch.float32, "cuda")
    assert encoded_frames(pairs(), model(), elsewhere, memory_bytes=PLENTY) is None
    values = sum(side.size for pair in pairs() for side in (pair.input, pair.target))
    assert encoded(pairs(), memory_bytes=6 * values) is not None, "half as they are, and float32 beside them"
    assert encoded(pairs(), memory_bytes=6 * values - 1) is None
    monkeypatch.setattr(module, "LARGEST_BYTES", 4 * values - 1)
    assert encoded(pairs()) is None
