"""Nuke scripts that cannot be trained from: node, class, knob and line are named."""

from __future__ import annotations

import pytest
from tests.core.cli.command import Command, files_in, write_script
from tests.core.train.shots import SmallShot

SECOND = "CopyCat {\n inputs 2\n name CopyCat2\n}\n"


def test_unknown_nodes(command: Command, shot: SmallShot) -> None:
    script = write_script(shot.folder, more=SECOND)
    assert "has 2 CopyCat nodes; choose one with -X: CopyCat1, CopyCat2" in command.refused("train", script)
    assert "has no node Nope; its CopyCat nodes are" in command.refused("-X", "Nope", script)
    assert "Read1 is a Read, no CopyCat node" in command.refused("-X", "Read1", script)
    script.write_text("Grade {\n name Grade1\n}\n")
    assert "has no CopyCat node; add one" in command.refused("train", script)
    assert not shot.data.exists()


def test_inputs_to_which_nothing_is_connected(command: Command, shot: SmallShot) -> None:
    script = shot.folder / "shot.nk"
    script.write_text("CopyCat {\n inputs 0\n name CopyCat1\n}\n")
    faults = command.refused("train", script, lines=2)
    assert "input Input; connect the frames" in faults
    assert "input Ground Truth; connect the frames" in faults


def test_every_bad_knob_is_told_of(command: Command, shot: SmallShot) -> None:
    knobs = " modelSize Huge\n epochs abc\n batchSizeType Sometimes\n initialWeights Deblur\n"
    faults = command.refused("-X", "CopyCat1", write_script(shot.folder, knobs=knobs), lines=4)
    for said in ("modelSize is 'Huge'", "epochs refers to 'abc'", "batchSizeType is 'Sometimes'", "is 'Deblur'"):
        assert said in faults
    assert all("CopyCat1 (CopyCat), line " in line for line in faults.splitlines())
    assert not shot.data.exists()


@pytest.mark.parametrize(
    ("knobs", "said"),
    [
        (" initialWeights Checkpoint\n", "checkpointFile is empty; name the file"),
        (" cropSize 3\n", "crop_size: 3 is out of range"),
        (" learningRate {{frame}}\n", "learningRate changes with the frame"),
    ],
)
def test_knobs_out_of_reach(command: Command, shot: SmallShot, knobs: str, said: str) -> None:
    assert said in command.refused("-X", "CopyCat1", write_script(shot.folder, knobs=knobs))


def test_every_node_that_cannot_be_evaluated_is_told_of(command: Command, shot: SmallShot) -> None:
    upstream = "Denoise2 {\n name Denoise1\n}\nZDefocus2 {\n name ZDefocus1\n}\n"
    faults = command.refused("-X", "CopyCat1", write_script(shot.folder, upstream=upstream), lines=2)
    assert "Denoise1 (Denoise2), line 18" in faults
    assert "ZDefocus1 (ZDefocus2), line 21" in faults
    assert "render it first" in faults


@pytest.mark.parametrize(
    ("upstream", "said"),
    [
        ("Crop {\n box {10 10 10 10}\n name Crop1\n}\n", "knob box is 10 10 10 10, which holds no pixel"),
        ("Crop {\n box {0 0 50 50}\n reformat true\n name Crop1\n}\n", "has the format 50x50"),
        ("Remove {\n channels rgba\n name Remove1\n}\n", "no channel is left here"),
    ],
)
def test_nodes_that_leave_nothing_to_learn(command: Command, shot: SmallShot, upstream: str, said: str) -> None:
    assert said in command.refused("-X", "CopyCat1", write_script(shot.folder, upstream=upstream))


def test_scripts_that_are_no_scripts(command: Command, shot: SmallShot) -> None:
    script = write_script(shot.folder)
    whole = script.read_text()
    script.write_text(whole[:-20])
    faults = command.refused("train", script)
    assert "shot.nk, line 18: the brace { opened here is never closed" in faults
    script.write_bytes(b"\x00\xff" * 100)
    assert "is not a line that Nuke writes" in command.refused("train", script)
    script.write_text("")
    assert "has no CopyCat node" in command.refused("train", script)
    assert "cannot be read (Is a directory)" in command.refused("train", shot.folder)
    assert "cannot be read (No such file" in command.refused("train", shot.folder / "none.nk")


def test_words_that_nuke_would_refuse_too(command: Command, shot: SmallShot) -> None:
    script = write_script(shot.folder)
    assert "frames 'x'" in command.refused("-F", "x", "-X", "CopyCat1", script)
    assert "--remap a: give pairs FROM,TO" in command.refused("-X", "CopyCat1", "--remap", "a", script)
    before = files_in(shot.folder)
    moved = ["--remap", f"{shot.folder},/nowhere"]
    faults = command.refused("-X", "CopyCat1", *moved, script, lines=2)
    assert "Read1 (Read), line 11: frame 1001 is missing: /nowhere/plate.1001.exr" in faults
    assert "Read2 (Read), line 4: frame 1001 is missing: /nowhere/paint.1001.exr" in faults
    assert files_in(shot.folder) == before


def test_a_node_that_wants_no_gpu_gets_none(command: Command, shot: SmallShot) -> None:
    script = write_script(shot.folder, knobs=" useGPUIfAvailable false\n")
    ending = command("--gpu", "-X", "CopyCat1", "--steps", "1", "--threads", "1", script)
    assert ending.code == 0, ending
    assert "Device: CPU" in ending.out
    assert "going on" not in ending.out


@pytest.mark.parametrize(
    "words",
    [
        ["--gpu", "-X", "CopyCat1", "SCRIPT"],
        ["-F", "1", "-X", "CopyCat1", "--cont", "-V", "2", "SCRIPT", "--gpu"],
        ["--gpu", "0", "-XCopyCat1", "SCRIPT"],
        ["train", "--gpu", "SCRIPT"],
        ["check", "--gpu", "SCRIPT"],
    ],
)
def test_nukes_words_in_any_order(command: Command, shot: SmallShot, words: list[str]) -> None:
    script = str(write_script(shot.folder))
    more = [] if words[0] == "check" else ["--steps", "1", "--device", "cpu", "--threads", "1"]
    ending = command(*[script if word == "SCRIPT" else word for word in words], *more)
    assert ending.code == 0, ending
    assert ("Frame 1 (1 of 1)" in ending.out) == ("-F" in words)
