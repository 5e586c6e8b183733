"""`understudy check`: the tree, the table, and the files of what training would see."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest
from tests.core.cli.command import Command, files_in, write_script
from tests.core.train.shots import HEIGHT, WIDTH, SmallShot

from understudy.frames.read import read_header, read_image
from understudy.frames.window import Window

TREE = """\
Input
  Cut (Crop): box 8 8 40 40; window 32x32+8+24
  Look (Grade): add 0.5
  Read1 (Read): FOLDER/plate.####.exr, first 1001, last 1001; frame 1001, channels R G B, format 96x64
Ground Truth
  Read2 (Read): FOLDER/paint.####.exr, first 1001, last 1001; frame 1001, channels R G B, format 96x64
"""
UPSTREAM = "Grade {\n add 0.5\n name Look\n}\nCrop {\n box {8 8 40 40}\n name Cut\n}\n"


def test_the_tree_is_printed_before_the_pairs(command: Command, shot: SmallShot) -> None:
    ending = command("check", "-X", "CopyCat1", write_script(shot.folder, upstream=UPSTREAM))
    assert ending.code == 0
    assert ending.out.startswith(TREE.replace("FOLDER", shot.folder.as_posix()) + "frame  use ")
    assert ending.out.endswith("No problem found.\n")


READING = (
    "Look (HueShift): evaluated by our reading of Foundry's page, not compared with Nuke: the hue turns in XYZ of "
    "sRGB's primaries, from Z towards X, in degrees; render it to a file where pixels must be exact"
)


def test_a_node_that_follows_a_reading_is_told_of_by_check_and_by_the_run(command: Command, shot: SmallShot) -> None:
    script = write_script(shot.folder, upstream="HueShift {\n hue_rotation 5\n name Look\n}\n")
    ending = command("check", script)
    assert ending.code == 0
    assert "  Look (HueShift): hue_rotation 5; not compared with Nuke: the hue turns in XYZ" in ending.out
    assert ending.out.splitlines().count(READING) == 1
    ending = command("-X", "CopyCat1", script, "--device", "cpu")
    assert (ending.code, ending.faults) == (0, [])
    assert ending.out.splitlines().count(f"warning: {READING}") == 1


def test_other_sources_have_no_tree(command: Command, shot: SmallShot) -> None:
    assert command("check", "--input", shot.plate, "--target", shot.paint).out.startswith("frame  use ")


def test_a_tree_that_cannot_be_evaluated_is_shown_all_the_same(command: Command, shot: SmallShot) -> None:
    script = write_script(shot.folder, upstream="Keylight {\n name Key1\n}\nGrade {\n name Grade1\n}\n")
    ending = command("check", script)
    assert ending.code == 2
    assert ending.out.splitlines()[:4] == [
        "Input",
        "  Grade1 (Grade)",
        "  Key1 (Keylight): cannot be evaluated",
        f"  Read1 (Read): {shot.folder.as_posix()}/plate.####.exr, first 1001, last 1001",
    ]
    assert ending.faults == [
        "understudy: Key1 (Keylight), line 18: understudy cannot evaluate this class; "
        "render it first, e.g. with a Write after Grade1"
    ]


def test_what_training_would_see_is_written(command: Command, shot: SmallShot, tmp_path: Path) -> None:
    folder = tmp_path / "seen" / "here"
    script = write_script(shot.folder, upstream=UPSTREAM)
    ending = command("check", "-X", "CopyCat1", "--write-inputs", folder, script)
    assert ending.code == 0
    assert f"2 files written into {folder}" in ending.out
    assert files_in(folder) == {"input.1001.exr", "ground_truth.1001.exr"}
    plate = read_image(shot.folder / "plate.1001.exr")
    seen = read_image(folder / "input.1001.exr")
    assert seen.channels == ("R", "G", "B")
    assert seen.data_window == Window(8, 24, 40, 56)
    assert seen.display_window == Window(0, 0, WIDTH, HEIGHT)
    np.testing.assert_array_equal(seen.pixels, plate.over(seen.data_window) + np.float32(0.5))
    assert read_header(folder / "input.1001.exr").parts[0].pixel_type == "float"
    paint = read_image(shot.folder / "paint.1001.exr")
    np.testing.assert_array_equal(read_image(folder / "ground_truth.1001.exr").pixels, paint.pixels)


def test_metadata_are_kept(command: Command, shot: SmallShot, tmp_path: Path) -> None:
    spec = oiio.ImageSpec(WIDTH, HEIGHT, 3, "half")
    spec["slate"] = "sh010"
    output = oiio.ImageOutput.create("x.exr")
    assert output is not None
    assert output.open(str(shot.folder / "plate.1001.exr"), spec)
    assert output.write_image(np.zeros((HEIGHT, WIDTH, 3), np.float32))
    output.close()
    assert command("check", "--write-inputs", tmp_path / "seen", write_script(shot.folder)).code == 0
    assert read_header(tmp_path / "seen" / "input.1001.exr").metadata["slate"] == "sh010"


def test_every_pair_of_sequences_is_written(command: Command, shot: SmallShot, tmp_path: Path) -> None:
    words = ("check", "--input", shot.plate, "--target", shot.paint, "--write-inputs", tmp_path / "seen")
    assert "4 files written into" in command(*words).out
    assert files_in(tmp_path / "seen") == {
        f"{side}.{frame}.exr" for side in ("input", "ground_truth") for frame in (1001, 1003)
    }


def test_problems_leave_what_can_be_written(command: Command, shot: SmallShot, tmp_path: Path) -> None:
    (shot.folder / "paint.1003.exr").write_bytes(b"no picture")
    words = ("check", "--input", shot.plate, "--target", shot.paint, "--write-inputs", tmp_path / "seen")
    assert "paint.1003.exr" in command.refused(*words)
    assert files_in(tmp_path / "seen") == {"input.1001.exr", "ground_truth.1001.exr", "input.1003.exr"}


def test_a_folder_that_cannot_be_written_is_named(command: Command, shot: SmallShot, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    script = write_script(shot.folder)
    assert f"{tmp_path / 'file'}" in command.refused("check", "--write-inputs", tmp_path / "file", script)


def test_a_window_without_a_pixel_writes_no_file(command: Command, shot: SmallShot, tmp_path: Path) -> None:
    nothing = "Crop {\n box {8 8 40 40}\n intersect true\n}\nCrop {\n box {50 50 60 60}\n intersect true\n}\n"
    command("check", "--write-inputs", tmp_path / "seen", write_script(shot.folder, upstream=nothing))
    assert files_in(tmp_path / "seen") == {"ground_truth.1001.exr"}


GIZMO = (
    "Gizmo {\n addUserKnob {41 add T Inner.add}\n}\n"
    " Input {\n }\n Grade {\n  name Inner\n }\n Output {\n }\nend_group\n"
)


def test_gizmos_are_found_and_named(
    command: Command, shot: SmallShot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = write_script(shot.folder, upstream="Lift {\n add 0.25\n name Lift1\n}\n")
    assert "Lift1 (Lift), line 18: understudy cannot evaluate this class" in command.refused("check", script)
    (tmp_path / "gizmos").mkdir()
    (tmp_path / "gizmos" / "Lift.gizmo").write_text(GIZMO)
    monkeypatch.setenv("NUKE_PATH", str(tmp_path / "gizmos"))
    ending = command("check", script)
    assert ending.code == 0
    assert ending.out.splitlines()[1:5] == [
        "  Lift1 (Lift)",
        "  Lift1.Output1 (Output)",
        "  Lift1.Inner (Grade): add 0.25",
        "  Lift1.Input1 (Input)",
    ]
