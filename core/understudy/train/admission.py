"""How a process is let into the run of its ranks, and how it takes its leave."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from understudy import __version__
from understudy.cores import cores_given
from understudy.errors import EXIT_RANKS, RanksMissing
from understudy.ranks.desk import Patience
from understudy.ranks.meeting import Invitation, Meeting
from understudy.ranks.member import RunOver
from understudy.ranks.place import RankPlace
from understudy.report.progress import Progress
from understudy.runs import RunFiles, new_run_name
from understudy.settings import OF_ONE_RANK, Settings, as_flag, to_record
from understudy.train.sync_plan import asked_plan


@contextmanager
def admitted(
    place: RankPlace,
    settings: Settings,
    files: RunFiles,
    *,
    may_go_on: Callable[[str], bool],
    has_begun: bool,
    progress: Progress,
) -> Iterator[Meeting]:
    """A line to rank 0, and at rank 0 the desk, while the block runs. `files`: named as all ranks were told, if at all.

    Raises UnderstudyError when this rank is turned away, an address is wrong or settings contradict each other, and
    RanksMissing when rank 0 does not come.
    """
    asked_plan(settings)  # contradictions are told before anybody is waited for
    invitation = Invitation(
        data_directory=files.directory,
        given_name=files.name,
        new_name=files.name or new_run_name(),
        may_go_on=may_go_on,
        has_begun=has_begun,
        facts=_facts(settings),
        patience=Patience(
            join_seconds=settings.join_minutes * 60,
            hold_seconds=settings.hold_minutes * 60,
            silence_seconds=settings.silence_seconds,
        ),
        min_ranks=settings.min_ranks,
        environment=os.environ,
    )
    meeting = Meeting(place, invitation, progress.say)
    try:
        meeting.join()
        yield meeting
    except (RunOver, RanksMissing) as ended:
        meeting.leave(str(ended))
        raise
    except BaseException as error:
        first_line = (str(error) or type(error).__name__).splitlines()[0]
        meeting.end(EXIT_RANKS, f"rank 0 ended: {first_line}")
        meeting.leave(first_line)
        raise
    meeting.leave("it is done")


def fitted_to(place: RankPlace, settings: Settings) -> Settings:
    """This rank's share of its machine: its GPU, and its part of the cores. All of them are no part, and may change."""
    is_alone_here = place.ranks_here == 1
    threads = settings.threads or (0 if is_alone_here else max(1, cores_given() // place.ranks_here))
    gpu = settings.gpu if place.gpu is None else place.gpu
    return dataclasses.replace(settings, threads=threads, gpu=gpu)


def _facts(settings: Settings) -> dict[str, str]:
    """In what all ranks must agree, by the names that a user knows."""
    shared = {as_flag(name): str(value) for name, value in to_record(settings).items() if name not in OF_ONE_RANK}
    torch_release = torch.__version__.partition("+")[0]  # the CPU and CUDA builds of one release train together
    return {**shared, "the version of understudy": __version__, "the version of torch": torch_release}
