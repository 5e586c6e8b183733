"""Flame's side-car: the JSON of the same name that tells its Inference node what an ONNX model takes and gives.

Its tokens are Autodesk's (Inference Builder, and What's New in 2025.2 for Channels); FIELDS has all of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from understudy.errors import UnderstudyError
from understudy.frames.kinds import is_colour, is_matte

Check = Callable[[object], bool]


@dataclass(frozen=True, kw_only=True)
class FlamePart:
    """One ONNX file: Flame takes at most three channels out of a model."""

    suffix: str
    """After the run's name: empty, or .matte."""
    first: int
    """Of the model's channels, from 0."""
    channels: str
    """RGB, RG or A."""


def parts_of(targets: Sequence[str]) -> tuple[FlamePart, ...]:
    """What to write for a model's channels: a fourth one gets a file of its own.

    Raises UnderstudyError for more.
    """
    if len(targets) > 4:
        raise UnderstudyError(
            f"--to flame: the model gives {len(targets)} channels ({', '.join(targets)}); Flame takes three and a matte"
        )
    whole = FlamePart(suffix="", first=0, channels={1: "A", 2: "RG"}.get(len(targets), "RGB"))
    return (whole, FlamePart(suffix=".matte", first=3, channels="A")) if len(targets) == 4 else (whole,)


def input_channels(channels: Sequence[str]) -> tuple[str, ...]:
    """Flame's clips that the model is fed from: RGB, RGB and A, or A.

    Raises UnderstudyError for a model that sees anything else.
    """
    is_rgb = len(channels) >= 3 and all(map(is_colour, channels[:3]))
    rest = channels[3:] if is_rgb else channels
    if len(rest) > 1 or not all(map(is_matte, rest)):
        raise UnderstudyError(
            f"--to flame: the model sees {', '.join(channels)}; Flame feeds a model RGB, RGB and a matte, or a matte"
        )
    return (*(("RGB",) if is_rgb else ()), *("A" for _ in rest))


def sidecar(
    *, name: str, about: str, inputs: Sequence[str], output: str, tensors: tuple[str, str]
) -> dict[str, object]:
    """The JSON's content; `tensors`: the ONNX names of input and output, of which RGB and A share the input's."""
    plate, result = tensors
    content: dict[str, object] = {
        "ModelDescription": {
            "MinimumVersion": "2025.2",
            "Name": name,
            "Description": about,
            "SupportsSceneLinear": True,
            "KeepAspectRatio": False,
            "Padding": 1,
            "Inputs": [
                {
                    "Name": plate,
                    "Description": "plate" if channels == "RGB" else "its matte",
                    "Type": "Front" if channels == "RGB" else "Matte",
                    "Gain": 1.0,
                    "Channels": channels,
                }
                for channels in inputs
            ],
            "Outputs": [
                {
                    "Name": result,
                    "Description": "result",
                    "Type": "Result",
                    "InverseGain": 1.0,
                    "ScalingFactor": 1.0,
                    "Channels": output,
                }
            ],
        }
    }
    faults = faults_of(content)
    assert not faults, faults
    return content


def sidecar_text(content: Mapping[str, object]) -> str:
    return json.dumps(content, indent=4) + "\n"


def _is(kind: type) -> Check:
    return lambda value: type(value) is kind


def _matches(pattern: str) -> Check:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


FIELDS: dict[str, dict[str, Check]] = {
    "ModelDescription": {
        "MinimumVersion": _matches(r"20\d\d(\.\d+)*"),
        "Name": _matches(r".+"),
        "Description": _is(str),
        "SupportsSceneLinear": _is(bool),
        "KeepAspectRatio": _is(bool),
        "Padding": lambda value: type(value) is int and value >= 1,
        "Inputs": lambda value: isinstance(value, list) and len(value) >= 1,
        "Outputs": lambda value: isinstance(value, list) and len(value) >= 1,
    },
    "Inputs": {
        "Name": _matches(r".+"),
        "Description": _is(str),
        "Type": _matches(r"Front|Back|Matte"),
        "Gain": _is(float),
        "Channels": _matches(r"[RGB]{1,3}|A"),
    },
    "Outputs": {
        "Name": _matches(r".+"),
        "Description": _is(str),
        "Type": _matches(r"Result"),
        "InverseGain": _is(float),
        "ScalingFactor": _is(float),
        "Channels": _matches(r"A|RG|GR|RGB|RBG|GRB|GBR|BRG|BGR"),
    },
}
"""Every token of the side-car, and what it may be."""


def faults_of(content: object) -> list[str]:
    """What Flame would not understand, a line each."""
    if not isinstance(content, Mapping) or set(content) != {"ModelDescription"}:
        return ["not one ModelDescription"]
    description = content["ModelDescription"]
    faults = _faults("ModelDescription", description)
    for side in ("Inputs", "Outputs"):
        listed = description.get(side) if isinstance(description, Mapping) else None
        for number, one in enumerate(listed if isinstance(listed, list) else []):
            faults += [f"{side}[{number}].{fault}" for fault in _faults(side, one)]
    return faults


def _faults(place: str, content: object) -> list[str]:
    if not isinstance(content, Mapping):
        return [f"{place}: is no table"]
    fields = FIELDS[place]
    unknown = [f"{name}: is no token" for name in content if name not in fields]
    missing = [f"{name}: is missing" for name in fields if name not in content]
    wrong = [
        f"{name}: {content[name]!r}" for name, check in fields.items() if name in content and not check(content[name])
    ]
    return unknown + missing + wrong
