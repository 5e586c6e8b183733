"""Steps that a GPU plays again are those that it would do one operation after the other."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest
import torch
from tests.core.train.lessons import CROP_SIZE, average_of, crops, first_state, machine, pairs, weights_of

from understudy.train.batch_plan import BatchPlan
from understudy.train.crops import CropPlan
from understudy.train.device_frames import DeviceFrames
from understudy.train.drawn import Drawn
from understudy.train.gather import locate
from understudy.train.recordings import STEPS_BEFORE, Kind, kind_of, learn_for, played
from understudy.train.schedule import StepPlan
from understudy.train.sharing import Alone
from understudy.train.state import TrainingState
from understudy.train.step import train_step

Test = TypeVar("Test", bound=Callable[..., None])
BATCH_SIZE = 2
NUM_STEPS = 96
"""Before what they find changes where crops are drawn (misses.STEPS_BETWEEN): that the last bit may decide."""
NUM_RECORDED = 10
"""Kinds of step among them that come often enough."""


def on_a_gpu(test: Test) -> Test:
    marked: Test = pytest.mark.hardware(
        pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")(test)
    )
    return marked


class OneByOne(Alone):
    is_recordable = False


@functools.cache
def moved_crops() -> CropPlan:
    return CropPlan(pairs(), crops().interest, crop_size=CROP_SIZE, seed=3, may_shift=True)


def learn(state: TrainingState, sharing: Alone, plan_of_crops: CropPlan) -> None:
    """As the loop does, at half and at full resolution and at falling rates.

    There are steps in which units are woken, pixels do not count or crops are moved, and others.
    """
    weights = next(state.model.parameters())
    learn_so = learn_for(state, machine(weights.dtype, weights.device.type), sharing, "squared")
    for drawn, plan in lessons(state, sharing, plan_of_crops):
        train_step(state, drawn, plan, sharing, learn_so)


def lessons(state: TrainingState, sharing: Alone, plan_of_crops: CropPlan) -> Iterator[tuple[Drawn, StepPlan]]:
    """What each step is given, drawn when it is asked for."""
    frames = DeviceFrames(pairs(), next(state.model.parameters()).device)
    for step in range(1, NUM_STEPS + 1):
        samples = sharing.share.computed(BatchPlan(size=BATCH_SIZE).samples(step))
        drawn = locate(pairs(), plan_of_crops, state.misses, samples, frames)
        yield drawn, StepPlan(learning_rate=1e-4 / (1 + step / 30), reduction=2 if step <= NUM_STEPS / 2 else 1)


def assert_same(state: TrainingState, other: TrainingState, most: float) -> None:
    """But for so much of a weight; the farthest move by 0.003."""
    for numbers in (weights_of, average_of):
        torch.testing.assert_close(numbers(state).cpu(), numbers(other).cpu(), rtol=0, atol=most)
    found, expected = state.misses.tensors()["blocks"], other.misses.tensors()["blocks"]
    torch.testing.assert_close(found, expected, rtol=2e-3, atol=most)


def test_steps_of_many_kinds_come_often_enough_to_be_recorded() -> None:
    """What the tests below rest on, told without a GPU."""
    state = first_state()
    assert state.waking
    kinds: Counter[Kind] = Counter()
    for step, (drawn, plan) in enumerate(lessons(state, Alone(state.model), moved_crops()), start=1):
        state.waking.begin_step(step)
        kinds[kind_of(state, drawn, plan)] += 1
    recorded = [kind for kind, count in kinds.items() if count > STEPS_BEFORE]
    assert len(recorded) == NUM_RECORDED
    assert {(kind.reduction, "weights" in dict(kind.given)) for kind in recorded} == {
        (reduction, are_moved) for reduction in (1, 2) for are_moved in (False, True)
    }


@on_a_gpu
def test_recorded_steps_are_those_done_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    replayed: list[torch.cuda.CUDAGraph] = []
    replay = torch.cuda.CUDAGraph.replay

    def noted(graph: torch.cuda.CUDAGraph) -> None:
        replayed.append(graph)
        replay(graph)

    monkeypatch.setattr(torch.cuda.CUDAGraph, "replay", noted)
    recorded, one_by_one = first_state(device="cuda"), first_state(device="cuda")
    learn(recorded, Alone(recorded.model), moved_crops())
    assert len(set(replayed)) == NUM_RECORDED
    assert len(replayed) > NUM_STEPS / 2
    replayed.clear()
    learn(one_by_one, OneByOne(one_by_one.model), moved_crops())
    assert not replayed
    assert_same(recorded, one_by_one, 1e-6)


@on_a_gpu
def test_a_gpu_learns_what_a_cpu_learns() -> None:
    """Of crops that are not moved: a CPU does that in float32, which 96 steps make a ten-thousandth of."""
    on_gpu, on_cpu = first_state(device="cuda"), first_state(device="cpu")
    for state in (on_gpu, on_cpu):
        learn(state, Alone(state.model), crops())
    assert_same(on_gpu, on_cpu, 1e-5)


@on_a_gpu
def test_a_device_that_cannot_record_goes_on_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    expected, state = first_state(device="cuda"), first_state(device="cuda")
    learn(expected, OneByOne(expected.model), moved_crops())
    monkeypatch.setattr(torch.cuda, "graph", refuse)
    learn(state, Alone(state.model), moved_crops())
    assert_same(state, expected, 1e-6)


@on_a_gpu
def test_an_act_is_played_as_often_as_it_is_asked_for() -> None:
    numbers = torch.zeros(3, device="cuda")

    def act() -> torch.Tensor:
        numbers.add_(1)
        return numbers.sum()

    play = played(act, machine(torch.float32, "cuda"))
    assert [play().item() for _ in range(3)] == [3.0 * (STEPS_BEFORE + number) for number in (1, 2, 3)]
