"""The demo's Nuke script, as Nuke would save it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from understudy.demo.files import DemoFiles
from understudy.demo.shot import DemoShot
from understudy.script.writing import SCRIPT_FOLDER, Knobs, node, placed, quoted
from understudy.settings import ModelSize

COLUMN, ROW = 110, 96
"""Pixels between neighbours in the node graph."""


@dataclass(frozen=True, kw_only=True)
class DemoTraining:
    """What the CopyCat node asks for."""

    epochs: int = 600
    """Total steps = epochs x pairs / batch size."""
    batch_size: int = 2
    """Crops a step."""
    crop_size: int = 128
    """Pixels."""
    model_size: ModelSize = "small"
    checkpoint_interval: int = 500
    """Steps."""
    contact_sheet_interval: int = 100
    """Steps."""


def script_text(shot: DemoShot, files: DemoFiles, training: DemoTraining) -> str:
    """Two Reads, each held at the painted frames and appended, into CopyCat1. Paths hang on the script's own folder."""
    return "".join(
        (
            "#! understudy demo\nversion 15.1 v1\n",
            node("Root", _root_knobs(shot, files)),
            # CopyCat pops input 0 first, so that the ground truth is put on the stack before the plate.
            *_picked_frames(2, "paint", shot, left=5 * COLUMN + ROW),
            *_picked_frames(1, "plate", shot, left=0),
            node("CopyCat", _copycat_knobs(training)),
        )
    )


def _root_knobs(shot: DemoShot, files: DemoFiles) -> Knobs:
    yield "inputs", "0"
    yield "name", quoted(files.script.absolute().as_posix())
    yield "frame", str(shot.first_frame)
    yield "first_frame", str(shot.first_frame)
    yield "last_frame", str(shot.last_frame)
    yield "lock_range", "true"
    yield "fps", "24"
    yield "format", _format(shot, "demo")
    yield "proxy_type", "scale"
    yield "colorManagement", "Nuke"
    yield "workingSpaceLUT", "linear"


def _picked_frames(number: int, name: str, shot: DemoShot, left: int) -> Iterator[str]:
    """Read, one FrameHold for each painted frame, AppendClip; `number` ends the node names."""
    handle = f"N{0x5C0DE000 + 0x400 * number:x}"
    num_holds = len(shot.painted_frames)
    middle = left + COLUMN * (num_holds - 1) // 2
    yield node("Read", _read_knobs(number, name, shot, middle))
    yield f"set {handle} [stack 0]\n"
    # AppendClip pops its first clip first, so that the last one is put on the stack before the others.
    for index in reversed(range(num_holds)):
        if index < num_holds - 1:
            yield f"push ${handle}\n"
        held = shot.painted_frames[index]
        hold_name = f"FrameHold{index + 1 + num_holds * (number - 1)}"
        yield node("FrameHold", [("firstFrame", str(held)), *placed(hold_name, left + COLUMN * index, 0)])
    append = [("inputs", str(num_holds)), ("time", '""')] if num_holds != 1 else []
    yield node("AppendClip", [*append, *placed(f"AppendClip{number}", middle, ROW)])


def _read_knobs(number: int, name: str, shot: DemoShot, middle: int) -> Knobs:
    yield "inputs", "0"
    yield "file_type", "exr"
    yield "file", quoted(f"{SCRIPT_FOLDER}/{name}/{name}.####.exr")
    yield "format", _format(shot, "")
    yield "first", str(shot.first_frame)
    yield "last", str(shot.last_frame)
    yield "origfirst", str(shot.first_frame)
    yield "origlast", str(shot.last_frame)
    yield "origset", "true"
    yield from placed(f"Read{number}", middle, -2 * ROW)


def _copycat_knobs(training: DemoTraining) -> Knobs:
    yield "inputs", "2"
    yield "dataDirectory", quoted(f"{SCRIPT_FOLDER}/runs")
    yield "epochs", str(training.epochs)
    yield "modelSize", training.model_size.capitalize()
    yield "batchSizeType", "Manual"
    yield "batchSize", str(training.batch_size)
    yield "cropSize", str(training.crop_size)
    yield "checkpointInterval", str(training.checkpoint_interval)
    yield "imageInterval", str(training.contact_sheet_interval)
    yield "logScale", "true"
    yield from placed("CopyCat1", 5 * COLUMN - ROW // 2, 2 * ROW)


def _format(shot: DemoShot, name: str) -> str:
    return f'"{shot.width} {shot.height} 0 0 {shot.width} {shot.height} 1 {name}"'
