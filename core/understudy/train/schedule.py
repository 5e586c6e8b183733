"""What the clock of a run decides: learning rate and resolution. Pure functions, so that resuming is exact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Fall = Literal["held", "steady"]
"""How the learning rate comes down: in a line at the end of the run, or by the same share in each part of it."""

STAGES: tuple[tuple[float, int], ...] = ((0.2, 4), (0.4, 2), (1.0, 1))
"""(share of the run at which the stage ends, pixels averaged per side): quarter, half, full resolution."""

WARM_UP_STEPS = 50
HELD_SHARE = 0.6
"""Of the run, for which a rate that is held stays at its peak."""
HELD_END = 0.01
"""Of the knob's learning rate, where a rate that was held ends."""
STEADY_START = 0.5
"""Of the knob's learning rate, where a steady fall begins."""
STEADY_END = 0.1
"""Of the knob's learning rate, where a steady fall ends. By a fortieth the last part of a short run teaches nothing."""


@dataclass(frozen=True, kw_only=True)
class StepPlan:
    """What the schedule decides for one step."""

    learning_rate: float
    reduction: int
    """Pixels a side averaged into one: 4, 2 or 1."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Where a run stands, by steps or, when `seconds` is given, by the clock, whichever is further."""

    total_steps: int
    knob_learning_rate: float
    """As the artist set it."""
    fall: Fall
    multi_resolution: bool
    seconds: float = 0.0
    """Length of the run by the clock; 0: by steps alone."""

    def plan(self, step: int, elapsed_seconds: float) -> StepPlan:
        """For step number `step`, counted from 1, begun after `elapsed_seconds` of training."""
        progress = self.progress(step, elapsed_seconds)
        return StepPlan(learning_rate=self.learning_rate(progress, step), reduction=self.reduction(progress))

    def progress(self, step: int, elapsed_seconds: float) -> float:
        """0 at the start, 1 at the end."""
        by_steps = (step - 1) / self.total_steps
        by_clock = elapsed_seconds / self.seconds if self.seconds else 0.0
        return min(1.0, max(by_steps, by_clock))

    def reduction(self, progress: float) -> int:
        """How many pixels a side are averaged into one: 4, 2, then 1."""
        if not self.multi_resolution:
            return 1
        return next(reduction for end, reduction in STAGES if progress < end or end == 1.0)

    def learning_rate(self, progress: float, step: int) -> float:
        """Warm-up by steps, and the fall of its kind."""
        if self.fall == "steady":
            share = STEADY_START * math.pow(STEADY_END / STEADY_START, progress)
        else:
            share = HELD_END + (1 - HELD_END) * min(1.0, (1 - progress) / (1 - HELD_SHARE))
        return self.knob_learning_rate * min(1.0, step / WARM_UP_STEPS) * share

    def is_over(self, step: int, elapsed_seconds: float) -> bool:
        """True when the step just done was the last."""
        return step >= self.total_steps or (self.seconds > 0 and elapsed_seconds >= self.seconds)


@dataclass(kw_only=True)
class Pace:
    """What the clock will show at steps to come, by what all ranks last agreed on: the same on every rank."""

    step: int
    """At which they last agreed."""
    elapsed_seconds: float
    """Spent training when that step was done."""
    seconds_per_step: float = 0.0

    def elapsed_at(self, step: int) -> float:
        return self.elapsed_seconds + (step - self.step) * self.seconds_per_step

    def agree(self, step: int, elapsed_seconds: float) -> None:
        self.seconds_per_step = (elapsed_seconds - self.elapsed_seconds) / (step - self.step)
        self.step, self.elapsed_seconds = step, elapsed_seconds
