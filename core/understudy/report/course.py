"""How validation went over the time of a run, and what follows: settled, over-fitting, good enough. No file, no clock.

A look is one measurement of validation PSNR.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.report.metrics import Metrics, Steps, Values

LATELY_SHARE = 1 / 3
"""Of the training time so far: the part that is judged."""
LATELY_SECONDS = 30.0
LATELY_LOOKS = 5
"""At least, of both."""
SETTLED_GAIN_DB = 0.1
FALL_DB = 0.5
"""Below the best: over-fitting, when the loss goes on falling."""
GOOD_ENOUGH_DB = 0.5
"""Below the best."""
FEWEST_LOOKS = 3
"""To speak of good enough."""
LAST_PART = 0.9
"""Of the run: from here on the learning rate is a quarter of its peak or less, whichever way it falls."""


@dataclass(frozen=True, kw_only=True)
class Course:
    """Looks in columns, one for each, in order; all finite but the losses."""

    steps: Steps
    seconds: Values
    """Of training time."""
    psnrs: Values
    """Decibels."""
    losses: Values
    """Mean of what was recorded since the look before; nan when nothing was."""
    scales: Values
    """Resolution that was trained on: 1, 0.5 or 0.25 of the frames'."""


@dataclass(frozen=True, kw_only=True)
class Settled:
    """Little is gained any more."""

    psnr: float
    """The best so far, dB."""
    fall_db: float
    """Of the newest look, below the best."""
    gain_db: float
    seconds: float
    """In which that was gained."""


@dataclass(frozen=True, kw_only=True)
class OverFitting:
    """The training frames are learnt by heart."""

    psnr: float
    """The newest, dB."""
    fall_db: float
    """Below the best."""
    best_step: int


@dataclass(frozen=True, kw_only=True)
class GoodEnough:
    """When the run had come, for good, within GOOD_ENOUGH_DB of its best."""

    psnr: float
    """The best, dB."""
    seconds: float
    """Of training time."""


def course_of(metrics: Metrics) -> Course:
    """The looks of a run's history, each with what the steps before it tell."""
    finite = np.isfinite(metrics.validation_psnrs)
    steps = metrics.validation_steps[finite]
    if not len(metrics.steps):
        steps = steps[:0]
    ends = np.searchsorted(metrics.steps, steps, side="right")  # lines up to each look
    lasts = np.maximum(ends, 1) - 1
    begins = np.concatenate([[0], ends[:-1]]).astype(np.intp) if len(ends) else ends
    return Course(
        steps=steps,
        seconds=metrics.seconds[lasts],
        psnrs=metrics.validation_psnrs[finite][: len(steps)],
        losses=np.array([_mean(metrics.losses[begin:end]) for begin, end in zip(begins, ends, strict=True)]),
        scales=metrics.scales[lasts],
    )


def settled(course: Course) -> Settled | None:
    """Whether the best rose by less than SETTLED_GAIN_DB lately, all at one resolution."""
    begin = _lately(course)
    if begin is None or (course.scales[begin - 1 :] != course.scales[-1]).any():
        return None
    best = float(course.psnrs.max())
    gain = best - float(course.psnrs[:begin].max())
    if gain >= SETTLED_GAIN_DB:
        return None
    fall, seconds = best - float(course.psnrs[-1]), float(course.seconds[-1]) * LATELY_SHARE
    return Settled(psnr=best, fall_db=fall, gain_db=gain, seconds=seconds)


def over_fitting(course: Course) -> OverFitting | None:
    """Whether all looks lately were well below the best one, though the loss is lower than it was then.

    Fewer looks would not do: while the learning rate is high, runs fall and rise again.
    """
    begin = _lately(course)
    if begin is None:
        return None
    best = int(course.psnrs.argmax())
    is_below = bool((course.psnrs[begin:] < course.psnrs[best] - FALL_DB).all())
    if not is_below or (course.scales[best:] != course.scales[-1]).any():
        return None
    if not _mean(course.losses[begin:]) < course.losses[best]:
        return None
    return OverFitting(
        psnr=float(course.psnrs[-1]),
        fall_db=float(course.psnrs[best] - course.psnrs[-1]),
        best_step=int(course.steps[best]),
    )


def good_enough(course: Course) -> GoodEnough | None:
    """None while there are too few looks, or when the run did not stay near its best."""
    if len(course.psnrs) < FEWEST_LOOKS:
        return None
    best = float(course.psnrs.max())
    far = np.flatnonzero(course.psnrs < best - GOOD_ENOUGH_DB)
    first = int(far[-1]) + 1 if len(far) else 0
    return GoodEnough(psnr=best, seconds=float(course.seconds[first])) if first < len(course.psnrs) else None


def settled_line(found: Settled, share_done: float, run_place: str) -> str:
    """`share_done`: of the schedule, 0 to 1; before its last part it must not be said that nothing would come."""
    fallen = f" at best, now {found.fall_db:.1f} less" if found.fall_db >= SETTLED_GAIN_DB else ""
    gained = f"{found.psnr:.1f} dB{fallen}, {found.gain_db:.2f} dB gained in the last {spoken_time(found.seconds)}"
    if share_done < LAST_PART:
        return (
            f"Settled for now: {gained}; the run is at {100 * share_done:.0f} %, and the learning rate, which has yet "
            "to fall to its end, may bring more"
        )
    return f"Settled: {gained}; stopping now loses little (understudy stop {run_place})"


def over_fitting_line(found: OverFitting, best_checkpoint: int) -> str:
    """`best_checkpoint`: the step of the best one that is kept; 0 when there is none yet."""
    kept = f"the best checkpoint so far is step {best_checkpoint} (kept)" if best_checkpoint else "no checkpoint yet"
    return (
        f"Over-fitting: {found.psnr:.1f} dB where nothing is learnt from, {found.fall_db:.1f} dB below step "
        f"{found.best_step}, while the loss still falls; {kept}; more painted frames help, more steps do not"
    )


def good_enough_line(found: GoodEnough, seconds: float) -> str:
    """`seconds`: the whole training time."""
    return (
        f"Good enough (within {GOOD_ENOUGH_DB:g} dB of {found.psnr:.1f} dB) after {spoken_time(found.seconds)} "
        f"of {spoken_time(seconds)}"
    )


def spoken_time(seconds: float) -> str:
    """80 -> 1 min 20 s"""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _lately(course: Course) -> int | None:
    """The first look of the time that is judged; None while there are too few, or none before it."""
    if not len(course.seconds):
        return None
    now = float(course.seconds[-1])
    begin = int(np.searchsorted(course.seconds, now * (1 - LATELY_SHARE), side="right"))
    is_enough = len(course.seconds) - begin >= LATELY_LOOKS and now * LATELY_SHARE >= LATELY_SECONDS
    return begin if begin and is_enough else None


def _mean(values: Values) -> float:
    """Of those that are finite; nan without any."""
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else float("nan")
