"""One model whatever the number of ranks; the same weights on all of them; and a way on when one is gone."""

from __future__ import annotations

import functools
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from tests.core.train.lessons import (
    BATCH_SIZE,
    LEARNING_RATE,
    average_of,
    crops,
    distance,
    first_state,
    machine,
    pairs,
    take_steps,
    weights_of,
)
from tests.core.train.together import Ended, together
from torch import Tensor

from understudy.settings import Compression
from understudy.train.gather import gather
from understudy.train.group import Group
from understudy.train.loss import loss_and_error
from understudy.train.sharing import Alone, Averaging, Gradients, Outer, Overlap, Sharing
from understudy.train.state import TrainingState
from understudy.train.sync_plan import SyncPlan

posix_only = pytest.mark.skipif(os.name == "nt", reason="kill -9 is a POSIX signal")
INTERVAL = 4
EVERYWHERE = {4: INTERVAL, 2: INTERVAL, 1: INTERVAL}
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-9}
NUM_STEPS = {torch.float32: 6, torch.float64: 36}
"""After so many in float32 a rounded number falls on the other side of a ReLU, and the ways part."""


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """As the ranks have: first weights drawn by more threads may be rounded otherwise, and the ways part from there."""
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(usual)


PLANS = [
    SyncPlan(mode="gradients", intervals={4: 1, 2: 1, 1: 1}, compression="none"),
    SyncPlan(mode="gradients", intervals={4: 1, 2: 1, 1: 1}, compression="fp16"),
    SyncPlan(mode="gradients", intervals={4: 1, 2: 1, 1: 1}, compression="bf16"),
    SyncPlan(mode="gradients", intervals={4: 1, 2: 1, 1: 1}, compression="powersgd"),
    SyncPlan(mode="accumulate", intervals=EVERYWHERE, compression="none"),
    SyncPlan(mode="accumulate", intervals=EVERYWHERE, compression="powersgd"),
    SyncPlan(mode="average", intervals=EVERYWHERE, compression="none"),
    SyncPlan(mode="average", intervals=EVERYWHERE, compression="fp16"),
    SyncPlan(mode="average", intervals=EVERYWHERE, compression="bf16"),
    SyncPlan(mode="overlap", intervals=EVERYWHERE, compression="fp16"),
    SyncPlan(mode="outer", intervals=EVERYWHERE, compression="fp16"),
]
ONE_OF_EACH_MODE = [PLANS[0], PLANS[1], PLANS[3], PLANS[4], PLANS[6], PLANS[9], PLANS[10]]


def no_wait(step: int) -> None:
    """The ranks of these tests keep step by what they exchange."""


def shared(plan: SyncPlan, state: TrainingState, group: Group, *, batch_size: int = BATCH_SIZE) -> Sharing:
    if plan.mode in ("gradients", "accumulate"):
        return Gradients(
            state,
            group,
            batch_size=batch_size,
            interval=plan.intervals[1],
            compression=plan.compression,
            meet=no_wait,
        )
    kind = {"average": Averaging, "overlap": Overlap, "outer": Outer}[plan.mode]
    return kind(
        state,
        group,
        batch_size=batch_size,
        intervals=plan.intervals,
        compression=plan.compression,
        meet=no_wait,
    )


def averaging(interval: int, compression: Compression = "none", mode: str = "average") -> SyncPlan:
    intervals = dict.fromkeys((4, 2, 1), interval)
    return SyncPlan(mode="overlap" if mode == "overlap" else "average", intervals=intervals, compression=compression)


# ---- one model, whatever the number of ranks


@pytest.mark.parametrize("num_ranks", [1, 2, 3])
def test_sharing_gradients_gives_the_weights_of_one_process(tmp_path: Path, num_ranks: int) -> None:
    ended = together(tmp_path, num_ranks, train_in_both_precisions)
    for dtype, tolerance in TOLERANCE.items():
        state = first_state(dtype)
        take_steps(state, Alone(state.model), NUM_STEPS[dtype])
        for one in ended:
            weights, average = one.result[dtype]
            assert distance(weights, weights_of(state)) < tolerance
            assert distance(average, average_of(state)) < tolerance
            assert torch.equal(weights, ended[0].result[dtype][0])
        assert distance(weights_of(first_state(dtype)), weights_of(state)) > 10 * tolerance, "it has learnt something"


def train_in_both_precisions(group: Group) -> dict[torch.dtype, tuple[Tensor, Tensor]]:
    found = {}
    for dtype in TOLERANCE:
        state = first_state(dtype)
        sharing = shared(PLANS[0], state, group)
        take_steps(state, sharing, NUM_STEPS[dtype])
        sharing.close()
        found[dtype] = (weights_of(state), average_of(state))
    group.close()
    return found


def test_a_rank_without_crops_takes_part_and_changes_nothing(tmp_path: Path) -> None:
    ended = together(tmp_path, 3, train_on_two_crops)
    state = first_state()
    take_steps(state, Alone(state.model), 10, batch_size=2)
    assert all(distance(one.result, weights_of(state)) < 1e-9 for one in ended)


def train_on_two_crops(group: Group) -> Tensor:
    state = first_state()
    sharing = shared(PLANS[0], state, group, batch_size=2)
    take_steps(state, sharing, 10, batch_size=2)
    sharing.close()
    group.close()
    return weights_of(state)


def test_accumulating_on_two_ranks_is_accumulating_on_one(tmp_path: Path) -> None:
    ended = together(tmp_path, 2, train_and_flush, PLANS[4], 3 * INTERVAL)
    state = first_state()
    for update in range(3):
        losses = [own_loss(state, step) for step in range(update * INTERVAL, (update + 1) * INTERVAL)]
        torch.stack(losses).mean().backward()  # type: ignore[no-untyped-call]
        state.optimizer.learning_rate = LEARNING_RATE
        state.optimizer.step()
        state.optimizer.zero_grad()
    assert all(distance(one.result[0], weights_of(state)) < 1e-9 for one in ended)


def own_loss(state: TrainingState, steps_before: int) -> Tensor:
    samples = range(steps_before * BATCH_SIZE, (steps_before + 1) * BATCH_SIZE)
    batch = gather(pairs(), crops(), state.misses, samples).to(machine(torch.float64))
    model = state.model
    assert state.waking
    state.waking.begin_step(steps_before + 1)
    answer = model.encoded_answer(model.input_transfer.encode(batch.input))
    return loss_and_error(answer, model.target_transfer.encode(batch.target), batch.valid)[0]


def train_and_flush(group: Group, plan: SyncPlan, num_steps: int) -> tuple[Tensor, Tensor]:
    state = first_state()
    sharing = shared(plan, state, group)
    take_steps(state, sharing, num_steps)
    sharing.flush(state)
    sharing.close()
    group.close()
    return weights_of(state), average_of(state)


# ---- averaging


def test_averaging_takes_the_mean_by_shares_of_what_each_rank_would_have_alone(tmp_path: Path) -> None:
    ended = together(tmp_path, 2, train_apart_and_average)
    alone = [one.result[0] for one in ended]
    mean = 3 / BATCH_SIZE * alone[0] + 2 / BATCH_SIZE * alone[1]
    assert distance(alone[0], alone[1]) > 1e-4
    assert all(distance(one.result[1], mean) < 1e-12 for one in ended)


def train_apart_and_average(group: Group) -> tuple[Tensor, Tensor]:
    """Weights just before the meeting and just after."""
    state = first_state()
    apart: list[Tensor] = []

    def look(_: int) -> None:
        apart.append(weights_of(state))

    sharing = Averaging(state, group, batch_size=BATCH_SIZE, intervals=EVERYWHERE, compression="none", meet=look)
    take_steps(state, sharing, INTERVAL)
    group.close()
    return apart[0], weights_of(state)


def test_an_interval_of_each_resolution_is_kept(tmp_path: Path) -> None:
    for ended in together(tmp_path, 2, meeting_points):
        assert ended.result == [6, 12, 13, 14]


def meeting_points(group: Group) -> list[int]:
    """Of 12 steps at quarter resolution and 2 at full."""
    met: list[int] = []
    state, intervals = first_state(), {4: 6, 2: 4, 1: 1}
    sharing = Averaging(state, group, batch_size=BATCH_SIZE, intervals=intervals, compression="none", meet=met.append)
    take_steps(state, sharing, 12, reduction=4)
    take_steps(state, sharing, 2, reduction=1)
    group.close()
    return met


def test_the_last_step_is_a_meeting_point_of_every_mode(tmp_path: Path) -> None:
    for ended in together(tmp_path, 2, modes_that_miss_the_end):
        assert ended.result == []


def modes_that_miss_the_end(group: Group) -> list[str]:
    missing = []
    for plan in PLANS:
        state = first_state()
        sharing = shared(plan, state, group)
        if not sharing.begin_step(1, 1, is_last=True):
            missing.append(plan.describe())
        sharing.close()
    group.close()
    return missing


def test_what_rounding_takes_is_sent_later(tmp_path: Path) -> None:
    """Changes far too small for fp16 add up over the intervals, as they would with whole numbers."""
    ended = together(tmp_path, 2, learn_in_tiny_steps)
    whole, rounded = ended[0].result
    assert float(whole.abs().max()) > 1e-7
    assert float((rounded - whole).abs().max()) < 1e-7, "no more is kept back than one rounding"
    assert distance(rounded, whole) < 0.5


def learn_in_tiny_steps(group: Group) -> list[Tensor]:
    """How far the weights come, uncompressed and in fp16."""
    moved = []
    compressions: tuple[Compression, ...] = ("none", "fp16")
    for compression in compressions:
        state = first_state()
        take_steps(state, Alone(state.model), 5)  # a last layer of zeros, and no longer, would be other directions
        before = weights_of(state)
        sharing = shared(averaging(1, compression), state, group)
        take_steps(state, sharing, 100, learning_rate=6e-9)
        sharing.close()
        moved.append(weights_of(state) - before)
    group.close()
    return moved


def test_overlapping_that_is_flushed_at_every_meeting_is_averaging(tmp_path: Path) -> None:
    for ended in together(tmp_path, 2, average_and_overlap):
        averaged, overlapped, unflushed = ended.result
        assert distance(overlapped, averaged) < 1e-12
        assert distance(unflushed, averaged) > 1e-6, "what comes in late makes a difference"


def average_and_overlap(group: Group) -> list[Tensor]:
    found = []
    for mode, flushes in (("average", False), ("overlap", True), ("overlap", False)):
        state = first_state()
        sharing = shared(averaging(INTERVAL, mode=mode), state, group)
        for _ in range(4):
            take_steps(state, sharing, INTERVAL)
            if flushes:
                sharing.flush(state)
        sharing.flush(state)
        sharing.close()
        found.append(weights_of(state))
    group.close()
    return found


def test_what_a_rank_mends_by_itself_is_not_mended_again_by_a_late_mean(tmp_path: Path) -> None:
    for ended in together(tmp_path, 2, differ_by_turns):
        assert ended.result < 2.5, "the ranks stay about as far apart as their steps carry them"


def differ_by_turns(group: Group) -> float:
    """How far from the mean a rank ends whose own training always leads 1 away from it, to one side and the other."""
    state = first_state()
    sharing = shared(averaging(1, mode="overlap"), state, group)
    for step in range(20):
        with torch.no_grad():
            for parameter in state.model.parameters():
                parameter.fill_((-1.0) ** (step + group.index))
        state.step = step + 1
        sharing.begin_step(state.step, 1, is_last=False)
        sharing.settle(state)
    farthest = float(weights_of(state).abs().max())
    sharing.flush(state)
    sharing.close()
    group.close()
    return farthest


# ---- the same on all ranks


def test_after_meeting_all_ranks_are_equal_to_the_bit_in_every_mode(tmp_path: Path) -> None:
    ended = together(tmp_path, 3, train_in_all_modes)
    start = weights_of(first_state(torch.float32))
    for name, (weights, average) in ended[0].result.items():
        assert torch.isfinite(weights).all(), name
        assert distance(weights, start) > 1e-3, name
        for other in ended[1:]:
            assert torch.equal(other.result[name][0], weights), name
            assert torch.equal(other.result[name][1], average), name


def train_in_all_modes(group: Group) -> dict[str, tuple[Tensor, Tensor]]:
    found = {}
    for plan in PLANS:
        state = first_state(torch.float32)
        sharing = shared(plan, state, group)
        take_steps(state, sharing, 6 * INTERVAL)
        sharing.flush(state)
        sharing.close()
        found[plan.describe()] = (weights_of(state), average_of(state))
    group.close()
    return found


def test_gradients_too_small_for_fp16_arrive(tmp_path: Path) -> None:
    for ended in together(tmp_path, 2, small_and_large_gradients):
        small, large = ended.result
        assert small == pytest.approx(1e-9, rel=5e-2)
        assert large > 10, "held, not infinite: clipping does the rest"
        assert large < float("inf")


def small_and_large_gradients(group: Group) -> list[float]:
    """What becomes of gradients of 1e-9 and of 1e6 in the last layer."""
    found = []
    for gradient in (1e-9, 1e6):
        state = first_state(torch.float32)
        sharing = shared(PLANS[1], state, group, batch_size=2)
        sharing.begin_step(1, 1, is_last=False)
        answer = sharing.answer(torch.rand(1, 3, 16, 16))
        bias = state.model.leave.bias
        assert bias is not None
        sharing.backward((answer * 0).sum() + bias.sum() * gradient, 1)
        assert bias.grad is not None
        found.append(float(bias.grad[0]))
        sharing.close()
    group.close()
    return found


# ---- when one is gone


@posix_only
@pytest.mark.parametrize("steps_before", [0, 1, 6])
def test_a_dead_rank_breaks_the_group_and_the_model_trains_on_alone(tmp_path: Path, steps_before: int) -> None:
    """Right away, before DDP's second step, which agrees on buckets, and later."""
    ended = together(tmp_path, 2, lose_the_other_rank, steps_before)
    assert ended[1].exit_code == -signal.SIGKILL
    for name, (fate, is_unharmed) in ended[0].result.items():
        assert fate == "GroupBroken", name
        assert is_unharmed, name


def lose_the_other_rank(group: Group, steps_before: int) -> dict[str, tuple[str, bool]]:
    """All modes take their steps in one group; then rank 1 is gone and every mode goes on, and after that alone."""
    trained = []
    for plan in ONE_OF_EACH_MODE:
        state = first_state()
        sharing = shared(plan, state, group)
        take_steps(state, sharing, steps_before)
        trained.append((plan, state, sharing))
    if group.index == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    found = {}
    for plan, state, sharing in trained:
        fate = fate_of(functools.partial(take_steps, state, sharing, 3 * INTERVAL))
        sharing.close()
        found[plan.describe()] = (fate, trains_as_if_never_shared(state))
    group.close()
    return found


def fate_of(act: Callable[[], None]) -> str:
    try:
        act()
    except Exception as error:
        return type(error).__name__
    return "done"


def trains_as_if_never_shared(state: TrainingState) -> bool:
    """Whether its next steps are, to the bit, those of a new model with the same weights and moments."""
    state.optimizer.zero_grad()
    twin = first_state(seed=9)
    twin.model.load_state_dict(state.model.state_dict())
    for own, twins in zip(state.optimizer.weights, twin.optimizer.weights, strict=True):
        twin.optimizer.momentum[twins].copy_(state.optimizer.momentum[own])
    twin.step = state.step
    for one in (state, twin):
        take_steps(one, Alone(one.model), 3)
    return torch.equal(weights_of(state), weights_of(twin)) and bool(torch.isfinite(weights_of(state)).all())


def test_a_fault_of_our_own_is_not_taken_for_a_rank_that_is_gone(tmp_path: Path) -> None:
    """Else the ranks would meet again for ever, and nobody would be told that the memory is too small."""
    for ended in together(tmp_path, 2, run_out_of_memory):
        assert ended.result == ["RuntimeError", "RuntimeError"]


def run_out_of_memory(group: Group) -> list[str]:
    def fail(_: Tensor) -> Tensor:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    found = []
    for plan in (PLANS[0], PLANS[1]):
        state = first_state()
        sharing = shared(plan, state, group)
        sharing.begin_step(1, 1, is_last=False)
        answer = sharing.answer(torch.rand(2, 3, 16, 16, dtype=torch.float64))
        answer.register_hook(fail)  # type: ignore[no-untyped-call]
        found.append(fate_of(functools.partial(sharing.backward, answer.mean(), 1)))
        sharing.close()
    group.close()
    return found


def test_a_new_group_goes_on_with_the_model_of_an_old_one(tmp_path: Path) -> None:
    """Two generations of gradients, one after the other, are one."""
    ended: list[Ended[Tensor]] = together(tmp_path, 2, train_in_two_sharings)
    state = first_state()
    take_steps(state, Alone(state.model), 20)
    assert all(distance(one.result, weights_of(state)) < 1e-9 for one in ended)


def train_in_two_sharings(group: Group) -> Tensor:
    state = first_state()
    for _ in range(2):
        sharing = shared(PLANS[0], state, group)
        take_steps(state, sharing, 10)
        sharing.close()
    group.close()
    return weights_of(state)
