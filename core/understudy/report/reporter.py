"""Draws contact sheets and graphs on a thread of its own, so that training does not wait for pictures."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from types import TracebackType

from understudy.frames.colour import ColourRules
from understudy.report.contact_sheet import Sheet, draw_sheet
from understudy.report.events import EventWriter
from understudy.report.metrics import read_metrics
from understudy.report.progress import Progress
from understudy.runs import RunFiles
from understudy.settings import Settings

MAX_WAITING = 4
"""Drawings that may wait; the next one makes training wait, nothing is dropped."""

_LOG = logging.getLogger("understudy")

_Job = Callable[[], None]


class Reporter:
    """Takes finished data from the training thread and tells of each file through Progress.

    What goes wrong on the drawing thread (full disk, deleted folder) is raised in the training thread at the next
    call, or at `close`. Leaving a `with` block by an exception finishes the drawings but raises nothing more.
    """

    def __init__(
        self,
        *,
        files: RunFiles,
        settings: Settings,
        colour: ColourRules,
        progress: Progress,
        events: EventWriter | None = None,
    ) -> None:
        self._files = files
        self._settings = settings
        self._colour = colour
        self._progress = progress
        self._events = events
        self._fault: BaseException | None = None
        self._jobs: queue.Queue[_Job | None] = queue.Queue(MAX_WAITING)
        self._thread = threading.Thread(target=self._work, name="understudy reporter", daemon=True)
        self._thread.start()

    def contact_sheet(self, sheet: Sheet) -> None:
        """Draw `sheet`, whose arrays must not change any more, as the run's contact sheet of its step."""
        self._give(lambda: self._draw_sheet(sheet))

    def graph(self) -> None:
        """Draw the graph anew from metrics.jsonl as it is when its turn comes."""
        self._give(self._draw_graph)

    def flush(self) -> None:
        """Wait until everything given so far is drawn. Raises what went wrong."""
        self._jobs.join()
        self._raise_fault()

    def close(self) -> None:
        """Finish all drawings and end the thread. Raises what went wrong. May be called twice."""
        self._stop()
        self._raise_fault()

    def __enter__(self) -> Reporter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        if error is None:
            self._raise_fault()
        elif self._fault is not None:
            _LOG.warning("a contact sheet or graph is missing: %s", self._fault)

    def _give(self, job: _Job) -> None:
        self._raise_fault()
        self._jobs.put(job)

    def _raise_fault(self) -> None:
        fault, self._fault = self._fault, None
        if fault is not None:
            raise fault

    def _stop(self) -> None:
        if self._thread.is_alive():
            self._jobs.put(None)
            self._thread.join()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except BaseException as fault:  # handed over whole: the training thread decides
                self._fault = self._fault or fault
            finally:
                self._jobs.task_done()
        self._jobs.task_done()

    def _draw_sheet(self, sheet: Sheet) -> None:
        png = self._files.contact_sheet(sheet.step)
        exr = self._files.contact_sheet(sheet.step, ".exr") if self._settings.contact_sheet_exr else None
        draw_sheet(sheet, png, colour=self._colour, exr=exr)
        for path in (png, exr):
            if path is not None:
                self._progress.saved("Contactsheet", path)
        if self._events is not None:
            self._events.image(sheet.step, png)

    def _draw_graph(self) -> None:
        from understudy.report.graph import draw_graph  # matplotlib: not before the first step

        png = self._files.graph(".png")
        draw_graph(
            read_metrics(self._files.metrics),
            png,
            self._files.graph(".svg"),
            title=self._files.name,
            log_scale=self._settings.graph_log_scale,
            smoothness=self._settings.graph_smoothness,
            show_original=self._settings.graph_show_original,
        )
        self._progress.saved("Graph", png)
