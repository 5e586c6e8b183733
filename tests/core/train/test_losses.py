"""Means of losses, and when they are there."""

from __future__ import annotations

import pytest
import torch

from understudy.train.losses import STEPS_PER_MEAN, Losses, Stand
from understudy.train.schedule import StepPlan


def told(losses: Losses, steps: range, device: str = "cpu") -> dict[int, list[tuple[int, float]]]:
    """By the step at which it was told: the last step of each mean, and the mean. The loss of step N is N."""
    found = {}
    for step in steps:
        means = losses.add(torch.tensor(float(step), device=device), stand_at(step))
        if means:
            found[step] = [(stand.step, mean) for stand, mean in means]
    return found


def stand_at(step: int) -> Stand:
    return Stand(step=step, elapsed_seconds=step / 10, plan=StepPlan(learning_rate=0.001, reduction=1))


def test_the_first_step_is_told_and_then_ten_together() -> None:
    losses = Losses()
    assert told(losses, range(1, 26)) == {1: [(1, 1.0)], 10: [(10, 6.0)], 20: [(20, 15.5)]}
    assert losses.rest() == [(stand_at(25), 23.0)]
    assert losses.rest() == []


def test_a_resumed_run_tells_what_there_is_since_then() -> None:
    assert told(Losses(), range(18, 23)) == {20: [(20, 19.0)]}


@pytest.mark.hardware
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_a_gpu_is_asked_a_step_before_it_is_waited_for() -> None:
    losses = Losses()
    assert told(losses, range(1, STEPS_PER_MEAN + 1), "cuda") == {2: [(1, 1.0)]}
    assert told(losses, range(11, 15), "cuda") == {11: [(10, 6.0)]}
    assert losses.rest() == [(stand_at(14), 12.5)]
    told(losses, range(15, 21), "cuda")
    assert losses.rest() == [(stand_at(20), 17.5)]
