"""A result to be published: which of its frames there are, of which plate, and where the painted frames lie in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.frames.read import read_header
from understudy.frames.sequence import Sequence, format_frames
from understudy.pairs import Pair
from understudy.publish.facts import RunFacts
from understudy.remap import Remap
from understudy.sources.sequences import FileFrame, SequenceSource
from understudy.sources.timeline import TimelineSource
from understudy.sources.timeline_result import ResultTracks, Shown

USUAL_FPS = 24.0
"""Where neither the frames nor anybody else says."""


@dataclass(frozen=True, kw_only=True)
class ResultOrder:
    """What is named of a result."""

    pattern: str
    plate: str = ""
    """Pattern of the frames that it was made from; empty: the run's own input."""
    frames: tuple[int, ...] = ()
    """Empty: from the first that there is to the last."""
    fps: float = 0.0
    """Frames a second; 0: what the frames' headers say."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """Frames that were applied, and what belongs beside them."""

    pattern: str
    """Absolute."""
    frames: tuple[int, ...]
    """Those that there are; one at least."""
    missing: tuple[int, ...]
    """Between the first and the last."""
    plate: Shown
    painted: Mapping[int, Pair]
    """The run's pairs by the number of their input in the plate."""
    strangers: tuple[int, ...]
    """Pairs whose input is no frame of that plate, by their own numbers."""
    fps: float

    def file(self, frame: int) -> Path:
        return Sequence(self.pattern).path(frame)

    def tracks(self, name: str, folder: Path | None) -> ResultTracks:
        """As a timeline; `folder`: where the result's files lie now, if they were copied."""
        paths = {frame: self.file(frame) for frame in self.frames}
        if folder:
            paths = {frame: folder / path.name for frame, path in paths.items()}
        result = {frame: FileFrame(path=path, frame=frame) for frame, path in paths.items()}
        return ResultTracks(name=name, plate=self.plate, result=result, painted=self.painted, fps=self.fps)

    def warnings(self) -> list[str]:
        lines = []
        if self.missing:
            lines.append(f"{self.pattern}: has no frames {format_frames(self.missing)}; result.otio has gaps there")
        if self.strangers:
            frames = format_frames(self.strangers)
            lines.append(
                f"result.otio: pairs {frames} were painted on another plate than the result; they are not shown"
            )
        bare = [frame for frame in self.frames if frame not in self.plate]
        if bare:
            lines.append(f"result.otio: there is no plate for frames {format_frames(bare)}; name it with --input")
        return lines


def found_result(order: ResultOrder, run: RunFacts | None, remap: Remap) -> Result:
    """What there is of it. Raises UnderstudyError when frames that were asked for, or all, are missing."""
    sequence = Sequence(order.pattern)
    if sequence.is_still:
        raise UnderstudyError(f"--result {order.pattern}: is one file; give a frame number, such as result.####.exr")
    on_disk = sequence.frames_on_disk()
    if not on_disk:
        raise UnderstudyError(
            f"--result {order.pattern}: no frame found; correct the pattern, or apply the model first"
        )
    absent = sorted({*order.frames} - {*on_disk})
    if absent:
        raise UnderstudyError(
            f"--result {order.pattern}: frames {format_frames(absent)} are missing; "
            "apply the model to them, or leave them out of --frames"
        )
    frames = tuple(sorted({*order.frames})) or on_disk
    plate = _plate_of(order, run)
    pairs = _pairs_of(run, remap)
    painted = {_number_in(plate, pair): pair for pair in pairs if _is_of(plate, pair)}
    return Result(
        pattern=str(Path(order.pattern).absolute()),
        frames=frames,
        missing=tuple(sorted({*range(frames[0], frames[-1] + 1)} - {*on_disk})),
        plate=_shown_plate(plate, frames, painted),
        painted=painted,
        strangers=tuple(pair.frame for pair in pairs if not _is_of(plate, pair)),
        fps=order.fps or _fps_of(sequence.path(frames[0])),
    )


def _plate_of(order: ResultOrder, run: RunFacts | None) -> Sequence | None:
    """None: it is known as single pairs only. Raises UnderstudyError for one that was named and is not there."""
    if order.plate:
        plate = Sequence(str(Path(order.plate).absolute()))
        if plate.is_still or not plate.frames_on_disk():
            raise UnderstudyError(f"--input {order.plate}: no frame found; give the pattern of the plate")
        return plate
    source = run.order.source if run else None
    return Sequence(source.input) if isinstance(source, SequenceSource) else None


def _pairs_of(run: RunFacts | None, remap: Remap) -> tuple[Pair, ...]:
    if run is None or not run.files.timeline.is_file():
        return ()
    return TimelineSource(timeline=run.files.timeline, remap=remap).pairs(are_to_come=True)


def _number_in(plate: Sequence | None, pair: Pair) -> int:
    """A script or timeline may number its pairs otherwise than their files."""
    return pair.frame if plate and plate.is_still else pair.input.media.frame or pair.frame


def _is_of(plate: Sequence | None, pair: Pair) -> bool:
    return plate is None or plate.path(_number_in(plate, pair)).name == pair.input.media.path.name


def _shown_plate(plate: Sequence | None, frames: tuple[int, ...], painted: Mapping[int, Pair]) -> Shown:
    """What there is of the plate, read as the painted frames are; at least these."""
    shown = {frame: pair.input for frame, pair in painted.items() if isinstance(pair.input, FileFrame)}
    if plate is None:
        return shown
    like = next(iter(shown.values()), FileFrame(path=plate.path(0), frame=0))
    numbers = [*frames, *painted]
    whole = range(min(numbers), max(numbers) + 1)
    there = {*whole} if plate.is_still else {*plate.frames_on_disk()}
    for frame in whole:
        if frame in there and frame not in shown:
            shown[frame] = replace(like, path=plate.path(frame), frame=0 if plate.is_still else frame)
    return shown


def _fps_of(path: Path) -> float:
    """Raises UnderstudyError when the frame cannot be read."""
    stated = str(read_header(path).metadata.get("FramesPerSecond", ""))
    try:
        return float(Fraction(stated)) or USUAL_FPS
    except (ValueError, ZeroDivisionError):
        return USUAL_FPS
