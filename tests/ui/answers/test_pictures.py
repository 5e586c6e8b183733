from __future__ import annotations

import dataclasses
import os
import time
from pathlib import Path
from typing import cast

import numpy as np
import OpenImageIO as oiio
import pytest
from tests.core.cli.command import write_script
from tests.core.records import RECORD, lay_run
from tests.core.train.shots import SmallShot, write_picture
from tests.ui.answers.conftest import Answer

from understudy.demo.files import DemoFiles
from understudy.demo.script import DemoTraining, script_text
from understudy.demo.shot import DemoShot
from understudy.errors import UnderstudyError
from understudy.frames.colour import ColourRules
from understudy.frames.image import FloatPixels
from understudy.frames.read import read_image
from understudy.runs import RunFiles
from understudy.sources.script import ScriptSource
from understudy.sources.sequences import SequenceSource
from understudy_ui.protocol import SheetShown, Thumbnail, ViewShown


@pytest.fixture
def run(shot: SmallShot) -> RunFiles:
    """A run of the shot, with a frame that was applied."""
    source = SequenceSource(input=shot.plate, target=shot.paint)
    record = dataclasses.replace(
        RECORD, source=source.record(), colour={}, settings={**RECORD.settings, "data_directory": str(shot.data)}
    )
    clean = read_image(shot.folder / "paint.1001.exr").pixels
    for frame in (1001, 1002):
        write_picture(shot.folder / f"result.{frame}.exr", clean * np.float32(0.9))
    return lay_run(shot.data, "run", record)


def seen(path: str) -> FloatPixels:
    pixels = oiio.ImageBuf(path).get_pixels(oiio.FLOAT)
    assert pixels is not None
    return np.asarray(pixels, np.float32)


def thumbnail_of(answer: Answer, words: list[str], **about: int | str) -> Thumbnail:
    asked = {"frame": 1001, "side": "input", "width": 48, "height": 48, **about}
    return cast(Thumbnail, answer("thumbnail", words=[*words], **asked))


def view_of(answer: Answer, run: RunFiles, **about: int | float | str) -> ViewShown:
    asked = {"frame": 1001, "exposure": 0.0, "gamma": 1.0, "result": "", **about}
    return cast(ViewShown, answer("view", place=str(run.record), **asked))


def test_a_thumbnail_fits_and_goes_through_the_display(answer: Answer, shot: SmallShot) -> None:
    words = shot.train_words()[1:]
    shown = thumbnail_of(answer, words, width=96, height=96)
    assert (shown["width"], shown["height"]) == (96, 64)
    wanted = ColourRules().to_display(read_image(shot.folder / "plate.1001.exr").pixels)
    np.testing.assert_allclose(seen(shown["path"]), wanted, atol=4 / 255)
    small = thumbnail_of(answer, words)
    assert (small["width"], small["height"]) == (48, 32)
    assert seen(small["path"]).shape == (32, 48, 3)
    target = thumbnail_of(answer, words, side="target")
    assert np.abs(seen(target["path"]) - seen(small["path"])).max() > 0.2


def test_a_thumbnail_is_made_once_until_its_file_changes(answer: Answer, shot: SmallShot) -> None:
    words = shot.train_words()[1:]
    first = thumbnail_of(answer, words)
    made = Path(first["path"]).stat().st_mtime_ns
    assert thumbnail_of(answer, words) == first
    assert Path(first["path"]).stat().st_mtime_ns == made
    write_picture(shot.folder / "plate.1001.exr", np.zeros((64, 96, 3), np.float32))
    os.utime(shot.folder / "plate.1001.exr", (time.time() + 5,) * 2)
    assert seen(thumbnail_of(answer, words)["path"]).max() < 0.01


def test_a_thumbnail_of_a_node_follows_its_script(answer: Answer, shot: SmallShot) -> None:
    words = ["-X", "CopyCat1", str(write_script(shot.folder))]
    before = seen(thumbnail_of(answer, words)["path"])
    darker = "Grade {\n inputs 1\n white 0.1\n name Grade1\n}\n"
    os.utime(write_script(shot.folder, upstream=darker), (time.time() + 5,) * 2)
    assert seen(thumbnail_of(answer, words)["path"]).mean() < before.mean() / 1.5


def test_a_thumbnail_of_no_pair_or_of_a_broken_file_is_told_of(answer: Answer, shot: SmallShot) -> None:
    words = shot.train_words()[1:]
    with pytest.raises(UnderstudyError, match="frame 1002: is no pair"):
        thumbnail_of(answer, words, frame=1002)
    (shot.folder / "plate.1001.exr").write_bytes(b"broken")
    with pytest.raises(UnderstudyError, match=r"plate\.1001\.exr"):
        thumbnail_of(answer, words)


@pytest.mark.parametrize("channels", [("A",), ("Z",), ("motion.x", "motion.y")])
def test_what_is_no_colour_is_shown_too(answer: Answer, shot: SmallShot, channels: tuple[str, ...]) -> None:
    pixels = np.full((64, 96, len(channels)), np.nan, np.float32)
    pixels[10:] = 7.0
    write_picture(shot.folder / "plate.1001.exr", pixels, channels)
    shown = thumbnail_of(answer, shot.train_words("--frames", "1001")[1:])
    assert seen(shown["path"]).shape == (32, 48, 3)


def test_a_view_has_the_pictures_that_there_are(answer: Answer, run: RunFiles, shot: SmallShot) -> None:
    painted = view_of(answer, run, result=str(shot.folder / "result.####.exr"))
    assert all(painted[name] for name in ("input", "target", "result", "difference"))
    assert painted["psnr"] == pytest.approx(30, abs=8)
    target, result = (seen(painted[name]) for name in ("target", "result"))
    np.testing.assert_allclose(seen(painted["difference"]), np.clip(np.abs(target - result) * 4, 0, 1), atol=6 / 255)
    unpainted = view_of(answer, run, frame=1002, result=str(shot.folder / "result.####.exr"))
    assert unpainted["input"]
    assert unpainted["result"]
    assert (unpainted["target"], unpainted["difference"], unpainted["psnr"]) == ("", "", None)
    alone = view_of(answer, run, frame=1004)
    assert alone["input"]
    assert not alone["result"]
    assert set(view_of(answer, run, frame=2000).values()) == {"", None}


def test_a_script_may_number_its_pairs_otherwise_than_the_plate(answer: Answer, tmp_path: Path) -> None:
    shot, files = DemoShot(width=8, height=4, last_frame=1004, painted_frames=(1002, 1004)), DemoFiles(folder=tmp_path)
    for name, frames in (("plate", (1001, 1002, 1003, 1004)), ("paint", (1002, 1004)), ("result", (1002, 1003))):
        (tmp_path / name).mkdir()
        for frame in frames:
            pixels = np.full((4, 8, 3), (frame - 1000) / 5, np.float32)
            write_picture(tmp_path / name / f"{name}.{frame}.exr", pixels)
    files.script.write_text(script_text(shot, files, DemoTraining()))
    source = ScriptSource(script=files.script)
    assert [pair.frame for pair in source.pairs()] == [1, 2]
    run = lay_run(tmp_path / "runs", "run", dataclasses.replace(RECORD, source=source.record(), colour={}))
    source.kept_beside(run)

    painted, unpainted = (
        view_of(answer, run, frame=frame, input=files.plate, result=files.result) for frame in (1002, 1003)
    )
    assert all(painted[name] for name in ("input", "target", "result", "difference"))
    assert painted["psnr"] is not None
    assert (bool(unpainted["input"]), unpainted["target"], bool(unpainted["result"])) == (True, "", True)
    assert seen(painted["input"]).mean() < seen(unpainted["input"]).mean()
    assert not view_of(answer, run, frame=1, input=files.plate)["input"], "of this plate, there is no such frame"
    assert view_of(answer, run, frame=1)["input"], "a pair, where nobody knows the plate"


def test_exposure_and_gamma_change_what_is_seen_and_nothing_is_decoded_again(
    answer: Answer, run: RunFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = seen(view_of(answer, run, result=str(run.directory.parent / "result.####.exr"))["target"]).mean()
    monkeypatch.setattr("understudy.sources.sequences.read_image", None)
    assert seen(view_of(answer, run, exposure=-2.0)["target"]).mean() < plain - 0.1
    assert seen(view_of(answer, run, gamma=2.0)["target"]).mean() > plain + 0.02
    assert view_of(answer, run, exposure=-1.5, result=str(run.directory.parent / "result.####.exr"))["difference"]


def test_a_view_is_fitted_into_the_panel(answer: Answer, run: RunFiles) -> None:
    assert seen(view_of(answer, run, width=48, height=48)["input"]).shape == (32, 48, 3)


@pytest.mark.parametrize("gamma", [0.0, -1.0])
def test_no_gamma_at_all_is_refused(answer: Answer, run: RunFiles, gamma: float) -> None:
    with pytest.raises(UnderstudyError, match="give a gamma above 0"):
        view_of(answer, run, gamma=gamma)


def test_a_view_of_a_run_that_is_gone_is_told_of(answer: Answer, run: RunFiles) -> None:
    run.record.unlink()
    with pytest.raises(UnderstudyError, match="look at the list of runs"):
        view_of(answer, run)


def test_a_contact_sheet_is_a_path(answer: Answer, run: RunFiles) -> None:
    assert cast(SheetShown, answer("sheet", place=str(run.record), step=10)) == {"path": str(run.contact_sheet(10))}
    with pytest.raises(UnderstudyError, match="no such contact sheet"):
        answer("sheet", place=str(run.record), step=11)
