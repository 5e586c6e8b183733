"""Applying a model to a sequence: the model's picture for every frame, in the frame's own windows."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from understudy.errors import EXIT_DONE, ProblemList, Problems, UnderstudyError
from understudy.files import make_folder
from understudy.frames.image import Image
from understudy.frames.sequence import Sequence, format_frames
from understudy.frames.write import EXR_SUFFIX, write_image
from understudy.report.progress import Progress, ProgressStyle
from understudy.runs import find_model
from understudy.settings import Settings
from understudy.train.device import Machine, choose_machine
from understudy.train.infer import answer_for
from understudy.train.model_file import SavedModel, load_model
from understudy.train.plate import PlateRules, read_plate


@dataclass(frozen=True, kw_only=True)
class ApplyOrder:
    """Which model, on which frames, to where."""

    model: Path
    """Model file, or a run for its newest."""
    input: str
    """Pattern of the frames."""
    output: str
    """Pattern of the EXR files to write."""
    frames: tuple[int, ...] = ()
    """Empty: all that the input has."""
    part: tuple[int, int] = (0, 1)
    """(Which, of how many): neighbouring frames of them, for tasks of a farm."""
    plate: PlateRules
    settings: Settings
    """For device, precision and threads."""
    progress_style: ProgressStyle


def apply_model(order: ApplyOrder) -> int:
    """Write every frame; returns the exit code.

    Frames that cannot be read are reported together, after all others are written.
    Raises UnderstudyError when the model or the patterns are unusable, Problems for missing or unreadable frames.
    """
    path = find_model(order.model)
    saved = load_model(path)
    source, target = Sequence(order.input), Sequence(order.output)
    frames = _part_of(_frames(order, source, target), *order.part)
    if not frames:
        return EXIT_DONE
    progress = Progress(order.progress_style, sys.stdout)
    machine = choose_machine(order.settings, progress.say)
    saved.model.to(machine.device)
    make_folder(target.path(frames[0]).parent)
    absent = sorted(set(range(frames[0], frames[-1] + 1)) - set(frames)) if not order.frames else []
    if absent:
        progress.say(f"warning: {order.input}: has no frames {format_frames(absent)}; they are not made")
    progress.say(f"Applying {path} to {len(frames)} frames on {machine}")
    problems = ProblemList()
    with ThreadPoolExecutor(1, "read") as reader, ThreadPoolExecutor(1, "write") as writer:
        readings = _read_ahead(
            reader, [partial(read_plate, source.path(frame), saved, order.plate) for frame in frames]
        )
        written: Future[None] | None = None
        for frame, reading in zip(frames, readings, strict=True):
            with problems.collecting():
                result = picture_for(saved, reading.result(), machine)
                _finish(written, problems)
                written = writer.submit(write_image, target.path(frame), result, like=source.path(frame))
                progress.say(f"Frame {frame} ({frames.index(frame) + 1} of {len(frames)})")
        _finish(written, problems)
    problems.raise_if_any()
    return EXIT_DONE


def picture_for(saved: SavedModel, image: Image, machine: Machine) -> Image:
    """The model's answer over the image's data window, with its windows and header. A NaN or Inf is taken for black."""
    pixels = np.nan_to_num(image.pixels, nan=0.0, posinf=0.0, neginf=0.0)
    answer = answer_for(saved.model, pixels, machine)
    return dataclasses.replace(image, pixels=answer, channels=saved.model.spec.target_channels)


def _frames(order: ApplyOrder, source: Sequence, target: Sequence) -> tuple[int, ...]:
    """The frames to do. Raises Problems when some are missing, or the output is no place for them."""
    frames = order.frames or source.frames_on_disk() or ((0,) if source.is_still else ())
    if not frames:
        raise UnderstudyError(f"{order.input}: no frame found; give the pattern of an existing sequence")
    if target.path(0).suffix.lower() != EXR_SUFFIX:
        raise UnderstudyError(f"{order.output}: only EXR is written; let the name end in {EXR_SUFFIX}")
    if target.is_still and len(frames) > 1:
        raise UnderstudyError(
            f"{order.output}: needs a frame number, such as result.####.exr, for {len(frames)} frames"
        )
    if any(target.path(frame).resolve() == source.path(frame).resolve() for frame in frames):
        raise UnderstudyError(f"{order.output}: would overwrite the input; give another --output")
    missing = [frame for frame in frames if not source.path(frame).exists()]
    if missing:
        raise Problems(f"{source.path(frame)}: missing; render it or leave it out of --frames" for frame in missing)
    return tuple(frames)


def _part_of(frames: tuple[int, ...], number: int, count: int) -> tuple[int, ...]:
    """Parts differ by one frame at most; there may be more parts than frames."""
    return frames[len(frames) * number // count : len(frames) * (number + 1) // count]


def _read_ahead(reader: ThreadPoolExecutor, tasks: list[Callable[[], Image]]) -> Iterator[Future[Image]]:
    """The tasks' futures in order; one task runs ahead of the one that was asked for."""
    ahead = reader.submit(tasks[0])
    for task in tasks[1:]:
        current, ahead = ahead, reader.submit(task)
        yield current
    yield ahead


def _finish(written: Future[None] | None, problems: ProblemList) -> None:
    """Wait for a file, so that never more than one result waits in memory."""
    with problems.collecting():
        if written is not None:
            written.result()
