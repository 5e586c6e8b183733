"""What a training will take, before anything is sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from understudy.dataset import decode_pair
from understudy.errors import UnderstudyError
from understudy.pairs import Pair
from understudy.report.run_record import RunRecord
from understudy.runs import run_of
from understudy.settings import Settings, total_steps
from understudy_farm.folder import JobFolder, read_job
from understudy_farm.plan import TRAIN
from understudy_farm.submission import Request, mebibytes_of_a_run, named_pairs
from understudy_ui.answers.asking import Asking
from understudy_ui.answers.rows import RunBook
from understudy_ui.answers.training import request_by
from understudy_ui.protocol import EstimateShown

ALIKE = ("model_size", "crop_size", "batch_size", "device", "precision", "multi_resolution", "scale_batch")
"""Settings on which the time of a step hangs: runs in which they are equal are as fast."""
FEWEST_STEPS = 10
"""Of a run, before its pace counts."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How fast an earlier run of the same kind was."""

    seconds_a_step: float
    batch_size: int
    """Which may have been chosen by the machine."""


def estimate(asking: Asking, book: RunBook) -> EstimateShown:
    request = request_by(asking.words())
    settings, pairs = request.order.settings, named_pairs(request)
    pace = next(paces_of_runs_like(request, book), None)
    batch, certainty = _batch(settings, request.choices.ranks, pace)
    steps = total_steps(settings, sum(pair.use == "train" for pair in pairs), batch)
    return {
        "num_pairs": len(pairs),
        "total_steps": 0 if settings.minutes else steps,
        "seconds": _seconds(settings, steps, pace),
        "memory_gib": None if request.choices.bake else _memory_gib(pairs, settings),
        "disk_mib": float(mebibytes_of_a_run(settings)),
        "certainty": "exactly" if settings.steps or settings.minutes else certainty,
    }


def _batch(settings: Settings, num_ranks: int, pace: Pace | None) -> tuple[int, str]:
    """Crops a step over all ranks, and how sure the steps are that follow from it: only the machine of rank 0 knows
    what it will choose, but one crop for every rank at least."""
    if settings.batch_size:
        return settings.batch_size * (num_ranks if settings.scale_batch else 1), "exactly"
    return (pace.batch_size, "about") if pace else (num_ranks, "at most")


def _memory_gib(pairs: Sequence[Pair], settings: Settings) -> float:
    """As much as the first pair takes, for each."""
    decoded = decode_pair(pairs[0], settings.crop_size)
    return len(pairs) * (decoded.input.nbytes + decoded.target.nbytes) / 2**30


def paces_of_runs_like(request: Request, book: RunBook) -> Iterator[Pace]:
    """Of runs in the same data directory, the newest first, whether they are over or not."""
    settings = request.order.settings
    for record, place in sorted(_records(settings, book), key=lambda found: found[0].started, reverse=True):
        files, wanted = run_of(place), {name: getattr(settings, name) for name in ALIKE}
        is_alike = {name: record.settings.get(name) for name in ALIKE} == wanted
        if is_alike and _num_ranks(JobFolder(files.directory)) == request.choices.ranks:
            newest = book.newest(files)
            if newest and newest.step >= FEWEST_STEPS and newest.seconds > 0:
                yield Pace(seconds_a_step=newest.seconds / newest.step, batch_size=record.batch_size)


def _records(settings: Settings, book: RunBook) -> Iterator[tuple[RunRecord, Path]]:
    for place in book.records_in(settings.data_directory.absolute()):
        with suppress(UnderstudyError, OSError):
            yield book.records.of(place), place


def _num_ranks(folder: JobFolder) -> int:
    """1 of a run that was not submitted."""
    with suppress(UnderstudyError):
        return read_job(folder).step(TRAIN).num_tasks if folder.job.exists() else 1
    return 1


def _seconds(settings: Settings, steps: int, pace: Pace | None) -> float | None:
    """By the clock, or by the pace, whichever ends the run first."""
    by_clock = [settings.minutes * 60] if settings.minutes else []
    by_pace = [steps * pace.seconds_a_step] if pace else []
    return min([*by_clock, *by_pace], default=None)
