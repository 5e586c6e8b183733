"""One sitting of a run, from an order to an exit code: look at everything first, write only then, end tidily."""

from __future__ import annotations

import dataclasses
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import torch

from understudy.dataset import FEWEST_PIXELS, Dataset, decode
from understudy.errors import EXIT_DONE, EXIT_STOPPED, ProblemList, Problems, UnderstudyError
from understudy.files import make_folder, naming_the_file
from understudy.frames.colour import ColourRules
from understudy.pairs import Pair, PairSource
from understudy.report.events import EventWriter, require_tensorboard
from understudy.report.log import RankPlace, RunLog
from understudy.report.metrics import MetricsLog, truncate_after
from understudy.report.progress import Progress, ProgressStyle
from understudy.report.reporter import Reporter
from understudy.report.run_record import RunRecord, now, pair_records, read_record, this_host, write_record
from understudy.report.versions import versions
from understudy.runs import RunFiles, find_run, new_run_name
from understudy.settings import Settings, check, from_record, to_record, total_steps
from understudy.sources.record import from_record as source_from_record
from understudy.sources.sequences import colour_of_record
from understudy.sources.timeline import write_timeline
from understudy.stopping import StopRequests
from understudy.train.checkpoint import load_newest_checkpoint
from understudy.train.crops import CropPlan
from understudy.train.device import Machine, choose_batch_size, choose_machine
from understudy.train.fit import fit_model, interest_of, preview_of
from understudy.train.loop import train
from understudy.train.model_file import load_model
from understudy.train.network import NetworkSpec, Understudy
from understudy.train.recorder import Recorder, Voices
from understudy.train.run import Run
from understudy.train.schedule import STAGES, Schedule
from understudy.train.state import TrainingState, new_state


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
        initial = load_model(settings.initial_weights).model if settings.initial_weights else None
        machine = choose_machine(settings, progress.say)
        dataset = _decode(pairs, settings, order.skip_unreadable, progress)
        model = _first_model(settings, dataset, initial)
        run = _prepare(files, settings, dataset, order.colour, machine, model, progress)
        make_folder(files.directory)
        record = _new_record(run, order, manner)
        write_timeline(files.timeline, pairs, name=files.name)
        return _sit(run, new_state(model, machine.device), record, manner, progress)


def resume(place: Path, changes: Mapping[str, object], manner: Manner) -> int:
    """Go on with the run that `place` names, with some settings changed; returns the exit code.

    Raises UnderstudyError when there is no such run, its frames have changed shape, or its checkpoint is damaged.
    """
    with _speaking(manner) as progress:
        files = find_run(place)
        record = read_record(files.record)
        recorded, source, colour = _remembered(record, files.record)
        settings = dataclasses.replace(recorded, **changes)  # type: ignore[arg-type]
        check(settings)
        pairs = source.pairs()
        machine = choose_machine(settings, progress.say)
        model = load_model(_newest(files)).model
        dataset = _decode(pairs, settings, record.skip_unreadable, progress)
        _refuse_other_channels(model, dataset, files.record)
        run = _prepare(files, settings, dataset, colour, machine, model, progress)
        state = new_state(model, machine.device)
        load_newest_checkpoint(files, state)
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


def _remembered(record: RunRecord, path: Path) -> tuple[Settings, PairSource, ColourRules]:
    """What the run was begun with. Raises Problems naming the record when it says what this version cannot follow."""
    problems = ProblemList()
    with problems.collecting():
        settings = from_record({**record.settings, "batch_size": record.batch_size})
        source = source_from_record(record.source)
        colour = colour_of_record({"colour": record.colour})
        return settings, source, colour
    raise Problems(f"{path}: {line}; restore it from a backup, or start a new run" for line in problems.lines)


def _decode(pairs: tuple[Pair, ...], settings: Settings, skip_unreadable: bool, progress: Progress) -> Dataset:
    return decode(
        pairs,
        crop_size=settings.crop_size,
        memory_bytes=int(settings.memory_gib * 2**30),
        cache_folder=Path(tempfile.gettempdir()),
        skip_unreadable=skip_unreadable,
        warn=lambda line: progress.say(f"warning: {line}"),
    )


def _first_model(settings: Settings, dataset: Dataset, initial: Understudy | None) -> Understudy:
    spec = NetworkSpec(
        input_channels=dataset.input_channels,
        target_channels=dataset.target_channels,
        model_size=settings.model_size,
    )
    if initial is not None:
        _refuse_other_weights(initial.spec, spec, settings.initial_weights)
        return initial
    torch.manual_seed(settings.seed)  # draws the first weights; every crop is drawn from the seed and its own number
    model = Understudy(spec)
    fit_model(model, dataset.training)
    return model


def _refuse_other_weights(has: NetworkSpec, wanted: NetworkSpec, path: Path | None) -> None:
    differences = [
        f"{what} {one} where this run has {other}"
        for what, one, other in (
            ("input channels", ",".join(has.input_channels), ",".join(wanted.input_channels)),
            ("target channels", ",".join(has.target_channels), ",".join(wanted.target_channels)),
            ("model size", has.model_size, wanted.model_size),
        )
        if one != other
    ]
    if differences:
        raise UnderstudyError(f"{path}: cannot be the initial weights: {'; '.join(differences)}; choose another model")


def _refuse_other_channels(model: Understudy, dataset: Dataset, record: Path) -> None:
    spec = model.spec
    if (spec.input_channels, spec.target_channels) != (dataset.input_channels, dataset.target_channels):
        raise UnderstudyError(
            f"{record}: the frames now have channels {','.join(dataset.input_channels)} -> "
            f"{','.join(dataset.target_channels)}, the run was begun with {','.join(spec.input_channels)} -> "
            f"{','.join(spec.target_channels)}; restore the frames or train anew"
        )


def _newest(files: RunFiles) -> Path:
    steps = files.checkpoint_steps()
    if not steps:
        raise UnderstudyError(f"{files.directory}: run {files.name} has no checkpoint to resume from; train it again")
    return files.model(steps[-1])


def _prepare(
    files: RunFiles,
    settings: Settings,
    dataset: Dataset,
    colour: ColourRules,
    machine: Machine,
    model: Understudy,
    progress: Progress,
) -> Run:
    """Everything that the steps need, chosen and said. `model` is still on the CPU."""
    interest = tuple(interest_of(model, pair) for pair in dataset.training)
    crops = CropPlan(dataset.training, interest, crop_size=settings.crop_size, seed=settings.seed)
    batch_size, is_auto = choose_batch_size(settings, machine, crops.height * crops.width)
    steps = total_steps(settings, len(dataset.training), batch_size)
    progress.say(f"Channels: {','.join(dataset.input_channels)} -> {','.join(dataset.target_channels)}")
    progress.say(f"Pairs: {len(dataset.training)} to train on, {len(dataset.validation)} to validate")
    progress.say(f"Device: {machine}")
    progress.say(f"Batch Size: {batch_size}{' (Auto)' if is_auto else ''}")
    progress.say(f"Crop Size: {crops.width}x{crops.height}")
    if settings.tensorboard:
        require_tensorboard()
    progress.say(f"Total Steps: {steps}" + (f" or {settings.minutes:g} minutes" if settings.minutes else ""))
    return Run(
        files=files,
        settings=settings,
        dataset=dataset,
        colour=colour,
        machine=machine,
        schedule=Schedule(
            total_steps=steps,
            peak_learning_rate=settings.learning_rate,
            # the coarsest stage must leave neighbours to compare
            multi_resolution=settings.multi_resolution
            and min(crops.width, crops.height) >= FEWEST_PIXELS * STAGES[0][1],
            seconds=settings.minutes * 60,
        ),
        batch_size=batch_size,
        crops=crops,
        previews=tuple(preview_of(model, pair, settings.crop_size) for pair in dataset.validation),
    )


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
    if state.step:
        metrics.event("resumed", step=state.step)
    with Reporter(files=files, settings=settings, colour=run.colour, progress=progress, events=events) as reporter:
        voices = Voices(progress=progress, metrics=metrics, reporter=reporter, events=events)
        share_done = run.schedule.progress(state.step + 1, state.elapsed_seconds)
        progress.begin(run.schedule.total_steps, state.step + 1, share_done)
        return train(run, state, Recorder(run, state, voices), stop)
