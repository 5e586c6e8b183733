"""The running average of the weights."""

from __future__ import annotations

import torch
from torch import nn

from understudy.train.state import STEPS_TOGETHER, YOUNG_STEPS, follow, update_average


def test_several_steps_that_move_the_average_at_once_move_it_as_far_as_one_by_one() -> None:
    one_by_one, together = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    for averaged in (one_by_one, together):
        averaged.requires_grad_(False).weight.zero_()
    for step in range(1, 401):
        weights = [torch.full((1, 1), float(step))]
        update_average(one_by_one, weights, step)
        before = together.weight.clone()
        follow(together, weights, step)
        assert together.weight.equal(before) == (step > YOUNG_STEPS and step % STEPS_TOGETHER != 0)
    assert 0 < together.weight - one_by_one.weight < STEPS_TOGETHER
    assert one_by_one.weight < 400 - 30, "weights that move leave their average behind"
