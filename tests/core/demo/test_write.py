"""The demo's files, and the measure that is taken of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from understudy.demo.files import DemoFiles
from understudy.demo.measure import psnr_over
from understudy.demo.scene import render_frame
from understudy.demo.script import DemoTraining
from understudy.demo.shot import DemoShot
from understudy.demo.write import write_demo
from understudy.errors import UnderstudyError
from understudy.frames.read import read_header, read_image
from understudy.frames.sequence import Sequence
from understudy.frames.window import Window
from understudy.sources.script import ScriptSource

SHOT = DemoShot(width=96, height=54, first_frame=1001, last_frame=1004, painted_frames=(1001, 1004))


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoFiles:
    return write_demo(tmp_path_factory.mktemp("demo"), SHOT, DemoTraining(), say=lambda _line: None)


def test_exactly_the_frames_asked_for(demo: DemoFiles) -> None:
    assert Sequence(demo.plate).frames_on_disk() == (1001, 1002, 1003, 1004)
    assert Sequence(demo.truth).frames_on_disk() == (1001, 1002, 1003, 1004)
    assert Sequence(demo.paint).frames_on_disk() == (1001, 1004)
    names = {path.relative_to(demo.folder).as_posix() for path in demo.folder.rglob("*") if path.is_file()}
    assert names == {
        "shot.nk",
        *(f"{kind}/{kind}.{frame}.exr" for kind in ("plate", "truth") for frame in SHOT.frames),
        *(f"paint/paint.{frame}.exr" for frame in SHOT.painted_frames),
    }


def test_files_hold_the_rendered_pixels_as_half(demo: DemoFiles) -> None:
    plate, truth = render_frame(SHOT, 1004)
    for pattern, expected in ((demo.plate, plate), (demo.truth, truth), (demo.paint, truth)):
        picture = read_image(Sequence(pattern).path(1004))
        np.testing.assert_array_equal(picture.pixels, expected.astype(np.float16).astype(np.float32))
        assert picture.channels == ("R", "G", "B")
        assert picture.data_window == picture.display_window == Window(0, 0, 96, 54)
    assert read_header(Sequence(demo.plate).path(1001)).metadata["FramesPerSecond"] == "24/1"


def test_the_script_gives_the_painted_frames_as_pairs(demo: DemoFiles) -> None:
    pairs = ScriptSource(script=demo.script, node="CopyCat1").pairs()
    assert [pair.input.media.frame for pair in pairs] == list(SHOT.painted_frames)
    for pair, frame in zip(pairs, SHOT.painted_frames, strict=True):
        for side, pattern in ((pair.input, demo.plate), (pair.target, demo.paint)):
            expected = read_image(Sequence(pattern).path(frame)).pixels
            np.testing.assert_array_equal(side.read().pixels, expected)


def test_lines_for_the_user_name_the_folder_and_the_script(tmp_path: Path) -> None:
    said: list[str] = []
    files = write_demo(tmp_path, SHOT, DemoTraining(), say=said.append)
    assert str(tmp_path) in said[0]
    assert str(files.script) in said[-1]
    assert "1001" in said[-1]


def test_a_file_in_the_place_of_the_folder_is_one_clear_line(tmp_path: Path) -> None:
    taken = tmp_path / "demo"
    taken.write_text("in the way")
    with pytest.raises(UnderstudyError, match="demo"):
        write_demo(taken, SHOT, DemoTraining(), say=lambda _line: None)
    assert taken.read_text() == "in the way"


def test_psnr_of_equal_and_of_different_sequences(demo: DemoFiles) -> None:
    assert psnr_over(SHOT.painted_frames, demo.paint, demo.truth) == pytest.approx(120)
    assert 20 < psnr_over(SHOT.unpainted_frames, demo.plate, demo.truth) < 35


def test_psnr_pools_squared_errors_over_frames(demo: DemoFiles) -> None:
    each = [psnr_over([frame], demo.plate, demo.truth) for frame in (1002, 1003)]
    pooled = -10 * np.log10(np.mean([10 ** (-decibels / 10) for decibels in each]))
    assert psnr_over((1002, 1003), demo.plate, demo.truth) == pytest.approx(pooled)


def test_psnr_names_a_missing_frame(demo: DemoFiles) -> None:
    with pytest.raises(UnderstudyError, match=r"paint\.1002\.exr"):
        psnr_over((1001, 1002), demo.paint, demo.truth)
