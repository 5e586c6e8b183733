"""Following a job: its state from the farm, its progress from the run, and its words as they come."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from understudy.errors import UnderstudyError
from understudy.files import write_text
from understudy.report.metrics import newest_step
from understudy.report.run_record import read_record
from understudy.runs import RunFiles
from understudy_farm.backend import ENDED, Site, TaskState, TaskStatus
from understudy_farm.folder import Sent
from understudy_farm.registry import farm_named

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_FOR_A_CHECKPOINT = 20.0
LAST_LINES = 12
"""Of the log of a task that failed."""


@dataclass(frozen=True, kw_only=True)
class RunProgress:
    """How far the training itself is, as rank 0 wrote it into the run directory."""

    state: str
    """As in the run's record: submitted, training, finished, stopped, failed."""
    step: int = 0
    total_steps: int = 0
    loss: float | None = None

    def __str__(self) -> str:
        if not self.step:
            return self.state
        return f"{self.state}, step {self.step} of {self.total_steps}, loss {self.loss:.4g}"


def tasks_of(sent: Sent) -> tuple[TaskStatus, ...]:
    """Raises FarmError when the farm does not answer."""
    return farm_named(sent.farm).status(sent.job, sent.receipt, Site(values=sent.options))


def log_of(sent: Sent, step: str, number: int) -> str:
    """What the task printed so far. Raises UnderstudyError when there is no such task, or the farm does not answer."""
    if not 0 <= number < sent.job.step(step).num_tasks:
        raise UnderstudyError(f"{sent.job.run_directory}: step {step} has no task {number}")
    return farm_named(sent.farm).log(sent.job, sent.receipt, step, number, Site(values=sent.options))


def state_of(tasks: Sequence[TaskStatus]) -> TaskState:
    """Of the whole job."""
    states = {task.state for task in tasks}
    for state in ("running", "failed", "cancelled", "unknown"):
        if state in states and (state != "cancelled" or states <= {*ENDED}):
            return state
    return "done" if states == {"done"} else "waiting"


def progress_of(sent: Sent) -> RunProgress | None:
    """None when the run directory does not say it here."""
    files = RunFiles(sent.job.run_directory, sent.job.run_name)
    with suppress(UnderstudyError):
        record = read_record(files.record)
        newest = newest_step(files.metrics) if files.metrics.exists() else None
        step, loss = newest or (0, None)
        return RunProgress(state=record.state, step=step, total_steps=record.total_steps, loss=loss)
    return None


def cancel(sent: Sent) -> None:
    """Let the training write a checkpoint, where its ranks still listen, then end the job.

    Raises FarmError when the farm does not take it in.
    """
    files = RunFiles(sent.job.run_directory, sent.job.run_name)
    if _state_of_run(files) == "training" and state_of(tasks_of(sent)) == "running":
        write_text(files.stop_requests()[0], "understudy cancel\n")
        give_up = time.monotonic() + SECONDS_FOR_A_CHECKPOINT
        while _state_of_run(files) == "training" and time.monotonic() < give_up:
            time.sleep(SECONDS_BETWEEN_LOOKS / 4)
    farm_named(sent.farm).cancel(sent.job, sent.receipt, Site(values=sent.options))


def _state_of_run(files: RunFiles) -> str:
    with suppress(UnderstudyError):
        return read_record(files.record).state
    return "unknown"


def follow(sent: Sent, say: Callable[[str], None]) -> tuple[TaskStatus, ...]:
    """Tell what the first task of every step prints and how tasks fare, until all have ended; their last states.

    Raises FarmError when the farm does not answer.
    """
    told: dict[tuple[str, int], TaskStatus] = {}
    said: dict[str, int] = {}
    while True:
        tasks = tasks_of(sent)
        for step in sent.job.steps:
            _tell_new_lines(sent, step.name, said, say)
        for task in tasks:
            if _is_news(told.get((task.step, task.number)), task):
                say(line_of(task))
            told[task.step, task.number] = task
        if all(task.state in ENDED for task in tasks):
            return tasks
        time.sleep(SECONDS_BETWEEN_LOOKS)


def line_of(task: TaskStatus) -> str:
    where = f" on {task.host}" if task.host else ""
    note = f" ({task.note})" if task.note else ""
    return f"{task.step} {task.number}: {task.state}{where}{note}"


def raise_if_failed(sent: Sent, tasks: Sequence[TaskStatus]) -> None:
    """Raise UnderstudyError with the last words of the first task that failed, and where all of them are."""
    failed = next((task for task in tasks if task.state == "failed"), None)
    if failed is None:
        return
    log = log_of(sent, failed.step, failed.number).splitlines()[-LAST_LINES:]
    command = f"understudy logs {sent.job.run_directory} --step {failed.step} --task {failed.number}"
    raise UnderstudyError("\n".join([line_of(failed), *log, f"the whole log: {command}"]))


def _is_news(before: TaskStatus | None, now: TaskStatus) -> bool:
    return now.state != "waiting" if before is None else (before.state, before.note) != (now.state, now.note)


def _tell_new_lines(sent: Sent, step: str, said: dict[str, int], say: Callable[[str], None]) -> None:
    """Whole lines only: the rest comes when it is written."""
    text = log_of(sent, step, 0)
    new = text[said.get(step, 0) : text.rfind("\n") + 1]
    said[step] = said.get(step, 0) + len(new)
    for line in new.splitlines():
        say(line)
