"""Batches are those of their steps, gathered between them, or ahead where a disk or a GPU may keep one waiting."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.core.train.lessons import (
    BATCH_SIZE,
    CROP_SIZE,
    LEARNING_RATE,
    crops,
    first_state,
    machine,
    mapped_pairs,
    pairs,
    small_run,
)
from torch import Tensor

from understudy.report.run_record import FirstSteps
from understudy.train.batch_plan import BatchPlan
from understudy.train.batches import batches_from
from understudy.train.crops import FIELD_SIDE, CropPlan, Focus, Share
from understudy.train.drawn import Batch
from understudy.train.encoded_frames import encoded_frames
from understudy.train.gather import gather
from understudy.train.grain import Grain
from understudy.train.misses import Misses
from understudy.train.recordings import learn_for
from understudy.train.schedule import StepPlan
from understudy.train.sharing import Alone


def prefetching() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "prefetch"]


@pytest.mark.parametrize("is_mapped", [False, True])
def test_batches_are_those_of_their_steps_and_a_thread_gathers_them_only_from_a_file(
    is_mapped: bool, tmp_path: Path
) -> None:
    run = small_run(training=mapped_pairs(tmp_path) if is_mapped else pairs())
    misses, share = Misses(crops().interest), Share(index=1, size=2)
    have_holes = []
    with batches_from(7, run, misses, share) as batches:
        assert len(prefetching()) == is_mapped
        for step in range(7, 27):
            samples = share.of(range(BATCH_SIZE * (step - 1), BATCH_SIZE * step))
            expected = gather(pairs(), crops(), misses, samples)
            batch = next(batches)
            assert isinstance(batch, Batch)
            assert batch.crops == expected.crops
            assert batch.input.equal(expected.input)
            assert batch.target.equal(expected.target)
            assert (batch.valid is None) == (expected.valid is None)
            assert batch.valid is None or (expected.valid is not None and batch.valid.equal(expected.valid))
            have_holes.append(batch.valid is not None)
    assert {*have_holes} == {False, True}
    assert prefetching() == []


def test_a_batch_grows_at_its_step_wherever_a_run_goes_on() -> None:
    """Not where eight steps' crops are gathered together."""
    growing = BatchPlan(size=3, first=FirstSteps(steps=12, size=1))
    run, misses = replace(small_run(), batch=growing), Misses(crops().interest)
    seen = {}
    for begin in (1, 4):
        with batches_from(begin, run, misses, Share()) as batches:
            seen[begin] = [next(batches).crops for _ in range(begin, 21)]
    assert seen[4] == seen[1][3:]
    assert list(map(len, seen[1])) == 12 * [1] + 8 * [3]
    expected = [crops().draw(sample, misses.focus(sample)) for sample in range(12 + 3 * 8)]
    assert [crop for some in seen[1] for crop in some] == expected


class Seeing(Alone):
    """Keeps what the network is asked for."""

    def answer(self, encoded: Tensor) -> Tensor:
        self.seen = encoded
        return super().answer(encoded)


@pytest.mark.parametrize("is_encoded", [True, False])
def test_grain_is_laid_once_over_eight_steps_crops_together_as_over_each_step_s(is_encoded: bool) -> None:
    generator = torch.Generator().manual_seed(1)
    side = FIELD_SIDE + CROP_SIZE
    field, some = torch.randn(side, side, 3, generator=generator), torch.full((3,), 0.01)
    grain = Grain(
        field=field, inverse_scale=some, floor=some, slope=some, origins=(0, 1, 2), at_grey=0.1, strongest=1.0
    )
    state = first_state(torch.float32)
    plan = CropPlan(pairs(), crops().interest, crop_size=CROP_SIZE, seed=3, has_grain=True)
    encoded = encoded_frames(pairs(), state.model, machine(torch.float32), memory_bytes=2**30) if is_encoded else None
    run = replace(small_run(), crops=plan, encoded=encoded, grain=grain)
    sharing = Seeing(state.model)
    learn = learn_for(state, run.machine, sharing, "squared", grain)
    with batches_from(1, run, state.misses, Share()) as batches:
        for step in range(1, 12):
            drawn = gather(pairs(), plan, state.misses, BatchPlan(size=BATCH_SIZE).samples(step), encoded=encoded)
            expected = grain.over(drawn.to(run.machine).encoded(state.model, 1), 1)
            batch = next(batches)
            assert isinstance(batch, Batch)
            assert (batch.grain is None) == is_encoded
            learn(batch, StepPlan(learning_rate=LEARNING_RATE, reduction=1))
            assert sharing.seen.equal(expected.input)
            assert not is_encoded or batch.target.equal(expected.target)


class Unreadable(Misses):
    def focus(self, sample: int) -> Focus:
        raise OSError(f"sample {sample}")


class Listening(Misses):
    """Hears with how many threads the one computes that draws crops."""

    def __init__(self) -> None:
        super().__init__(crops().interest)
        self.threads: set[int] = set()

    def focus(self, sample: int) -> Focus:
        self.threads.add(torch.get_num_threads())
        return super().focus(sample)


def test_the_thread_computes_alone_and_the_loop_with_all_it_has(tmp_path: Path) -> None:
    before = torch.get_num_threads()
    run, misses = small_run(training=mapped_pairs(tmp_path)), Listening()
    torch.set_num_threads(2)
    try:
        with batches_from(1, run, misses, Share()) as batches:
            next(batches)
            assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert misses.threads == {1}


def test_what_fails_on_the_thread_is_raised_in_the_loop(tmp_path: Path) -> None:
    run, misses = small_run(training=mapped_pairs(tmp_path)), Unreadable(crops().interest)
    with batches_from(1, run, misses, Share()) as batches, pytest.raises(OSError, match="sample 0"):
        next(batches)
    assert prefetching() == []
