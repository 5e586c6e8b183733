"""The back end: sends the spec, asks for frames, reads their logs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Protocol
from urllib.parse import quote

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
from understudy_farm.backends.opencue.client import cuebot
from understudy_farm.backends.opencue.job_spec import (
    AT_MOST,
    AT_MOST_SCRIPT,
    is_limited,
    job_suffix,
    job_xml,
    retries_of,
    shot_of,
    show_of,
    starts_file,
)
from understudy_farm.spec import Job, Step

SPEC = "job.xml"
FRAMES_AT_ONCE = 500
"""Cuebot answers with no more, and retries no more of a list."""
RETRIES_OF_A_SPEC = 1
"""Cuebot lowers what a spec asks for to this; more must be asked for afterwards."""
_STATES: Mapping[str, TaskState] = {
    "WAITING": "waiting",
    "SETUP": "waiting",
    "DEPEND": "waiting",
    "RUNNING": "running",
    "CHECKPOINT": "running",
    "SUCCEEDED": "done",
    "DEAD": "failed",
    "EATEN": "cancelled",
}


class CueFrameData(Protocol):
    """What is used of Cuebot's message about a frame."""

    number: int
    state: int
    exit_status: int
    retry_count: int
    last_resource: str
    """HOST/CORES/GPUS."""


class CueFrame(Protocol):
    data: CueFrameData


class CueJob(Protocol):
    """What is used of pycue's job."""

    def id(self) -> str: ...
    def name(self) -> str: ...
    def state(self) -> int: ...
    def logDir(self) -> str: ...
    def kill(self, *, reason: str) -> None: ...
    def resume(self) -> None: ...
    def setMaxRetries(self, maxRetries: int) -> None: ...
    def addComment(self, subject: str, message: str) -> None: ...
    def createDependencyOnJob(self, job: CueJob) -> object: ...
    def getFrames(self, *, layer: list[str], page: int, limit: int) -> Sequence[CueFrame]: ...
    def retryFrames(self, *, layer: list[str], range: str) -> object: ...


class OpenCueFarm:
    """By pycue, which speaks gRPC with Cuebot."""

    name = "opencue"
    doc = "OpenCue: one job, a layer for each step, a frame for each task"
    options: tuple[Option, ...] = (
        Option(name="hosts", doc="Cuebots as HOST:PORT,...; empty: $CUEBOT_HOSTS or pycue's config file"),
        Option(name="show", doc="the show where --pool does not say it"),
        Option(name="shot", doc="the shot; empty: the batch"),
        Option(name="facility", doc="the facility; empty: Cuebot's own"),
        Option(name="uid", doc="number of the artist's user for hosts that do not know the name"),
        Option(name="os", doc="operating system of the hosts, as Cuebot names it; empty: any"),
        Option(name="service", doc="the service of the layers, which gives what was not asked for", default="shell"),
        Option(name="gpu_memory", doc="of a task with GPUs, as 8g; empty: 1g"),
        Option(name="log_root", doc="FROM=TO: where this machine sees the farm's log folder"),
        Option(name="cueweb", doc="URL of CueWeb, for links"),
    )

    def capabilities(self, site: Site) -> Capabilities:
        del site
        return Capabilities(has_task_environment=False, has_suspended=True)

    def payload(self, job: Job, site: Site) -> Mapping[str, str]:
        limits = {AT_MOST: AT_MOST_SCRIPT} if any(is_limited(job, step) for step in job.steps) else {}
        return {SPEC: job_xml(job, site), **limits}

    def workers(self, job: Job, site: Site) -> tuple[Worker, ...]:
        del job, site
        return ()

    def names(self, site: Site) -> FarmNames:
        """Shows only: tags are free words."""
        with cuebot(site) as cue:
            return FarmNames(pools=tuple(sorted(show.name() for show in cue.api.getActiveShows())))

    def send(self, job: Job, folder: Path, site: Site) -> Receipt:
        return _launched(job, (folder / SPEC).read_text(encoding="utf-8"), site)

    def status(self, job: Job, receipt: Receipt, site: Site) -> tuple[TaskStatus, ...]:
        found: list[TaskStatus] = []
        for step in job.steps:
            known: dict[int, TaskStatus] = {}
            for job_id in _ids(receipt, step.name):
                with suppress(KeyError), cuebot(site) as cue:
                    known |= {task.number: task for task in _frames(cue, cue.api.getJob(job_id), step)}
            forgotten = TaskStatus(step=step.name, number=0, state="unknown", note="OpenCue forgot it")
            own = [known.get(number, dataclasses.replace(forgotten, number=number)) for number in range(step.num_tasks)]
            found += own
        return tuple(found)

    def log(self, job: Job, receipt: Receipt, step: str, number: int, site: Site) -> str:
        del job
        texts = []
        for job_id in _ids(receipt, step):
            with suppress(KeyError), cuebot(site) as cue:
                found: CueJob = cue.api.getJob(job_id)
                folder = _seen_here(found.logDir(), site)
                if not folder.is_dir():  # Cuebot makes it with the job
                    texts.append(f"{folder}: cannot be seen from here; say where it is with -O log_root=FROM=TO\n")
                texts += _starts(folder / f"{found.name()}.{number:04}-{step}.rqlog")
        return "".join(texts)

    def cancel(self, job: Job, receipt: Receipt, site: Site) -> None:
        for job_id in dict.fromkeys(own for step in job.steps for own in _ids(receipt, step.name)):
            with suppress(KeyError), cuebot(site) as cue:
                found: CueJob = cue.api.getJob(job_id)
                if not _is_finished(cue, found):
                    found.kill(reason="understudy cancel")

    def requeue(self, job: Job, receipt: Receipt, step: str, numbers: tuple[int, ...], site: Site) -> Receipt:
        """A job that has ended, or was killed, starts no frame again: then these tasks are sent as a job of theirs."""
        for number in numbers:
            starts_file(job, step, number).unlink(missing_ok=True)
        with suppress(KeyError), cuebot(site) as cue:
            found: CueJob = cue.api.getJob(_ids(receipt, step)[-1])
            lacking = set(numbers) - {task.number for task in _frames(cue, found, job.step(step))}
            if not lacking and not _is_finished(cue, found):
                for first in range(0, len(numbers), FRAMES_AT_ONCE):
                    found.retryFrames(layer=[step], range=_listed(numbers[first : first + FRAMES_AT_ONCE]))
                return receipt
        alone = dataclasses.replace(job.step(step), after=())
        place = dataclasses.replace(job.placement, depends_on=(), is_suspended=False)
        again = dataclasses.replace(job, steps=(alone,), placement=place, name=f"{job.name} {step} {_listed(numbers)}")
        sent = _launched(again, job_xml(again, site, frames=_listed(numbers)), site)
        return dataclasses.replace(receipt, ids={**receipt.ids, step: f"{receipt.ids[step]},{sent.ids[step]}"})


def _launched(job: Job, spec: str, site: Site) -> Receipt:
    """The job with everything that a spec cannot say, or no job."""
    show = show_of(job, site)
    name = f"{show}-{shot_of(job, site)}-{job.user}_{job_suffix(job)}".lower()
    try:
        with cuebot(site) as cue:
            cue.api.findShow(show)
    except KeyError as error:
        raise FarmError(f"--pool {show}: OpenCue has no show of that name; see `cueadmin -ls`") from error
    with cuebot(site) as cue:
        if cue.api.isJobPending(name):
            raise FarmError(f"opencue: a job {name} is there already and has not ended; give this one another --name")
    try:
        with cuebot(site) as cue:
            sent: CueJob = cue.api.launchSpecAndWait(spec)[0]
            _complete(cue, sent, job)
            receipt = Receipt(ids={step.name: sent.id() for step in job.steps}, link=_link(sent, site))
    except (FarmError, KeyError, KeyboardInterrupt) as error:
        _take_back(name, site, str(error))
        raise FarmError(str(error) or "opencue: interrupted") from error
    return receipt


def _complete(cue: ModuleType, sent: CueJob, job: Job) -> None:
    place = job.placement
    if retries_of(job) > RETRIES_OF_A_SPEC:
        sent.setMaxRetries(retries_of(job))
    notes = [job.comment, f"department: {job.department}" if job.department else ""]
    if any(notes):
        sent.addComment("understudy", "\n".join(filter(None, notes)))
    for other in place.depends_on:
        try:
            sent.createDependencyOnJob(cue.api.getJob(other))
        except cue.EntityNotFoundException as error:
            raise FarmError(f"--depends-on {other}: OpenCue has no job of that id") from error
    if place.depends_on and not place.is_suspended:
        sent.resume()


def _take_back(name: str, site: Site, reason: str) -> None:
    """Whatever Cuebot took before it failed. Raises FarmError naming the job that stays."""
    try:
        with suppress(KeyError), cuebot(site) as cue:
            cue.api.findJob(name).kill(reason="understudy: was not sent whole")
    except FarmError as second:
        raise FarmError(f"{reason}; if the job {name} is there, end it by hand: {second}") from second


def _ids(receipt: Receipt, step: str) -> list[str]:
    """Jobs that hold frames of the step, the newest last."""
    return receipt.ids[step].split(",")


def _listed(numbers: Sequence[int]) -> str:
    """As OpenCue reads frames."""
    first, last = numbers[0], numbers[-1]
    if len(numbers) > 1 and tuple(numbers) == tuple(range(first, last + 1)):
        return f"{first}-{last}"
    return ",".join(map(str, numbers))


def _frames(cue: ModuleType, job: CueJob, step: Step) -> Iterator[TaskStatus]:
    """Frames that a killed job left waiting will never run."""
    is_finished = _is_finished(cue, job)
    for page in range(1, step.num_tasks // FRAMES_AT_ONCE + 2):
        for frame in job.getFrames(layer=[step.name], page=page, limit=FRAMES_AT_ONCE):
            word = cue.api.job_pb2.FrameState.Name(frame.data.state)
            state = _STATES.get(word, "unknown")
            yield TaskStatus(
                step=step.name,
                number=frame.data.number,
                state="cancelled" if is_finished and state in ("waiting", "running") else state,
                host=frame.data.last_resource.partition("/")[0],
                note=_note(word, frame.data.exit_status, frame.data.retry_count),
            )


def _note(word: str, exit_status: int, num_retries: int) -> str:
    code = [f"exit {exit_status}"] if word == "DEAD" else []
    return ", ".join([word, *code, *([f"retry {num_retries}"] if num_retries else [])])


def _is_finished(cue: ModuleType, job: CueJob) -> bool:
    states = cue.api.job_pb2
    return job.state() in (states.FINISHED, states.SHUTDOWN)


def _seen_here(folder: str, site: Site) -> Path:
    before, _, after = site["log_root"].partition("=")
    if before and folder.startswith(before):
        return Path(after + folder[len(before) :])
    return Path(folder)


def _starts(log: Path) -> list[str]:
    """RQD renames the log of the first start to .1, of the second to .2, and so on."""
    older: list[Path] = []
    while (log.parent / f"{log.name}.{len(older) + 1}").exists():
        older.append(log.parent / f"{log.name}.{len(older) + 1}")
    texts = []
    for path in (*older, log):
        with suppress(OSError):
            texts.append(path.read_text(encoding="utf-8", errors="replace"))
    return texts


def _link(sent: CueJob, site: Site) -> str:
    if site["cueweb"]:
        return f"{site['cueweb'].rstrip('/')}/jobs/{quote(sent.name())}"
    return f"cueadmin -lj {sent.name()}"
