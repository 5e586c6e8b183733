"""The watcher of a job on machines without a queue: starts its tasks, starts them again, ends them, and says so.

It runs as a process of its own, `python -m understudy_farm.watcher RUN_DIRECTORY`, so that it outlives the terminal.
Other shells ask it by files in the run directory, and follow tasks.json.
"""

from __future__ import annotations

import dataclasses
import math
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Protocol

from understudy.errors import EXIT_DONE, EXIT_USER, UnderstudyError
from understudy.ranks.place import LAUNCHED
from understudy_farm.backend import ENDED, site_of
from understudy_farm.commands import COMMANDS, Commands, read_commands
from understudy_farm.folder import JobFolder, read_job
from understudy_farm.registry import farm_named
from understudy_farm.spec import Job, Step
from understudy_farm.tasks import (
    JobRecord,
    TaskProcess,
    TaskRecord,
    is_let_go,
    name_of,
    read_job_record,
    state_after,
    waiting_tasks,
    write_job_record,
)

TASKS = "tasks.json"
REQUESTS = "requests"
CANCEL = "cancel"
SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_TO_END = 30.0
"""From being asked to being killed: time for a checkpoint."""
SECONDS_BEFORE_RESTART = 1.0

Key = tuple[str, int]
"""Step and number of a task."""


class Habits(Protocol):
    """What a farm does around the tasks that are watched for it."""

    def is_worth_another_start(self, code: int) -> bool:
        """Whether the end with this code says nothing about the task: it was killed, or the line to it broke."""

    def prepare(self) -> None:
        """Before the first task. Raises UnderstudyError when a machine cannot be used."""

    def look(self) -> None:
        """Called again and again while tasks run."""

    def task_ended(self) -> None:
        """Before anybody is told of it: what the task made is to be here by then."""


class Watcher:
    """Runs the steps of a job in order, and each step's tasks at the same time."""

    def __init__(self, job: Job, commands: Commands, habits: Habits) -> None:
        self._job = job
        self._commands = commands
        self._habits = habits
        self._folder = JobFolder(job.run_directory)
        self._tasks = _tasks_so_far(job, self._folder)
        self._running: dict[Key, TaskProcess] = {}
        self._starts_at: dict[Key, float] = {}
        self._deadlines: dict[Key, float] = {}
        self._overdue_at: dict[Key, float] = {}
        self._overdue: set[Key] = set()
        self._wanted_again: set[Key] = set()
        self._is_cancelled = False
        self._is_asked = threading.Event()

    def run(self) -> None:
        """Comes back when every task has ended."""
        previous = {number: signal.signal(number, self._on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            self._write()
            self._habits.prepare()
            while self._advance():
                time.sleep(SECONDS_BETWEEN_LOOKS)
        except UnderstudyError as error:
            self._fail_all(str(error))
        finally:
            for process in self._running.values():
                process.kill()
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._is_asked.set()

    def _advance(self) -> bool:
        """One look at everything; False when nothing is left to do."""
        before = dict(self._tasks)
        self._answer_requests()
        self._habits.look()
        self._look_after_running()
        self._begin_what_may_begin()
        if self._tasks != before:
            self._write()
        return bool(self._running or self._starts_at)

    def _answer_requests(self) -> None:
        for request in _requests_in(self._folder):
            if request.name == CANCEL:
                self._is_asked.set()
            else:
                step, _, number = request.name.rpartition(".")
                self._again((step, int(number)))
            with suppress(OSError):
                request.unlink()
        if not self._is_cancelled and is_let_go(self._folder):
            self._is_asked.set()
        if self._is_asked.is_set() and not self._is_cancelled:
            self._cancel()

    def _again(self, key: Key) -> None:
        """A requeue that somebody asked for: end the task if it runs, and start it anew."""
        if key not in self._tasks:
            return
        self._is_cancelled = False
        self._is_asked.clear()
        if key in self._running:
            self._wanted_again.add(key)
            self._ask_to_end(key)
        else:
            self._tasks[key] = dataclasses.replace(self._tasks[key], state="waiting", note="", starts=0)
        for later in (step for step in self._job.steps if key[0] in step.after):
            for number in range(later.num_tasks):
                if self._tasks[later.name, number].state in ("cancelled", "failed"):
                    self._again((later.name, number))

    def _cancel(self) -> None:
        self._is_cancelled = True
        self._wanted_again.clear()
        self._starts_at.clear()
        for key, task in self._tasks.items():
            if key in self._running:
                self._ask_to_end(key)
            elif task.state not in ENDED:
                self._tasks[key] = dataclasses.replace(task, state="cancelled")

    def _ask_to_end(self, key: Key) -> None:
        self._running[key].ask_to_end()
        self._deadlines.setdefault(key, time.monotonic() + SECONDS_TO_END)

    def _look_after_running(self) -> None:
        now = time.monotonic()
        for key, process in list(self._running.items()):
            if now > self._deadlines.get(key, now):
                process.kill()
            elif now > self._overdue_at[key] and key not in self._deadlines:
                self._overdue.add(key)
                self._ask_to_end(key)
            code = process.code()
            if code is not None:
                del self._running[key]
                was_asked = self._deadlines.pop(key, None) is not None
                self._habits.task_ended()
                self._note_end(key, code, was_asked)

    def _note_end(self, key: Key, code: int, was_asked: bool) -> None:
        task, step = self._tasks[key], self._job.step(key[0])
        if key in self._wanted_again:
            self._wanted_again.discard(key)
            self._start_later(key, dataclasses.replace(task, note="started again on request", starts=0))
        elif key in self._overdue:
            self._overdue.discard(key)
            note = f"took longer than {step.resources.timeout_minutes:g} minutes"
            self._tasks[key] = dataclasses.replace(task, state="failed", note=note)
        elif self._is_cancelled:
            self._tasks[key] = dataclasses.replace(task, state="cancelled", note=_how(code))
        elif not was_asked and self._habits.is_worth_another_start(code) and task.starts <= step.retries:
            self._start_later(key, dataclasses.replace(task, note=f"{_how(code)}; started again"))
        else:
            state = "cancelled" if was_asked else state_after(code)
            self._tasks[key] = dataclasses.replace(task, state=state, note="" if code == EXIT_DONE else _how(code))
            if state == "failed" and not self._habits.is_worth_another_start(code):
                self._end_step(step)  # the fault is in the task, and so in its sisters

    def _end_step(self, step: Step) -> None:
        """One task has failed for good: what it belongs to cannot succeed."""
        for key in list(self._running):
            if key[0] == step.name:
                self._ask_to_end(key)

    def _start_later(self, key: Key, task: TaskRecord) -> None:
        self._tasks[key] = dataclasses.replace(task, state="waiting")
        self._starts_at[key] = time.monotonic() + SECONDS_BEFORE_RESTART

    def _begin_what_may_begin(self) -> None:
        for step in self._job.steps:
            states = {name: {task.state for task in self._tasks.values() if task.step == name} for name in step.after}
            if any(found & {"failed", "cancelled"} for found in states.values()):
                self._forget(step)
            elif all(found == {"done"} for found in states.values()):
                self._begin(step)

    def _begin(self, step: Step) -> None:
        for number in range(step.num_tasks):
            key = (step.name, number)
            is_due = self._starts_at.get(key, 0.0) <= time.monotonic()
            if self._tasks[key].state == "waiting" and is_due:
                self._starts_at.pop(key, None)
                self._start(step, number)

    def _forget(self, step: Step) -> None:
        for key, task in self._tasks.items():
            if key[0] == step.name and task.state == "waiting":
                note = f"{' and '.join(step.after)} did not succeed"
                self._tasks[key] = dataclasses.replace(task, state="cancelled", note=note)

    def _start(self, step: Step, number: int) -> None:
        key = (step.name, number)
        task = self._tasks[key]
        command = self._commands.of(step.name, number)
        log = self._folder.task_log(step.name, number)
        began = time.strftime("%Y-%m-%d %H:%M:%S")
        _append(log, f"--- {step.name} {number} on {command.host}, start {task.starts + 1}, {began} ---\n")
        try:
            process = TaskProcess(command.argv, {**os.environ, **command.environment, LAUNCHED: "1"}, log)
        except OSError as error:
            note = f"{command.argv[0]}: cannot be started ({error.strerror})"
            _append(log, note + "\n")
            self._tasks[key] = dataclasses.replace(task, state="failed", host=command.host, note=note)
            self._end_step(step)
            return
        self._running[key] = process
        self._overdue_at[key] = time.monotonic() + (step.resources.timeout_minutes * 60 or math.inf)
        self._tasks[key] = dataclasses.replace(
            task, state="running", host=command.host, starts=task.starts + 1, process=process.name
        )

    def _fail_all(self, reason: str) -> None:
        for key, task in self._tasks.items():
            if task.state not in ENDED:
                self._tasks[key] = dataclasses.replace(task, state="failed", note=reason)
        self._write()

    def _write(self) -> None:
        record = JobRecord(watcher=name_of(os.getpid()), tasks=tuple(self._tasks.values()))
        write_job_record(self._folder.farm / TASKS, record)


def _tasks_so_far(job: Job, folder: JobFolder) -> dict[Key, TaskRecord]:
    """As an earlier watcher left them; what ran then has ended with it."""
    earlier = read_job_record(folder.farm / TASKS)
    tasks = {(task.step, task.number): task for task in (earlier.tasks if earlier else waiting_tasks(job))}
    lost = {key: task for key, task in tasks.items() if task.state == "running"}
    note = "its watcher was lost"
    return {**tasks, **{key: dataclasses.replace(task, state="failed", note=note) for key, task in lost.items()}}


def _habits(job: Job, commands: Commands) -> Habits:
    """Raises UnderstudyError when the job's farm has no tasks watched."""
    farm = farm_named(commands.farm, f"{JobFolder(job.run_directory).farm / COMMANDS}: farm")
    habits = getattr(farm, "habits", None)
    if habits is None:
        raise UnderstudyError(f"{job.run_directory}: the farm {commands.farm} has no tasks that are watched from here")
    made: Habits = habits(job, site_of(farm, commands.options))
    return made


def ask(folder: JobFolder, name: str) -> None:
    """Leave a request for the watcher: CANCEL, or STEP.NUMBER for a task that is to start again."""
    requests = folder.farm / REQUESTS
    requests.mkdir(parents=True, exist_ok=True)
    (requests / name).touch()


def is_asked(folder: JobFolder) -> bool:
    """Whether a request is there that no watcher has taken up."""
    return bool(_requests_in(folder))


def _requests_in(folder: JobFolder) -> list[Path]:
    with suppress(OSError):
        return sorted((folder.farm / REQUESTS).iterdir())
    return []


def _how(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    return f"killed ({signal.strsignal(-code) or f'signal {-code}'})"


def _append(path: Path, text: str) -> None:
    with suppress(OSError), path.open("a", encoding="utf-8") as file:
        file.write(text)


def main() -> int:
    """Watch the job of the run directory that the command line names."""
    try:
        folder = JobFolder(Path(sys.argv[1]))
        commands = read_commands(folder.farm / COMMANDS)
        job = read_job(folder)
        Watcher(job, commands, _habits(job, commands)).run()
    except UnderstudyError as error:
        sys.stderr.write(f"understudy: {error}\n")
        return EXIT_USER
    return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
