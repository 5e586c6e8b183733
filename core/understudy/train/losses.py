"""Losses on their way from the device to who tells of them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from understudy.train.schedule import StepPlan

STEPS_PER_MEAN = 10
"""Whose losses are told as one."""


@dataclass(frozen=True, kw_only=True)
class Stand:
    """Where a run stands after a step."""

    step: int
    elapsed_seconds: float
    """Spent training."""
    plan: StepPlan


class Losses:
    """Gives means that have arrived: on a GPU a step after they were asked for, so that it has something to do."""

    def __init__(self) -> None:
        self._since_last: list[Tensor] = []
        self._stand: Stand | None = None
        """After the newest of them."""
        self._coming: _Mean | None = None

    def add(self, loss: Tensor, stand: Stand) -> list[tuple[Stand, float]]:
        """`loss` is a scalar, still on the device. Each mean comes with the step that was its last."""
        arrived = self._arrived()
        self._since_last.append(loss)
        self._stand = stand
        if stand.step == 1 or stand.step % STEPS_PER_MEAN == 0:
            self._ask()
            if not loss.is_cuda:
                arrived += self._arrived()
        return arrived

    def rest(self) -> list[tuple[Stand, float]]:
        """All that have not been given yet; the device is waited for."""
        arrived = self._arrived()
        self._ask()
        return arrived + self._arrived()

    def _ask(self) -> None:
        if self._stand and self._since_last:
            self._coming = _Mean(self._since_last, self._stand)
            self._since_last = []

    def _arrived(self) -> list[tuple[Stand, float]]:
        coming, self._coming = self._coming, None
        return [(coming.stand, coming.number())] if coming else []


class _Mean:
    """On its way."""

    def __init__(self, losses: list[Tensor], stand: Stand) -> None:
        self.stand = stand
        mean = torch.stack(losses).mean()
        self._copy = mean.to("cpu", non_blocking=mean.is_cuda)  # into pinned memory then
        self._arrival: torch.cuda.Event | None = None
        if mean.is_cuda:
            self._arrival = torch.cuda.Event()  # type: ignore[no-untyped-call]
            self._arrival.record(torch.cuda.current_stream(mean.device))

    def number(self) -> float:
        if self._arrival:
            self._arrival.synchronize()
        return float(self._copy)
