"""Applying a model to a shot: the model's picture for every frame, in a copy of the frame's own file."""

from __future__ import annotations

import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import torch

from understudy.allocator import large_blocks_kept
from understudy.errors import EXIT_DONE, ProblemList, UnderstudyError
from understudy.files import make_folder, remove_dead_partials
from understudy.frames.image import FloatPixels
from understudy.frames.read import read_header
from understudy.frames.sequence import Sequence, format_frames
from understudy.frames.write import refuse_other_formats
from understudy.report.progress import Progress, ProgressStyle
from understudy.settings import Settings
from understudy.train.device import Machine, choose_machine, in_half
from understudy.train.infer import answer_for
from understudy.train.shot import Shot
from understudy.train.workshop import Load, Workshop, workshop_for

KEPT_SHARE = 0.8
"""Of the memory that is allowed: what a process may hold without giving back what is free."""
USUAL_SIZE = (1920, 1080)
"""Taken where no frame can be looked at: then none will be made, and each says why."""


@dataclass(frozen=True, kw_only=True)
class ApplyOrder:
    """Which frames, to where, and how."""

    model: Path
    """Its file, for people."""
    output: str
    """Pattern of the EXR files to write."""
    frames: tuple[int, ...] = ()
    """Empty: all that the shot has."""
    part: tuple[int, int] = (0, 1)
    """(Which, of how many): neighbouring frames of them, for tasks of a farm."""
    skip_existing: bool = False
    """Leave the frames alone that are there already."""
    passes: int = 1
    """Answers to each frame, of which the mean is taken: each with the network's grid at another place."""
    half: bool = False
    """Convolutions in half, where the device can."""
    memory_gib: float
    """Of the whole process; frames that need more are computed in tiles."""
    settings: Settings
    """For device, precision and threads."""
    progress_style: ProgressStyle


def apply_model(order: ApplyOrder, shot: Shot) -> int:
    """Write every frame; returns the exit code.

    Frames that cannot be read are reported together, after all others are written; when one cannot be written, no
    further one is begun. Raises UnderstudyError when frames, output or memory are unusable, Problems for frames.
    """
    began, progress = time.monotonic(), Progress(order.progress_style, sys.stdout)
    shot.check()
    for line in shot.remarks():
        progress.say(f"warning: {line}")
    target = Sequence(order.output)
    mine = _part_of(_frames_asked_for(order, shot, target, progress), *order.part)
    remove_dead_partials([target.path(frame) for frame in mine])
    frames = _without_those_there(mine, target, progress) if order.skip_existing else mine
    if not frames:
        return EXIT_DONE
    machine = choose_machine(order.settings, progress.say)
    machine = in_half(machine, progress.say) if order.half else machine
    load = _load_of(order, shot, frames)
    workshop = workshop_for(shot.saved.model, machine, load)
    make_folder(target.path(frames[0]).parent)
    progress.say(f"Applying {order.model} to {len(frames)} frames on {machine}{_manner(workshop, load)}")
    made = _Work(order, shot, target, machine, workshop).do(frames, progress)
    progress.say(f"{made} frames made in {time.monotonic() - began:.1f} seconds")
    return EXIT_DONE


def _frames_asked_for(order: ApplyOrder, shot: Shot, target: Sequence, progress: Progress) -> tuple[int, ...]:
    """Of all parts. Raises Problems when some of --frames are missing, or the output is no place for them."""
    frames, absent = (order.frames, ()) if order.frames else shot.frames()
    if not frames:
        raise UnderstudyError(f"{shot.name}: no frame found; give the pattern of an existing sequence")
    refuse_other_formats(Path(order.output))
    if target.is_still and len(frames) > 1:
        raise UnderstudyError(
            f"{order.output}: needs a frame number, such as result.####.exr, for {len(frames)} frames"
        )
    if {path.resolve() for path in _files_of(shot, frames)} & {target.path(frame).resolve() for frame in frames}:
        raise UnderstudyError(f"{order.output}: would overwrite the input; give another --output")
    if absent:
        progress.say(f"warning: {shot.name}: has no frames {format_frames(absent)}; they are not made")
    return frames


def _files_of(shot: Shot, frames: tuple[int, ...]) -> list[Path]:
    """Raises Problems naming all that are missing."""
    problems = ProblemList()
    files: list[Path | None] = []
    for frame in frames:
        with problems.collecting():
            files.append(shot.file(frame))
    problems.raise_if_any()
    return [file for file in files if file is not None]


def _part_of(frames: tuple[int, ...], number: int, count: int) -> tuple[int, ...]:
    """Parts differ by one frame at most; there may be more parts than frames."""
    return frames[len(frames) * number // count : len(frames) * (number + 1) // count]


def _without_those_there(frames: tuple[int, ...], target: Sequence, progress: Progress) -> tuple[int, ...]:
    there = {frame for frame in frames if _is_picture(target.path(frame))}
    if there:
        told = format_frames(there)
        progress.say(f"{len(there)} of {len(frames)} frames are there already and stay as they are: {told}")
    return tuple(frame for frame in frames if frame not in there)


def _is_picture(path: Path) -> bool:
    """Whether there is a file, and it can be opened; ours are never half-written."""
    with suppress(UnderstudyError):
        return bool(read_header(path).parts)
    return False


def _load_of(order: ApplyOrder, shot: Shot, frames: tuple[int, ...]) -> Load:
    """By the first frame that can be looked at."""
    for frame in frames:
        with suppress(UnderstudyError):
            width, height = shot.size(frame)
            break
    else:
        width, height = USUAL_SIZE
    return Load(
        num_frames=len(frames),
        width=width,
        height=height,
        memory_bytes=int(order.memory_gib * 2**30),
        threads=torch.get_num_threads(),
        passes=order.passes,
    )


def _manner(workshop: Workshop, load: Load) -> str:
    num_tiles = len(workshop.tiling.parts(load.width, load.height))
    tiles = f", {load.width}x{load.height} in {num_tiles} tiles" if num_tiles > 1 else ""
    return tiles + (f", {workshop.answers_at_once} frames at a time" if workshop.answers_at_once > 1 else "")


class _Work:
    """Several frames at once, each read, computed and written by one thread."""

    def __init__(self, order: ApplyOrder, shot: Shot, target: Sequence, machine: Machine, workshop: Workshop) -> None:
        self._order, self._shot, self._target = order, shot, target
        self._machine, self._workshop = machine, workshop
        self._answering = threading.Semaphore(workshop.answers_at_once)
        self._given_up = threading.Event()
        self._model = shot.saved.model.to(machine.device, machine.dtype).eval()
        torch.set_num_threads(workshop.threads)

    def do(self, frames: tuple[int, ...], progress: Progress) -> int:
        """Returns how many were made. Raises Problems when some were not."""
        faults: dict[int, UnderstudyError] = {}
        made: list[int] = []
        most_bytes = KEPT_SHARE * self._order.memory_gib * 2**30
        with large_blocks_kept(most_bytes), ThreadPoolExecutor(self._workshop.frames_at_once, "frame") as hands:
            begun: dict[Future[bool], int] = {hands.submit(self._make, frame): frame for frame in frames}
            try:
                for done in as_completed(begun):
                    try:
                        if done.result():
                            made.append(begun[done])
                            progress.say(f"Frame {begun[done]} ({len(made) + len(faults)} of {len(frames)})")
                    except UnderstudyError as fault:
                        faults[begun[done]] = fault
            finally:
                self._given_up.set()
        self._raise_if_any(faults, sorted({*frames} - {*made, *faults}))
        return len(made)

    def _make(self, frame: int) -> bool:
        """False when there was no more to do. Raises UnderstudyError naming what is wrong with the frame."""
        if self._given_up.is_set():
            return False
        shown = self._shot.show(frame)
        with self._answering:
            answer = self._answer(frame, shown.image.pixels)
        path = self._target.path(frame)
        try:
            shown.write(path, answer)
        except UnderstudyError as fault:
            if isinstance(
                fault.__cause__, OSError
            ):  # the place's fault, not the frame's: the next would fare no better
                self._given_up.set()
            raise
        return True

    def _answer(self, frame: int, pixels: FloatPixels) -> FloatPixels:
        try:
            return answer_for(self._model, pixels, self._machine, self._workshop.tiling)
        except (MemoryError, RuntimeError) as error:
            if not _is_lack_of_memory(error):
                raise
            raise UnderstudyError(
                f"{self._shot.name}: frame {frame}: the memory is not enough; give a --memory-gib below "
                f"{self._order.memory_gib:g}, or end other programs"
            ) from error

    def _raise_if_any(self, faults: dict[int, UnderstudyError], left: list[int]) -> None:
        problems = ProblemList()
        for frame in sorted(faults):
            with problems.collecting():
                raise faults[frame]
        if left:
            problems.add(f"{self._order.output}: frames {format_frames(left)} were not begun; then use --skip-existing")
        problems.raise_if_any()


def _is_lack_of_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "allocate memory" in str(error)
