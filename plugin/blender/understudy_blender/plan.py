"""From what the panel says to what will be done: which frames are baked, and the words of the commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import frames, knobs
from .problems import Problem
from .sources import Files, Socket, Source

RESULT = Path("result", "result.####.exr")
"""In the run directory."""


@dataclass(frozen=True)
class Request:
    """All that a training needs to know of the scene."""

    plate: Source
    truth: Source
    painted: tuple[int, ...]
    """Frames of the scene; none: those for which ground truth lies on disk."""
    values: Mapping[str, knobs.Value]
    data_directory: str
    """Absolute."""
    scene: str
    """What the farm's monitor calls it: the .blend."""


@dataclass(frozen=True)
class Bake:
    """A socket to be rendered to files."""

    socket: Socket
    frames: tuple[int, ...]
    """Of the scene."""
    files: Files


@dataclass(frozen=True)
class Work:
    """What is baked first, and the words of understudy's command after it."""

    bakes: tuple[Bake, ...]
    words: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """A model's pictures on disk, for the compositor."""

    pattern: str
    frames: tuple[int, ...]
    """Of the scene."""
    shift: int
    is_matte: bool
    """They have an alpha channel alone."""
    source: str
    """The node beside which they belong."""


def data_directory(text: str, blend: str) -> str:
    """The folder that the knob names, absolute. Raises Problem when it is relative to a .blend that is not saved."""
    if not text:
        raise Problem("Data Directory: is empty; choose a folder")
    if not text.startswith("//"):
        return str(Path(text).expanduser().absolute())
    if not blend:
        raise Problem(f"Data Directory: {text} lies beside a .blend that is not saved; save it, or give a whole path")
    return str(Path(blend).absolute().parent / text[2:])


def training(request: Request, folder: str) -> Work:
    """Bakes go into `folder`. Raises Problem when plate, ground truth and frames do not fit together."""
    plate, truth = request.plate, request.truth
    if plate.socket == truth.socket:
        raise Problem(f"Ground Truth: {truth.socket} is the plate itself; choose the painted frames")
    known = plate.files or truth.files
    shift = known.shift if known else 0
    painted = request.painted or _painted_on_disk(truth)
    for source in (plate, truth):
        _refuse_frames_outside(source, painted)
    plate_files, plate_bakes = _given(plate, "plate", shift, painted, folder)
    truth_files, truth_bakes = _given(truth, "truth", shift, painted, folder)
    words = [
        *("submit", "--input", plate_files.pattern, "--target", truth_files.pattern),
        *("--frames", frames.written([frame + shift for frame in painted])),
        *_about("input", plate_files),
        *_about("target", truth_files),
        *("--data-directory", request.data_directory),
        *("--batch", request.scene, "--name", f"{request.scene}, {truth.socket.node}"),
        *knobs.flags(request.values),
    ]
    return Work(bakes=(*plate_bakes, *truth_bakes), words=tuple(words))


def applying(plate: Source, shot: tuple[int, ...], run_directory: str) -> Work:
    """The plate's frames of the whole shot through the run's newest model. Raises Problem when it has none of them."""
    wanted = tuple(frame for frame in shot if plate.files is None or plate.files.has(frame))
    if not wanted:
        raise Problem(f"{plate.socket}: shows none of the frames {frames.written(shot)}; set the scene's frame range")
    shift = plate.files.shift if plate.files else 0
    files, bakes = _given(plate, "plate", shift, wanted, str(Path(run_directory, "plate")))
    colour = ["--input-colorspace", files.colorspace] if files.colorspace else []
    words = [
        *("apply", run_directory, "--input", files.pattern, "--output", str(Path(run_directory, RESULT))),
        *("--frames", frames.written([frame + shift for frame in wanted]), "--progress", "plain", *colour),
        "--only-result",  # with other layers in it, Blender would give the file other sockets
    ]
    return Work(bakes=bakes, words=tuple(words))


def result(plate: Source, truth: Source, shot: tuple[int, ...], run_directory: str) -> Result:
    """What `applying` will have written."""
    layer = truth.files.layer if truth.files else _baked_layer(truth.socket)
    return Result(
        pattern=str(Path(run_directory, RESULT)),
        frames=tuple(frame for frame in shot if plate.files is None or plate.files.has(frame)),
        shift=plate.files.shift if plate.files else 0,
        is_matte=layer == "alpha",
        source=plate.socket.node,
    )


def _painted_on_disk(truth: Source) -> tuple[int, ...]:
    if truth.files is None:
        raise Problem(f"Painted Frames: say which frames of {truth.socket} are painted, as 1001,1013-1040x9")
    files = truth.files
    shown = (number - files.shift for number in frames.on_disk(files.pattern))
    found = tuple(frame for frame in shown if files.has(frame))
    if not found:
        raise Problem(f"{files.pattern}: the node {truth.socket.node} shows no file of it; choose the painted files")
    return found


def _refuse_frames_outside(source: Source, painted: tuple[int, ...]) -> None:
    outside = [frame for frame in painted if source.files and not source.files.has(frame)]
    if outside and source.files:
        raise Problem(
            f"Painted Frames: {frames.written(outside)} lie outside of {source.socket.node}, which shows "
            f"{source.files.first}-{source.files.last}; leave them out, or mend the node's Frames and Start Frame"
        )


def _given(
    source: Source, name: str, shift: int, wanted: tuple[int, ...], folder: str
) -> tuple[Files, tuple[Bake, ...]]:
    """The files to be read, and what must be baked for them. Both sides of a pair need the same number."""
    if source.files and source.files.shift == shift:
        return source.files, ()
    pattern = str(Path(folder, f"{name}.####.exr"))
    files = Files(pattern=pattern, layer=_baked_layer(source.socket), shift=shift)
    return files, (Bake(socket=source.socket, frames=wanted, files=files),)


def _baked_layer(socket: Socket) -> str:
    """A matte is baked into alpha: understudy and Blender both take that channel for one."""
    return "alpha" if socket.is_value else ""


def _about(side: str, files: Files) -> list[str]:
    layer = [f"--{side}-layer", files.layer] if files.layer else []
    return layer + ([f"--{side}-colorspace", files.colorspace] if files.colorspace else [])
