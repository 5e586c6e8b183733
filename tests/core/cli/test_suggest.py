"""`understudy suggest` as an artist types it, and where it cannot answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.core.cli.command import Command, files_in, write_script
from tests.core.train.shots import SmallShot

CPU = ("--device", "cpu", "--threads", "1")


def test_a_table_for_people(command: Command, trained: SmallShot) -> None:
    before = files_in(trained.folder)
    ending = command("suggest", trained.data, "--count", "2", *CPU)
    assert ending.code == 0, ending
    lines = ending.out.splitlines()
    first = lines.index("") - 1
    assert lines[first] in ("paint 1002 next", "paint 1004 next")
    assert lines[first + 2].split() == ["frame", "score", "why"]
    assert {line.split()[0] for line in lines[first + 3 :]} == {"1002", "1004"}
    assert files_in(trained.folder) == before


def test_json_for_programs(command: Command, trained: SmallShot) -> None:
    ending = command("suggest", trained.data / "first.2.safetensors", "--json", "--frames", "1004", *CPU)
    assert ending.code == 0, ending
    found = json.loads(ending.out)
    assert found["painted"] == [1001, 1003]
    assert [suggestion["frame"] for suggestion in found["suggestions"]] == [1004]
    assert found["left_out"] == []
    assert any("Looking at 3 frames" in line for line in ending.faults)  # stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--count", "0"], ("--count 0", "1 or more")),
        (["--count", "many"], ("--count", "'many'")),
        (["--frames", "none"], ("frames 'none'",)),
        (["--frames", "1001,1003"], ("no unpainted frame is left to choose from", "--frames")),
        (["--input", "gone.####.exr"], ("gone.####.exr: no frame found", "--input")),
        (["--input", "gone.exr"], ("gone.exr: is one file, not a shot", "--input")),
        (["--working-space", "acescq"], ("'acescq'", "one of")),
        (["--progress", "loud"], ("--progress", "'loud'")),
    ],
)
def test_words_that_cannot_be_followed(
    command: Command, trained: SmallShot, words: list[str], says: tuple[str, ...]
) -> None:
    fault = command.refused("suggest", trained.data, *words, *CPU)
    assert [said for said in says if said not in fault] == [], fault


def without_run(data: Path) -> None:
    for path in data.iterdir():
        path.unlink()


def without_model(data: Path) -> None:
    for path in data.glob("*.safetensors"):
        path.unlink()


def with_a_damaged_record(data: Path) -> None:
    (data / "first.run.json").write_text("{")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (without_run, "holds no run"),
        (without_model, "has written no checkpoint yet"),
        (with_a_damaged_record, "first.run.json: is damaged"),
    ],
)
def test_runs_that_cannot_be_asked(
    command: Command, trained: SmallShot, spoil: Callable[[Path], None], says: str
) -> None:
    spoil(trained.data)
    assert says in command.refused("suggest", trained.data, *CPU)


def test_a_run_from_a_script_needs_its_plate_named(
    command: Command, shot: SmallShot, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = write_script(shot.folder)
    monkeypatch.chdir(shot.folder)
    assert command("-F", "1", "-X", "CopyCat1", "--device", "cpu", "--threads", "1", script).code == 0
    fault = command.refused("suggest", "data", *CPU)
    assert "give --input with the plate's pattern" in fault
    ending = command("suggest", "data", "--input", shot.plate, *CPU)
    assert ending.code == 0, ending
    assert "1001" not in ending.out.split("why\n")[1]


def test_a_plate_of_other_frames(command: Command, trained: SmallShot, tmp_path: Path) -> None:
    plate = tmp_path / "other.####.exr"
    for frame in (1, 2):
        (tmp_path / f"other.{frame:04d}.exr").write_bytes(b"v/1\x01")
    fault = command.refused("suggest", trained.data, "--input", plate, *CPU)
    assert "holds none of the run's painted frames" in fault
