"""What is asked for is done to the letter; what is left open follows the link, and is the same on every rank."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.core.train.lessons import (
    BATCH_SIZE,
    average_of,
    crops,
    first_state,
    machine,
    pairs,
    small_run,
    take_steps,
    weights_of,
)
from tests.core.train.together import together
from torch import Tensor

from understudy.errors import UnderstudyError
from understudy.settings import Settings, SyncMode
from understudy.train.gather import gather
from understudy.train.group import Group
from understudy.train.sync_plan import (
    AFFORDABLE_SHARE,
    LONGEST_INTERVAL,
    Costs,
    SyncPlan,
    asked_plan,
    choose,
    measured_costs,
    plan_for_link,
    sharing_for,
    step_seconds,
)

STEP_SECONDS = {4: 0.01, 2: 0.03, 1: 0.1}


def costs_of(exchange_seconds: float) -> Costs:
    """On a CPU, where every operation of every step is told."""
    return Costs(step_seconds=STEP_SECONDS, told_step_seconds=STEP_SECONDS, exchange_seconds=exchange_seconds)


NEAR, OFFICE, FAR, BEYOND = map(costs_of, (0.001, 0.009, 0.7, 10.0))


def test_interval_1_is_plain_data_parallelism_and_a_longer_one_averages() -> None:
    plain, longer = asked_plan(Settings(sync_interval=1)), asked_plan(Settings(sync_interval=16))
    assert plain == SyncPlan(mode="gradients", intervals={4: 1, 2: 1, 1: 1}, compression="none")
    assert longer == SyncPlan(mode="average", intervals={4: 16, 2: 16, 1: 16}, compression="fp16")


@pytest.mark.parametrize("mode", ["accumulate", "average", "overlap", "outer"])
def test_mode_interval_and_compression_are_taken_to_the_letter(mode: SyncMode) -> None:
    plan = asked_plan(Settings(sync_mode=mode, sync_interval=7, compress="bf16"))
    assert plan == SyncPlan(mode=mode, intervals={4: 7, 2: 7, 1: 7}, compression="bf16")


def test_gradients_need_no_interval() -> None:
    plan = asked_plan(Settings(sync_mode="gradients", compress="fp16"))
    assert plan == SyncPlan(mode="gradients", intervals={4: 1, 2: 1, 1: 1}, compression="fp16")


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (Settings(sync_mode="average", compress="powersgd"), ("compress", "sync_mode", "average")),
        (Settings(sync_mode="overlap", sync_interval=4, compress="powersgd"), ("compress", "sync_mode", "overlap")),
        (Settings(sync_mode="gradients", sync_interval=4), ("sync_mode", "sync_interval", "4")),
    ],
)
def test_contradictions_are_named(settings: Settings, named: tuple[str, ...]) -> None:
    with pytest.raises(UnderstudyError) as refusal:
        asked_plan(settings)
    assert all(word in str(refusal.value) for word in named)
    assert len(str(refusal.value).splitlines()) == 1


def test_what_is_left_open_is_chosen_for_the_link() -> None:
    assert asked_plan(Settings()) is None
    near, office, far, beyond = (choose(costs, Settings(), "cpu") for costs in (NEAR, OFFICE, FAR, BEYOND))
    assert (near.mode, set(near.intervals.values()), near.compression) == ("gradients", {1}, "none")
    assert (office.mode, office.compression) == ("average", "fp16")
    assert (far.mode, set(far.intervals.values())) == ("average", {LONGEST_INTERVAL})
    assert beyond.mode == "overlap"


def test_gradients_must_be_affordable_at_the_quick_steps_of_low_resolution_too() -> None:
    costs = costs_of(0.004)
    assert costs.share_of_gradients(0.008, multi_resolution=False) == pytest.approx(0.008 / 0.108)
    assert costs.share_of_gradients(0.008, multi_resolution=True) == pytest.approx(
        0.2 * 0.008 / 0.018 + 0.2 * 0.008 / 0.038 + 0.6 * 0.008 / 0.108
    )
    assert choose(costs, Settings(multi_resolution=False), "cpu").mode == "gradients"
    assert choose(costs, Settings(multi_resolution=True), "cpu").mode == "average"


def test_a_gpu_that_plays_its_steps_is_not_held_up_by_gradients() -> None:
    told = {reduction: 4 * seconds for reduction, seconds in STEP_SECONDS.items()}
    gpu = Costs(step_seconds=STEP_SECONDS, told_step_seconds=told, exchange_seconds=0.001)
    assert gpu.share_of_gradients(0.1, multi_resolution=False) == pytest.approx(1 - 0.1 / 0.5)
    assert choose(NEAR, Settings(), "cuda").mode == "gradients"
    averaged = choose(gpu, Settings(), "cuda")
    assert averaged.mode == "average"
    assert averaged.intervals == choose(NEAR, Settings(sync_mode="average"), "cuda").intervals
    summed = choose(gpu, Settings(sync_mode="accumulate"), "cuda")
    assert summed.intervals == {4: 1, 2: 1, 1: 1}


def test_an_exchange_that_is_waited_for_costs_no_more_than_it_may() -> None:
    plan = choose(OFFICE, Settings(), "cpu")
    assert plan.intervals == {4: 18, 2: 6, 1: 2}
    for reduction, interval in plan.intervals.items():
        training = STEP_SECONDS[reduction] * interval
        assert OFFICE.exchange_seconds <= AFFORDABLE_SHARE * training + 1e-9


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.1, 5.0, 1000.0])
@pytest.mark.parametrize("mode", ["auto", "accumulate", "average", "overlap", "outer"])
def test_no_link_is_too_bad_for_a_plan(mode: SyncMode, seconds: float) -> None:
    plan = choose(costs_of(seconds), Settings(sync_mode=mode), "cpu")
    assert all(1 <= interval <= LONGEST_INTERVAL for interval in plan.intervals.values())
    assert plan.mode != "auto"
    assert plan.compression != "auto"


def test_apples_gpu_never_shares_gradients() -> None:
    assert choose(NEAR, Settings(), "mps").mode == "average"


def test_powersgd_is_used_for_gradients_whatever_the_link() -> None:
    for costs in (NEAR, OFFICE, FAR, BEYOND):
        plan = choose(costs, Settings(compress="powersgd"), "cpu")
        assert plan.mode in ("gradients", "accumulate")
        assert plan.compression == "powersgd"


def test_float64_is_never_rounded_unasked() -> None:
    assert choose(OFFICE, Settings(precision="float64"), "cpu").compression == "none"
    assert choose(OFFICE, Settings(precision="float64", compress="fp16"), "cpu").compression == "fp16"


def test_a_plan_says_itself_in_one_line() -> None:
    plan = SyncPlan(mode="average", intervals={4: 30, 2: 10, 1: 3}, compression="fp16", why="because")
    assert plan.describe() == "weights averaged every 30, then 10, then 3 steps, fp16 compression (because)"
    assert "every step" in choose(NEAR, Settings(), "cpu").describe()


def test_measuring_gives_every_rank_the_same_plan_and_changes_nothing(tmp_path: Path) -> None:
    ended = together(tmp_path, 2, measure)
    plans = [one.result[0] for one in ended]
    assert plans[0] == plans[1]
    assert "ms" in plans[0].why
    for one in ended:
        assert one.result[1] == [True, True, True]


def measure(group: Group) -> tuple[SyncPlan, list[bool]]:
    """The plan, and whether weights, average and gradients are as they were."""
    state = first_state(torch.float32)
    before = weights_of(state), average_of(state)
    plan = plan_for_link(small_run(Settings()), state, group, None)
    group.close()
    gradients_are_none = all(parameter.grad is None for parameter in state.model.parameters())
    unchanged = [torch.equal(*both) for both in zip((weights_of(state), average_of(state)), before, strict=True)]
    return plan, [*unchanged, gradients_are_none]


def test_the_slowest_rank_counts_and_all_know_it_to_the_bit(tmp_path: Path) -> None:
    ended = together(tmp_path, 2, measure_costs)
    costs = ended[0].result
    assert costs == ended[1].result
    assert set(costs.step_seconds) == {4, 2, 1}
    assert all(seconds > 0 for seconds in (*costs.step_seconds.values(), costs.exchange_seconds))
    assert costs.told_step_seconds == costs.step_seconds, "a CPU plays nothing"


def measure_costs(group: Group) -> Costs:
    state = first_state(torch.float32)
    batch = gather(pairs(), crops(), state.misses, range(BATCH_SIZE)).to(machine(torch.float32))
    costs = measured_costs(state, batch, machine(torch.float32), group, BATCH_SIZE)
    group.close()
    return costs


@pytest.mark.hardware
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_steps_of_a_gpu_are_measured_both_ways(tmp_path: Path) -> None:
    ended = together(tmp_path, 2, measure_steps_of_gpu)
    assert ended[0].result == ended[1].result
    for seconds in ended[0].result:
        assert all(of_one > 0 for of_one in seconds.values())
        assert set(seconds) == {4, 2, 1}


def measure_steps_of_gpu(group: Group) -> tuple[dict[int, float], dict[int, float]]:
    gpu = machine(torch.float32, "cuda")
    state = first_state(torch.float32, device="cuda")
    before = weights_of(state)
    batch = gather(pairs(), crops(), state.misses, range(BATCH_SIZE)).to(gpu)
    found = step_seconds(state.model, batch, gpu, group)
    assert torch.equal(weights_of(state), before)
    assert all(parameter.grad is None for parameter in state.model.parameters())
    group.close()
    return found


def test_what_rank_0_remembers_holds_for_a_newcomer_and_is_not_measured_again(tmp_path: Path) -> None:
    known = SyncPlan(mode="outer", intervals={4: 9, 2: 5, 1: 3}, compression="bf16")
    for ended in together(tmp_path, 2, remember, known):
        assert ended.result == known


def remember(group: Group, known: SyncPlan) -> SyncPlan:
    state = first_state(torch.float32)
    plan = plan_for_link(small_run(Settings()), state, group, known if group.index == 0 else None)
    group.close()
    return plan


def test_every_mode_is_put_to_work(tmp_path: Path) -> None:
    for ended in together(tmp_path, 2, train_by_settings):
        for mode, weights in ended.result.items():
            assert torch.isfinite(weights).all(), mode
            assert not torch.equal(weights, weights_of(first_state(torch.float32))), mode


def train_by_settings(group: Group) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    modes: tuple[SyncMode, ...] = ("gradients", "accumulate", "average", "overlap", "outer")
    for mode in modes:
        run = small_run(Settings(sync_mode=mode, sync_interval=1 if mode == "gradients" else 2))
        state = first_state(torch.float32)
        plan = plan_for_link(run, state, group, None)
        sharing = sharing_for(plan, run, state, group, no_wait)
        take_steps(state, sharing, 4)
        sharing.flush(state)
        sharing.close()
        found[mode] = weights_of(state)
    group.close()
    return found


def no_wait(step: int) -> None:
    """The ranks keep step by what they exchange."""
