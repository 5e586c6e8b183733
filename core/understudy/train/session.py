"""One sitting of a run, from an order to an exit code: look at everything first, write only then, end tidily."""

from __future__ import annotations

import dataclasses
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import torch

from understudy.errors import EXIT_DONE, EXIT_STOPPED, ProblemList, Problems, UnderstudyError
from understudy.files import make_folder, naming_the_file, remove_partials
from understudy.frames.colour import ColourRules
from understudy.pairs import PairSource
from understudy.report.events import EventWriter
from understudy.report.log import RankPlace, RunLog
from understudy.report.metrics import MetricsLog, truncate_after
from understudy.report.progress import Progress, ProgressStyle
from understudy.report.reporter import Reporter
from understudy.report.run_record import RunRecord, now, pair_records, read_record, this_host, write_record
from understudy.report.versions import versions
from understudy.runs import RunFiles, find_run, new_run_name
from understudy.settings import Settings, check, from_record, to_record
from understudy.sources.record import from_record as source_from_record
from understudy.sources.sequences import colour_of_record
from understudy.sources.timeline import write_timeline
from understudy.stopping import StopRequests
from understudy.train.checkpoint import load_checkpoint
from understudy.train.device import choose_machine
from understudy.train.loop import train
from understudy.train.model_file import load_model
from understudy.train.prepare import decode_frames, first_model, prepare_run, refuse_other_channels
from understudy.train.recorder import Recorder, Voices
from understudy.train.run import Run
from understudy.train.schedule import STAGES
from understudy.train.state import TrainingState, new_state

_LOG = logging.getLogger("understudy")


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How a sitting speaks."""

    progress_style: ProgressStyle
    verbosity: int
    """0 to 2."""
    command: str
    """The command line as it was typed."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """A new run, as the edge asks for it."""

    settings: Settings
    source: PairSource
    colour: ColourRules
    skip_unreadable: bool = False
    """Leave out, with a warning each, pairs that cannot be read."""


def train_new(order: Order, manner: Manner) -> int:
    """Begin a run and train it to its end or until it is stopped; returns the exit code (errors.py).

    Raises UnderstudyError for anything the user can mend; before the first step nothing is left behind then.
    """
    with _speaking(manner) as progress:
        settings = order.settings
        files = RunFiles(settings.data_directory, settings.run_name or new_run_name())
        _refuse_existing(files)
        pairs = order.source.pairs()
        machine = choose_machine(settings, progress.say)
        dataset = decode_frames(pairs, settings, order.skip_unreadable, progress)
        model = first_model(settings, dataset)
        run = prepare_run(files, settings, dataset, order.colour, machine, model, progress)
        make_folder(files.directory)
        record = _new_record(run, order, manner)
        write_timeline(files.timeline, pairs, name=files.name)
        return _sit(run, new_state(model, machine.device), record, manner, progress)


def resume(place: Path, changes: Mapping[str, object], manner: Manner) -> int:
    """Go on with the run that `place` names, with some settings changed; returns the exit code.

    Raises UnderstudyError when there is no such run, its frames have changed, or its newest checkpoint is damaged.
    """
    with _speaking(manner) as progress:
        files = find_run(place)
        record = read_record(files.record)
        recorded, source, colour = _remembered(record, files)
        settings = dataclasses.replace(recorded, **changes)  # type: ignore[arg-type]
        check(settings)
        pairs = source.pairs()
        machine = choose_machine(settings, progress.say)
        remove_partials(files.directory, files.name)
        newest = max(files.checkpoint_steps(), default=0)  # killed before the first: the same run from its beginning
        dataset = decode_frames(pairs, settings, record.skip_unreadable, progress)
        model = load_model(files.model(newest)).model if newest else first_model(settings, dataset)
        refuse_other_channels(model, dataset, files.record)
        run = prepare_run(files, settings, dataset, colour, machine, model, progress)
        state = new_state(model, machine.device)
        if newest:
            load_checkpoint(files, newest, state)
        truncate_after(files.metrics, state.step)
        if run.schedule.is_over(state.step, state.elapsed_seconds):
            progress.say(f"{files.name} is finished at step {state.step}; give --epochs, --steps or --minutes to go on")
            return EXIT_DONE
        progress.say(f"Resuming {files.name} after step {state.step}")
        renewed = dataclasses.replace(
            record,
            settings=to_record(settings),
            total_steps=run.schedule.total_steps,
            device=str(machine),
            state="training",
            ended="",
        )
        return _sit(run, state, renewed, manner, progress)


def _kept_with(files: RunFiles, record: RunRecord) -> dict[str, str]:
    """Where the run's own script or timeline lies now: the data directory may have been moved."""
    kept = {"script": files.script, "timeline": files.timeline}
    kind = record.source.get("kind")
    return {kind: str(kept[kind].absolute())} if isinstance(kind, str) and kind in kept else {}


@contextmanager
def _speaking(manner: Manner) -> Iterator[Progress]:
    """A voice that tells the farm of a failure and always closes its bar."""
    progress = Progress(manner.progress_style, sys.stdout)
    try:
        yield progress
    except UnderstudyError as error:
        progress.fail(str(error))
        raise
    finally:
        progress.end()


def _refuse_existing(files: RunFiles) -> None:
    with naming_the_file(files.record):  # a path may be too long to be asked for
        exists = files.record.exists()
    if exists:
        raise UnderstudyError(
            f"{files.record}: that run exists; resume it with `understudy resume`, or give another --run-name"
        )


def _remembered(record: RunRecord, files: RunFiles) -> tuple[Settings, PairSource, ColourRules]:
    """What the run was begun with. Raises Problems naming the record when it says what this version cannot follow."""
    problems = ProblemList()
    with problems.collecting():
        settings = from_record({**record.settings, "batch_size": record.batch_size})
        source = source_from_record({**record.source, **_kept_with(files, record)})
        colour = colour_of_record({"colour": record.colour})
        return settings, source, colour
    raise Problems(f"{files.record}: {line}; restore it from a backup, or start a new run" for line in problems.lines)


def _new_record(run: Run, order: Order, manner: Manner) -> RunRecord:
    return RunRecord(
        settings=to_record(dataclasses.replace(run.settings, run_name=run.files.name)),
        source=order.source.kept_beside(run.files).record(),
        colour=dataclasses.asdict(order.colour),
        skip_unreadable=order.skip_unreadable,
        pairs=pair_records([pair.pair for pair in run.dataset.pairs]),
        versions=versions(torch.__version__),
        host=this_host(),
        command=manner.command,
        started=now(),
        total_steps=run.schedule.total_steps,
        batch_size=run.batch_size,
        device=str(run.machine),
    )


def _sit(run: Run, state: TrainingState, record: RunRecord, manner: Manner, progress: Progress) -> int:
    """Train with every pen open, and leave a record of how it ended."""
    files = run.files
    place = RankPlace(rank=0, device=str(run.machine), torch_version=torch.__version__, command=manner.command)
    with ExitStack() as open_things:
        stop = open_things.enter_context(StopRequests(files.stop_requests()))
        open_things.enter_context(RunLog(files.log(), place=place, progress=progress, verbosity=manner.verbosity))
        write_record(files.record, record)
        try:
            reason = _train_with_voices(run, state, stop, progress, open_things)
        except BaseException as error:
            with suppress(UnderstudyError):  # on a full disk the fault that ended the run is the one to tell of
                write_record(files.record, dataclasses.replace(record, state="failed", ended=now()))
            if _is_out_of_memory(error):
                raise UnderstudyError(
                    f"step {state.step + 1}: does not fit into memory; train again with a smaller --batch-size, "
                    "--crop-size or --model-size"
                ) from error
            raise
        ending = dataclasses.replace(record, state="stopped" if reason else "finished", ended=now())
        write_record(files.record, ending)
    if reason:
        stop.consume()
        progress.say(f"Stopped by {reason} after step {state.step}; go on with: understudy resume {files.directory}")
        return EXIT_STOPPED
    return EXIT_DONE


def _in_figures(run: Run, state: TrainingState) -> str:
    weights = sum(parameter.numel() for parameter in state.model.parameters())
    mebibytes = sum(pair.input.nbytes + pair.target.nbytes for pair in run.dataset.pairs) / 2**20
    ends = ", ".join(f"1/{reduction} to {100 * end:.0f} %" for end, reduction in STAGES)
    stages = f"resolution {ends}" if run.schedule.multi_resolution else "full resolution throughout"
    return f"{weights:,} weights; {mebibytes:.1f} MiB of decoded frames; {stages}"


def _is_out_of_memory(error: BaseException) -> bool:
    """PyTorch tells of the CPU's memory in words only."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or (
        isinstance(error, RuntimeError) and "allocate memory" in str(error)
    )


def _train_with_voices(
    run: Run, state: TrainingState, stop: StopRequests, progress: Progress, open_things: ExitStack
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
        return train(run, state, Recorder(run, state, voices), stop)
