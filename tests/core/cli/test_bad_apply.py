"""Applying a model where it cannot be: every frame is accounted for."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.core.cli.command import Command, files_in
from tests.core.train.shots import SmallShot


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
    faults = command.refused(*apply_to_all(trained, "--input-layer", "depth"), lines=4)
    assert all("has no layer 'depth'; it has rgb" in line for line in faults.splitlines())
    faults = command.refused(*apply_to_all(trained, "--input-layer", "R", "--frames", "1001"))
    assert "plate.1001.exr: has channels R, the model takes R,G,B; choose --input-layer" in faults
    assert results(trained) == []


def test_a_still(command: Command, trained: SmallShot, tmp_path: Path) -> None:
    output = tmp_path / "made" / "still.exr"
    source = trained.folder / "plate.1002.exr"
    ending = command("apply", trained.data, "--input", source, "--output", output, "--gpu", "--device", "cpu")
    assert ending.code == 0, ending
    assert output.is_file()
