"""Suggesting which frame to paint next: every frame of the shot is looked at with the run's newest model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from understudy.cores import cores_given
from understudy.errors import UnderstudyError
from understudy.frames.colour import ColourRules
from understudy.frames.image import FloatPixels
from understudy.frames.sequence import Sequence, format_frames
from understudy.orders import remembered
from understudy.remap import Remap
from understudy.report.run_record import RunRecord, read_record
from understudy.runs import RunFiles, find_model, find_run
from understudy.settings import Settings
from understudy.sources.sequences import SequenceSource
from understudy.train.device import choose_machine
from understudy.train.looks import Looker, reduced
from understudy.train.model_file import SavedModel, load_model
from understudy.train.need import Look, Need, needs_of, suggested
from understudy.train.network import Understudy
from understudy.train.plate import PlateRules, read_plate

MOST_FRAMES = 120
"""Candidates: of a longer shot every second, third, ... frame is looked at: neighbours are much alike."""
READERS = 2
EARLIER_SHARE = 2 / 3
"""Of the steps done: about there lies the checkpoint with which the newest is compared."""
TOLD_EVERY = 20
"""Frames between two lines of progress."""

_Picture = tuple[int, FloatPixels | UnderstudyError]
"""A frame, and it made small, H W C, or why it cannot be read."""


@dataclass(frozen=True, kw_only=True)
class SuggestOrder:
    """For which run, on which frames, how many."""

    run: Path
    """A run's data directory, any file of it, or one of its models."""
    count: int
    """Frames to suggest."""
    input: str = ""
    """Pattern of the plate; empty: the run's own."""
    frames: tuple[int, ...] = ()
    """Candidates; empty: all that the input has."""
    layer: str | None = None
    """None: the layer that the model was trained on."""
    colorspace: str = ""
    """Empty: the run's own; so for `view` and `colour`."""
    view: str = ""
    colour: ColourRules | None = None
    remap: Remap = ()
    """For paths that another system wrote."""
    settings: Settings
    """For device, precision and threads."""


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """What to paint next, and what it rests on."""

    model: Path
    input: str
    """Pattern of the plate."""
    painted: tuple[int, ...]
    needs: tuple[Need, ...]
    """The suggested frames, neediest first."""
    left_out: tuple[str, ...]
    """A line for every frame, or range of frames, that could not be looked at."""


@dataclass(frozen=True, kw_only=True)
class _Plate:
    """The shot's frames, and which of them the run has in paint."""

    pattern: str
    sequence: Sequence
    rules: PlateRules
    painted: frozenset[int]


def suggest(order: SuggestOrder, say: Callable[[str], None]) -> Suggestion:
    """Look at every frame and choose; `say` gets lines of progress and warnings.

    Raises UnderstudyError when the run has no model, its plate is not known, or no frame is left to choose from.
    """
    path = find_model(order.run)
    files = find_run(path)
    plate = _plate_of(order, files, read_record(files.record))
    frames, left_out = _frames_of(order, plate)
    machine = choose_machine(order.settings, say)
    saved = load_model(path)
    looker = Looker(saved.model, _earlier(files, saved.card.step), machine)
    say(f"Looking at {len(frames)} frames of {plate.pattern} with {path} on {machine}")
    looks, unreadable = _look_at_all(looker, _pictures(plate, saved, frames), len(frames), say)
    left_out += unreadable
    for line in left_out:
        say(f"warning: {line} (left out)")
    _refuse_too_few(looks, plate)
    return Suggestion(
        model=path,
        input=plate.pattern,
        painted=tuple(sorted(plate.painted)),
        needs=suggested(needs_of(looks, plate.painted), order.count),
        left_out=tuple(left_out),
    )


def _look_at_all(
    looker: Looker, pictures: Iterator[_Picture], num_frames: int, say: Callable[[str], None]
) -> tuple[list[Look], list[str]]:
    """What was seen, and a line for every frame that cannot be read."""
    looks: list[Look] = []
    unreadable: list[str] = []
    for number, (frame, pixels) in enumerate(pictures, start=1):
        if isinstance(pixels, UnderstudyError):
            unreadable.append(str(pixels))
        else:
            looks.append(looker.look(frame, pixels))
        if number % TOLD_EVERY == 0 or number == num_frames:
            say(f"Frame {frame} ({number} of {num_frames})")
    return looks, unreadable


def _plate_of(order: SuggestOrder, files: RunFiles, record: RunRecord) -> _Plate:
    """What the run saw as input, unless the order says otherwise."""
    asked = remembered(record, files, {}, order.remap)
    source = asked.source if isinstance(asked.source, SequenceSource) else None
    if source is None and not order.input:
        raise UnderstudyError(
            f"{files.record}: the run knows its plate only as single pairs; give --input with the plate's pattern"
        )
    pattern = order.input or (source.input if source else "")
    sequence = Sequence(pattern)
    if sequence.is_still:
        raise UnderstudyError(f"{pattern}: is one file, not a shot; give --input with a frame number: plate.####.exr")
    rules = PlateRules(
        layer=order.layer,
        colorspace=order.colorspace or (source.input_colorspace if source else ""),
        view=order.view or (source.view if source else ""),
        colour=order.colour or asked.colour,
    )
    rules.colour.check()
    return _Plate(pattern=pattern, sequence=sequence, rules=rules, painted=_painted(record, sequence, source is None))


def _painted(record: RunRecord, sequence: Sequence, by_name: bool) -> frozenset[int]:
    """The numbers of the painted frames in the plate; `by_name`: the pairs may be numbered otherwise."""
    if not by_name:
        return frozenset(pair.frame for pair in record.pairs)
    names = {Path(pair.input.path).name for pair in record.pairs}
    return frozenset(frame for frame in sequence.frames_on_disk() if sequence.path(frame).name in names)


def _frames_of(order: SuggestOrder, plate: _Plate) -> tuple[list[int], list[str]]:
    """Candidates and painted frames, ascending, and a line about those that are missing."""
    on_disk = plate.sequence.frames_on_disk()
    if not on_disk:
        raise UnderstudyError(f"{plate.pattern}: no frame found; give --input with the pattern of an existing sequence")
    wanted = order.frames or tuple(range(on_disk[0], on_disk[-1] + 1))
    missing = sorted({*wanted, *plate.painted} - {*on_disk})
    lines = [f"{plate.pattern}: has no frames {format_frames(missing)}"] if missing else []
    candidates = sorted({*wanted} & {*on_disk} - plate.painted)
    if not candidates:
        raise UnderstudyError(f"{plate.pattern}: no unpainted frame is left to choose from; give other --frames")
    stride = -(-len(candidates) // MOST_FRAMES)
    return sorted({*candidates[::stride], *(plate.painted & {*on_disk})}), lines


def _earlier(files: RunFiles, step: int) -> Understudy | None:
    """The model at an earlier step; None when the run has kept none."""
    before = [kept for kept in files.checkpoint_steps() if kept < step]
    if not before:
        return None
    return load_model(files.model(min(before, key=lambda kept: abs(kept - EARLIER_SHARE * step)))).model


def _pictures(plate: _Plate, saved: SavedModel, frames: list[int]) -> Iterator[_Picture]:
    """Every frame, in order."""

    def picture(frame: int) -> FloatPixels | UnderstudyError:
        try:
            return reduced(read_plate(plate.sequence.path(frame), saved, plate.rules))
        except UnderstudyError as error:
            return error

    with ThreadPoolExecutor(min(READERS, cores_given()), "read") as readers:
        yield from zip(frames, readers.map(picture, frames), strict=True)


def _refuse_too_few(looks: list[Look], plate: _Plate) -> None:
    seen = {look.frame for look in looks}
    if not seen & plate.painted:
        raise UnderstudyError(
            f"{plate.pattern}: holds none of the run's painted frames; give --input with the plate that was painted"
        )
    if not seen - plate.painted:
        raise UnderstudyError(f"{plate.pattern}: no unpainted frame can be read; render them again")
