"""DeadlineFarm: a Deadline job for each step, a task for each rank."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from understudy.files import write_text
from understudy_farm.backend import (
    Capabilities,
    FarmError,
    FarmNames,
    Option,
    Receipt,
    Site,
    TaskState,
    TaskStatus,
    Worker,
)
from understudy_farm.backends.deadline.answers import Unanswered
from understudy_farm.backends.deadline.client import connect
from understudy_farm.backends.deadline.command import ByCommand, find_command
from understudy_farm.backends.deadline.job_info import DEPENDENCIES, from_lines, job_info, to_lines
from understudy_farm.backends.deadline.plugin_info import plugin_info, plugin_of
from understudy_farm.backends.deadline.questions import Again, Deadline, FarmTask, JobFiles, Kind, files_of
from understudy_farm.backends.deadline.rest import ByRest
from understudy_farm.spec import Job, Step

_STATES: Mapping[str, TaskState] = {
    "Queued": "waiting",
    "Pending": "waiting",
    "Suspended": "waiting",
    "Rendering": "running",
    "Completed": "done",
    "Failed": "failed",
}
_AGAIN: Mapping[str, Again] = {
    "Rendering": "requeue",
    "Completed": "requeue",
    "Failed": "resumefailed",
    "Suspended": "resume",
}


class DeadlineFarm:
    """By the Web Service or by deadlinecommand; tasks by the CommandLine plugin or by ours."""

    name = "deadline"
    doc = "Thinkbox Deadline 10: a job for each step, its tasks the ranks"
    options: tuple[Option, ...] = (
        Option(name="url", doc="the Web Service, such as http://farm:8082"),
        Option(name="user", doc="Web Service's user; the password is in UNDERSTUDY_DEADLINE_PASSWORD or ~/.netrc"),
        Option(name="ca", doc="file of certificates to trust, for https"),
        Option(name="insecure", doc="yes: do not check the certificate", default="no"),
        Option(name="proxy", doc="proxy to reach it through, such as http://proxy:3128; else none is used"),
        Option(name="via", doc="rest, command (deadlinecommand), or auto: rest when url is given", default="auto"),
        Option(name="plugin", doc="CommandLine, or Understudy when it is installed on the farm", default="CommandLine"),
        Option(name="whitelist", doc="the key by which this farm's version knows --machines", default="Whitelist"),
    )

    def capabilities(self, site: Site) -> Capabilities:
        return Capabilities(
            progress="deadline",
            has_task_environment=plugin_of(site) == "Understudy",
            has_suspended=True,
            knows_workers=True,
        )

    def payload(self, job: Job, site: Site) -> Mapping[str, str]:
        """Two files for each step. What a step waits for in this job is added when its id is known."""
        plugin, texts = plugin_of(site), {}
        for step in job.steps:
            files = files_of(Path(), step.name)
            texts[files.job_info.name] = to_lines(job_info(job, step, site, plugin))
            texts[files.plugin_info.name] = to_lines(plugin_info(step, plugin))
        return texts

    def workers(self, job: Job, site: Site) -> tuple[Worker, ...]:
        deadline, place = _deadline(site), job.placement
        pools = [name for name in (place.pool, place.secondary_pool) if name]
        groups = [place.group] if place.group else []
        _check_names(deadline, "--pool", "pool", pools)
        _check_names(deadline, "--group", "group", groups)
        _check_names(deadline, "--limits", "limit", place.limits)
        _check_names(deadline, "--bake-limits", "limit", [limit for step in job.steps for limit in step.limits])
        _check_names(deadline, "--machines", "worker", place.machines)
        found = list(deadline.names("worker"))
        allowed = [place.machines] if place.machines else []
        allowed += [deadline.workers_in("pool", pools)] if pools else []
        allowed += [deadline.workers_in("group", groups)] if groups else []
        for names in allowed:
            found = [name for name in found if name.lower() in {other.lower() for other in names}]
        return tuple(Worker(name=name) for name in found)

    def names(self, site: Site) -> FarmNames:
        deadline = _deadline(site)
        return FarmNames(
            pools=deadline.names("pool"),
            groups=deadline.names("group"),
            limits=deadline.names("limit"),
            machines=deadline.names("worker"),
        )

    def send(self, job: Job, folder: Path, site: Site) -> Receipt:
        deadline = _deadline(site)
        ids: dict[str, str] = {}
        try:
            for step in job.steps:
                files = files_of(folder, step.name)
                if step.after:
                    values = from_lines(files.job_info.read_text(encoding="utf-8"))
                    waits = {DEPENDENCIES: ",".join(ids[name] for name in step.after)}
                    write_text(files.job_info, to_lines({**values, **waits}))
                ids[step.name] = _submit(deadline, files)
        except (FarmError, KeyboardInterrupt) as error:
            _take_back(deadline, ids, error)
            raise
        return Receipt(ids=ids, link=f"deadlinecommand -GetJob {','.join(ids.values())}")

    def status(self, job: Job, receipt: Receipt, site: Site) -> tuple[TaskStatus, ...]:
        deadline = _deadline(site)
        found: list[TaskStatus] = []
        for step in job.steps:
            tasks = {task.number: task for task in deadline.tasks(receipt.ids[step.name])}
            found += [_status(step, number, tasks.get(number)) for number in range(step.num_tasks)]
        return tuple(found)

    def log(self, job: Job, receipt: Receipt, step: str, number: int, site: Site) -> str:
        """Deadline shows what a start has printed when it has ended."""
        del job
        return _deadline(site).reports(receipt.ids[step], number)

    def cancel(self, job: Job, receipt: Receipt, site: Site) -> None:
        """The jobs are kept, as failed. Those that wait go first."""
        deadline = _deadline(site)
        for step in reversed(job.steps):
            job_id = receipt.ids[step.name]
            try:
                if not _has_ended(deadline, job_id):
                    deadline.fail(job_id)
            except FarmError:
                if not _has_ended(deadline, job_id):  # it did not end by itself meanwhile
                    raise

    def requeue(self, job: Job, receipt: Receipt, step: str, numbers: tuple[int, ...], site: Site) -> Receipt:
        """What is queued or pending is left alone."""
        deadline, job_id = _deadline(site), receipt.ids[step]
        for before in job.step(step).after:
            if any(task.word != "Completed" for task in deadline.tasks(receipt.ids[before])):
                raise FarmError(f"{step} waits for {before}, which is not done; requeue {step} after it")
        how: dict[Again, list[int]] = {}
        for task in deadline.tasks(job_id):
            if task.number in numbers and task.word in _AGAIN:
                how.setdefault(_AGAIN[task.word], []).append(task.number)
        for command, own in how.items():
            deadline.start_again(job_id, command, own)
        return receipt


def _deadline(site: Site) -> Deadline:
    via = site["via"]
    if via not in ("rest", "command", "auto"):
        raise FarmError(f"-O via={via}: give rest, command or auto")
    if via == "command" or (via == "auto" and not site["url"] and find_command()):
        return ByCommand()
    return ByRest(connect(site))


def _check_names(deadline: Deadline, flag: str, kind: Kind, asked: list[str] | tuple[str, ...]) -> None:
    """Deadline compares without case."""
    if not asked:
        return
    known = deadline.names(kind)
    for name in asked:
        if name.lower() not in {other.lower() for other in known}:
            raise FarmError(f"{flag} {name}: Deadline has no {kind} of that name; it has {', '.join(known) or 'none'}")


def _submit(deadline: Deadline, files: JobFiles) -> str:
    """The id. Raises FarmError naming a job that may be there although nobody got its id."""
    try:
        return deadline.submit(files)
    except (Unanswered, KeyboardInterrupt) as error:
        name = from_lines(files.job_info.read_text(encoding="utf-8"))["Name"]
        raise FarmError(
            f"{_in_words(error)}; it may have taken in the job {name!r}: look for it in Deadline's Monitor, and delete "
            "it there"
        ) from error


def _take_back(deadline: Deadline, ids: Mapping[str, str], error: BaseException) -> None:
    """Raise FarmError naming the jobs that stay although a later one could not be sent."""
    left: list[str] = []
    for job_id in reversed([*ids.values()]):
        try:
            deadline.delete(job_id)
        except (FarmError, KeyboardInterrupt) as second:
            left.append(f"{job_id} ({_in_words(second)})")
    if left:
        said = f"{_in_words(error)}; sent before and not deleted: {', '.join(left)}; delete them by hand"
        raise FarmError(said) from error


def _in_words(error: BaseException) -> str:
    return "Deadline was interrupted" if isinstance(error, KeyboardInterrupt) else str(error)


def _has_ended(deadline: Deadline, job_id: str) -> bool:
    return all(task.word in ("Completed", "Failed") for task in deadline.tasks(job_id))


def _status(step: Step, number: int, task: FarmTask | None) -> TaskStatus:
    """A task that failed less often than it may was failed by somebody."""
    if task is None:
        return TaskStatus(step=step.name, number=number, state="unknown", note="Deadline has no such task")
    state, note = _STATES.get(task.word, "unknown"), task.word
    if task.word == "Failed" and task.num_errors <= step.retries:
        state, note = "cancelled", "Failed by hand"
    errors = f", {task.num_errors} errors" if task.num_errors else ""
    return TaskStatus(step=step.name, number=number, state=state, host=task.worker, note=note + errors)
