"""Where a run speaks."""

from __future__ import annotations

from dataclasses import dataclass

from understudy.report.events import EventWriter
from understudy.report.metrics import MetricsLog
from understudy.report.progress import Progress
from understudy.report.reporter import Reporter


@dataclass(frozen=True, kw_only=True)
class Voices:
    """Rank 0's."""

    progress: Progress
    metrics: MetricsLog
    reporter: Reporter
    events: EventWriter | None
    """TensorBoard, when asked for."""
