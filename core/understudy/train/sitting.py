"""One sitting of a run: train with every pen open, and leave a record of how it ended."""

from __future__ import annotations

import dataclasses
import logging
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import torch

from understudy.errors import UnderstudyError
from understudy.files import make_folder
from understudy.ranks.meeting import Meeting
from understudy.report.events import EventWriter
from understudy.report.log import LogHeading, RunLog
from understudy.report.metrics import MetricsLog
from understudy.report.progress import Progress, ProgressStyle
from understudy.report.reporter import Reporter
from understudy.report.run_record import RunRecord, now, write_record
from understudy.runs import RunFiles
from understudy.stopping import StopRequests, exit_code_after
from understudy.train.company import Company, Nobody, Ranks
from understudy.train.loop import train
from understudy.train.recorder import Follower, Recorder
from understudy.train.run import Run
from understudy.train.schedule import STAGES
from understudy.train.state import TrainingState
from understudy.train.voices import Voices

_LOG = logging.getLogger("understudy")


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How a sitting speaks."""

    progress_style: ProgressStyle
    verbosity: int
    """0 to 2."""
    command: str
    """The command line as it was typed."""


@contextmanager
def speaking(manner: Manner) -> Iterator[Progress]:
    """A voice that tells the farm of a failure and always closes its bar."""
    progress = Progress(manner.progress_style, sys.stdout)
    try:
        yield progress
    except UnderstudyError as error:
        progress.fail(str(error))
        raise
    finally:
        progress.end()


def lead(
    run: Run, state: TrainingState, record: RunRecord, manner: Manner, progress: Progress, meeting: Meeting | None
) -> int:
    """Alone or as rank 0; the exit code."""
    files = run.files
    with ExitStack() as open_things:
        stop = open_things.enter_context(StopRequests(files.stop_requests()))
        open_things.enter_context(_log(run, files.log(), manner, progress, meeting))
        write_record(files.record, record)
        company = _company(run, stop, progress, meeting)
        try:
            with _naming_memory(state):
                reason = _train_with_voices(run, state, company, progress, open_things)
        except BaseException:
            with suppress(UnderstudyError):  # on a full disk the fault that ended the run is the one to tell of
                write_record(files.record, dataclasses.replace(record, state="failed", ended=now()))
            raise
        if not company.is_left_to_others:
            write_record(
                files.record, dataclasses.replace(record, state="stopped" if reason else "finished", ended=now())
            )
    if reason:
        stop.consume()
        progress.say(f"Stopped by {reason} after step {state.step}; go on with: understudy resume {files.directory}")
    return exit_code_after(reason, run.settings.eviction)


def follow(run: Run, state: TrainingState, manner: Manner, progress: Progress, meeting: Meeting) -> int:
    """As any other rank, which writes nothing but its log; the exit code."""
    with ExitStack() as open_things:
        stop = open_things.enter_context(StopRequests(()))  # stop files are rank 0's to read
        log = _writable(run.files, progress).log(meeting.place.rank)
        open_things.enter_context(_log(run, log, manner, progress, meeting))
        company = _company(run, stop, progress, meeting)
        progress.begin(run.schedule.total_steps, state.step + 1)
        with _naming_memory(state):
            reason = train(run, state, Follower(run, state, progress), company)
    if reason:
        progress.say(f"Stopped by {reason} after step {state.step}")
    return exit_code_after(reason, run.settings.eviction)


def _company(run: Run, stop: StopRequests, progress: Progress, meeting: Meeting | None) -> Company:
    if meeting is None:
        return Nobody(stop)
    settings = run.settings
    return Ranks(meeting, stop, eviction=settings.eviction, silence_seconds=settings.silence_seconds, tell=progress.say)


def _log(run: Run, path: Path, manner: Manner, progress: Progress, meeting: Meeting | None) -> RunLog:
    heading = LogHeading(
        rank=meeting.place.rank if meeting else 0,
        world_size=meeting.place.world_size if meeting else 1,
        address=meeting.local_address if meeting else "",
        device=str(run.machine),
        torch_version=torch.__version__,
        command=manner.command,
    )
    return RunLog(path, heading=heading, progress=progress, verbosity=manner.verbosity)


def _writable(files: RunFiles, progress: Progress) -> RunFiles:
    """The data directory may be on rank 0's machine alone."""
    try:
        make_folder(files.directory)
        return files
    except UnderstudyError as error:
        elsewhere = Path(tempfile.gettempdir())
        progress.say(f"warning: {error}; this rank's log goes to {elsewhere}")
        return RunFiles(elsewhere, files.name)


@contextmanager
def _naming_memory(state: TrainingState) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if _is_out_of_memory(error):
            raise UnderstudyError(
                f"step {state.step + 1}: does not fit into memory; train again with a smaller --batch-size, "
                "--crop-size or --model-size"
            ) from error
        raise


def _is_out_of_memory(error: BaseException) -> bool:
    """PyTorch tells of the CPU's memory in words only."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or (
        isinstance(error, RuntimeError) and "allocate memory" in str(error)
    )


def _train_with_voices(
    run: Run, state: TrainingState, company: Company, progress: Progress, open_things: ExitStack
) -> str:
    files, settings = run.files, run.settings
    events = open_things.enter_context(EventWriter(files.events)) if settings.tensorboard else None
    metrics = open_things.enter_context(MetricsLog(files.metrics))
    _LOG.info("%s", _in_figures(run, state))
    if state.step:
        metrics.event("resumed", step=state.step)
    with Reporter(files=files, settings=settings, colour=run.colour, progress=progress, events=events) as reporter:
        voices = Voices(progress=progress, metrics=metrics, reporter=reporter, events=events)
        share_done = run.schedule.progress(state.step + 1, state.elapsed_seconds)
        progress.begin(run.schedule.total_steps, state.step + 1, share_done)
        recorder = Recorder(run, state, voices)
        reason = train(run, state, recorder, company)
        recorder.conclude()
        return reason


def _in_figures(run: Run, state: TrainingState) -> str:
    weights = sum(parameter.numel() for parameter in state.model.parameters())
    mebibytes = sum(pair.input.nbytes + pair.target.nbytes for pair in run.dataset.pairs) / 2**20
    ends = ", ".join(f"1/{reduction} to {100 * end:.0f} %" for end, reduction in STAGES)
    stages = f"resolution {ends}" if run.schedule.multi_resolution else "full resolution throughout"
    return f"{weights:,} weights; {mebibytes:.1f} MiB of decoded frames; {stages}"
