"""From settings and pairs to a run that can take its first step: frames decoded, model made, everything chosen said."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from understudy.dataset import FEWEST_PIXELS, Dataset, decode, decode_once_per_host
from understudy.errors import UnderstudyError
from understudy.frames.colour import ColourRules
from understudy.frames.kinds import may_hold_directions
from understudy.pairs import Pair
from understudy.report.events import require_tensorboard
from understudy.report.progress import Progress
from understudy.runs import RunFiles
from understudy.settings import Settings, total_steps
from understudy.train.batch_plan import BatchPlan
from understudy.train.crops import CropPlan, Interest
from understudy.train.device import Machine, choose_batch
from understudy.train.encoded_frames import encoded_frames
from understudy.train.first_units import spread_first_units
from understudy.train.fit import fit_model, interests_of, preview_of
from understudy.train.initial_weights import started_from
from understudy.train.network import NetworkSpec, Understudy
from understudy.train.plate_grain import grain_of
from understudy.train.run import Run
from understudy.train.schedule import STAGES, Schedule
from understudy.train.squares import Square, draw_squares, left_to_learn, withheld
from understudy.train.work import Work, has_soft_edges, work_of

FIRST_WEIGHTS = 1
"""Draws what a network begins with, in every run: by that alone mattes ended up to 1 dB higher or lower."""


@contextmanager
def decoded_frames(
    pairs: tuple[Pair, ...], settings: Settings, skip_unreadable: bool, progress: Progress, shared_as: str | None
) -> Iterator[Dataset]:
    """All pairs, decoded within the memory that the settings give, or once for all ranks of a run on this machine.

    `shared_as`: the run's name, by which its ranks find each other's frames; None: there is one process.
    Raises Problems for pairs that cannot be used.
    """

    def warn(line: str) -> None:
        progress.say(f"warning: {line}")

    cache_folder = Path(tempfile.gettempdir())
    if shared_as is None:
        yield decode(
            pairs,
            crop_size=settings.crop_size,
            memory_bytes=_bytes(settings),
            cache_folder=cache_folder,
            skip_unreadable=skip_unreadable,
            warn=warn,
        )
        return
    with decode_once_per_host(
        pairs,
        key=shared_as,
        crop_size=settings.crop_size,
        cache_folder=cache_folder,
        skip_unreadable=skip_unreadable,
        warn=warn,
        tell=progress.say,
    ) as dataset:
        yield dataset


def first_model(settings: Settings, dataset: Dataset, progress: Progress) -> Understudy:
    """The model before its first step: the initial weights, or those of every run, fitted to the pairs.

    Raises UnderstudyError when the initial weights are damaged or of another network.
    """
    spec = NetworkSpec(
        input_channels=dataset.input_channels,
        target_channels=dataset.target_channels,
        model_size=settings.model_size,
    )
    is_matte = work_of(settings.task, dataset).is_matte
    if settings.initial_weights:
        return started_from(settings.initial_weights, spec, dataset.training, progress.say, is_matte=is_matte)
    torch.manual_seed(FIRST_WEIGHTS)  # every crop is drawn from the run's seed and its own number
    model = Understudy(spec)
    fit_model(model, dataset.training, is_matte=is_matte)
    spread_first_units(model, dataset.training)
    return model


def refuse_other_channels(model: Understudy, dataset: Dataset, record: Path) -> None:
    """Raise UnderstudyError when the frames have changed channels since the run was begun."""
    spec = model.spec
    if (spec.input_channels, spec.target_channels) != (dataset.input_channels, dataset.target_channels):
        raise UnderstudyError(
            f"{record}: the frames now have channels {','.join(dataset.input_channels)} -> "
            f"{','.join(dataset.target_channels)}, the run was begun with {','.join(spec.input_channels)} -> "
            f"{','.join(spec.target_channels)}; restore the frames or train anew"
        )


def prepare_run(
    files: RunFiles,
    settings: Settings,
    dataset: Dataset,
    colour: ColourRules,
    machine: Machine,
    model: Understudy,
    progress: Progress,
    batch: BatchPlan | None,
    world_size: int,
) -> Run:
    """Everything that the steps need, chosen and said. `model` is still on the CPU.

    `batch`: what was chosen when the run began, or by rank 0; None: it is chosen here, for so many ranks.
    """
    if settings.tensorboard:
        require_tensorboard()
    interest = interests_of(model, dataset.training)
    squares = draw_squares(dataset.training, interest) if _wants_squares(settings, dataset) else ()
    work = work_of(settings.task, dataset)
    grain = grain_of(dataset, model.input_transfer, settings.crop_size, is_matte=work.is_matte)
    crops = _crop_plan(settings, dataset, left_to_learn(interest, squares), work, has_grain=grain is not None)
    is_auto = batch is None and not settings.batch_size
    batch = batch or choose_batch(settings, machine, crops.height * crops.width, world_size)
    steps = total_steps(settings, len(dataset.training), batch.size)
    progress.say(f"Channels: {','.join(dataset.input_channels)} -> {','.join(dataset.target_channels)}")
    progress.say(f"Task: {work}")
    if grain:
        progress.say(f"Grain: {grain}")
    progress.say(f"Pairs: {len(dataset.training)} to train on, {len(dataset.validation)} to validate")
    if squares:
        progress.say(f"Validation Squares: {_in_words(squares, dataset)}")
    progress.say(f"Device: {machine}")
    progress.say(f"Batch Size: {batch.in_words()}{' (Auto)' if is_auto else ''}")
    progress.say(f"Crop Size: {crops.width}x{crops.height}")
    progress.say(f"Total Steps: {steps}" + (f" or {settings.minutes:g} minutes" if settings.minutes else ""))
    training = withheld(dataset.training, squares)
    schedule = _schedule(settings, work, crops, steps)
    may_encode = not schedule.multi_resolution  # pixels are averaged in scene values
    return Run(
        files=files,
        settings=settings,
        dataset=dataset,
        training=training,
        encoded=encoded_frames(training, model, machine, memory_bytes=_bytes(settings)) if may_encode else None,
        grain=grain.on(machine) if grain else None,
        squares=squares,
        colour=colour,
        machine=machine,
        schedule=schedule,
        measure=work.measure,
        miss_power=work.miss_power,
        wakes=work.wakes,
        batch=batch,
        crops=crops,
        previews=tuple(preview_of(model, pair, settings.crop_size) for pair in dataset.validation),
    )


def _bytes(settings: Settings) -> int:
    """That frames may take in memory."""
    return int(settings.memory_gib * 2**30)


def _wants_squares(settings: Settings, dataset: Dataset) -> bool:
    return settings.validation_squares and not dataset.validation


def _in_words(squares: tuple[Square, ...], dataset: Dataset) -> str:
    side = squares[0].side
    share = len(squares) * side**2 / sum(pair.window.width * pair.window.height for pair in dataset.training)
    return f"{len(squares)} of {side}x{side} pixels, {100 * share:.1f} % of what is painted, are not learnt from"


def _schedule(settings: Settings, work: Work, crops: CropPlan, steps: int) -> Schedule:
    # the coarsest stage must leave neighbours to compare
    has_room = min(crops.width, crops.height) >= FEWEST_PIXELS * STAGES[0][1]
    return Schedule(
        total_steps=steps,
        knob_learning_rate=settings.learning_rate,
        fall=work.fall,
        multi_resolution=settings.multi_resolution and has_room,
        seconds=settings.minutes * 60,
    )


def _crop_plan(
    settings: Settings, dataset: Dataset, interest: tuple[Interest, ...], work: Work, *, has_grain: bool
) -> CropPlan:
    channels = (*dataset.input_channels, *dataset.target_channels)
    return CropPlan(
        dataset.training,
        interest,
        crop_size=settings.crop_size,
        seed=settings.seed,
        may_mirror=not any(map(may_hold_directions, channels)),
        may_shift=work.is_matte and has_soft_edges(dataset),
        has_grain=has_grain,
    )
