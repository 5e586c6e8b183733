"""Following a job: its state from the farm, its progress from the run, and its words as they come."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from understudy.errors import Problems, UnderstudyError
from understudy.files import write_text
from understudy.report.metrics import newest_step
from understudy.report.run_record import read_record
from understudy.runs import RunFiles
from understudy.stopping import CANCEL
from understudy_farm.backend import ENDED, FarmBackend, FarmError, Site, TaskState, TaskStatus, site_of
from understudy_farm.folder import Sent, write_sent
from understudy_farm.plan import BAKE, TRAIN
from understudy_farm.registry import farm_named

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_OF_SILENCE = 300.0
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
    """As the farm has them, and what can be told of those that it forgot or keeps waiting for nothing.

    Raises FarmError when the farm does not answer.
    """
    farm, site = _farm_of(sent)
    tasks = farm.status(sent.job, sent.receipt, site)
    tasks = tuple(_remembered_by_run(sent, task) for task in tasks)
    for step in sent.job.steps:
        before = [task for task in tasks if task.step in step.after]
        if _is_without_hope(before):
            note = f"{' and '.join(step.after)} did not succeed"
            tasks = tuple(_given_up(task, note) if task.step == step.name else task for task in tasks)
    return tasks


def looks(sent: Sent, warn: Callable[[str], None]) -> Iterator[tuple[TaskStatus, ...]]:
    """Look at the tasks again and again until nothing more will come of the job.

    What the farm forgets meanwhile stays as it was seen last. A farm that falls silent on the way is put up with for
    SECONDS_OF_SILENCE. Raises FarmError when it does not answer at all, or for longer.
    """
    known: dict[tuple[str, int], TaskStatus] = {}
    heard, told = float("-inf"), ""
    while True:
        try:
            known |= {(task.step, task.number): task for task in tasks_of(sent) if _is_newer(task, known)}
            heard, told = time.monotonic(), ""
            yield tuple(known.values())
        except FarmError as error:
            if time.monotonic() - heard >= SECONDS_OF_SILENCE:
                raise
            if str(error) != told:
                warn(f"{error}; asking again")
            told = str(error)
        if known and all(task.state in (*ENDED, "unknown") for task in known.values()):
            return
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _is_newer(task: TaskStatus, known: Mapping[tuple[str, int], TaskStatus]) -> bool:
    return task.state != "unknown" or (task.step, task.number) not in known


def _remembered_by_run(sent: Sent, task: TaskStatus) -> TaskStatus:
    """Farms forget jobs that have ended, Slurm after minutes; the run's record stays. One that began had its bake."""
    if task.step not in (BAKE, TRAIN) or task.state != "unknown":
        return task
    states: Mapping[str, TaskState] = {"finished": "done", "stopped": "cancelled", "failed": "failed"}
    if task.step == BAKE:
        states = dict.fromkeys(("training", *states), "done")
    return dataclasses.replace(task, state=states.get(_state_of_run(_files_of(sent)), "unknown"))


def _is_without_hope(before: Sequence[TaskStatus]) -> bool:
    """Farms keep tasks waiting for a step that failed; nobody need wait for them, unless that step is requeued."""
    return all(task.state in ENDED for task in before) and any(task.state != "done" for task in before)


def _given_up(task: TaskStatus, note: str) -> TaskStatus:
    return dataclasses.replace(task, state="cancelled", note=note) if task.state == "waiting" else task


def log_of(sent: Sent, step: str, number: int) -> str:
    """What the task printed so far. Raises UnderstudyError when there is no such task, or the farm does not answer."""
    if not 0 <= number < sent.job.step(step).num_tasks:
        raise UnderstudyError(f"{sent.job.run_directory}: step {step} has no task {number}")
    farm, site = _farm_of(sent)
    return farm.log(sent.job, sent.receipt, step, number, site)


def state_of(tasks: Sequence[TaskStatus]) -> TaskState:
    """Of the whole job."""
    states = {task.state for task in tasks}
    for state in ("running", "failed", "cancelled", "unknown"):
        if state in states and (state != "cancelled" or states <= {*ENDED}):
            return state
    return "done" if states == {"done"} else "waiting"


def progress_of(sent: Sent) -> RunProgress | None:
    """None when the run directory does not say it here."""
    files = _files_of(sent)
    with suppress(UnderstudyError):
        record = read_record(files.record)
        newest = newest_step(files.metrics) if files.metrics.exists() else None
        if newest is None:
            return RunProgress(state=record.state, total_steps=record.total_steps)
        return RunProgress(state=record.state, step=newest.step, total_steps=record.total_steps, loss=newest.loss)
    return None


def cancel(sent: Sent) -> None:
    """Let the training write a checkpoint, where its ranks still listen, then end the job.

    Raises FarmError when the farm does not take it in.
    """
    files = _files_of(sent)
    if _state_of_run(files) == "training" and state_of(tasks_of(sent)) == "running":
        write_text(files.stop_requests()[0], CANCEL + "\n")
        give_up = time.monotonic() + SECONDS_FOR_A_CHECKPOINT
        while _state_of_run(files) == "training" and time.monotonic() < give_up:
            time.sleep(SECONDS_BETWEEN_LOOKS / 4)
    farm, site = _farm_of(sent)
    farm.cancel(sent.job, sent.receipt, site)


def requeue(sent: Sent, step_name: str, number: int | None) -> tuple[str, Sequence[int]]:
    """Start a task again under its number, or all of the step (None); the step and the numbers.

    Where ranks wait in vain for their bake, that is started again, and they follow.
    Raises UnderstudyError when there is no such step or task, or the farm cannot do that.
    """
    step = sent.job.step(step_name)
    if BAKE in step.after and _is_without_hope([task for task in tasks_of(sent) if task.step == BAKE]):
        step, number = sent.job.step(BAKE), None
    farm, site = _farm_of(sent)
    numbers = tuple(range(step.num_tasks)) if number is None else (number,)
    if not set(numbers) <= set(range(step.num_tasks)):
        raise UnderstudyError(f"{sent.job.run_directory}: step {step.name} has no task {number}")
    if number is not None and step.num_tasks > 1 and not farm.capabilities(site).can_requeue_one:
        raise UnderstudyError(f"{sent.farm} starts all tasks of a step again or none; leave --rank out")
    receipt = farm.requeue(sent.job, sent.receipt, step.name, numbers, site)
    write_sent(dataclasses.replace(sent, receipt=receipt))
    return step.name, numbers


def _farm_of(sent: Sent) -> tuple[FarmBackend, Site]:
    farm = farm_named(sent.farm, f"{sent.folder.sent}: farm")
    return farm, site_of(farm, sent.options)


def _files_of(sent: Sent) -> RunFiles:
    return RunFiles(sent.job.run_directory, sent.job.run_name)


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
    tasks: tuple[TaskStatus, ...] = ()
    for tasks in looks(sent, say):
        try:
            for step in sent.job.steps:
                _tell_new_lines(sent, step.name, said, say)
        except FarmError as error:
            say(f"{error}; asking again")
        for task in tasks:
            if _is_news(told.get((task.step, task.number)), task):
                say(line_of(task))
            told[task.step, task.number] = task
    return tasks


def line_of(task: TaskStatus) -> str:
    where = f" on {task.host}" if task.host else ""
    note = f" ({task.note})" if task.note else ""
    return f"{task.step} {task.number}: {task.state}{where}{note}"


def raise_if_failed(sent: Sent, tasks: Sequence[TaskStatus]) -> None:
    """Raise Problems with the last words of the first task that failed, and where all of them are."""
    failed = next((task for task in tasks if task.state == "failed"), None)
    if failed is None:
        return
    log = log_of(sent, failed.step, failed.number).splitlines()[-LAST_LINES:]
    command = f"understudy logs {sent.job.run_directory} --step {failed.step} --task {failed.number}"
    raise Problems([line_of(failed), *log, f"the whole log: {command}"])


def _is_news(before: TaskStatus | None, now: TaskStatus) -> bool:
    return now.state != "waiting" if before is None else (before.state, before.note) != (now.state, now.note)


def _tell_new_lines(sent: Sent, step: str, said: dict[str, int], say: Callable[[str], None]) -> None:
    """Whole lines only: the rest comes when it is written."""
    text = log_of(sent, step, 0)
    new = text[said.get(step, 0) : text.rfind("\n") + 1]
    said[step] = said.get(step, 0) + len(new)
    for line in new.splitlines():
        say(line)
