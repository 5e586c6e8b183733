"""Batches are those of their steps, gathered between them, or ahead where a disk or a GPU may keep one waiting."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.core.train.lessons import BATCH_SIZE, crops, mapped_pairs, pairs, small_run

from understudy.report.run_record import FirstSteps
from understudy.train.batch_plan import BatchPlan
from understudy.train.batches import batches_from
from understudy.train.crops import Focus, Share
from understudy.train.drawn import Batch
from understudy.train.gather import gather
from understudy.train.misses import Misses


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
