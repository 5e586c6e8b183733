"""Everything that changes while training: weights, their running average, the optimizer, the step."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from understudy.train.crops import Interest
from understudy.train.device import Machine
from understudy.train.misses import Misses
from understudy.train.muon import Muon
from understudy.train.network import Understudy, in_channels_last
from understudy.train.waking import WakingReLU, wake_last_units

AVERAGE_SHARE = 0.998
"""Of the old average kept each step once the run is long: about the last 500 steps."""
YOUNG_STEPS = 100
"""In which every step moves it."""
STEPS_TOGETHER = 10
"""That later on move it once: to go over all weights each time takes a hundredth of every step."""


@dataclass
class TrainingState:
    """Mutable by nature; `checkpoint` writes and reads it whole."""

    model: Understudy
    """What the optimizer moves."""
    averaged: Understudy
    """Running average of its weights: what is saved, shown and applied, good at any step."""
    optimizer: Muon
    step: int
    """Steps done."""
    elapsed_seconds: float
    """Time spent training, over all sessions of the run."""
    best_step: int
    """Step of the best validation so far; 0 before the first."""
    best_psnr: float
    """dB; minus infinity before the first validation."""
    misses: Misses
    waking: WakingReLU | None = None
    """The model's last units, where these are woken."""


def new_state(
    model: Understudy,
    machine: Machine,
    interest: Sequence[Interest],
    miss_power: float = 1,
    *,
    wakes: bool = False,
) -> TrainingState:
    """A run's beginning, on the machine's device and in its arithmetic.

    `interest`, `miss_power`: as Misses takes them. `wakes`: its last units (waking.py).
    """
    placed = in_channels_last(model.to(machine.device, machine.dtype))
    averaged = copy.deepcopy(placed).requires_grad_(False)
    waking = wake_last_units(placed) if wakes else None
    misses = Misses(interest, miss_power)
    return TrainingState(placed, averaged, Muon(placed.parameters()), 0, 0.0, 0, float("-inf"), misses, waking)


def follow(averaged: nn.Module, weights: Sequence[Tensor], step: int) -> None:
    """Call after every step: the average moves after each of a young run, after STEPS_TOGETHER of an older one."""
    if step <= YOUNG_STEPS:
        update_average(averaged, weights, step)
    elif step % STEPS_TOGETHER == 0:
        update_average(averaged, weights, step, STEPS_TOGETHER)


def update_average(averaged: nn.Module, weights: Sequence[Tensor], step: int, num_steps: int = 1) -> None:
    """Move the average towards the weights as they are after `step`, `num_steps` after the last time.

    Early steps move it fast, so that it never lags behind a young run.
    """
    share = min(AVERAGE_SHARE, (1 + step) / (10 + step)) ** num_steps
    targets: list[Tensor] = list(averaged.parameters())
    torch._foreach_lerp_(targets, [weight.detach() for weight in weights], 1 - share)
