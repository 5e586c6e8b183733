"""The Inference node: which one, what it sees, and what its knobs say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.core.script.fixtures import numbered_shot, write_exr

from understudy.errors import UnderstudyError
from understudy.frames.colour import ColourRules
from understudy.script.inference import Inference, read_inference
from understudy.script.nodes.base import Span

RGB = ("R", "G", "B")
SHOT = """Root {
 inputs 0
%(root)s}
Read {
 inputs 0
 file %(file)s
 first 1
 last 4
 name Read1
}
Grade {
 multiply 0.5
 name Grade1
}
Inference {
%(knobs)s name Inference1
}
"""


def inference(
    folder: Path, *, knobs: str = "", root: str = "", name: str = "", file: str = "", more: str = ""
) -> Inference:
    """Of a script over four frames R, G, B, A."""
    numbered_shot(folder, range(1, 5), channels="RGBA")
    script = folder / "shot.nk"
    script.write_text(SHOT % {"root": root, "knobs": knobs, "file": file or "plate.####.exr"} + more)
    return read_inference(script, name, colour=ColourRules())


def test_what_comes_to_the_input_with_all_channels(tmp_path: Path) -> None:
    seen = inference(tmp_path)
    picture = seen.read(3)
    assert picture.channels == (*RGB, "A")
    assert picture.pixels[-1, 0, 0] == pytest.approx(1.5), "row 0, frame 3, multiplied by 0.5"
    assert seen.file(3) == tmp_path / "plate.0003.exr"
    assert seen.frames() == Span(1, 4)
    assert seen.uses_gpu()
    assert not seen.is_half()


def test_the_scripts_range_goes_over_that_of_the_files(tmp_path: Path) -> None:
    assert inference(tmp_path, root=" first_frame 2\n last_frame 9\n").frames() == Span(2, 9)
    assert inference(tmp_path, root=" first_frame 2\n").frames() == Span(1, 4)


def test_the_model_file_and_the_arithmetic(tmp_path: Path) -> None:
    knobs = (
        ' modelFile "\\[file dirname \\[value root.name]]/runs/r.cat"\n useGPUIfAvailable false\n halfPrecision true\n'
    )
    seen = inference(tmp_path, knobs=knobs)
    assert seen.model() == f"{tmp_path.as_posix()}/runs/r.cat"
    assert not seen.uses_gpu()
    assert seen.is_half()
    with pytest.raises(UnderstudyError, match=r"Inference1 \(Inference\), line 15: knob modelFile is empty"):
        inference(tmp_path).model()


@pytest.mark.parametrize(
    ("knob", "wanted", "taken"),
    [
        ("", RGB, RGB),
        ("", ("A",), ("A",)),
        ("rgba.red,rgba.green,rgba.blue", ("a", "b", "c"), RGB),
        ("{rgba.blue rgba.red}", ("a", "b"), ("B", "R")),
        ("rgb", ("a", "b", "c"), RGB),
        ("rgba", ("a", "b", "c", "d"), (*RGB, "A")),
        ("alpha", ("R",), ("A",)),
    ],
)
def test_the_models_channels_in_what_is_connected(
    tmp_path: Path, knob: str, wanted: tuple[str, ...], taken: tuple[str, ...]
) -> None:
    knobs = f" inputChannels {knob}\n" if knob else ""
    assert inference(tmp_path, knobs=knobs).taken(wanted) == taken


@pytest.mark.parametrize(
    ("knob", "made", "given"),
    [
        ("", RGB, RGB),
        ("", ("whitebarmask.mask",), ("whitebarmask.mask",)),
        ("rgba.alpha", ("mask.a",), ("A",)),
        ("alpha", ("mask.a",), ("A",)),
        ("depth.Z", ("R",), ("Z",)),
        ("mask.a", ("A",), ("mask.a",)),
        ("rgb", ("x.a", "x.b", "x.c"), RGB),
        ("clean", RGB, ("clean.R", "clean.G", "clean.B")),
    ],
)
def test_names_of_what_it_gives(tmp_path: Path, knob: str, made: tuple[str, ...], given: tuple[str, ...]) -> None:
    knobs = f" outputChannels {knob}\n" if knob else ""
    assert inference(tmp_path, knobs=knobs).given(made) == given


def test_channels_that_are_not_there_or_too_many_are_told_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match=r"the model takes Z, and at its input are R, G, B, A; choose"):
        inference(tmp_path).taken(("Z",))
    with pytest.raises(UnderstudyError, match=r"inputChannels are rgb, the model takes R,"):
        inference(tmp_path, knobs=" inputChannels rgb\n").taken(("R",))
    with pytest.raises(UnderstudyError, match=r"outputChannels are rgb, the model makes A;"):
        inference(tmp_path, knobs=" outputChannels rgb\n").given(("A",))


def test_a_layer_from_another_part_of_the_file(tmp_path: Path) -> None:
    pixels = np.zeros((3, 4, 5), np.float32)
    for frame in range(1, 5):
        write_exr(tmp_path / f"layers.{frame}.exr", pixels, ("R", "G", "B", "mask.a", "Z"))
    seen = inference(tmp_path, file="layers.#.exr", knobs=" inputChannels {rgba.red mask.a depth.Z}\n")
    assert seen.taken(("a", "b", "c")) == ("R", "mask.a", "Z")
    assert seen.given(("A", "depth")) == ("A", "depth")


@pytest.mark.parametrize(
    ("name", "knobs", "more", "what"),
    [
        ("Inference1", " disable true\n", "", r"Inference1 \(Inference\), line 15: is disabled"),
        ("Inference1", " inputs 0\n", "", "nothing is connected to its input; connect the frames"),
        ("Other", "", "", r"has no node Other; its Inference nodes are Inference1"),
        ("Grade1", "", "", r"Grade1 is a Grade, no Inference node"),
        ("", "", "Inference { inputs 0 name B }\n", r"2 Inference nodes; choose one with --node: Inference1, B"),
    ],
)
def test_a_node_that_cannot_be_meant(tmp_path: Path, name: str, knobs: str, more: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=what):
        inference(tmp_path, name=name, knobs=knobs, more=more)


def test_what_cannot_be_evaluated_is_named_before_anything_is_read(tmp_path: Path) -> None:
    script = tmp_path / "shot.nk"
    script.write_text("Denoise2 { inputs 0 name Denoise1 }\nInference { name Inference1 }\n")
    with pytest.raises(UnderstudyError, match=r"Denoise1 \(Denoise2\), line 1: understudy cannot evaluate this class"):
        read_inference(script, "", colour=ColourRules())
