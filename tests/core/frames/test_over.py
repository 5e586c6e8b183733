"""Writing a result into a copy of its source: what it brings is new, and everything else is as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest
from numpy.typing import NDArray
from tests.footage import FOOTAGE, needs_footage
from tests.picture_files import part_spec, ramp, write_file, write_parts

from understudy.errors import UnderstudyError
from understudy.frames.image import Image
from understudy.frames.over import write_over
from understudy.frames.read import FilePicture, open_image, read_header, read_image, read_picture
from understudy.frames.window import Window

DATA = Window(-4, 3, 16, 13)
DISPLAY = Window.of_size(30, 20)
PLATE = ("R", "G", "B", "A", "Z", "diffuse.R", "diffuse.G", "diffuse.B")


def result_for(found: FilePicture, channels: tuple[str, ...], value: float = 0.25) -> Image:
    """One value everywhere, over the window of what was found."""
    shape = (*found.image.pixels.shape[:2], len(channels))
    return replace(found.image, pixels=np.full(shape, value, np.float32), channels=channels)


def types_of(path: Path, part: int = 0) -> dict[str, str]:
    opened = open_image(path)
    opened.seek_subimage(part, 0)
    spec = opened.spec()
    return dict(zip(spec.channelnames, map(str, spec.get_channelformats()), strict=True))


def channel(path: Path, name: str) -> NDArray[np.float32]:
    return read_image(path, channels=[name]).pixels[..., 0]


@pytest.fixture
def plate(tmp_path: Path) -> Path:
    """Half, but for a depth that half cannot hold; piz, with time code, pixel aspect and a matrix."""
    spec = part_spec(PLATE, DATA, DISPLAY, "float", attributes={"acme/shot": "sh010", "PixelAspectRatio": 2.0})
    spec.channelformats = tuple(oiio.TypeDesc("float" if name == "Z" else "half") for name in PLATE)
    spec["compression"] = "piz"
    spec.attribute("smpte:TimeCode", oiio.TypeTimeCode, (0x01020304, 0))
    spec.attribute("worldToCamera", "matrix", tuple(float(n) for n in range(16)))
    pixels = ramp(DATA, len(PLATE))
    pixels[..., PLATE.index("Z")] += 100_000.3
    return write_file(tmp_path / "plate.exr", spec, pixels)


def test_what_the_result_does_not_bring_stays(plate: Path, tmp_path: Path) -> None:
    found = read_picture(plate, layer="rgb")
    out = tmp_path / "out.exr"
    write_over(out, result_for(found, ("R", "G", "B")), found)
    assert types_of(out) == types_of(plate)
    for name in ("A", "Z", "diffuse.R", "diffuse.G", "diffuse.B"):
        np.testing.assert_array_equal(channel(out, name), channel(plate, name))
    for name in ("R", "G", "B"):
        assert (channel(out, name) == 0.25).all()
    before, after = read_header(plate), read_header(out)
    assert after.parts[0].data_window == before.parts[0].data_window == DATA
    assert after.parts[0].display_window == DISPLAY
    assert after.pixel_aspect == 2.0
    assert after.metadata.items() >= {"acme/shot": "sh010", "smpte:TimeCode": "01:02:03:04"}.items()
    fields = {field.name: field.value for field in open_image(out).spec().extra_attribs}
    assert fields["worldToCamera"] == tuple(float(n) for n in range(16))
    assert fields["compression"] == "piz"


def test_a_new_channel_is_added_with_the_type_of_what_was_read(plate: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.exr"
    for layer, pixel_type in (("rgb", "half"), ("Z", "float")):
        found = read_picture(plate, layer=layer)
        write_over(out, result_for(found, ("matte.a",)), found)
        assert types_of(out) == {**types_of(plate), "matte.a": pixel_type}
        assert (channel(out, "matte.a") == 0.25).all()


def test_half_becomes_float_only_where_a_value_would_not_fit(plate: Path, tmp_path: Path) -> None:
    found, out = read_picture(plate, layer="rgb"), tmp_path / "out.exr"
    result = result_for(found, ("R", "G", "B"))
    result.pixels[0, 0, 1] = 70_000.0
    result.pixels[0, 1, 2] = np.inf
    write_over(out, result, found)
    assert types_of(out) == {**types_of(plate), "G": "float"}
    assert channel(out, "G")[0, 0] == 70_000.0
    assert channel(out, "B")[0, 1] == np.inf


def test_the_result_alone(plate: Path, tmp_path: Path) -> None:
    found, out = read_picture(plate, layer="rgb"), tmp_path / "out.exr"
    write_over(out, result_for(found, ("A", "matte.a")), found, only_result=True)
    assert types_of(out) == {"A": "half", "matte.a": "half"}
    assert read_header(out).metadata.items() >= {"acme/shot": "sh010"}.items()
    assert read_header(out).parts[0].data_window == DATA


def view_part(
    view: str, layer: str, channels: tuple[str, ...], data: Window
) -> tuple[oiio.ImageSpec, NDArray[np.generic]]:
    """A part of a stereo file."""
    spec = part_spec(channels, data, DISPLAY, name=f"{layer}_{view}", attributes={"view": view})
    spec["compression"] = "zips"
    return spec, ramp(data, len(channels), 1.0 if view == "left" else 3.0)


@pytest.fixture
def stereo(tmp_path: Path) -> Path:
    """Two views of three parts, each part with its own window."""
    layers = {"rgba": ("R", "G", "B", "A"), "depth": ("Z",), "matte": ("matte.a", "edge.a")}
    parts = [
        view_part(view, layer, channels, Window.of_size(8 + number, 6, number, 2))
        for view in ("right", "left")
        for number, (layer, channels) in enumerate(layers.items())
    ]
    return write_parts(tmp_path / "stereo.exr", parts)


def test_other_parts_are_copied_and_lose_only_what_the_result_brings(stereo: Path, tmp_path: Path) -> None:
    found, out = read_picture(stereo, layer="rgba", view="left"), tmp_path / "out.exr"
    write_over(out, result_for(found, ("matte.a",)), found)
    parts = {part.name: part for part in read_header(out).parts}
    assert next(iter(parts)) == "rgba_left", "what holds the result goes first"
    assert parts["rgba_left"].channels == ("R", "G", "B", "A", "matte.a")
    assert parts["matte_left"].channels == ("edge.a",)
    assert parts["matte_right"].channels == ("edge.a", "matte.a")
    for part in read_header(stereo).parts:
        after = parts[part.name]
        assert (after.data_window, after.display_window, after.view) == (part.data_window, DISPLAY, part.view)
        kept = [name for name in part.channels if name in after.channels]
        before = read_image(stereo, layer=part.name)
        stored = read_image(out, layer=part.name)
        for name in kept:
            np.testing.assert_array_equal(
                stored.pixels[..., stored.channels.index(name)], before.pixels[..., before.channels.index(name)]
            )


def test_a_part_that_loses_all_is_left_out(stereo: Path, tmp_path: Path) -> None:
    found, out = read_picture(stereo, layer="rgba", view="right"), tmp_path / "out.exr"
    write_over(out, result_for(found, ("Z",)), found)
    names = [part.name for part in read_header(out).parts]
    assert names == ["rgba_right", "matte_right", "rgba_left", "depth_left", "matte_left"]


def test_tiles_and_downward_rows_come_as_usual_rows(tmp_path: Path) -> None:
    data = Window.of_size(70, 600, -3, 5)
    for name, attributes in (("tiled", {}), ("upward", {"openexr:lineOrder": "decreasingY"})):
        spec = part_spec(("R", "G", "B", "A"), data, data, attributes=attributes)
        if name == "tiled":
            spec.tile_width = spec.tile_height = 48
        plate = write_file(tmp_path / f"{name}.exr", spec, ramp(data, 4, 1 / 64))
        found, out = read_picture(plate), tmp_path / "out.exr"
        write_over(out, result_for(found, ("R",)), found)
        for channel_name in ("G", "B", "A"):
            np.testing.assert_array_equal(channel(out, channel_name), channel(plate, channel_name))
        assert open_image(out).spec().tile_width == 0


def test_whole_numbers_beside_the_picture_are_refused_rather_than_rounded(tmp_path: Path) -> None:
    spec = part_spec(("R", "G", "B", "id"), pixel_type="float")
    spec.channelformats = tuple(oiio.TypeDesc(one) for one in ("half", "half", "half", "uint"))
    plate = write_file(tmp_path / "plate.exr", spec, ramp(Window.of_size(8, 6), 4))
    found, out = read_picture(plate), tmp_path / "out.exr"
    with pytest.raises(UnderstudyError, match=r"plate\.exr: id hold whole numbers"):
        write_over(out, result_for(found, ("R", "G", "B")), found)
    assert not out.exists()
    write_over(out, result_for(found, ("R", "G", "B")), found, only_result=True)
    assert types_of(out) == {"R": "half", "G": "half", "B": "half"}


def test_damage_in_what_is_kept_is_the_sources_and_leaves_nothing(plate: Path, stereo: Path, tmp_path: Path) -> None:
    """Cut off after the pictures were read."""
    for source, layer in ((plate, "rgb"), (stereo, "rgba")):
        found, out = read_picture(source, layer=layer), tmp_path / "out.exr"
        whole = source.read_bytes()
        source.write_bytes(whole[: len(whole) - 400])
        with pytest.raises(UnderstudyError, match=rf"{source.name}: is (damaged|not an image)"):
            write_over(out, result_for(found, ("matte.a",)), found)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plate.exr", "stereo.exr"]


def test_the_quality_of_dwa_stays(tmp_path: Path) -> None:
    spec = part_spec(("R", "G", "B", "A"))
    spec["compression"] = "dwaa:120"
    plate = write_file(tmp_path / "plate.exr", spec, ramp(Window.of_size(8, 6), 4))
    found, out = read_picture(plate), tmp_path / "out.exr"
    write_over(out, result_for(found, ("R", "G", "B")), found)
    fields = [{field.name: field.value for field in open_image(path).spec().extra_attribs} for path in (plate, out)]
    assert fields[1]["compression"] == "dwaa"
    assert fields[1].get("openexr:dwaCompressionLevel") == fields[0].get("openexr:dwaCompressionLevel")


@needs_footage
def test_ten_parts_of_a_stereo_shot(tmp_path: Path) -> None:
    source = FOOTAGE / "beachball" / "multipart.0002.exr"
    found, out = read_picture(source, layer="rgba_left"), tmp_path / "out.exr"
    write_over(out, result_for(found, ("whitebarmask.mask",)), found)
    before = {part.name: part for part in read_header(source).parts}
    after = {part.name: part for part in read_header(out).parts}
    assert set(before) - set(after) == {"whitebarmask_left"}
    for name, part in after.items():
        assert part.data_window == before[name].data_window
        stored, kept = read_image(out, layer=name), read_image(source, layer=name)
        np.testing.assert_array_equal(stored.pixels[..., : kept.pixels.shape[-1]], kept.pixels)
