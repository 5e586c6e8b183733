"""In which state a run really is: its record cannot know when the process that writes it was killed."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from understudy.report.metrics import NewestStep
from understudy.report.run_record import RunRecord
from understudy.runs import RunFiles
from understudy_farm.backend import ENDED, TaskState
from understudy_farm.folder import JobFolder
from understudy_farm.plan import BAKE, TRAIN
from understudy_farm.tasks import read_job_record
from understudy_farm.watcher import TASKS

SECONDS_OF_SILENCE = 600.0
"""A run that says it trains and has written nothing for so long is lost, unless its own lines come more slowly."""
LINES_OF_SILENCE = 5
"""So many of its own intervals between two lines may pass besides."""

OVER = ("finished", "stopped", "failed")
"""States after which nobody writes, until the run is resumed."""
LOST = "lost"


class Task(Protocol):
    """What is used of a TaskStatus, and of a TaskRecord."""

    @property
    def step(self) -> str: ...
    @property
    def state(self) -> TaskState: ...


def state_of_run(files: RunFiles, record: RunRecord, newest: NewestStep | None) -> str:
    """The record's word, or `lost`; for a job that this machine watches, by its watcher, else by the files' age.

    A submitted run whose tasks have ended without beginning it is failed, or stopped.
    """
    if record.state in OVER:
        return record.state
    watched = read_job_record(JobFolder(files.directory).farm / TASKS)
    if watched is not None and watched.watcher.host == platform.node():
        by_tasks = state_by_tasks(record.state, watched.tasks)
        return by_tasks if by_tasks != record.state or watched.watcher.alive() else _unwatched(record.state)
    is_silent = record.state == "training" and _seconds_of_silence(files) > _bound(record, newest)
    return LOST if is_silent else record.state


def state_by_tasks(state: str, tasks: Sequence[Task]) -> str:
    """What the tasks of a job say about a run that by its record is not over: cancelled ranks may leave it so."""
    ends = {task.state for task in tasks if task.step == TRAIN}
    if state in OVER or not ends or not ends <= {*ENDED}:
        return state
    if not any(task.state == "failed" for task in tasks if task.step in (BAKE, TRAIN)):
        return "stopped"
    return "failed" if state == "submitted" else LOST


def _unwatched(state: str) -> str:
    """Its watcher was killed, or this machine was switched off."""
    return LOST if state == "training" else "failed"


def _seconds_of_silence(files: RunFiles) -> float:
    newest = 0.0
    for path in (files.record, files.metrics, files.log()):
        with suppress(OSError):
            newest = max(newest, path.stat().st_mtime)
    return time.time() - newest


def _bound(record: RunRecord, newest: NewestStep | None) -> float:
    """Rank 0 may hold still for long where it waits for enough others; and steps may be long."""
    settings: Mapping[str, object] = record.settings
    fewest, minutes = settings.get("min_ranks"), settings.get("hold_minutes")
    waits = isinstance(fewest, int) and fewest > 1 and isinstance(minutes, int | float)
    holding = float(str(minutes)) * 60 + SECONDS_OF_SILENCE if waits else 0.0
    slow = LINES_OF_SILENCE * newest.seconds_a_line if newest else 0.0
    return max(SECONDS_OF_SILENCE, holding, slow)


def place_of_job(files: RunFiles) -> Path | None:
    """The file that tells which farm has the run's job; None for a run that was not submitted."""
    sent = JobFolder(files.directory).sent
    return sent if sent.exists() else None
