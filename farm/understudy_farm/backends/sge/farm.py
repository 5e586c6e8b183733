"""The back end: what Grid Engine is asked, and in which order."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy_farm.backend import Capabilities, FarmError, FarmNames, Option, Receipt, Site, TaskStatus, Worker
from understudy_farm.backends.sge.journal import begin_journals, has_ended, is_done, note_cancelled, status_after
from understudy_farm.backends.sge.queue import MEND, Row, queue_names, queues, rows_of
from understudy_farm.backends.sge.scripts import scripts_of
from understudy_farm.backends.sge.words import pools_of, qsub_words
from understudy_farm.folder import JobFolder
from understudy_farm.plan import TRAIN
from understudy_farm.shell import ask
from understudy_farm.spec import Job, Step

SECONDS_TO_END = 150.0
"""A queue may give a task that is deleted a minute and more, before it kills it."""
SECONDS_BETWEEN_LOOKS = 0.5
AWAY = set("duE")
"""Letters of a queue that takes nothing: disabled, silent, broken."""


class SgeFarm:
    """By Grid Engine's own commands on the submitting machine."""

    name = "sge"
    doc = "Grid Engine: an array job for each step; or ranks started together in a parallel environment"
    options: tuple[Option, ...] = (
        Option(name="pe", doc="parallel environment in which mpirun starts all ranks together; empty: an array"),
        Option(
            name="mpirun", doc="the mpirun command and its words, where pe is given", default="mpirun --bind-to none"
        ),
        Option(name="smp_pe", doc="parallel environment that gives a task several cores of one machine"),
        Option(name="gpu_resource", doc="resource that counts GPUs", default="gpu"),
        Option(name="memory_resource", doc="resource that counts memory, for each slot", default="h_vmem"),
        Option(name="qsub", doc="further words for qsub, such as -l scratch=20G"),
    )

    def capabilities(self, site: Site) -> Capabilities:
        has_gang = bool(site["pe"])
        return Capabilities(can_gang=has_gang, can_requeue_one=not has_gang, has_suspended=True, knows_workers=True)

    def payload(self, job: Job, site: Site) -> Mapping[str, str]:
        files: dict[str, str] = {}
        for step in job.steps:
            files |= scripts_of(job, step, qsub_words(job, step, site), site["mpirun"] if _is_gang(step, site) else "")
        return files

    def workers(self, job: Job, site: Site) -> tuple[Worker, ...]:
        """A machine counts as often as the task's cores fit into its slots. Raises FarmError for an unknown queue."""
        del site
        pools, machines = pools_of(job), job.placement.machines
        known = queue_names()
        for pool in pools:
            if not any(sign in pool for sign in "*?@[") and pool not in known:
                raise FarmError(f"--pool {pool}: Grid Engine has no queue of that name; there are {', '.join(known)}")
        cores = job.step(TRAIN).resources.cores or 1
        there = [queue for queue in queues(pools) if not AWAY & set(queue.letters)]
        fitting = [queue for queue in there if not machines or queue.host in machines]
        return tuple(Worker(name=queue.host) for queue in fitting for _ in range(queue.slots // cores))

    def names(self, site: Site) -> FarmNames:
        del site
        return FarmNames(pools=tuple(queue_names()), machines=tuple(dict.fromkeys(queue.host for queue in queues(()))))

    def send(self, job: Job, folder: Path, site: Site) -> Receipt:
        del folder, site
        ids: dict[str, str] = {}
        try:
            for step in job.steps:
                ids[step.name] = _submitted(job, step, range(step.num_tasks), ids)
        except (UnderstudyError, KeyboardInterrupt) as error:
            _take_back([*ids.values()], error)
            raise
        return Receipt(ids=ids, link=f"qstat -j {','.join(ids.values())}")

    def status(self, job: Job, receipt: Receipt, site: Site) -> tuple[TaskStatus, ...]:
        del site
        rows = rows_of(_all_ids(receipt))
        found: list[TaskStatus] = []
        for step in job.steps:
            ids = _listed(receipt.ids[step.name])
            own = {row.task_id: row for row in rows if row.job_id in ids}
            for number in range(step.num_tasks):
                row = own.get(str(number + 1)) or own.get("")
                found.append(_status(job, step, number, row, ids))
        return tuple(found)

    def log(self, job: Job, receipt: Receipt, step: str, number: int, site: Site) -> str:
        """Of the task, and before it what Grid Engine itself says of the job."""
        del receipt, site
        folder = JobFolder(job.run_directory)
        texts = []
        for path in (folder.task_log(step, "sge"), folder.task_log(step, number)):
            with suppress(FileNotFoundError):
                texts.append(path.read_text(encoding="utf-8", errors="replace"))
        return "".join(texts)

    def cancel(self, job: Job, receipt: Receipt, site: Site) -> None:
        del site
        ids = _all_ids(receipt)
        _delete(sorted({row.job_id for row in rows_of(ids)}))
        note_cancelled(JobFolder(job.run_directory), ids)

    def requeue(self, job: Job, receipt: Receipt, step: str, numbers: tuple[int, ...], site: Site) -> Receipt:
        """The tasks are deleted, which lets them write a checkpoint, and sent anew under a further id.

        `qmod -rj` would kill them without warning. Steps that wait for this one wait for the new id too; those that
        have given up are sent anew with it.
        """
        ids = dict(receipt.ids)
        _end(_listed(ids[step]), [""] if _is_gang(job.step(step), site) else [str(number + 1) for number in numbers])
        ids[step] = _submitted(job, job.step(step), numbers, ids)
        renewed = {step}
        for later in job.steps:
            if not renewed.isdisjoint(later.after) and _renewed(job, later, ids):
                renewed.add(later.name)
        return replace(receipt, ids=ids)


def _is_gang(step: Step, site: Site) -> bool:
    return bool(site["pe"]) and step.at_once


def _renewed(job: Job, later: Step, ids: dict[str, str]) -> bool:
    """Whether a step that follows one that is sent anew had to be sent anew too; else it waits for the new ids."""
    waiting = {row.job_id for row in rows_of(_listed(ids[later.name])) if row.state == "waiting"}
    if waiting:
        ask(["qalter", *_hold(job, later, ids), *sorted(waiting)], mend=MEND)
        return False
    folder = JobFolder(job.run_directory)
    undone = [number for number in range(later.num_tasks) if not is_done(folder, later.name, number)]
    if undone:
        ids[later.name] = _submitted(job, later, undone, ids)
    return bool(undone)


def _submitted(job: Job, step: Step, numbers: Sequence[int], ids: Mapping[str, str]) -> str:
    """The ids under which Grid Engine has the step from now on: those it knows in `ids`, and new ones."""
    folder = JobFolder(job.run_directory)
    begin_journals(folder, step.name, numbers)
    words = ["qsub", "-terse", *_hold(job, step, ids)]
    script = str(folder.farm / f"{step.name}.qsub.sh")
    is_whole = len(numbers) == step.num_tasks
    tasks = [[]] if is_whole else [["-t", str(number + 1)] for number in numbers]
    kept = {row.job_id for row in rows_of(_listed(ids.get(step.name, "")))}
    new: list[str] = []
    try:
        for task in tasks:
            new.append(ask([*words, *task, script], mend=MEND).split()[-1].partition(".")[0])
    except (FarmError, KeyboardInterrupt) as error:
        _take_back(new, error)
        raise
    return ",".join([*sorted(kept), *new])


def _hold(job: Job, step: Step, ids: Mapping[str, str]) -> list[str]:
    """Ids that Grid Engine does not know any more count as ended."""
    before = [ids[name] for name in step.after] or list(job.placement.depends_on)
    return ["-hold_jid", ",".join(before)] if before else []


def _status(job: Job, step: Step, number: int, row: Row | None, ids: Sequence[str]) -> TaskStatus:
    """A rank of a parallel job that has ended counts as running with the others: all may be started again."""
    folder = JobFolder(job.run_directory)
    after = status_after(folder, step.name, number, ids)
    if row is None:
        return after
    is_rank_that_ended = not row.task_id and row.state == "running" and has_ended(folder, step.name, number)
    hint = f"see qstat -j {row.job_id}" if row.state == "failed" else after.note if is_rank_that_ended else ""
    note = ", ".join(filter(None, [row.letters, hint]))
    return TaskStatus(step=step.name, number=number, state=row.state, host=row.host or after.host, note=note)


def _end(ids: Sequence[str], tasks: Sequence[str]) -> None:
    """Delete these tasks and wait until they are gone. Raises FarmError when they do not go."""
    give_up = time.monotonic() + SECONDS_TO_END
    while rows := [row for row in rows_of(ids) if row.task_id in tasks]:
        _delete([f"{row.job_id}.{row.task_id}".rstrip(".") for row in rows if "d" not in row.letters])
        if time.monotonic() > give_up:
            raise FarmError(f"qdel {rows[0].job_id}: it is still there after {SECONDS_TO_END:.0f} s; see `qstat`")
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _delete(ids: Sequence[str]) -> None:
    """Those that have ended meanwhile are no fault."""
    try:
        if ids:
            ask(["qdel", *ids], mend=MEND)
    except FarmError:
        if any("d" not in row.letters for row in rows_of([name.partition(".")[0] for name in ids])):
            raise


def _take_back(ids: Sequence[str], error: BaseException) -> None:
    """Raise FarmError naming the jobs that stay although a later one could not be sent."""
    try:
        _delete(ids)
    except FarmError as second:
        raise FarmError(
            f"{error}; the jobs {', '.join(ids)} were sent before and cannot be deleted: {second}"
        ) from second


def _listed(ids: str) -> list[str]:
    return [name for name in ids.split(",") if name]


def _all_ids(receipt: Receipt) -> list[str]:
    return [name for ids in receipt.ids.values() for name in _listed(ids)]
