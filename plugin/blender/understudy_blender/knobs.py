"""The knobs of the panel, with CopyCat's labels, and their flags; a test holds them to understudy's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Union

Value = Union[str, int]


@dataclass(frozen=True)
class Knob:
    """One choice of a submission. At its default it is not said, so that the studio's presets count."""

    name: str
    label: str
    doc: str
    default: Value
    low: int = 0
    choices: tuple[str, ...] = ()

    @property
    def tooltip(self) -> str:
        return self.doc[0].upper() + self.doc[1:]


TRAINING = (
    Knob(
        "model_size",
        "Model Size",
        "how much the network can learn, and costs",
        "small",
        choices=("small", "medium", "large"),
    ),
    Knob("epochs", "Epochs", "passes over the whole set; total steps = epochs x pairs / batch", 10000, low=1),
    Knob("steps", "Steps", "total steps instead of epochs; 0: from epochs", 0),
    Knob("batch_size", "Batch Size", "crops a step, over all ranks; 0: chosen for the device", 0),
    Knob("crop_size", "Crop Size", "side of the random crops at full resolution", 96, low=16),
)
FARM = (
    Knob("farm", "Farm", "which farm; `understudy farms` lists them. Empty: the studio's preset, else local", ""),
    Knob("ranks", "Ranks", "rank tasks that train together. 0: the studio's preset, else 1", 0),
    Knob("preset", "Preset", "a [preset.NAME] of the studio's or your farm.toml", ""),
)
DATA_DIRECTORY = Knob(
    "data_directory", "Data Directory", "folder for checkpoints, contact sheets, graphs and logs", "//understudy"
)


def flags(values: Mapping[str, Value]) -> list[str]:
    """The words of all knobs that are not at their default."""
    said = [knob for knob in (*TRAINING, *FARM) if values[knob.name] != knob.default]
    return [word for knob in said for word in ("--" + knob.name.replace("_", "-"), str(values[knob.name]))]
