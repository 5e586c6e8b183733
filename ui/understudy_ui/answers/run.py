"""One run in full: its row, its ranks as farm and run tell of them, and everything that can be shown of it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from understudy.errors import UnderstudyError
from understudy.report.course import course_of, good_enough, settled
from understudy.report.metrics import Metrics
from understudy.report.run_record import RunRecord
from understudy.runs import RunFiles, run_of
from understudy_farm.backend import TaskStatus
from understudy_farm.folder import Sent, read_sent
from understudy_farm.following import tasks_of
from understudy_farm.plan import TRAIN
from understudy_ui.answers.asking import Asking
from understudy_ui.answers.condition import place_of_job, state_by_tasks
from understudy_ui.answers.curves import Histories
from understudy_ui.answers.rows import RunBook
from understudy_ui.answers.training import pairs_shown
from understudy_ui.protocol import Json, RankShown, RunRow, RunShown

SECONDS_FOR_A_FARM = 0.5
"""A quick farm is waited for; of a slow one the last answer is shown until the next has come."""
SECONDS_FRESH = 2.0
LEFT, JOINED = "left", "joined"
"""Words of the roster, in what it tells of ranks."""


@dataclass(frozen=True, kw_only=True)
class FarmSays:
    """A farm's last answer about a job."""

    tasks: tuple[TaskStatus, ...] = ()
    note: str = ""
    """Why there are no tasks."""


class Farms:
    """Asks farms about jobs, one question at a time for each, on threads that nobody waits for."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="farm")
        self._lock = threading.Lock()
        self._asked: dict[Path, tuple[float, Future[FarmSays]]] = {}
        self._said: dict[Path, FarmSays] = {}

    def about(self, sent: Sent) -> FarmSays:
        """The newest answer that can be had soon."""
        key = sent.job.run_directory
        with self._lock:
            began, answer = self._asked.get(key, (0.0, None))
            if answer is None or (answer.done() and time.monotonic() - began > SECONDS_FRESH):
                answer = self._pool.submit(_says, sent)
                self._asked[key] = time.monotonic(), answer
        wait([answer], SECONDS_FOR_A_FARM)
        if answer.done():
            self._said[key] = answer.result()
        return self._said.get(key, FarmSays(note=f"{sent.farm} has not answered yet"))

    def forget(self, run_directory: Path) -> None:
        """Something was done about the job."""
        with self._lock:
            self._asked.pop(run_directory, None)


class Runs:
    """Answers about single runs."""

    def __init__(self, book: RunBook, histories: Histories, farms: Farms) -> None:
        self._book = book
        self._histories = histories
        self._farms = farms

    def run(self, asking: Asking) -> RunShown:
        """Raises UnderstudyError when the record cannot be read."""
        place = Path(asking.text("place"))
        files = run_of(place)
        try:
            record = self._book.records.of(place)
        except OSError as error:
            raise UnderstudyError(f"{place}: cannot be read ({error.strerror}); look at the list of runs") from error
        row, (metrics, _) = self._book.row(place), self._histories.of(files)
        sent = read_sent(files.directory) if place_of_job(files) else None
        says = self._farms.about(sent) if sent else FarmSays()
        row = {**row, "state": state_by_tasks(row["state"], says.tasks)}
        checkpoints = files.checkpoint_steps()
        course = course_of(metrics)
        near = good_enough(course)
        return {
            "row": row,
            "ranks": ranks_of_job(sent, says, metrics, row) if sent else ranks_alone(files, record, metrics, row),
            "tasks": [] if sent is None else further_tasks(sent, says),
            "link": sent.receipt.link if sent else "",
            "checkpoints": checkpoints,
            "models": [str(files.model(step)) for step in checkpoints],
            "best_step": best_of(metrics, checkpoints),
            "best_psnr": float(course.psnrs.max()) if len(course.psnrs) else None,
            "is_settled": settled(course) is not None,
            "good_enough_seconds": near.seconds if near else None,
            "sheets": files.contact_sheet_steps(),
            "pairs": pairs_shown(record.pairs),
            "settings": {name: _as_json(value) for name, value in record.settings.items()},
            "command": record.command,
        }


def ranks_of_job(sent: Sent, says: FarmSays, metrics: Metrics, row: RunRow) -> list[RankShown]:
    """As the farm has them; whether one that runs takes part, the run says."""
    tasks = {task.number: task for task in says.tasks if task.step == TRAIN}
    ranks: list[RankShown] = []
    for number in range(sent.job.step(TRAIN).num_tasks):
        task = tasks.get(number) or TaskStatus(step=TRAIN, number=number, state="unknown", note=says.note)
        state = part_of(number, metrics) if task.state == "running" and row["state"] == "training" else task.state
        ranks.append({"number": number, "state": state, "host": task.host, "note": task.note})
    return ranks


def ranks_alone(files: RunFiles, record: RunRecord, metrics: Metrics, row: RunRow) -> list[RankShown]:
    """Of a run that no farm has: those that left a log."""
    ended = {"finished": "done", "stopped": "cancelled", "failed": "failed", "submitted": "waiting", "lost": "lost"}
    numbers = [0]
    while files.log(numbers[-1] + 1).exists():
        numbers.append(numbers[-1] + 1)
    return [
        {
            "number": number,
            "state": ended.get(row["state"]) or part_of(number, metrics),
            "host": "" if number else record.host.name,
            "note": "",
        }
        for number in numbers
    ]


def part_of(number: int, metrics: Metrics) -> str:
    """running: trains with the others; joining: not yet; lost: no more."""
    generations = [str(event.get("ranks")).split() for event in metrics.events if event.get("event") == "ranks"]
    if not generations or str(number) in generations[-1]:
        return "running"
    return "lost" if any(str(number) in members for members in generations) else "joining"


def further_tasks(sent: Sent, says: FarmSays) -> list[RankShown]:
    """Of the steps after training, in their order."""
    known = {(task.step, task.number): task for task in says.tasks}
    shown: list[RankShown] = []
    for step in sent.job.steps:
        for number in range(step.num_tasks) if step.name != TRAIN else ():
            task = known.get((step.name, number)) or TaskStatus(step=step.name, number=number, state="unknown")
            note = f"{step.name}: {task.note or says.note}".removesuffix(": ")
            shown.append({"number": number, "state": task.state, "host": task.host, "note": note})
    return shown


def best_of(metrics: Metrics, checkpoints: Sequence[int]) -> int:
    """The checkpoint with the highest validation PSNR, the earliest of equals; 0 where nothing was validated."""
    kept = np.isin(metrics.validation_steps, checkpoints) & np.isfinite(metrics.validation_psnrs)
    if not kept.any():
        return 0
    return int(metrics.validation_steps[kept][int(np.argmax(metrics.validation_psnrs[kept]))])


def _says(sent: Sent) -> FarmSays:
    try:
        return FarmSays(tasks=tasks_of(sent))
    except UnderstudyError as error:
        return FarmSays(note=" ".join(str(error).split()))


def _as_json(value: object) -> Json:
    is_json = (
        value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value))
    )
    return value if is_json else str(value)  # type: ignore[return-value]
