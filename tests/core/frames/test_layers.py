"""Layer names: each of the documented forms, views, and the error that lists what the file has."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.errors import UnderstudyError
from understudy.frames.layers import Header, Part, select
from understudy.frames.window import Window

WINDOW = Window.of_size(4, 4)


def part(index: int, name: str, view: str, *channels: str) -> Part:
    return Part(
        index=index,
        name=name,
        view=view,
        channels=channels,
        data_window=WINDOW,
        display_window=WINDOW,
        pixel_type="half",
        colorspace="",
    )


def header(*parts: Part, views: tuple[str, ...] = ()) -> Header:
    return Header(path=Path("plate.0001.exr"), parts=parts, views=views)


STEREO = header(
    part(0, "rgba_right", "right", "R", "G", "B", "A"),
    part(1, "depth_left", "left", "Z"),
    part(2, "mask_left", "left", "mask.a"),
    part(3, "rgba_left", "left", "R", "G", "B", "A"),
    part(4, "mask_right", "right", "mask.a"),
    part(5, "flow", "", "flow.u", "flow.v"),
)
BLENDER = header(
    part(0, "", "", "ViewLayer.Combined.R", "ViewLayer.Combined.G", "ViewLayer.Combined.B", "ViewLayer.Depth.Z", "x")
)
NUKE = header(part(0, "", "", "R", "G", "B", "A", "Z", "diffuse.red", "diffuse.green", "diffuse.blue"))


@pytest.mark.parametrize(
    ("file", "layer", "view", "part_index", "channels"),
    [
        (STEREO, "", "", 3, "R G B"),
        (STEREO, "", "right", 0, "R G B"),
        (STEREO, "rgba", "right", 0, "R G B A"),
        (STEREO, "rgba_right", "", 0, "R G B A"),
        (STEREO, "mask", "right", 4, "mask.a"),
        (STEREO, "mask_left", "", 2, "mask.a"),
        (STEREO, "mask.a", "", 2, "mask.a"),
        (STEREO, "depth", "", 1, "Z"),
        (STEREO, "flow", "left", 5, "flow.u flow.v"),
        (STEREO, "alpha", "", 3, "A"),
        (BLENDER, "ViewLayer.Combined", "", 0, "ViewLayer.Combined.R ViewLayer.Combined.G ViewLayer.Combined.B"),
        (BLENDER, "ViewLayer.Depth", "", 0, "ViewLayer.Depth.Z"),
        (NUKE, "", "", 0, "R G B"),
        (NUKE, "rgb", "", 0, "R G B"),
        (NUKE, "rgba", "", 0, "R G B A"),
        (NUKE, "diffuse", "", 0, "diffuse.red diffuse.green diffuse.blue"),
        (NUKE, "A, Z", "", 0, "A Z"),
        (NUKE, "", "left", 0, "R G B"),
        (header(part(0, "", "", "R", "G", "B")), "rgba", "", 0, "R G B"),
        (header(part(0, "", "", "Y")), "", "", 0, "Y"),
        (header(part(0, "", "", "r", "g", "b")), "", "", 0, "r g b"),
        (header(part(0, "", "", "R", "G", "B", "right.R", "right.G", "right.B"), views=("left", "right")),
         "", "right", 0, "right.R right.G right.B"),
        (header(part(0, "", "", "R", "G", "B", "right.R", "right.G", "right.B"), views=("left", "right")),
         "rgb", "left", 0, "R G B"),
        (header(part(0, "", "", "spec.R", "spec.right.R"), views=("left", "right")),
         "spec", "right", 0, "spec.right.R"),
    ],
)  # fmt: skip
def test_a_layer_name_finds_its_channels(file: Header, layer: str, view: str, part_index: int, channels: str) -> None:
    found = select(file, layer, view=view)
    assert (found.part.index, found.channels) == (part_index, tuple(channels.split()))


def test_exact_channels_are_taken_in_the_order_asked_for() -> None:
    assert select(NUKE, channels=("B", "diffuse.red")).indices == (2, 5)


@pytest.mark.parametrize(
    ("file", "layer", "view", "words"),
    [
        (NUKE, "difuse", "", ["plate.0001.exr", "'difuse'", "diffuse", "rgba", "Z"]),
        (BLENDER, "", "", ["5 channels", "ViewLayer.Combined", "ViewLayer.Depth"]),
        (BLENDER, "ViewLayer", "", ["'ViewLayer'"]),
        (STEREO, "", "centre", ["'centre'", "right, left"]),
        (STEREO, "A,Z", "", ["no part together"]),
        (NUKE, "A,nothing", "", ["no channel nothing"]),
    ],
)
def test_an_unknown_layer_is_refused_with_the_layers_there_are(
    file: Header, layer: str, view: str, words: list[str]
) -> None:
    with pytest.raises(UnderstudyError) as refused:
        select(file, layer, view=view)
    assert all(word in str(refused.value) for word in words), refused.value
    assert "\n" not in str(refused.value)
