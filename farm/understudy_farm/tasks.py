"""Tasks that this machine starts and watches: their processes, and the record by which other shells follow them."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from understudy.errors import EXIT_DONE, EXIT_STOPPED
from understudy.files import write_text
from understudy.plain import table_of
from understudy_farm.backend import TaskState, TaskStatus
from understudy_farm.folder import JobFolder
from understudy_farm.spec import Job

SECONDS_OF_CLOCK = 2.0
"""Starts of a process told by two programs differ by less."""


@dataclass(frozen=True, kw_only=True)
class ProcessName:
    """A process that no other can be taken for, even when its number is used again."""

    pid: int
    started: float
    """Seconds since 1970."""
    host: str

    def alive(self) -> psutil.Process | None:
        """The process, if it runs on this machine."""
        if self.host != platform.node():
            return None
        with suppress(psutil.Error):
            process = psutil.Process(self.pid)
            is_it = abs(process.create_time() - self.started) < SECONDS_OF_CLOCK
            return process if is_it and process.status() != psutil.STATUS_ZOMBIE else None
        return None


def name_of(pid: int) -> ProcessName:
    """Of a process that was just started, or of this one."""
    try:
        started = psutil.Process(pid).create_time()
    except psutil.Error:  # it has ended already
        started = time.time()
    return ProcessName(pid=pid, started=started, host=platform.node())


@dataclass(frozen=True, kw_only=True)
class TaskRecord:
    """What is known of one task."""

    step: str
    number: int
    state: TaskState = "waiting"
    host: str = ""
    note: str = ""
    starts: int = 0
    process: ProcessName | None = None

    def as_status(self) -> TaskStatus:
        return TaskStatus(step=self.step, number=self.number, state=self.state, host=self.host, note=self.note)


@dataclass(frozen=True, kw_only=True)
class JobRecord:
    """tasks.json: who watches the job, and how its tasks fare."""

    watcher: ProcessName
    tasks: tuple[TaskRecord, ...]


def waiting_tasks(job: Job) -> tuple[TaskRecord, ...]:
    return tuple(TaskRecord(step=step.name, number=number) for step in job.steps for number in range(step.num_tasks))


def write_job_record(path: Path, record: JobRecord) -> None:
    write_text(path, json.dumps(dataclasses.asdict(record), indent=1) + "\n")


def read_job_record(path: Path) -> JobRecord | None:
    """None when nobody has watched the job yet, or the file is not whole."""
    try:
        return table_of(JobRecord, json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return None


def hold(folder: JobFolder) -> None:
    """Let the job end with this process, if a watcher keeps it."""
    write_text(_holder_path(folder), json.dumps(dataclasses.asdict(name_of(os.getpid()))) + "\n")


def is_let_go(folder: JobFolder) -> bool:
    """Whether the process that held the job is gone; False for a job that nobody held."""
    try:
        holder = table_of(ProcessName, json.loads(_holder_path(folder).read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return False
    return holder.alive() is None


def forget_holder(folder: JobFolder) -> None:
    """Whoever starts a job again that was let go does not want it to end."""
    if is_let_go(folder):
        _holder_path(folder).unlink(missing_ok=True)


def _holder_path(folder: JobFolder) -> Path:
    return folder.farm / "held_by.json"


class TaskProcess:
    """One start of one task: in a process group of its own, its words in a log, its stdin our life line."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        """Raises OSError when the command cannot be started."""
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        self.name = name_of(self._process.pid)

    def code(self) -> int | None:
        """The exit code, negative for the signal that killed it; None while it runs."""
        code = self._process.poll()
        if code is not None:
            self._let_go()
        return code

    def ask_to_end(self) -> None:
        """By SIGTERM to all of it; on Windows by the life line, since a signal leaves no time there."""
        if os.name == "nt":
            self._let_go()
        else:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGTERM)

    def kill(self) -> None:
        kill_tree(self.name)
        self._process.wait()
        self._let_go()

    def _let_go(self) -> None:
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()


def kill_tree(name: ProcessName) -> None:
    """The process and all that it started, as far as they run on this machine."""
    process = name.alive()
    family = [*_children(process), process] if process else []
    for one in family:
        with suppress(psutil.Error):
            one.kill()
    psutil.wait_procs(family, timeout=5)


def _children(process: psutil.Process) -> Iterator[psutil.Process]:
    with suppress(psutil.Error):
        yield from process.children(recursive=True)


def state_after(code: int) -> TaskState:
    """What an exit code of understudy means for a task that nobody cancelled."""
    return {EXIT_DONE: "done", EXIT_STOPPED: "cancelled"}.get(code, "failed")  # type: ignore[return-value]
