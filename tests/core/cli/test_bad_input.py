"""Bad frames and bad words: one line for each fault, exit code 2, nothing left behind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.core.cli.command import Command, end_of, files_in, start
from tests.core.train.shots import HEIGHT, WIDTH, SmallShot, write_picture
from tests.footage import FOOTAGE, needs_footage

from understudy.sources.timeline import write_timeline


def refused_training(
    command: Command, shot: SmallShot, *words: str | Path, says: tuple[str, ...], lines: int = 1
) -> None:
    """Training ends with these words in its faults and leaves the folder as it was."""
    before = files_in(shot.folder)
    faults = command.refused(*shot.train_words(*map(str, words), steps=2), lines=lines)
    assert [word for word in says if word not in faults] == [], faults
    assert files_in(shot.folder) == before


def damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:2000])


def test_missing_frames_of_both_sides_are_told_at_once(command: Command, shot: SmallShot) -> None:
    says = (shot.plate, "input frames 1005-1006 are missing", shot.paint, "target frames 1002,1004-1006", "render")
    refused_training(command, shot, "--frames", "1001-1006", says=says, lines=2)


def test_every_damaged_frame_is_told_of(command: Command, shot: SmallShot) -> None:
    (shot.folder / "paint.1001.exr").write_bytes(b"not a picture")
    damage(shot.folder / "plate.1003.exr")
    says = ("paint.1001.exr", "plate.1003.exr", "is damaged or incomplete", "render it again", "no pair is left")
    refused_training(command, shot, says=says, lines=3)
    faults = command.refused("check", "--input", shot.plate, "--target", shot.paint, lines=3)
    assert "paint.1001.exr" in faults
    assert "plate.1003.exr" in faults


def test_cont_leaves_out_a_damaged_pair_aloud(command: Command, shot: SmallShot) -> None:
    damage(shot.folder / "plate.1003.exr")
    ending = command(*shot.train_words("--cont", steps=1))
    assert ending.code == 0, ending
    assert "plate.1003.exr: is damaged" in ending.out
    assert "(the pair is left out)" in ending.out
    assert "Pairs: 1 to train on" in ending.out


def test_a_frame_that_is_a_folder(command: Command, shot: SmallShot) -> None:
    (shot.folder / "paint.1001.exr").unlink()
    (shot.folder / "paint.1001.exr").mkdir()
    refused_training(command, shot, "--frames", "1001,1003", says=("paint.####.exr", "1001", "render"))


@needs_footage
def test_damaged_footage_is_named_and_kills_nothing(command: Command, shot: SmallShot) -> None:
    for path in sorted((FOOTAGE / "damaged").glob("*.exr")):
        ending = command("check", "--input", path, "--target", shot.folder / "paint.1001.exr")
        assert ending.code == 2, (path, ending)
        assert any(path.name in line for line in ending.faults), (path, ending)


def test_formats_and_channels_that_differ(command: Command, shot: SmallShot) -> None:
    write_picture(shot.folder / "paint.1001.exr", np.zeros((HEIGHT, WIDTH + 2, 3), np.float32))
    write_picture(shot.folder / "plate.1003.exr", np.zeros((HEIGHT, WIDTH, 1), np.float32), ("Y",))
    says = ("frame 1001", "98x64", "Reformat", "frame 1003", "has channels Y, but frame 1001 has R, G, B")
    refused_training(command, shot, says=says, lines=2)


def test_pixels_that_teach_nothing(command: Command, shot: SmallShot) -> None:
    write_picture(shot.folder / "plate.1001.exr", np.full((HEIGHT, WIDTH, 3), np.nan, np.float32))
    for side in ("plate", "paint"):
        write_picture(shot.folder / f"{side}.1003.exr", np.ones((1, WIDTH, 3), np.float32))
    says = ("no pixel that is a number", "frame 1003", "96x1, too small to learn from", "at least 2 pixels")
    refused_training(command, shot, says=says, lines=3)


@pytest.mark.parametrize(("height", "width"), [(2, 2), (4, 4), (7, 50)])
def test_tiny_frames_train_all_the_same(command: Command, shot: SmallShot, height: int, width: int) -> None:
    pixels = np.random.default_rng(0).random((height, width, 3), np.float32)
    for path in shot.folder.glob("*.exr"):
        write_picture(path, pixels)
    assert command(*shot.train_words("--contact-sheet-interval", "1", steps=2)).code == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--input", "nowhere/plate.####.exr"], ("nowhere/plate.####.exr", "no file matches", "correct the path")),
        (["--target", "gone.####.exr"], ("gone.####.exr", "no file matches")),
        (["--frames", "first"], ("frames 'first'", "1001,1013-1040x9")),
        (["--validation-frames", "1002,1004"], ("validation frames 1002,1004 have no pair", "1001,1003")),
        (["--validation-frames", "1001,1003"], ("all frames", "leave at least one")),
        (["--timeline", "a.otio"], ("--input and --timeline exclude each other",)),
        (["shot.nk"], ("a script and --input exclude each other",)),
        (["-X", "CopyCat1"], ("-X cannot be used with --input",)),
        (["--remap", "a,b"], ("--remap cannot be used with --input",)),
        (["--epochs", "abc"], ("--epochs", "'abc'", "understudy train --help")),
        (["--model-size", "huge"], ("--model-size", "'huge'", "small")),
        (["--bogus", "1"], ("--bogus", "--help")),
        (["--run-name", "a/b"], ("run_name", "'a/b'", "letters")),
        (["--run-name", "x" * 300], ("run_name", "letters")),
        (["--data-directory", "/" + "x/" * 3000], ("too long", "choose another place")),
        (["--memory-gib", "inf"], ("memory_gib", "out of range")),
        (["--threads", "99999"], ("threads", "out of range")),
        (["--batch-size", "100000"], ("batch_size", "out of range")),
        (["--ocio", "nope.ocio"], ("nope.ocio", "cannot be loaded", "mend")),
        (["--initial-weights", "gone.safetensors"], ("gone.safetensors", "no such model file", "correct the path")),
    ],
)
def test_bad_words(command: Command, shot: SmallShot, words: list[str], says: tuple[str, ...]) -> None:
    refused_training(command, shot, *words, says=says)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["--epochs", "0", "--seed", "-1", "--crop-size", "3", "--minutes", "nan"],
            ("epochs: 0", "seed: -1", "crop_size: 3", "minutes: nan", "at least 16"),
        ),
        (
            ["--display", "Wall", "--working-space", "acescq"],
            ("display 'Wall'", "'acescq'", "one of", "ocio://default"),
        ),
        (["--display-view", "Upside"], ("view 'Upside'",)),
        (
            ["--input-layer", "mask"],
            ("plate.1001.exr", "plate.1003.exr", "has no layer 'mask'", "it has rgb", "no pair"),
        ),
        (["--target-colorspace", "sRBG"], ("paint.1001.exr", "paint.1003.exr", "'sRBG'", "sRGB", "no pair")),
    ],
)
def test_several_faults_at_once(command: Command, shot: SmallShot, words: list[str], says: tuple[str, ...]) -> None:
    num_lines = {"--epochs": 4, "--display": 2, "--display-view": 1}.get(words[0], 3)
    refused_training(command, shot, *words, says=says, lines=num_lines)


def test_an_ocio_variable_that_points_nowhere(
    command: Command, shot: SmallShot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCIO", "/nowhere/config.ocio")
    refused_training(command, shot, says=("/nowhere/config.ocio", "$OCIO"))


@pytest.mark.parametrize("below", ["", "deeper/still"])
def test_a_file_in_the_place_of_the_data_directory(command: Command, shot: SmallShot, below: str) -> None:
    place = shot.folder / "taken"
    place.write_text("mine")
    refused_training(command, shot, "--data-directory", place / below, says=("taken", "a file is in the way", "choose"))
    assert place.read_text() == "mine"


def test_words_that_name_no_pairs(command: Command) -> None:
    for words in ([], ["train"], ["-X", "CopyCat1"], ["check"], ["bogus"], ["train", "--input", "a.####.exr"]):
        assert command.refused(*words)
    assert "--target is missing" in command.refused("train", "--input", "a.####.exr")


def test_timelines_that_cannot_be_used(command: Command, shot: SmallShot) -> None:
    timeline = shot.folder / "pairs.otio"
    assert "no such timeline" in command.refused("train", "--timeline", timeline)
    timeline.write_text("{")
    assert "is not a timeline that can be read" in command.refused("train", "--timeline", timeline)
    timeline.write_text('{"OTIO_SCHEMA": "Timeline.1", "tracks": {"OTIO_SCHEMA": "Stack.1", "children": []}}')
    assert "0 video tracks; give it a track input" in command.refused("train", "--timeline", timeline)
    write_timeline(timeline, (), name="empty")
    assert "has no clip" in command.refused("train", "--timeline", timeline)
    assert "--frames cannot be used" in command.refused("train", "--timeline", timeline, "--frames", "1")


def test_a_run_name_that_exists(command: Command, trained: SmallShot) -> None:
    refused_training(
        command, trained, "--run-name", "first", says=("first.run.json", "understudy resume", "--run-name")
    )


def test_a_gpu_that_is_not_there_is_said(command: Command, shot: SmallShot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    words = [word for word in shot.train_words(steps=1) if word not in ("--device", "cpu")]
    for number, asked in enumerate((["--gpu"], ["--gpu", "3"], ["--device", "cuda"])):
        ending = command(*words, "--run-name", f"run{number}", *asked)
        assert ending.code == 0, ending
        assert "can be used here; going on on the CPU" in ending.out
    assert "going on" not in command(*words, "--run-name", "quiet").out


def test_tensorboard_that_is_not_installed(shot: SmallShot) -> None:
    block = "import sys\nsys.modules['tensorboard'] = None"
    ending = end_of(start(*shot.train_words("--tensorboard", steps=1), python=block))
    assert ending.code == 2
    assert len(ending.faults) == 1
    assert "pip install understudy[tensorboard]" in ending.faults[0]
    assert not shot.data.exists()


def test_faults_of_a_real_process_are_said_once(shot: SmallShot) -> None:
    ending = end_of(start(*shot.train_words("--frames", "1002")))
    assert (ending.code, ending.out) == (2, "")
    assert ending.faults == [f"understudy: {shot.paint}: target frames 1002 are missing; render them or leave them out"]
    assert not shot.data.exists()
