"""Looks at what a run has made so far where it never learns: how often, what is said of them, and what follows."""

from __future__ import annotations

import logging
import math
from time import monotonic

from understudy.report.course import (
    LAST_PART,
    OverFitting,
    Settled,
    course_of,
    good_enough,
    good_enough_line,
    over_fitting,
    over_fitting_line,
    settled,
    settled_line,
)
from understudy.report.growing_metrics import GrowingMetrics
from understudy.report.metrics import Metrics
from understudy.train.infer import validation_psnr
from understudy.train.run import Run
from understudy.train.squares import squares_psnr
from understudy.train.state import TrainingState
from understudy.train.voices import Voices

_LOG = logging.getLogger("understudy")

FIRST_SECONDS = 3.0
"""Of a sitting, before its first look."""
SHARE_BETWEEN = 0.05
"""Of the training time so far: the least distance of two looks."""
SHARE_SPENT = 0.02
"""Of the training time, that looks may take."""
LONGEST_SECONDS = 3.0
"""Of a look, while the other ranks wait; longer ones are for checkpoints alone."""
SETTLED, SETTLED_FOR_NOW, OVER_FITTING = "settled", "settled for now", "over-fitting"
"""Events of the metrics: a run says each once."""


class Judge:
    """Rank 0's: measures validation frames if there are any, else validation squares."""

    def __init__(self, run: Run, state: TrainingState, voices: Voices) -> None:
        self._run = run
        self._state = state
        self._voices = voices
        self._history = GrowingMetrics(run.files.metrics)
        # what a look at whole frames takes shows at the first checkpoint
        self._next_seconds = math.inf if run.validation else state.elapsed_seconds + FIRST_SECONDS
        self._newest: tuple[int, float] | None = None
        """Step and PSNR of the last look."""

    @property
    def can_look(self) -> bool:
        return bool(self._run.validation or self._run.squares)

    def is_due(self) -> bool:
        return self.can_look and self._state.elapsed_seconds >= self._next_seconds

    def look(self) -> float:
        """dB of the averaged weights; not measured twice for one step."""
        step = self._state.step
        if self._newest is None or self._newest[0] != step:
            begin = monotonic()
            self._newest = (step, self._measured())
            self._put_off(monotonic() - begin)
        return self._newest[1]

    def tell_news(self) -> None:
        """What the looks so far say, the first time that they do."""
        metrics, _ = self._history.look()
        course = course_of(metrics)
        if found := over_fitting(course):
            self._tell_over_fitting(metrics, found)
        elif settling := settled(course):
            self._tell_settled(metrics, settling)

    def conclude(self) -> None:
        """One line at the end."""
        metrics, _ = self._history.look()
        if found := good_enough(course_of(metrics)):
            self._voices.progress.say(good_enough_line(found, self._state.elapsed_seconds))

    def _measured(self) -> float:
        run, state = self._run, self._state
        if run.validation:
            psnr = validation_psnr(state.averaged, run.validation, run.machine)
        else:
            psnr = squares_psnr(state.averaged, run.training, run.squares, run.machine)
        self._voices.metrics.validation(
            state.step, psnr=psnr, seconds=state.elapsed_seconds, on="frames" if run.validation else "squares"
        )
        if self._voices.events:
            self._voices.events.scalars(state.step, {"validation_psnr": psnr})
        return psnr

    def _put_off(self, cost_seconds: float) -> None:
        _LOG.debug("looked at validation in %.2f s", cost_seconds)
        elapsed = self._state.elapsed_seconds
        distance = max(FIRST_SECONDS, SHARE_BETWEEN * elapsed, cost_seconds / SHARE_SPENT)
        self._next_seconds = math.inf if cost_seconds > LONGEST_SECONDS else elapsed + distance

    def _tell_settled(self, metrics: Metrics, found: Settled) -> None:
        share = self._run.schedule.progress(self._state.step + 1, self._state.elapsed_seconds)
        event = SETTLED if share >= LAST_PART else SETTLED_FOR_NOW
        if not _was_told(metrics, event):
            self._voices.progress.say(settled_line(found, share, str(self._run.files.directory)))
            self._voices.metrics.event(event, step=self._state.step, gain_db=found.gain_db, seconds=found.seconds)

    def _tell_over_fitting(self, metrics: Metrics, found: OverFitting) -> None:
        if not _was_told(metrics, OVER_FITTING):
            self._voices.progress.say(over_fitting_line(found, self._state.best_step))
            self._voices.metrics.event(OVER_FITTING, step=self._state.step, fall_db=found.fall_db)


def _was_told(metrics: Metrics, event: str) -> bool:
    return any(one.get("event") == event for one in metrics.events)
