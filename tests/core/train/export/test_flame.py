"""Flame's side-car says what the ONNX file takes and gives, in tokens that Autodesk documents and no others."""

from __future__ import annotations

import json

import pytest

from understudy.errors import UnderstudyError
from understudy.train.export.flame import faults_of, input_channels, parts_of, sidecar, sidecar_text

RGB = ("R", "G", "B")


def _sidecar(inputs: tuple[str, ...] = ("RGB",), output: str = "RGB") -> dict[str, object]:
    return sidecar(name="comp", about="comp, step 40", inputs=inputs, output=output, tensors=("plate", "result"))


@pytest.mark.parametrize("inputs", [("RGB",), ("RGB", "A"), ("A",)])
@pytest.mark.parametrize("output", ["RGB", "RG", "A"])
def test_a_side_car_is_valid_and_scene_linear(inputs: tuple[str, ...], output: str) -> None:
    content = json.loads(sidecar_text(_sidecar(inputs, output)))
    assert faults_of(content) == []
    description = content["ModelDescription"]
    assert description["SupportsSceneLinear"] is True
    assert description["Padding"] == 1
    assert [(one["Name"], one["Channels"]) for one in description["Inputs"]] == [("plate", one) for one in inputs]
    assert [(one["Name"], one["Channels"]) for one in description["Outputs"]] == [("result", output)]


@pytest.mark.parametrize(
    ("place", "value", "fault"),
    [
        ("ModelDescription.SupportsSceneLinear", "yes", "SupportsSceneLinear: 'yes'"),
        ("ModelDescription.Padding", 0, "Padding: 0"),
        ("ModelDescription.Colour", "linear", "Colour: is no token"),
        ("ModelDescription.Inputs", [], "Inputs: []"),
        ("ModelDescription.Inputs.0.Channels", "RGBA", "Inputs[0].Channels: 'RGBA'"),
        ("ModelDescription.Inputs.0.Gain", 1, "Inputs[0].Gain: 1"),
        ("ModelDescription.Outputs.0.Channels", "RB", "Outputs[0].Channels: 'RB'"),
        ("ModelDescription.Outputs.0.Type", "Front", "Outputs[0].Type: 'Front'"),
        ("ModelDescription.MinimumVersion", 2025, "MinimumVersion: 2025"),
        ("ModelDescription.Name", None, "Name: is missing"),
        ("ModelDescription", "comp", "ModelDescription: is no table"),
    ],
)
def test_what_flame_would_not_understand_is_found(place: str, value: object, fault: str) -> None:
    content = json.loads(json.dumps(_sidecar()))
    *outer, last = place.split(".")
    table = content
    for key in outer:
        table = table[int(key)] if key.isdigit() else table[key]
    if value is None:
        del table[last]
    else:
        table[last] = value
    assert fault in faults_of(content)


def test_what_is_no_side_car() -> None:
    assert faults_of([]) == faults_of({}) == ["not one ModelDescription"]


def test_clips_and_files_for_channels() -> None:
    assert input_channels(RGB) == ("RGB",)
    assert input_channels((*RGB, "A")) == ("RGB", "A")
    assert input_channels(("mask.a",)) == ("A",)
    assert [(part.suffix, part.first, part.channels) for part in parts_of(("A",))] == [("", 0, "A")]
    assert [part.channels for part in parts_of(("forward.u", "forward.v"))] == ["RG"]
    assert [(part.suffix, part.first, part.channels) for part in parts_of((*RGB, "A"))] == [
        ("", 0, "RGB"),
        (".matte", 3, "A"),
    ]


@pytest.mark.parametrize("channels", [(*RGB, "Z"), (*RGB, "A", "A"), ("Z",), ("forward.u", "forward.v"), ("R", "G")])
def test_what_flame_cannot_feed_is_refused(channels: tuple[str, ...]) -> None:
    with pytest.raises(UnderstudyError, match=r"--to flame: the model sees .*; Flame feeds a model RGB"):
        input_channels(channels)


def test_what_flame_cannot_take_is_refused() -> None:
    with pytest.raises(UnderstudyError, match=r"--to flame: the model gives 5 channels .*; Flame takes three"):
        parts_of((*RGB, "A", "Z"))
