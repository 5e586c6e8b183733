"""One submission, from an order to a job that a farm has: look at everything first, send, leave nothing half-done."""

from __future__ import annotations

import dataclasses
import getpass
import os
import platform
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from understudy.cli.options import COLOUR_FLAGS
from understudy.errors import ProblemList, Problems, UnderstudyError
from understudy.frames.colour import ColourRules
from understudy.frames.sequence import Sequence as FileSequence
from understudy.frames.sequence import format_frames
from understudy.orders import Order, lay_down
from understudy.pairs import Pair
from understudy.remap import remap_of_rules
from understudy.report.run_record import write_record
from understudy.runs import RunFiles, new_run_name
from understudy.settings import ModelSize, Settings
from understudy.survey import survey
from understudy.versions import newest_version
from understudy_farm.backend import FarmAway, FarmBackend, FarmError, Site
from understudy_farm.choices import Choices
from understudy_farm.folder import (
    JobFolder,
    Sent,
    new_version,
    write_job,
    write_payload,
    write_sent,
)
from understudy_farm.plan import Submission, plan
from understudy_farm.spec import Job, to_text
from understudy_farm.tasks import hold

MEBIBYTES_OF_A_CHECKPOINT: Mapping[ModelSize, int] = {"small": 6, "medium": 16, "large": 64}
"""Weights, their average and the optimizer's moments, rounded up."""
MEBIBYTES_OF_REPORTS = 256

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is to be submitted, and to where."""

    order: Order
    choices: Choices
    farm: FarmBackend
    site: Site
    command: str
    """How the submission was asked for, for the run's record."""
    looks_at_frames: bool = True
    """Decode every pair before sending, as `check` does."""
    is_held: bool = False
    """A farm without a queue ends the job when this process ends."""


def send(request: Request, say: Say) -> Sent:
    """Make a new version of the run's folder, write the job there, and send it.

    Raises UnderstudyError, or Problems with one line for each fault; then nothing is left behind, or what is left is
    named.
    """
    pairs = looked_at(request, say, is_sent=True)
    with new_version(request.order.settings.data_directory) as run_directory:
        job = lay_down_job(request, run_directory, pairs)
        if request.is_held:
            hold(JobFolder(run_directory))
        return _given_to_farm(request, job)


def _given_to_farm(request: Request, job: Job) -> Sent:
    """A job that the farm has and nobody could find again is cancelled."""
    receipt = request.farm.send(job, JobFolder(job.run_directory).farm, request.site)
    sent = Sent(job=job, farm=request.farm.name, options=request.site.values, receipt=receipt)
    try:
        write_sent(sent)
    except BaseException as error:
        try:
            request.farm.cancel(job, receipt, request.site)
        except FarmError as second:
            ids = ", ".join(dict.fromkeys(receipt.ids.values()))
            raise FarmError(f"{error}; the farm has the job, {ids}: cancel it by hand ({second})") from error
        raise
    return sent


def export(request: Request, folder: Path, say: Say) -> Job:
    """Everything but sending: the run's folder is made, and the payload is written into `folder` too.

    Raises as `send` does.
    """
    pairs = looked_at(request, say)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UnderstudyError(f"{folder}: is not an empty folder; give --export another one")
    with new_version(request.order.settings.data_directory) as run_directory:
        job = lay_down_job(request, run_directory, pairs)
        write_payload(folder, {"job.json": to_text(job), **request.farm.payload(job, request.site)})
        return job


def preview(request: Request) -> tuple[Job, Mapping[str, str]]:
    """The job and its payload as they would be sent now; nothing is written."""
    directory = request.order.settings.data_directory
    run_directory = directory.absolute() / f"v{newest_version(directory) + 1:03}"
    job = _planned(request, run_directory, _run_name(request.order))
    return job, request.farm.payload(job, request.site)


def looked_at(request: Request, say: Say, *, is_sent: bool = False, tell: Say | None = None) -> tuple[Pair, ...]:
    """The pairs. Raises Problems for all that can be known to go wrong before anything is sent.

    A farm that does not answer is a problem only if the job `is_sent`. `tell` hears what is being done, where that is
    not to stand among what is found; else `say` does.
    """
    problems = ProblemList()
    with problems.collecting():
        _check_choices(request)
    pairs: tuple[Pair, ...] = ()
    with problems.collecting():
        pairs = named_pairs(request)
        if request.choices.bake:
            frames = format_frames(pair.frame for pair in pairs)
            say(f"{len(pairs)} pairs, frames {frames}: rank 0 looks at them when the bake has made their files")
        elif request.looks_at_frames:
            (tell or say)(f"Looking at {len(pairs)} pairs")
            _look_at_frames(request.order, pairs, say)
    with problems.collecting():
        _check_disk(request.order)
    if not problems.lines:
        with problems.collecting():
            try:
                _check_workers(request)
            except FarmAway as error:
                if is_sent:
                    raise
                say(f"{error}; nobody looked for workers")
    problems.raise_if_any()
    return pairs


def named_pairs(request: Request) -> tuple[Pair, ...]:
    """Those to train on, none of them read. What a bake is to make is not looked for."""
    return request.order.source.pairs(are_to_come=bool(request.choices.bake))


def lay_down_job(request: Request, run_directory: Path, pairs: Sequence[Pair]) -> Job:
    """The run as its ranks will find it, and the job with its payload beside it."""
    files = RunFiles(run_directory, _run_name(request.order))
    record = lay_down(request.order, pairs, files, command=request.command)
    job = _planned(request, run_directory, files.name)
    write_job(JobFolder(run_directory), job, request.farm.payload(job, request.site))
    write_record(files.record, record)
    return job


def _run_name(order: Order) -> str:
    return order.settings.run_name or new_run_name()


def _planned(request: Request, run_directory: Path, run_name: str) -> Job:
    about = request.order.source.record()
    scene = _scene_of(about)
    submission = Submission(
        run_directory=run_directory,
        run_name=run_name,
        title=title_of(about),
        sync_interval=request.order.settings.sync_interval,
        user=_user(),
        host=platform.node(),
        python=sys.executable,
        scene=scene,
        colour_words=colour_words(request.order.colour),
    )
    choices = _with_own_frames(request.choices, about)
    return plan(submission, choices, request.farm.capabilities(request.site))


def title_of(about: Mapping[str, object]) -> str:
    """What people call a training, by its source's record: the node, or the sequence."""
    return str(about.get("node") or _scene_of(about))


def _scene_of(about: Mapping[str, object]) -> str:
    place = Path(str(about.get("original") or about.get("timeline") or about.get("target")))
    return place.parent.name if "target" in about and "timeline" not in about else place.stem


def _with_own_frames(choices: Choices, about: Mapping[str, object]) -> Choices:
    """What is applied to, where nothing else was said: the run's own input in its own colour space."""
    own = "" if choices.apply_input else str(about.get("input_colorspace", ""))
    return dataclasses.replace(
        choices,
        apply_input=_absolute(choices.apply_input or str(about.get("input", ""))),
        apply_output=_absolute(choices.apply_output),
        apply_colorspace=choices.apply_colorspace or own,
    )


def _absolute(pattern: str) -> str:
    return str(Path(pattern).absolute()) if pattern else ""


def colour_words(colour: ColourRules) -> tuple[str, ...]:
    """How `apply` is told these rules."""
    stated = dataclasses.asdict(colour)
    return tuple(word for name, (flag, _) in COLOUR_FLAGS.items() if stated[name] for word in (flag, stated[name]))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return str(os.getuid()) if hasattr(os, "getuid") else "unknown"


def _check_choices(request: Request) -> None:
    """What the farm cannot do, and what does not fit the run."""
    choices, farm, problems = request.choices, request.farm.capabilities(request.site), []
    remap_of_rules(choices.path_rules)
    if choices.suspended and not farm.has_suspended:
        problems.append(f"--suspended: the farm {request.farm.name} cannot hold a job back; leave it out")
    if choices.apply_output:
        has_input = choices.apply_input or "input" in request.order.source.record()
        problems += [] if has_input else ["--apply-output: give --apply-input, the pattern of the frames to apply to"]
        if FileSequence(choices.apply_output).is_still:
            problems.append(f"--apply-output {choices.apply_output}: needs a frame number, such as result.####.exr")
    if problems:
        raise Problems(problems)


def _look_at_frames(order: Order, pairs: Sequence[Pair], say: Say) -> None:
    found = survey(pairs, crop_size=order.settings.crop_size)
    for remark in found.remarks:
        say(remark)
    if found.problems and not order.skip_unreadable:
        raise Problems(found.problems)


def mebibytes_of_a_run(settings: Settings) -> int:
    """On disk, at most: all checkpoints that are kept, and one that is being written; and what it reports."""
    return MEBIBYTES_OF_A_CHECKPOINT[settings.model_size] * (settings.max_checkpoints + 2) + MEBIBYTES_OF_REPORTS


def _check_disk(order: Order) -> None:
    settings = order.settings
    needed = mebibytes_of_a_run(settings)
    place = next(
        folder for folder in (settings.data_directory, *settings.data_directory.absolute().parents) if folder.is_dir()
    )
    free = shutil.disk_usage(place).free >> 20
    if free < needed:
        raise UnderstudyError(
            f"{settings.data_directory}: {free} MiB are free, the run's checkpoints may take {needed}; free space, or "
            "keep fewer with --max-checkpoints"
        )


def _check_workers(request: Request) -> None:
    """Ranks that cannot all run at once would wait for each other."""
    farm, ranks = request.farm, request.choices.ranks
    if not farm.capabilities(request.site).knows_workers:
        return
    job, _ = preview(request)
    workers = farm.workers(job, request.site)
    fewest = request.order.settings.min_ranks or ranks
    if len(workers) < fewest:
        raise UnderstudyError(
            f"--ranks {ranks}: the farm {farm.name} has {len(workers)} workers for this job; ask for fewer, or let the "
            "run begin with --min-ranks"
        )
