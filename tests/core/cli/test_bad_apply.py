"""Applying a model where it cannot be: every frame is accounted for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.core.cli.command import Command, end_of, files_in, start
from tests.core.train.export.models import lively_model, save_lively_model
from tests.core.train.shots import SmallShot, write_picture

from understudy.train import model_file


@pytest.mark.parametrize(
    ("output", "words", "says"),
    [
        ("plate.####.exr", [], ("would overwrite the input", "another --output")),
        ("plate.%04d.exr", [], ("would overwrite the input",)),
        ("one.exr", [], ("needs a frame number, such as result.####.exr, for 4 frames",)),
        ("out/a.####.png", [], ("only EXR is written",)),
        ("out/a.####.exr", ["--frames", "none"], ("frames 'none'",)),
        ("out/a.####.exr", ["--frames", "1004-1005"], ("plate.1005.exr: missing", "--frames")),
        ("paint.1001.exr/a.####.exr", [], ("paint.1001.exr: a file is in the way",)),
        ("out/a.####.exr", ["--input", "gone.####.exr"], ("gone.####.exr: no frame found",)),
        ("out/a.####.exr", ["--working-space", "acescq"], ("'acescq'", "one of")),
        ("out/a.####.exr", ["--progress", "loud"], ("--progress", "'loud'")),
    ],
)
def test_refused_before_anything_is_written(
    command: Command, trained: SmallShot, output: str, words: list[str], says: tuple[str, ...]
) -> None:
    before = files_in(trained.folder)
    fault = command.refused(
        "apply", trained.data, "--input", trained.plate, "--output", trained.folder / output, *words
    )
    assert [said for said in says if said not in fault] == [], fault
    assert files_in(trained.folder) == before


def apply_to_all(trained: SmallShot, *words: str) -> list[str]:
    result = str(trained.folder / "out" / "a.####.exr")
    return ["apply", str(trained.data), "--input", trained.plate, "--output", result, "--device", "cpu", *words]


def results(trained: SmallShot) -> list[str]:
    return sorted(path.name for path in (trained.folder / "out").iterdir())


def test_a_corrupt_frame_among_good_ones(command: Command, trained: SmallShot) -> None:
    for frame in (1002, 1004):
        path = trained.folder / f"plate.{frame}.exr"
        path.write_bytes(path.read_bytes()[:2000])
    faults = command.refused(*apply_to_all(trained), lines=2)
    assert "plate.1002.exr: is damaged" in faults
    assert "plate.1004.exr: is damaged" in faults
    assert results(trained) == ["a.1001.exr", "a.1003.exr"]


def test_a_hole_in_the_sequence_is_said(command: Command, trained: SmallShot) -> None:
    (trained.folder / "plate.1002.exr").unlink()
    ending = command(*apply_to_all(trained))
    assert ending.code == 0, ending
    assert "warning" in ending.out
    assert "has no frames 1002; they are not made" in ending.out
    assert results(trained) == ["a.1001.exr", "a.1003.exr", "a.1004.exr"]


def test_channels_that_the_frames_lack(command: Command, trained: SmallShot) -> None:
    faults = command.refused(*apply_to_all(trained, "--layer-in", "depth"), lines=4)
    assert all("has no layer 'depth'; it has rgb" in line for line in faults.splitlines())
    faults = command.refused(*apply_to_all(trained, "--layer-in", "R", "--frames", "1001"))
    assert "plate.1001.exr: has channels R, the model takes R,G,B; choose another layer" in faults
    assert results(trained) == []


def test_a_still(command: Command, trained: SmallShot, tmp_path: Path) -> None:
    output = tmp_path / "made" / "still.exr"
    source = trained.folder / "plate.1002.exr"
    ending = command("apply", trained.data, "--input", source, "--output", output, "--gpu", "--device", "cpu")
    assert ending.code == 0, ending
    assert output.is_file()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--layer-out", "a.x,a.y"], ("layer 'a.x,a.y' has place for 2 channels, and 3 are to go there (R, G, B)",)),
        (["--layer-out", "alpha"], ("layer 'alpha'", "give a layer's name")),
        (["--memory-gib", "0.1"], ("--memory-gib 0.1: is too little for frames of 96x64; give 0.8",)),
        (["--memory-gib", "-1"], ("--memory-gib -1: give more than 0",)),
        (["--part", "2/2"], ("--part 2/2: is no part",)),
        (["--node", "Inference1"], ("--node cannot be used with --input",)),
        (["--script", "shot.nk"], ("--input and --script exclude each other",)),
        (["--precision", "float16"], ("--precision", "half")),
        (["--frames", "900-1001"], ("plate.0900.exr: missing", "plate.0999.exr: missing")),
    ],
)
def test_words_that_do_not_go_together(
    command: Command, trained: SmallShot, words: list[str], says: tuple[str, ...]
) -> None:
    before = files_in(trained.folder)
    ending = command(*apply_to_all(trained, *words))
    assert ending.code == 2
    assert [said for said in says if said not in "\n".join(ending.faults)] == [], ending.faults
    assert files_in(trained.folder) == before


def test_a_model_or_frames_that_are_not_named(command: Command, trained: SmallShot) -> None:
    output = ["--output", str(trained.folder / "a.####.exr")]
    assert "no frames were named" in command.refused("apply", trained.data, *output)
    assert "no model was named" in command.refused("apply", "--input", trained.plate, *output)
    script = trained.folder / "shot.nk"
    script.write_text("Read { file plate.####.exr first 1001 last 1004 }\nInference { name I }\n")
    assert "I (Inference), line 2: knob modelFile is empty" in command.refused("apply", "--script", script, *output)
    words = ("--layer-in", "rgb")
    assert "--layer-in cannot be used with --script" in command.refused("apply", "--script", script, *output, *words)
    script.write_text(
        "Read { file plate.####.exr first 1001 last 1004 }\nInference { name I modelFile a.safetensors }\n"
    )
    assert "a.safetensors: no such model file" in command.refused("apply", "--script", script, *output)


def test_a_script_that_writes_over_what_a_later_frame_reads(command: Command, trained: SmallShot) -> None:
    script = trained.folder / "shot.nk"
    script.write_text(
        "Read { file plate.####.exr first 1001 last 1004 }\nTimeOffset { time_offset 1 }\nInference { name I }\n"
    )
    model = next(iter(trained.data.glob("*.safetensors")))
    words = ("apply", model, "--script", script, "--output", trained.plate, "--frames", "1005")
    fault = command.refused(*words[:-2], "--frames", "1003-1004")
    assert "would overwrite the input" in fault


@pytest.mark.parametrize(("other", "schema"), [("newer", model_file.SCHEMA + 1), ("older", model_file.SCHEMA - 1)])
def test_a_model_of_another_version(
    command: Command, trained: SmallShot, monkeypatch: pytest.MonkeyPatch, other: str, schema: int
) -> None:
    """A network of another version would answer otherwise with the same weights."""
    model = lively_model()
    monkeypatch.setattr(model_file, "SCHEMA", schema)
    path = save_lively_model(trained.folder / "other.safetensors", model)
    monkeypatch.undo()
    fault = command.refused("apply", path, "--input", trained.plate, "--output", trained.folder / "out" / "a.####.exr")
    assert "other.safetensors: not a model of this version" in fault
    assert f"use a{'n' if other == 'older' else ''} {other} understudy" in fault
    assert not (trained.folder / "out").exists()


def test_a_file_too_large_for_its_place_ends_the_run_and_leaves_nothing_half_written(
    trained: SmallShot, tmp_path: Path
) -> None:
    """The limit of the process on a file's size stands for a disk that fills up in the middle of a frame."""
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))"
    output = tmp_path / "out" / "a.####.exr"
    words = ("apply", trained.data, "--input", trained.plate, "--output", output, "--device", "cpu", "--threads", "1")
    ending = end_of(start(*words, python=limit))
    assert ending.code == 2, ending
    assert "a.1001.exr: cannot be written" in ending.faults[0]
    assert any("frames" in fault and "were not begun" in fault for fault in ending.faults), ending.faults
    assert files_in(tmp_path / "out") == set()


DISK = """import os, subprocess, sys
from pathlib import Path
from understudy.cli.main import main
place = Path(sys.argv[1])
place.mkdir()
subprocess.run(["mount", "-t", "tmpfs", "-o", sys.argv[2], "none", str(place)], check=True)
if sys.argv[3]:
    subprocess.run(["mount", "-o", f"remount,{sys.argv[3]}", str(place)], check=True)
code = main(sys.argv[4:])
print("LEFT", *sorted(str(path.relative_to(place)) for path in place.rglob("*")))
print("WHOLE", *[path.name for path in sorted(place.glob("*.exr")) if read_image(path).pixels.size], flush=True)
sys.exit(code)
"""


def on_a_disk(place: Path, options: str, remount: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A command with a file system of its own at `place`, which goes with it."""
    program = DISK.replace("from pathlib", "from understudy.frames.read import read_image\nfrom pathlib")
    prefix = ["unshare", "--mount", sys.executable, "-c", program, str(place), options, remount]
    return subprocess.run([*prefix, *words], capture_output=True, text=True, timeout=120, check=False)


def may_mount() -> bool:
    return bool(shutil.which("unshare")) and not subprocess.run(["unshare", "--mount", "true"], check=False).returncode


@pytest.mark.namespaces
@pytest.mark.skipif(not may_mount(), reason="file systems of one's own are not allowed here")
def test_a_disk_that_fills_up_and_one_that_may_not_be_written(trained: SmallShot, tmp_path: Path) -> None:
    def words(place: Path) -> list[str]:
        output = str(place / "a.####.exr")
        return ["apply", str(trained.data), "--input", trained.plate, "--output", output, "--threads", "1"]

    for frame in range(1005, 1013):
        shutil.copy(trained.folder / "plate.1001.exr", trained.folder / f"plate.{frame}.exr")
    full = tmp_path / "full"
    done = on_a_disk(full, "size=100k", "", *words(full))
    assert done.returncode == 2, done
    left, whole = (line.split()[1:] for line in done.stdout.splitlines() if line.startswith(("LEFT", "WHOLE")))
    assert left == whole, "what is there is whole"
    assert 0 < len(left) < 4
    assert ".exr: cannot be written (No space left on device); free space" in done.stderr
    assert "were not begun; then use --skip-existing" in done.stderr
    locked = tmp_path / "locked"
    done = on_a_disk(locked, "size=1m", "ro", *words(locked))
    assert done.returncode == 2, done
    assert f"{locked}: cannot be written (Read-only file system)" in done.stderr
    assert done.stderr.count("understudy: ") == 1


def test_one_corrupt_frame_among_a_thousand(command: Command, trained: SmallShot) -> None:
    """In the middle, and another that has lost a channel: all others are made, both are told at the end."""
    plate = (trained.folder / "plate.1001.exr").read_bytes()
    for frame in range(1001, 1121):
        (trained.folder / f"plate.{frame}.exr").write_bytes(plate)
    (trained.folder / "plate.1050.exr").write_bytes(plate[: len(plate) // 2])
    write_picture(trained.folder / "plate.1060.exr", np.zeros((64, 96, 1), np.float32), ("Y",))
    ending = command(*apply_to_all(trained, "--threads", "1"))
    assert ending.code == 2
    assert len(ending.faults) == 2
    assert "plate.1050.exr: is damaged" in ending.faults[0]
    assert "plate.1060.exr" in ending.faults[1]
    assert set(results(trained)) == {f"a.{frame}.exr" for frame in range(1001, 1121)} - {"a.1050.exr", "a.1060.exr"}
