"""slurm: one job of N tasks that start at the same time, or an array whose tasks come when there is room."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from understudy.runs import RunFiles
from understudy_farm.backend import (
    Capabilities,
    FarmAway,
    FarmError,
    FarmNames,
    Option,
    Receipt,
    Site,
    TaskState,
    TaskStatus,
    Worker,
)
from understudy_farm.folder import JobFolder
from understudy_farm.plan import TRAIN
from understudy_farm.shell import ask, task_script
from understudy_farm.spec import Job, Step

SECONDS_BEFORE_TIME_OUT = 90
"""SIGTERM comes so long before the time limit: time for a checkpoint."""
SECONDS_BEFORE_RESTART = 2
"""A node refuses a task that ended on it this very second. Slurm itself would wait two minutes."""
ORDINARY_PRIORITY = 50
MEND = "see whether Slurm's commands work here"

_STATES: Mapping[str, TaskState] = {
    "PENDING": "waiting",
    "CONFIGURING": "waiting",
    "REQUEUED": "waiting",
    "REQUEUE_HOLD": "waiting",
    "SPECIAL_EXIT": "waiting",
    "RESIZING": "running",
    "RUNNING": "running",
    "SUSPENDED": "running",
    "STOPPED": "running",
    "COMPLETING": "running",
    "SIGNALING": "running",
    "STAGE_OUT": "running",
    "COMPLETED": "done",
    "CANCELLED": "cancelled",
    "REVOKED": "cancelled",
    "PREEMPTED": "failed",
    "TIMEOUT": "failed",
    "DEADLINE": "failed",
    "FAILED": "failed",
    "BOOT_FAIL": "failed",
    "NODE_FAIL": "failed",
    "OUT_OF_MEMORY": "failed",
}
_NODE_IS_AWAY = ("DOWN", "DRAINED", "FAIL", "UNKNOWN", "FUTURE", "POWERED_DOWN")


class SlurmFarm:
    """By Slurm's own commands on the submitting machine."""

    name = "slurm"
    doc = "Slurm: one job for each step, its tasks started together; or arrays"
    options: tuple[Option, ...] = (
        Option(name="array", doc="yes: ranks are an array's tasks and start when there is room", default="no"),
        Option(name="sbatch", doc="further words for sbatch, such as --qos=night"),
        Option(name="srun", doc="further words for srun"),
    )

    def capabilities(self, site: Site) -> Capabilities:
        return Capabilities(
            can_gang=not _is_array(site), can_requeue_one=_is_array(site), has_suspended=True, knows_workers=True
        )

    def payload(self, job: Job, site: Site) -> Mapping[str, str]:
        if job.placement.machines:
            raise FarmError(
                "--machines: Slurm takes a list of nodes only to use all of them; choose by --pool, or by "
                "-O sbatch=--constraint=..."
            )
        files: dict[str, str] = {}
        for step in job.steps:
            number = "SLURM_PROCID" if _is_gang(step, site) else "SLURM_ARRAY_TASK_ID"
            files[f"{step.name}.sbatch"] = _batch_script(job, step, site)
            files[f"{step.name}.task.sh"] = task_script(step, number)
        return files

    def workers(self, job: Job, site: Site) -> tuple[Worker, ...]:
        """A node counts as often as the task's cores fit into it. Raises FarmError for an unknown partition."""
        del site
        pool = job.placement.pool
        partition = [f"--partition={pool}"] if pool else []
        words = ["sinfo", "--noheader", "--Node", "--format=%N|%c|%T", *partition]
        lines = ask(words, mend=MEND, failure=FarmAway).split()
        if not lines:
            raise FarmError(f"--pool {pool}: Slurm has no partition of that name, or no node in it; see `sinfo`")
        cores = job.step(TRAIN).resources.cores or 1
        rows = [line.split("|") for line in lines]
        nodes = {name: int(count) // cores for name, count, state in rows if _is_up(state)}
        return tuple(Worker(name=name) for name, count in nodes.items() for _ in range(count))

    def names(self, site: Site) -> FarmNames:
        """Accounts only where slurmdbd keeps them. No machines: the payload refuses them."""
        del site
        pools = ask(["sinfo", "--noheader", "--format=%R"], mend=MEND, failure=FarmAway)
        licences = ask(["scontrol", "--oneliner", "show", "licenses"], mend=MEND, is_fatal=False)
        return FarmNames(
            pools=tuple(dict.fromkeys(pools.split())),
            groups=_accounts(),
            limits=tuple(re.findall(r"^LicenseName=(\S+)", licences, re.MULTILINE)),
        )

    def send(self, job: Job, folder: Path, site: Site) -> Receipt:
        del site
        ids: dict[str, str] = {}
        try:
            for step in job.steps:
                after = [ids[name] for name in step.after] or list(job.placement.depends_on)
                ids[step.name] = _submitted(folder, step, _waiting_for(after))
        except (FarmError, KeyboardInterrupt) as error:
            _take_back(ids, error)
            raise
        return Receipt(ids=ids, link=f"squeue --jobs={','.join(ids.values())}")

    def status(self, job: Job, receipt: Receipt, site: Site) -> tuple[TaskStatus, ...]:
        return tuple(task for step in job.steps for task in _statuses(step, receipt.ids[step.name], site))

    def log(self, job: Job, receipt: Receipt, step: str, number: int, site: Site) -> str:
        """Of the task, and before it what Slurm itself says of the job."""
        del receipt, site
        folder = JobFolder(job.run_directory)
        texts = []
        for path in (folder.task_log(step, "slurm"), folder.task_log(step, number)):
            with suppress(FileNotFoundError):
                texts.append(path.read_text(encoding="utf-8", errors="replace"))
        return "".join(texts)

    def cancel(self, job: Job, receipt: Receipt, site: Site) -> None:
        del job, site
        ask(["scancel", *receipt.ids.values()], mend=MEND)

    def requeue(self, job: Job, receipt: Receipt, step: str, numbers: tuple[int, ...], site: Site) -> Receipt:
        """A job that Slurm will not start again (it was cancelled, or is forgotten) is sent anew, under a new id.

        So are those behind it that have not begun: Slurm has cancelled them when this one failed, or is about to.
        """
        ids = {**receipt.ids, step: _started_again(job, job.step(step), receipt.ids[step], numbers, site)}
        renewed = {step}
        for later in job.steps:
            if not renewed.isdisjoint(later.after) and not _has_begun(later, ids[later.name], site):
                ask(["scancel", ids[later.name]], mend=MEND, is_fatal=False)
                before = [task for name in later.after for task in _undone(job.step(name), ids[name], site)]
                ids[later.name] = _submitted(JobFolder(job.run_directory).farm, later, _waiting_for(before))
                renewed.add(later.name)
        return replace(receipt, ids=ids)


def _waiting_for(job_ids: Sequence[str]) -> list[str]:
    return [f"--dependency=afterok:{':'.join(job_ids)}", "--kill-on-invalid-dep=yes"] if job_ids else []


def _submitted(folder: Path, step: Step, words: Sequence[str]) -> str:
    """The id."""
    said = ask(["sbatch", "--parsable", *words, str(folder / f"{step.name}.sbatch")], mend=MEND)
    return said.strip().partition(";")[0]


def _started_again(job: Job, step: Step, own: str, numbers: Sequence[int], site: Site) -> str:
    """The id from now on."""
    tasks = [own] if _is_gang(step, site) else [f"{own}_{number}" for number in numbers]
    try:
        for task in tasks:
            ask(["scontrol", "requeue", task], mend=MEND)
            ask(
                ["scontrol", "update", f"JobId={task}", f"StartTime=now+{SECONDS_BEFORE_RESTART}"],
                mend=MEND,
                is_fatal=False,
            )
        return own
    except FarmError:
        ask(["scancel", own], mend=MEND, is_fatal=False)
    array = [] if _is_gang(step, site) else [f"--array={','.join(map(str, numbers))}"]
    return _submitted(JobFolder(job.run_directory).farm, step, array)


def _undone(step: Step, job_id: str, site: Site) -> list[str]:
    """What is still to succeed. An array as a whole counts as failed for ever, once one of its tasks has."""
    if _is_gang(step, site):
        return [job_id]
    tasks = _statuses(step, job_id, site)
    return [f"{job_id}_{task.number}" for task in tasks if task.state not in ("done", "unknown")]


def _has_begun(step: Step, job_id: str, site: Site) -> bool:
    return any(task.state in ("running", "done") for task in _statuses(step, job_id, site))


def _is_array(site: Site) -> bool:
    return site["array"].lower() in ("yes", "true", "1")


def _is_gang(step: Step, site: Site) -> bool:
    """Tasks that need not run at the same time are always an array, unless there is one only."""
    return step.num_tasks == 1 or (step.at_once and not _is_array(site))


def _batch_script(job: Job, step: Step, site: Site) -> str:
    folder = JobFolder(job.run_directory)
    is_gang = _is_gang(step, site)
    words = [*_placement_words(job, step), *_resource_words(step), *shlex.split(site["sbatch"])]
    if is_gang:
        words += [f"--ntasks={step.num_tasks}", "--no-kill", f"--output={folder.task_log(step.name, 'slurm')}"]
    else:
        words += [f"--array=0-{step.num_tasks - 1}", "--ntasks=1", f"--output={folder.task_log(step.name, '%a')}"]
    title = f"{job.name} {step.name}"
    heading = [
        f"--job-name={title}",
        f"--chdir={job.run_directory}",
        "--export=NONE",
        "--requeue",
        "--open-mode=append",
    ]
    lines = ["#!/bin/bash", *(f"#SBATCH {shlex.quote(word)}" for word in (*heading, *words))]
    script = shlex.quote(str(folder.farm / f"{step.name}.task.sh"))
    if not is_gang:
        return "\n".join([*lines, f"exec {script}"]) + "\n"
    log = shlex.quote(str(folder.task_log(step.name, "%t")))
    further = " ".join(map(shlex.quote, shlex.split(site["srun"])))
    run = f"srun --export=ALL --no-kill --kill-on-bad-exit=0 --wait=0 --open-mode=append --output={log} {further}"
    return "\n".join([*lines, f"{run.rstrip()} {script}", "code=$?", *_forgiving(job, step), 'exit "$code"']) + "\n"


def _forgiving(job: Job, step: Step) -> list[str]:
    """Ranks that were lost with their node do not undo what the others have finished."""
    if step.name != TRAIN:
        return []
    record = shlex.quote(str(RunFiles(job.run_directory, job.run_name).record))
    return [f'grep -q \'"state": "finished"\' {record} && code=0']


def _placement_words(job: Job, step: Step) -> list[str]:
    place = job.placement
    pools = ",".join(filter(None, (place.pool, place.secondary_pool)))
    given = {
        "--partition": pools,
        "--account": place.group,
        "--licenses": ",".join(job.limits_of(step)),
        "--comment": job.comment,
        "--wckey": job.department,
        "--nice": str(ORDINARY_PRIORITY - place.priority) if place.priority != ORDINARY_PRIORITY else "",
    }
    return [f"{flag}={value}" for flag, value in given.items() if value] + (["--hold"] if place.is_suspended else [])


def _resource_words(step: Step) -> list[str]:
    needs = step.resources
    words = [f"--cpus-per-task={needs.cores}"] if needs.cores else []
    words += [f"--gpus-per-task={needs.gpus}"] if needs.gpus else []
    words += [f"--mem-per-cpu={round(needs.memory_gib * 1024 / (needs.cores or 1))}M"] if needs.memory_gib else []
    if needs.timeout_minutes:
        minutes = -(-needs.timeout_minutes // 1)
        words += [f"--time={minutes:.0f}", f"--signal=TERM@{SECONDS_BEFORE_TIME_OUT}"]
    return words


def _take_back(ids: Mapping[str, str], error: BaseException) -> None:
    """Raise FarmError naming the jobs that stay although a later one could not be sent."""
    if not ids:
        return
    try:
        ask(["scancel", *ids.values()], mend=MEND)
    except FarmError as second:
        left = ", ".join(ids.values())
        raise FarmError(f"{error}; the jobs {left} were sent before and cannot be cancelled: {second}") from second


def _facts(job_id: str) -> dict[str, dict[str, str]]:
    """What Slurm remembers, by array index (empty for a job that is no array); without any: forgotten."""
    said = ask(["scontrol", "--oneliner", "show", "job", job_id], mend=MEND, is_fatal=False)
    facts: dict[str, dict[str, str]] = {}
    for line in said.splitlines():
        own = dict(re.findall(r"(\w+)=(\S*)", line))
        index = own.get("ArrayTaskId", "")
        facts["waiting" if index and not index.isdecimal() else index] = own
    return facts or _facts_of_accounting(job_id)


def _facts_of_accounting(job_id: str) -> dict[str, dict[str, str]]:
    """From slurmdbd, where a studio has it."""
    with suppress(FarmError):
        words = ["sacct", "--noheader", "--parsable2", "--allocations", f"--jobs={job_id}"]
        said = ask([*words, "--format=JobID,State,NodeList,ExitCode"], mend=MEND, is_fatal=False)
        rows = [line.split("|") for line in said.splitlines() if line.count("|") == 3]
        return {
            name.partition("_")[2]: {"JobState": state.split()[0], "NodeList": nodes, "ExitCode": code}
            for name, state, nodes, code in rows
        }
    return {}


def _accounts() -> tuple[str, ...]:
    with suppress(FarmError):
        words = ["sacctmgr", "--noheader", "--parsable2", "list", "accounts", "format=Account"]
        return tuple(ask(words, mend=MEND, is_fatal=False).split())
    return ()


def _statuses(step: Step, job_id: str, site: Site) -> list[TaskStatus]:
    facts, is_gang = _facts(job_id), _is_gang(step, site)
    own = [facts.get("" if is_gang else str(number)) for number in range(step.num_tasks)]
    return [_status(step, number, known or facts.get("waiting", {})) for number, known in enumerate(own)]


def _status(step: Step, number: int, facts: Mapping[str, str]) -> TaskStatus:
    if not facts:
        return TaskStatus(step=step.name, number=number, state="unknown", note="Slurm forgot it")
    state = _STATES.get(facts["JobState"], "unknown")
    reason = facts.get("Reason", "None")
    code = facts.get("ExitCode", "0:0")
    notes = [facts["JobState"], *([reason] if reason != "None" else []), *([f"exit {code}"] if code != "0:0" else [])]
    host = facts.get("NodeList", "")
    return TaskStatus(
        step=step.name, number=number, state=state, host="" if host == "(null)" else host, note=", ".join(notes)
    )


def _is_up(state: str) -> bool:
    return not state.upper().rstrip("*~#!%$@^-+").startswith(_NODE_IS_AWAY) and not state.endswith("*")
