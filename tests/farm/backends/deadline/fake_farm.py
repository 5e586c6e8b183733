"""A Deadline that is not there: jobs, and workers that run their tasks. `fake_service` is its Web Service."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import subprocess
import sys
import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from tests.farm.backends.deadline.fake_job_info import Refused, check

QUEUED, SUSPENDED, RENDERING, COMPLETED, FAILED, PENDING = 2, 3, 4, 5, 6, 8
ENDED = (COMPLETED, FAILED)
LOG, ERROR, REQUEUE = 0, 1, 2
LIMITS: Mapping[str, int] = {"torch": 10, "big": 1}
"""How many tasks may count against each at the same time."""
JOB_ERRORS = 100
"""After so many a job fails that does not say otherwise."""
PLUGIN_HOST = Path(__file__).with_name("plugin_host.py")


@dataclass(frozen=True)
class FakeWorker:
    name: str
    pools: tuple[str, ...]
    groups: tuple[str, ...]


WORKERS = (
    FakeWorker("render01", ("gpu", "night"), ("nuke",)),
    FakeWorker("render02", ("gpu",), ()),
    FakeWorker("render03", ("night",), ("nuke",)),
)


@dataclass(frozen=True)
class FakeReport:
    date: str
    kind: int
    text: str


@dataclass
class FakeTask:
    number: int
    state: int
    worker: str = ""
    errors: int = 0
    is_hosted: bool = False
    """Our plugin runs it."""
    process: subprocess.Popen[bytes] | None = None
    reports: list[FakeReport] = field(default_factory=list)

    def report(self, kind: int, words: str) -> None:
        date = f"2026-11-21T12:00:00.{len(self.reports):06}"
        self.reports.append(FakeReport(date, kind, f"{words}\n=====\nDetails\n=====\nFrames: {self.number}\n"))


@dataclass
class FakeJob:
    job_id: str
    info: Mapping[str, str]
    plugin: Mapping[str, str]
    tasks: list[FakeTask]

    def names(self, *keys: str) -> list[str]:
        """Lower case: Deadline compares so."""
        return [name.lower() for key in keys for name in self.info.get(key, "").split(",") if name]

    def most_errors(self, of: str, default: int) -> int:
        """0: no limit."""
        is_own = self.info.get(f"Override{of}FailureDetection") == "true"
        return int(self.info.get(f"FailureDetection{of}Errors", 0)) if is_own else default

    def is_completed(self) -> bool:
        return all(task.state == COMPLETED for task in self.tasks)


@dataclass
class FakeFarm:
    """Jobs by id; `faults` are answers to give instead, by verb and beginning of path, each once."""

    url: str = ""
    jobs: dict[str, FakeJob] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    """Workers whose machine is gone."""
    faults: dict[tuple[str, str], str] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)
    ended: threading.Event = field(default_factory=threading.Event)

    def submit(self, body: Mapping[str, object]) -> dict[str, str]:
        """Unknown pools, groups, limits, machines and dependencies are taken: such a job waits for ever."""
        info, plugin = body.get("JobInfo"), body.get("PluginInfo")
        if body.get("AuxFiles") != [] or not isinstance(info, dict) or not isinstance(plugin, dict):
            raise Refused(400, "JobInfo, PluginInfo and AuxFiles are needed")
        check(info, plugin)
        job_id = secrets.token_hex(12)
        numbers = range(int(info["Frames"].partition("-")[2] or 0) + 1)
        first = SUSPENDED if info.get("InitialStatus") == "Suspended" else PENDING
        self.jobs[job_id] = FakeJob(job_id, info, plugin, [FakeTask(number, first) for number in numbers])
        self._release()
        return {"_id": job_id}

    def command_job(self, job: FakeJob, command: str) -> None:
        """Of the Web Service and of the Monitor."""
        if command == "fail" and not all(task.state in ENDED for task in job.tasks):
            self._fail(job)
        elif command == "resume" and any(task.state == SUSPENDED for task in job.tasks):
            for task in job.tasks:
                task.state = PENDING if task.state == SUSPENDED else task.state
            self._release()
        else:
            raise Refused(500, f"Error: cannot {command} this job")

    def command_tasks(self, job: FakeJob, command: str, numbers: Collection[int]) -> None:
        allowed = {"requeue": (RENDERING, COMPLETED), "resumefailed": (FAILED,), "resume": (SUSPENDED,)}
        if command not in allowed or not set(numbers) <= set(range(len(job.tasks))):
            raise Refused(500, f"Error: cannot {command} {list(numbers)}")
        for task in (job.tasks[number] for number in numbers):
            if task.state not in allowed[command]:
                raise Refused(500, f"Error: cannot {command} a task with status {task.state}")
            self._requeue(task, f"{command} by a user")

    def lose(self, worker: str) -> None:
        """A machine is gone with all that ran on it; house cleaning finds out, nobody asks for it."""
        with self.lock:
            self.lost.add(worker)
            for task in (task for job in self.jobs.values() for task in job.tasks):
                if task.state == RENDERING and task.worker == worker:
                    kill(task.process)

    def work(self, worker: FakeWorker) -> None:
        """One worker: takes queued tasks until the farm is closed."""
        while not self.ended.wait(0.05):
            with self.lock:
                self._clean_house()
                self._release()
                found = self._next(worker)
                if found is None:
                    continue
                job, task = found
                task.state, task.worker = RENDERING, worker.name
                task.is_hosted = job.info["Plugin"] == "Understudy"
                task.process = process = start(job, task)
            self._watch(job, task, process)

    def close(self) -> None:
        self.ended.set()
        with self.lock:
            for task in (task for job in self.jobs.values() for task in job.tasks):
                kill(task.process)

    def _next(self, worker: FakeWorker) -> tuple[FakeJob, FakeTask] | None:
        jobs = sorted(self.jobs.values(), key=lambda job: -int(job.info.get("Priority", 50)))
        if worker.name in self.lost:
            return None
        return next(((job, task) for job in jobs for task in job.tasks if self._may(job, task, worker)), None)

    def _may(self, job: FakeJob, task: FakeTask, worker: FakeWorker) -> bool:
        machines, pools, groups = job.names("Whitelist"), job.names("Pool", "SecondaryPool"), job.names("Group")
        return (
            task.state == QUEUED
            and (not machines or worker.name in machines)
            and (not pools or bool({*pools} & {*worker.pools}))
            and (not groups or bool({*groups} & {*worker.groups}))
            and all(self._used(name) < LIMITS.get(name, 0) for name in job.names("LimitGroups"))
        )

    def _used(self, limit: str) -> int:
        jobs = [job for job in self.jobs.values() if limit in job.names("LimitGroups")]
        return sum(task.state == RENDERING for job in jobs for task in job.tasks)

    def _release(self) -> None:
        for job in self.jobs.values():
            before = [self.jobs.get(name) for name in job.names("JobDependencies")]
            if all(other is not None and other.is_completed() for other in before):
                for task in job.tasks:
                    task.state = QUEUED if task.state == PENDING else task.state

    def _clean_house(self) -> None:
        """What stalled workers ran goes back to the queue. Their logs are lost with them, and it is no error."""
        for task in (task for job in self.jobs.values() for task in job.tasks):
            if task.state == RENDERING and task.worker in self.lost:
                self._requeue(task, f"Worker {task.worker} has stalled")

    def _requeue(self, task: FakeTask, why: str) -> None:
        end(task)
        task.state = QUEUED
        task.report(REQUEUE, f"Requeued: {why}")

    def _fail(self, job: FakeJob) -> None:
        for task in job.tasks:
            if task.state != COMPLETED:
                task.state = FAILED
                end(task)

    def _watch(self, job: FakeJob, task: FakeTask, process: subprocess.Popen[bytes]) -> None:
        try:
            output, _ = process.communicate(timeout=int(job.info.get("TaskTimeoutSeconds", 0)) or None)
        except subprocess.TimeoutExpired:
            assert job.info["OnTaskTimeout"] == "Error"
            kill(process)
            output, _ = process.communicate()
        with self.lock:
            is_own = task.process is process and task.state == RENDERING and task.worker not in self.lost
            if is_own:  # else it was taken away meanwhile
                self._finish(job, task, process.returncode, output.decode(errors="replace"))

    def _finish(self, job: FakeJob, task: FakeTask, code: int, output: str) -> None:
        lines = "".join(f"2026-11-21 12:00:00:  0: STDOUT: {line}\n" for line in output.splitlines())
        task.report(LOG if code == 0 else ERROR, lines)
        task.state, task.process = COMPLETED, None
        if code:
            task.errors += 1
            task.state = FAILED if 0 < job.most_errors("Task", 0) <= task.errors else QUEUED
        if 0 < job.most_errors("Job", JOB_ERRORS) <= sum(task.errors for task in job.tasks):
            self._fail(job)


def start(job: FakeJob, task: FakeTask) -> subprocess.Popen[bytes]:
    own = dict(value.split("=", 1) for key, value in job.info.items() if key.startswith("EnvironmentKeyValue"))
    told = json.dumps({"frame": task.number, "plugin_info": job.plugin})
    words = [sys.executable, str(PLUGIN_HOST), told] if task.is_hosted else command_line(job, task.number)
    out = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "start_new_session": True}
    return subprocess.Popen(words, env={**os.environ, **own}, **out)  # type: ignore[call-overload,no-any-return]


def command_line(job: FakeJob, frame: int) -> list[str]:
    """As the stock plugin with ShellExecute: tokens, then a shell whose words are split as Mono splits them."""
    text = job.plugin["Arguments"].strip().replace("<STARTFRAME>", str(frame)).replace("<QUOTE>", '"')
    text = text.replace("\u201c", '"').replace("\u201d", '"')
    escaped = text.replace("'", "'\\''")
    assert job.plugin["ShellExecute"] == "true"
    return [job.plugin["Shell"], *shlex.split(f"-c '{escaped}'")]


def end(task: FakeTask) -> None:
    """As a worker takes a task away: its process is the plugin's to end, where the plugin is ours."""
    process, task.process = task.process, None
    if process is not None and task.is_hosted:
        process.terminate()
    else:
        kill(process)


def kill(process: subprocess.Popen[bytes] | None) -> None:
    """The whole tree at once."""
    if process is None or process.poll() is not None:
        return
    with suppress(psutil.NoSuchProcess):
        head = psutil.Process(process.pid)
        for member in [head, *head.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                member.kill()
