"""Writes the demo: three EXR sequences and the script that trains on them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from understudy.demo.files import DemoFiles
from understudy.demo.scene import render_frame
from understudy.demo.script import DemoTraining, script_text
from understudy.demo.shot import DemoShot
from understudy.files import make_folder, write_text
from understudy.frames.image import FloatPixels, Image
from understudy.frames.sequence import Sequence, format_frames
from understudy.frames.window import Window
from understudy.frames.write import write_image

RGB = ("R", "G", "B")


def write_demo(folder: Path, shot: DemoShot, training: DemoTraining, *, say: Callable[[str], None]) -> DemoFiles:
    """Render the shot into `folder` and write the script beside it; `say` receives lines for the user.

    Raises UnderstudyError naming the folder or file that cannot be written.
    """
    files = DemoFiles(folder=folder)
    for pattern in (files.plate, files.paint, files.truth):
        make_folder(Path(pattern).parent)
    say(f"rendering frames {shot.first_frame}-{shot.last_frame}, {shot.width}x{shot.height}, into {folder}")
    for frame in shot.frames:
        _write_frame(files, shot, frame)
    write_text(files.script, script_text(shot, files, training))
    say(f"painted frames are {format_frames(shot.painted_frames)}; the script is {files.script}")
    return files


def _write_frame(files: DemoFiles, shot: DemoShot, frame: int) -> None:
    plate, truth = render_frame(shot, frame)
    _write(files.plate, frame, plate)
    _write(files.truth, frame, truth)
    if frame in shot.painted_frames:
        _write(files.paint, frame, truth)


def _write(pattern: str, frame: int, pixels: FloatPixels) -> None:
    height, width, _ = pixels.shape
    window = Window.of_size(width, height)
    picture = Image(
        pixels=pixels,
        channels=RGB,
        data_window=window,
        display_window=window,
        metadata={"FramesPerSecond": "24/1"},
    )
    write_image(Sequence(pattern).path(frame), picture)
