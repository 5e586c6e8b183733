"""Loss curves made fit to draw: binned when there are more points than pixels, then smoothed as CopyCat does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.report.metrics import Metrics, Steps, Values

MAX_POINTS = 600
"""About as many as a graph has columns of pixels."""

STAGE_NAMES = {0.25: "1/4", 0.5: "1/2", 1.0: "full"}


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A run's loss in few points; all arrays of one length."""

    steps: Values
    """Middle of each bin."""
    lows: Values
    """Smallest loss of each bin."""
    highs: Values
    """Largest loss of each bin."""
    smooth: Values
    """Moving average of the bins' means."""


def loss_curve(metrics: Metrics, smoothness: float, max_points: int = MAX_POINTS) -> Curve:
    """Bin and smooth the finite losses; `smoothness` 0 leaves them as they are, 0.99 hardly lets them move."""
    finite = np.isfinite(metrics.losses)
    steps, losses = metrics.steps[finite].astype(np.float64), metrics.losses[finite]
    starts = np.unique(np.linspace(0, len(steps), max_points, endpoint=False).astype(np.intp))[: len(steps)]
    if not len(steps):
        return Curve(steps=steps, lows=losses, highs=losses, smooth=losses)
    sizes = np.diff(np.append(starts, len(steps)))
    return Curve(
        steps=np.add.reduceat(steps, starts) / sizes,
        lows=np.minimum.reduceat(losses, starts),
        highs=np.maximum.reduceat(losses, starts),
        smooth=moving_average(np.add.reduceat(losses, starts) / sizes, smoothness),
    )


def moving_average(values: Values, weight: float) -> Values:
    """Exponential: each value becomes `weight` parts of the average so far and the rest of itself."""
    smooth: Values = values.copy()
    for index in range(1, len(values)):
        smooth[index] = weight * smooth[index - 1] + (1 - weight) * values[index]
    return smooth


def stages(steps: Steps, scales: Values) -> list[tuple[int, str]]:
    """First step and name of every stretch of steps at one resolution: 1/4, 1/2, full."""
    changes = np.flatnonzero(np.diff(scales, prepend=np.nan) != 0)
    return [(int(steps[index]), STAGE_NAMES.get(float(scales[index]), f"x{scales[index]:g}")) for index in changes]
