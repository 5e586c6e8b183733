"""Frame lists, file names, and which sockets can be read as they lie on disk."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from understudy.frames.sequence import Sequence, parse_frames
from understudy_blender import frames
from understudy_blender.problems import Problem
from understudy_blender.sources import Files, ImageNode, Socket, files_of

PICTURE = Socket("Plate", 0, "Image", is_value=False)
PLATE = ImageNode(
    path="/show/plate.1001.exr",
    is_sequence=True,
    is_multilayer=False,
    colorspace="Linear",
    frame_start=1001,
    frame_offset=1000,
    frame_duration=24,
)


@pytest.mark.parametrize("text", ["7", "1001,1013-1040x9", "3-5,1", " 1 , 2-4 ", "-3-2"])
def test_frame_lists_mean_what_understudy_means(text: str) -> None:
    assert frames.parse(text) == tuple(sorted(parse_frames(text)))
    assert parse_frames(frames.written(frames.parse(text))) == frames.parse(text)


def test_no_frames_are_no_frames() -> None:
    assert frames.parse(" ") == ()


@pytest.mark.parametrize("text", ["1,x", "1-", "3x2", "1-9x0"])
def test_what_is_no_frame_list_is_named(text: str) -> None:
    with pytest.raises(Problem, match=r"Painted Frames: '.+' is no frame; write them as"):
        frames.parse(text)


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/show/plate.1001.exr", "/show/plate.####.exr"),
        ("/show_010/sh020_v02_0007_lin.png", "/show_010/sh020_v02_####_lin.png"),
        ("/show/0100.exr", "/show/####.exr"),
        ("/show_010/still.exr", ""),
    ],
)
def test_the_last_number_of_a_name_counts(path: str, pattern: str) -> None:
    assert frames.pattern_of(str(Path(path))) == (str(Path(pattern)) if pattern else "")


def test_files_have_the_names_that_understudy_gives_them(tmp_path: Path) -> None:
    pattern = str(tmp_path / "paint.####.exr")
    for number in (7, 1001, 12345):
        assert frames.path_of(pattern, number) == str(Sequence(pattern).path(number))
        Path(frames.path_of(pattern, number)).touch()
    (tmp_path / "paint.old.exr").touch()
    assert frames.on_disk(pattern) == (7, 1001, 12345)
    assert frames.on_disk(str(tmp_path / "gone" / "paint.####.exr")) == ()


def test_a_sequence_is_read_from_disk_with_its_own_numbers() -> None:
    assert files_of(PICTURE, PLATE) == Files(pattern=str(Path("/show/plate.####.exr")), shift=0, first=1001, last=1024)
    late = files_of(PICTURE, dataclasses.replace(PLATE, frame_start=1))
    assert late is not None
    assert (late.shift, late.first, late.last, late.has(24), late.has(25)) == (1000, 1, 24, True, False)


@pytest.mark.parametrize(
    "changes",
    [
        {"is_sequence": False},
        {"is_plain": False},
        {"colorspace": "Filmic sRGB"},
        {"colorspace": "sRGB"},
        {"path": "/show/still.exr"},
    ],
)
def test_what_a_node_shows_otherwise_than_it_lies_there_is_baked(changes: dict[str, object]) -> None:
    assert files_of(PICTURE, dataclasses.replace(PLATE, **changes)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "colorspace", "said"),
    [("a.1.png", "sRGB", ""), ("a.1.png", "Non-Color", "raw"), ("a.1.exr", "Linear Rec.709", "")],
)
def test_colour_spaces_are_said_as_understudy_names_them(path: str, colorspace: str, said: str) -> None:
    found = files_of(PICTURE, dataclasses.replace(PLATE, path=path, colorspace=colorspace))
    assert found is not None
    assert found.colorspace == said


@pytest.mark.parametrize(
    ("socket", "layer"),
    [
        ("Combined", "ViewLayer.Combined.R,ViewLayer.Combined.G,ViewLayer.Combined.B"),
        ("Alpha", "ViewLayer.Combined.A"),
        ("matte", "ViewLayer.matte"),
    ],
)
def test_passes_are_layers(socket: str, layer: str) -> None:
    node = dataclasses.replace(PLATE, is_multilayer=True, view_layer="ViewLayer")
    found = files_of(dataclasses.replace(PICTURE, name=socket), node)
    assert found is not None
    assert found.layer == layer


def test_the_alpha_of_a_plain_picture_is_a_layer_and_its_depth_is_baked() -> None:
    alpha = files_of(dataclasses.replace(PICTURE, name="Alpha"), PLATE)
    assert alpha is not None
    assert alpha.layer == "alpha"
    assert files_of(dataclasses.replace(PICTURE, name="Depth"), PLATE) is None
