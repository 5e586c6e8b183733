"""A run from an order to an exit code: look at everything first, write only then."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import torch

from understudy.allocator import grow_in_large_pages
from understudy.dataset import pair_digests
from understudy.errors import EXIT_DONE, UnderstudyError
from understudy.files import naming_the_file, remove_partials
from understudy.orders import PATHS_OF_SETTINGS, Order, lay_down, remembered
from understudy.ranks.meeting import Meeting
from understudy.ranks.place import RankPlace
from understudy.remap import Remap
from understudy.report.metrics import truncate_after
from understudy.report.progress import Progress
from understudy.report.run_record import RunRecord, pair_records, read_record, this_host
from understudy.report.versions import versions
from understudy.runs import RunFiles, find_run, new_run_name
from understudy.settings import OF_ONE_RANK, Settings, to_record
from understudy.train.admission import admitted, fitted_to
from understudy.train.batch_plan import BatchPlan
from understudy.train.checkpoint import load_checkpoint
from understudy.train.device import Machine, choose_machine
from understudy.train.model_file import load_model
from understudy.train.network import Understudy
from understudy.train.prepare import decoded_frames, first_model, prepare_run, refuse_other_channels
from understudy.train.run import Run
from understudy.train.sitting import Manner, follow, lead, speaking
from understudy.train.state import TrainingState, new_state


def train_new(order: Order, manner: Manner, place: RankPlace | None = None) -> int:
    """Begin a run, or join it as the rank that `place` says, and train it to its end or until it is stopped.

    Returns the exit code (errors.py). A rank 0 that is started again goes on with the run that lost it.
    Raises UnderstudyError for anything the user can mend; before the first step nothing is left behind then.
    """
    with speaking(manner) as progress:
        directory, name = order.settings.data_directory, order.settings.run_name
        if place is None or place.world_size == 1:
            return _begin(order, RunFiles(directory, name or new_run_name()), manner, progress, None)
        with admitted(
            place,
            order.settings,
            RunFiles(directory, name),
            may_go_on=lambda lost: _is_unfinished(RunFiles(directory, lost), order.settings),
            has_begun=False,
            progress=progress,
        ) as meeting:
            files = RunFiles(directory, meeting.run_name)
            if not meeting.leads:
                return _follow(order, files, manner, progress, meeting)
            if meeting.is_taking_over and files.record.exists():
                return _go_on(order, files, manner, progress, meeting)
            return _begin(order, files, manner, progress, meeting)


def resume(
    run_place: Path,
    changes: Mapping[str, object],
    manner: Manner,
    place: RankPlace | None = None,
    remap: Remap = (),
) -> int:
    """Go on with the run that `run_place` names, or begin it if it was submitted, alone or as a rank; the exit code.

    `changes`: settings that are other ones now. `remap`: for paths that another system wrote.
    Raises UnderstudyError when there is no such run, its frames have changed, or its newest checkpoint is damaged.
    """
    with speaking(manner) as progress:
        files = find_run(run_place)
        record = read_record(files.record)
        order = remembered(record, files, changes, remap)
        if place is None or place.world_size == 1:
            return _go_on(order, files, manner, progress, None)
        has_begun = record.state != "submitted"
        with admitted(
            place, order.settings, files, may_go_on=lambda _: True, has_begun=has_begun, progress=progress
        ) as meeting:
            step = _go_on if meeting.leads else _follow
            return step(order, files, manner, progress, meeting)


def _begin(order: Order, files: RunFiles, manner: Manner, progress: Progress, meeting: Meeting | None) -> int:
    """Alone or as rank 0."""
    _refuse_existing(files)
    settings = order.settings
    pairs = order.source.pairs()
    machine = _machine(settings, meeting, progress)
    with decoded_frames(pairs, settings, order.skip_unreadable, progress, files.name if meeting else None) as dataset:
        model = first_model(settings, dataset, progress)
        run = prepare_run(files, settings, dataset, order.colour, machine, model, progress, None, _world_size(meeting))
        _fix_terms(run, meeting)
        record = lay_down(order, pairs, files, command=manner.command)
        return lead(run, _first_state(model, run), _renewed(record, run, order), manner, progress, meeting)


def _go_on(order: Order, files: RunFiles, manner: Manner, progress: Progress, meeting: Meeting | None) -> int:
    """From the newest checkpoint, alone or as rank 0."""
    record, settings = read_record(files.record), order.settings
    has_begun = record.state != "submitted"
    pairs = order.source.pairs()
    machine = _machine(settings, meeting, progress)
    remove_partials(files.directory, files.name)
    newest = max(files.checkpoint_steps(), default=0)  # killed before the first: the same run from its beginning
    with decoded_frames(pairs, settings, record.skip_unreadable, progress, files.name if meeting else None) as dataset:
        model = load_model(files.model(newest)).model if newest else first_model(settings, dataset, progress)
        refuse_other_channels(model, dataset, files.record)
        batch = _recorded_batch(record, meeting) if has_begun else None
        run = prepare_run(files, settings, dataset, order.colour, machine, model, progress, batch, _world_size(meeting))
        state = _first_state(model, run)
        if newest:
            load_checkpoint(files, newest, state)
        truncate_after(files.metrics, state.step)
        if run.schedule.is_over(state.step, state.elapsed_seconds) and meeting is None:
            progress.say(f"{files.name} is finished at step {state.step}; give --epochs, --steps or --minutes to go on")
            return EXIT_DONE
        _fix_terms(run, meeting)
        if has_begun:
            progress.say(f"Resuming {files.name} after step {state.step}")
        return lead(run, state, _renewed(record, run, order), manner, progress, meeting)


def _follow(order: Order, files: RunFiles, manner: Manner, progress: Progress, meeting: Meeting) -> int:
    """As any other rank: on rank 0's terms, from the state that the others have."""
    settings, size = order.settings, meeting.place.world_size
    machine = _machine(settings, meeting, progress)
    pairs = order.source.pairs()
    with decoded_frames(pairs, settings, order.skip_unreadable, progress, files.name) as dataset:
        meeting.member.hold_pairs(pair_digests(dataset))
        batch = BatchPlan(size=meeting.member.batch_size())
        model = first_model(settings, dataset, progress)
        run = prepare_run(files, settings, dataset, order.colour, machine, model, progress, batch, size)
        return follow(run, _first_state(model, run), manner, progress, meeting)


def _first_state(model: Understudy, run: Run) -> TrainingState:
    return new_state(model, run.machine, run.crops.interest, run.miss_power, wakes=run.wakes)


def _machine(settings: Settings, meeting: Meeting | None, progress: Progress) -> Machine:
    """Before frames are decoded: steps fill first what that leaves free."""
    machine = choose_machine(fitted_to(meeting.place, settings) if meeting else settings, progress.say)
    if machine.device.type == "cpu":
        grow_in_large_pages()
    return machine


def _world_size(meeting: Meeting | None) -> int:
    return meeting.place.world_size if meeting else 1


def _recorded_batch(record: RunRecord, meeting: Meeting | None) -> BatchPlan:
    """As it was when the run began. Ranks that divide it have all of it in every step."""
    return BatchPlan(size=record.batch_size, first=None if meeting else record.first_steps)


def _fix_terms(run: Run, meeting: Meeting | None) -> None:
    if meeting:
        meeting.member.hold_pairs(pair_digests(run.dataset))
        meeting.member.fix_terms(run.batch.size)


def _is_unfinished(files: RunFiles, settings: Settings) -> bool:
    """Whether the run was lost in the middle, and was begun with these settings; True when it wrote nothing yet."""
    if not files.record.exists():
        return True
    record = read_record(files.record)
    asked = to_record(settings)
    same = {*asked} - OF_ONE_RANK - {"run_name"}
    return record.state == "training" and all(record.settings.get(name) == asked[name] for name in same)


def _refuse_existing(files: RunFiles) -> None:
    with naming_the_file(files.record):  # a path may be too long to be asked for
        exists = files.record.exists()
    if exists:
        raise UnderstudyError(
            f"{files.record}: that run exists; resume it with `understudy resume`, or give another --run-name"
        )


def _renewed(record: RunRecord, run: Run, order: Order) -> RunRecord:
    """The record of a run that goes on, or that was submitted and begins."""
    if record.state == "submitted":
        record = dataclasses.replace(
            record,
            pairs=pair_records([pair.pair for pair in run.dataset.pairs]),
            versions=versions(torch.__version__),
            host=this_host(),
            batch_size=run.batch.size,
            first_steps=run.batch.first,
        )
    settings = to_record(dataclasses.replace(order.settings, run_name=run.files.name))
    as_written = {name: record.settings[name] for name in PATHS_OF_SETTINGS}  # where this rank is, they may be others
    return dataclasses.replace(
        record,
        settings={**settings, **as_written},
        total_steps=run.schedule.total_steps,
        device=str(run.machine),
        state="training",
        ended="",
    )
