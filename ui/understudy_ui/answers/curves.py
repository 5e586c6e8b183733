"""Losses as they are drawn, from histories that are read on and never read twice."""

from __future__ import annotations

import dataclasses
import threading
from collections import OrderedDict
from pathlib import Path

import numpy as np

from understudy.report.curves import loss_curve, stages
from understudy.report.growing_metrics import DamagedLine, GrowingMetrics
from understudy.report.metrics import JsonLine, Metrics
from understudy.runs import RunFiles, run_of
from understudy_ui.answers.asking import Asking
from understudy_ui.protocol import CurveShown

MOST_HISTORIES = 32
"""Kept at once: some megabytes for a run of 100 000 lines."""
MOST_POINTS = 10000


class Histories:
    """What the runs that people look at have recorded so far."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Path, GrowingMetrics] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, files: RunFiles) -> tuple[Metrics, tuple[DamagedLine, ...]]:
        """Raises UnderstudyError when it cannot be read; a run that has recorded nothing has an empty history."""
        with self._lock:
            history = self._kept.setdefault(files.metrics, GrowingMetrics(files.metrics))
            self._kept.move_to_end(files.metrics)
            while len(self._kept) > MOST_HISTORIES:
                self._kept.popitem(last=False)
        return history.look()

    def curve(self, asking: Asking) -> CurveShown:
        whole, damaged = self.of(run_of(Path(asking.text("place"))))
        seen = _between(whole, asking.whole("first"), asking.whole("last"))
        num_points = min(max(asking.whole("num_points", 600), 1), MOST_POINTS)
        curve = loss_curve(seen, asking.number("smoothness", 0.6), num_points)
        begun = stages(seen.steps, seen.scales)
        valid = np.isfinite(seen.validation_psnrs)
        events = [*((_step_of(event), _said(event)) for event in seen.events)]
        events += [(line.step, f"line {line.number} of the metrics is damaged and left out") for line in damaged]
        events.sort(key=lambda event: event[0])
        return {
            "steps": [round(step) for step in curve.steps.tolist()],
            "lowest": curve.lows.tolist(),
            "highest": curve.highs.tolist(),
            "smooth": curve.smooth.tolist(),
            "validation_steps": seen.validation_steps[valid].tolist(),
            "validation_psnrs": seen.validation_psnrs[valid].tolist(),
            "stages": [step for step, _ in begun],
            "stage_names": [name for _, name in begun],
            "events": [f"step {step}: {said}" for step, said in events],
            "event_steps": [step for step, _ in events],
        }


def _between(metrics: Metrics, first: int, last: int) -> Metrics:
    """0: from the beginning, or to the end."""
    if not first and not last:
        return metrics
    end = last or np.iinfo(np.int64).max
    kept = (metrics.steps >= first) & (metrics.steps <= end)
    validated = (metrics.validation_steps >= first) & (metrics.validation_steps <= end)
    return dataclasses.replace(
        metrics,
        steps=metrics.steps[kept],
        losses=metrics.losses[kept],
        learning_rates=metrics.learning_rates[kept],
        scales=metrics.scales[kept],
        seconds=metrics.seconds[kept],
        validation_steps=metrics.validation_steps[validated],
        validation_psnrs=metrics.validation_psnrs[validated],
        events=tuple(event for event in metrics.events if first <= _step_of(event) <= end),
    )


def _step_of(event: JsonLine) -> int:
    step = event.get("step")
    return step if isinstance(step, int) else 0


def _said(event: JsonLine) -> str:
    """Of ranks: why they changed, which names them; at the very beginning, who they are."""
    if event.get("event") == "ranks":
        return str(event.get("why") or f"ranks {event.get('ranks')} train")
    return str(event.get("event"))
