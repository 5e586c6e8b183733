"""What the farms without a queue share: a watcher process on this machine that starts and follows the tasks."""

from __future__ import annotations

import dataclasses
import os
import platform
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from understudy.errors import Problems
from understudy_farm.backend import ENDED, FarmError, Receipt, Site, TaskStatus, Worker
from understudy_farm.folder import JobFolder
from understudy_farm.spec import Job, Placement
from understudy_farm.tasks import (
    JobRecord,
    ProcessName,
    forget_holder,
    kill_tree,
    name_of,
    read_job_record,
    waiting_tasks,
)
from understudy_farm.watcher import CANCEL, SECONDS_TO_END, TASKS, ask, is_asked

SECONDS_TO_BEGIN = 20.0
SECONDS_BETWEEN_LOOKS = 0.1
WATCHER_LOG = "watcher.log"

_FLAGS = {
    "priority": "--priority",
    "pool": "--pool",
    "secondary_pool": "--secondary-pool",
    "group": "--group",
    "limits": "--limits",
    "machines": "--machines",
    "depends_on": "--depends-on",
    "is_suspended": "--suspended",
    "cores": "--cores-per-task",
    "gpus": "--gpus-per-task",
    "memory_gib": "--memory-per-task",
    "limits_of_step": "--bake-limits",
}

_STARTED: list[subprocess.Popen[bytes]] = []
"""Watchers that this process started: they are not waited for, only reaped."""


class WatchedFarm:
    """The part of a back end that is the same for all of them. Others add name, options, payload and habits."""

    name: str

    def refuse_what_has_no_place(self, job: Job, *, but: tuple[str, ...] = ()) -> None:
        """Raises Problems with a line for each choice that means nothing without a queue, `but` those named."""
        place = {field.name: getattr(job.placement, field.name) for field in dataclasses.fields(Placement)}
        needs = [step.resources for step in job.steps]
        stated = {name for name, value in place.items() if value != getattr(Placement(), name)}
        stated |= {name for name in ("cores", "gpus", "memory_gib") if any(getattr(need, name) for need in needs)}
        stated |= {"limits_of_step"} if any(step.limits for step in job.steps) else set()
        flags = [flag for name, flag in _FLAGS.items() if name in stated - {*but}]
        if flags:
            raise Problems(f"{flag}: the farm {self.name} has no such thing; leave it out" for flag in flags)

    def workers(self, job: Job, site: Site) -> tuple[Worker, ...]:
        del job, site
        return ()

    def send(self, job: Job, folder: Path, site: Site) -> Receipt:
        """Start the watcher. Raises FarmError when it does not come up."""
        del folder, site
        start_watcher(JobFolder(job.run_directory))
        ids = {step.name: str(job.run_directory) for step in job.steps}
        return Receipt(ids=ids, link=f"understudy status {job.run_directory}")

    def status(self, job: Job, receipt: Receipt, site: Site) -> tuple[TaskStatus, ...]:
        del receipt, site
        record = read_job_record(JobFolder(job.run_directory).farm / TASKS)
        tasks = record.tasks if record else waiting_tasks(job)
        statuses = tuple(task.as_status() for task in tasks)
        if record is None or record.watcher.alive() or record.watcher.host != _here():
            return statuses
        return tuple(_without_watcher(status) for status in statuses)

    def log(self, job: Job, receipt: Receipt, step: str, number: int, site: Site) -> str:
        del receipt, site
        path = JobFolder(job.run_directory).task_log(step, number)
        with suppress(FileNotFoundError):
            return path.read_text(encoding="utf-8", errors="replace")
        return ""

    def cancel(self, job: Job, receipt: Receipt, site: Site) -> None:
        """By the watcher; where that is gone, by the processes' own names."""
        del receipt, site
        folder = JobFolder(job.run_directory)
        record = read_job_record(folder.farm / TASKS)
        if record is None or all(task.state in ENDED for task in record.tasks):
            return
        self._refuse_other_host(record.watcher, folder)
        if record.watcher.alive():
            ask(folder, CANCEL)
            _wait_until_ended(folder)
        for task in record.tasks:
            if task.process:
                kill_tree(task.process)

    def requeue(self, job: Job, receipt: Receipt, step: str, numbers: tuple[int, ...], site: Site) -> Receipt:
        """By the watcher; a new one where that is gone, or goes at this moment."""
        del site
        folder = JobFolder(job.run_directory)
        record = read_job_record(folder.farm / TASKS)
        if record:
            self._refuse_other_host(record.watcher, folder)
        forget_holder(folder)
        for number in numbers:
            ask(folder, f"{step}.{number}")
        give_up = time.monotonic() + SECONDS_TO_BEGIN
        while is_asked(folder):
            record = read_job_record(folder.farm / TASKS)
            if record is None or not record.watcher.alive():
                start_watcher(folder)
            elif time.monotonic() > give_up:
                raise FarmError(
                    f"{folder.run_directory}: the watcher of the job, {record.watcher.pid}, does not answer"
                )
            time.sleep(SECONDS_BETWEEN_LOOKS)
        return receipt

    def _refuse_other_host(self, watcher: ProcessName, folder: JobFolder) -> None:
        if watcher.host != _here():
            raise FarmError(f"{folder.run_directory}: this job is watched on {watcher.host}; give the command there")


def start_watcher(folder: JobFolder) -> None:
    """A process of its own, which the end of this one or of the terminal does not touch.

    Raises FarmError when it does not come up.
    """
    environment = {name: value for name, value in os.environ.items() if not _is_of_a_rank(name)}
    before = read_job_record(folder.farm / TASKS)
    with (folder.farm / WATCHER_LOG).open("ab") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "understudy_farm.watcher", str(folder.run_directory)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
            creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
        )
    _STARTED[:] = [one for one in (*_STARTED, process) if one.poll() is None]
    try:
        _wait_until_up(process, folder, before)
    except BaseException:
        kill_tree(name_of(process.pid))
        raise


def _wait_until_up(process: subprocess.Popen[bytes], folder: JobFolder, before: JobRecord | None) -> None:
    give_up = time.monotonic() + SECONDS_TO_BEGIN
    while read_job_record(folder.farm / TASKS) == before:
        if process.poll() not in (None, 0) or time.monotonic() > give_up:
            log = (folder.farm / WATCHER_LOG).read_text(encoding="utf-8", errors="replace")
            last = " ".join(log.strip().splitlines()[-1:])
            raise FarmError(f"{folder.run_directory}: the watcher of the job did not come up; {last}")
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _wait_until_ended(folder: JobFolder) -> None:
    give_up = time.monotonic() + SECONDS_TO_END + 5.0
    while time.monotonic() < give_up:
        record = read_job_record(folder.farm / TASKS)
        if record and (all(task.state in ENDED for task in record.tasks) or not record.watcher.alive()):
            return
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _without_watcher(status: TaskStatus) -> TaskStatus:
    """Nobody starts or ends tasks any more; `requeue` brings a new watcher."""
    if status.state in ENDED:
        return status
    return TaskStatus(
        step=status.step, number=status.number, state="failed", host=status.host, note="its watcher was lost"
    )


def _is_of_a_rank(name: str) -> bool:
    return name.startswith("COPYCAT_") or name == "UNDERSTUDY_HOSTS"


def _here() -> str:
    return platform.node()
