"""How many crops each step of a run has, over all ranks, and which they are among all that it sees."""

from __future__ import annotations

from dataclasses import dataclass

from understudy.report.run_record import FirstSteps


@dataclass(frozen=True, kw_only=True)
class BatchPlan:
    """A batch of one size, or one that grows once: by step, not by the clock, so that a resumed run sees the same."""

    size: int
    """Crops a step."""
    first: FirstSteps | None = None
    """Those that have fewer."""

    def samples(self, step: int) -> range:
        """Numbers of its crops, counted from 0 over the whole run; steps from 1."""
        if self.first and step <= self.first.steps:
            return range((step - 1) * self.first.size, step * self.first.size)
        missing = self.first.steps * (self.size - self.first.size) if self.first else 0
        return range((step - 1) * self.size - missing, step * self.size - missing)

    def in_words(self) -> str:
        """4, or 2, from step 401 on 4"""
        return f"{self.first.size}, from step {self.first.steps + 1} on {self.size}" if self.first else f"{self.size}"
