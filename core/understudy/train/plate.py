"""Frames for a model to look at: the input channels that it was trained on, out of any file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.frames.colour import ColourRules
from understudy.frames.image import Image
from understudy.frames.read import FilePicture, read_picture
from understudy.train.model_file import SavedModel


@dataclass(frozen=True, kw_only=True)
class PlateRules:
    """How the files of a plate are to be read."""

    layer: str | None = None
    """None: the layer that the model was trained on."""
    colorspace: str = ""
    """OCIO space of the files; empty: the file's own."""
    view: str = ""
    """Stereo view; empty: the file's first."""
    colour: ColourRules


def read_plate(path: Path, saved: SavedModel, rules: PlateRules) -> Image:
    """The frame with the model's input channels. Raises UnderstudyError when it has not got them."""
    return find_plate(path, saved, rules).image


def find_plate(path: Path, saved: SavedModel, rules: PlateRules) -> FilePicture:
    """`read_plate`'s picture, and where in its file it lay."""
    wanted = saved.model.spec.input_channels
    layer = saved.card.input_layer if rules.layer is None else rules.layer
    found = read_picture(
        path,
        layer=layer,
        channels=() if layer else wanted,
        view=rules.view,
        colorspace=rules.colorspace,
        colour=rules.colour,
    )
    channels = found.image.channels
    if len(channels) != len(wanted):
        raise UnderstudyError(
            f"{path}: has channels {','.join(channels)}, the model takes {','.join(wanted)}; choose another layer"
        )
    return found
