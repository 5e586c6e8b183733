"""Reading real files: values, windows, layers, formats; and one clear line for everything that cannot be read."""

from __future__ import annotations

import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest
from tests.footage import FOOTAGE, needs_footage
from tests.picture_files import SMALL, part_spec, ramp, write_file, write_parts, write_plate

from understudy.errors import UnderstudyError
from understudy.frames.read import read_header, read_image
from understudy.frames.window import Window


def test_values_far_above_one_below_zero_and_not_finite_come_unchanged(tmp_path: Path) -> None:
    pixels = ramp(SMALL, 3)
    pixels[0, 0] = [65504.0, -7.5, np.nan]
    pixels[0, 1] = [np.inf, -np.inf, 1e-6]
    image = read_image(write_plate(tmp_path / "hdr.exr", pixels))
    np.testing.assert_array_equal(image.pixels, pixels)
    assert image.pixels.dtype == np.float32


def test_mixed_half_and_float_channels_of_one_part_are_told_apart(tmp_path: Path) -> None:
    names = ("V.Combined.R", "V.Combined.G", "V.Combined.B", "V.Depth.Z")
    spec = part_spec(names, pixel_type="float")
    spec.channelformats = (oiio.HALF, oiio.HALF, oiio.HALF, oiio.FLOAT)
    pixels = ramp(SMALL, 4)
    pixels[..., 3] += 100000.0
    path = write_file(tmp_path / "blender.exr", spec, pixels)
    np.testing.assert_array_equal(read_image(path, layer="V.Combined").pixels, pixels[..., :3])
    np.testing.assert_array_equal(read_image(path, layer="V.Depth").pixels, pixels[..., 3:])
    np.testing.assert_array_equal(read_image(path, channels=("V.Depth.Z", "V.Combined.G")).pixels, pixels[..., [3, 1]])


def test_each_part_keeps_its_own_data_window_and_the_file_its_display_window(tmp_path: Path) -> None:
    display, plate, matte = Window.of_size(40, 30), Window(5, 6, 25, 16), Window(-3, 2, 9, 9)
    path = write_parts(
        tmp_path / "parts.exr",
        [
            (part_spec(("R", "G", "B", "A"), plate, display, name="rgba_left"), ramp(plate, 4)),
            (part_spec(("mask.a",), matte, display, "float", name="mask_left"), ramp(matte, 1, 50)),
        ],
    )
    main, mask = read_image(path), read_image(path, layer="mask", view="left")
    assert (main.data_window, main.display_window, main.channels) == (plate, display, ("R", "G", "B"))
    assert (mask.data_window, mask.display_window, mask.channels) == (matte, display, ("mask.a",))
    np.testing.assert_array_equal(mask.pixels, ramp(matte, 1, 50))
    assert [part.name for part in read_header(path).parts] == ["rgba_left", "mask_left"]


@pytest.mark.parametrize(
    ("name", "pixel_type", "tolerance"),
    [("a.png", "uint8", 2e-2), ("a.png", "uint16", 1e-4), ("a.tif", "uint8", 2e-2), ("a.tif", "uint16", 1e-4),
     ("a.dpx", "uint16", 1e-4), ("a.jpg", "uint8", 3e-2)],
)  # fmt: skip
def test_integer_files_are_taken_as_srgb_and_come_scene_linear(
    tmp_path: Path, name: str, pixel_type: str, tolerance: float
) -> None:
    encoded = np.full((6, 8, 3), 0.5, np.float32)
    path = write_file(tmp_path / name, part_spec(("R", "G", "B"), pixel_type=pixel_type), encoded)
    np.testing.assert_allclose(read_image(path).pixels, 0.21404, atol=tolerance)
    np.testing.assert_allclose(read_image(path, colorspace="raw").pixels, 0.5, atol=tolerance)


def test_float_tiff_is_taken_as_scene_linear_and_a_named_space_is_converted(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.tif", part_spec(("R", "G", "B"), pixel_type="float"), np.full((6, 8, 3), 0.5, "f4"))
    np.testing.assert_array_equal(read_image(path).pixels, np.float32(0.5))
    np.testing.assert_allclose(read_image(path, colorspace="sRGB").pixels, 0.21404, atol=1e-5)


def test_colour_is_not_multiplied_by_alpha(tmp_path: Path) -> None:
    pixels = np.full((6, 8, 4), [1.0, 1.0, 1.0, 0.5], np.float32)
    path = write_file(tmp_path / "a.png", part_spec(("R", "G", "B", "A"), pixel_type="uint16"), pixels)
    np.testing.assert_allclose(read_image(path).pixels, 1.0, atol=1e-4)
    np.testing.assert_allclose(read_image(path, layer="alpha").pixels, 0.5, atol=1e-4)


def test_a_one_channel_file_is_its_own_main_picture(tmp_path: Path) -> None:
    path = write_file(tmp_path / "matte.png", part_spec(("Y",), pixel_type="uint8"), np.full((6, 8, 1), 1.0, "f4"))
    assert read_image(path).channels == ("Y",)
    np.testing.assert_array_equal(read_image(path).pixels, 1.0)


def test_time_code_and_rate_are_kept_as_text(tmp_path: Path) -> None:
    spec = part_spec(("R", "G", "B"), attributes={"acme/shot": "sh010", "acme/take": 3})
    spec.attribute("smpte:TimeCode", oiio.TypeTimeCode, (0x01020304, 0))
    spec.attribute("FramesPerSecond", oiio.TypeRational, (24000, 1001))
    metadata = read_image(write_file(tmp_path / "a.exr", spec, ramp(SMALL, 3))).metadata
    assert metadata["smpte:TimeCode"] == "01:02:03:04"
    assert metadata["FramesPerSecond"] == "24000/1001"
    assert (metadata["acme/shot"], metadata["acme/take"]) == ("sh010", 3)
    assert "compression" not in metadata


def test_many_threads_read_the_same_values(tmp_path: Path) -> None:
    pixels = ramp(Window.of_size(64, 64), 3)
    path = write_plate(tmp_path / "a.exr", pixels)
    with ThreadPoolExecutor(8) as pool:
        for image in pool.map(lambda _: read_image(path), range(40)):
            np.testing.assert_array_equal(image.pixels, pixels)


def test_a_cut_off_file_is_reported_as_damaged(tmp_path: Path) -> None:
    window = Window.of_size(200, 200)
    noise = np.random.default_rng(1).random((200, 200, 3), np.float32)
    path = write_plate(tmp_path / "cut.0007.exr", noise, data=window)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert_refused(path, "cut.0007.exr", "damaged", "render it again")


def test_a_header_that_claims_more_than_the_file_can_hold_is_refused_unread(tmp_path: Path) -> None:
    path = write_plate(tmp_path / "small.exr", ramp(SMALL, 3))
    content = path.read_bytes()
    window = np.array([0, 0, 7, 5], "<i4").tobytes()
    assert content.count(window) == 2
    path.write_bytes(content.replace(window, np.array([0, 0, 19_999, 19_999], "<i4").tobytes()))
    assert_refused(path, "is damaged", "claims")


def test_deep_pixels_are_refused(tmp_path: Path) -> None:
    spec = part_spec(("A", "Z"), pixel_type="float")
    spec.deep = True
    samples = oiio.DeepData()
    samples.init(SMALL.width * SMALL.height, 2, [oiio.FLOAT, oiio.FLOAT], ["A", "Z"])
    path = tmp_path / "deep.exr"
    output = oiio.ImageOutput.create(str(path))
    assert output is not None
    assert output.open(str(path), spec)
    assert output.write_deep_image(samples)
    assert output.close()
    assert_refused(path, "deep", "flatten")


def test_what_is_no_image_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "text.exr").write_text("not an image, whatever its name says")
    (tmp_path / "empty.exr").touch()
    (tmp_path / "take.mov").write_bytes(b"moov")
    assert_refused(tmp_path / "text.exr", "text.exr", "not an")
    assert_refused(tmp_path / "empty.exr", "0 bytes", "render it again")
    assert_refused(tmp_path / "take.mov", "movie", "image sequence")
    assert_refused(tmp_path / "absent.exr", "no such file", "render it")
    assert_refused(tmp_path, "folder")


def test_a_path_that_the_system_refuses_is_reported(tmp_path: Path) -> None:
    assert_refused(tmp_path / ("x" * 300 + ".exr"), "x.exr: ")


def test_an_unknown_colour_space_names_the_file_and_near_names(tmp_path: Path) -> None:
    path = write_plate(tmp_path / "a.exr", ramp(SMALL, 3))
    with pytest.raises(UnderstudyError, match=r"a\.exr: colour space 'sRBG'.*sRGB"):
        read_image(path, colorspace="sRBG")


@needs_footage
def test_beachball_parts_have_their_own_windows() -> None:
    path = FOOTAGE / "beachball" / "multipart.0003.exr"
    ball, mask = read_image(path, layer="rgba_left"), read_image(path, layer="whitebarmask_left")
    assert (str(ball.data_window), str(mask.data_window)) == ("880x855+897+481", "394x762+1317+481")
    assert ball.display_window == mask.display_window == Window.of_size(2048, 1556)
    assert read_image(path, layer="rgba", view="left").pixels.mean() == ball.pixels.mean()
    assert read_image(path).channels == ("R", "G", "B")


@needs_footage
def test_nan_and_infinity_arrive_and_nothing_is_clamped() -> None:
    rings = read_image(FOOTAGE / "hdr" / "BrightRingsNanInf.exr")
    assert np.isnan(rings.pixels).any()
    assert np.isinf(rings.pixels).any()
    assert np.nanmax(rings.pixels[np.isfinite(rings.pixels)]) > 1000


@needs_footage
def test_display_windows_of_every_kind_are_read() -> None:
    shown = [str(read_image(path).display_window) for path in sorted((FOOTAGE / "windows").glob("t*.exr"))]
    assert shown[:8] == [
        *("400x300+0+0", "400x300+1+1", "370x280+30+20", "370x280+0+0"),
        *("340x260+30+20", "402x302-1-1", "481x371-40-40", "501x401+0+0"),
    ]


@needs_footage
def test_damaged_files_end_in_one_line_and_never_in_a_crash() -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom understudy.errors import UnderstudyError\n"
        "from understudy.frames.read import read_image\n"
        "for name in sys.argv[1:]:\n"
        "    try:\n        read_image(Path(name))\n        print('image')\n"
        "    except UnderstudyError as error:\n        print('line', repr(str(error)))\n"
    )
    files = sorted(str(path) for path in (FOOTAGE / "damaged").glob("*.exr"))
    ended = subprocess.run(
        [sys.executable, "-c", script, *files], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert len(lines) == len(files) == 24
    assert all(line == "image" or (".exr: " in line and "\\n" not in line) for line in lines)


def assert_refused(path: Path, *words: str) -> None:
    with pytest.raises(UnderstudyError) as refused:
        read_image(path)
    message = str(refused.value)
    assert str(path) in message
    assert "\n" not in message
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ((2**30 - 9, 0, 2**30 - 2, 5), "windows span"),
        ((0, 0, 2**31 - 1, 5), "damaged"),
        ((70_000, 0, 70_007, 5), "windows span"),
    ],
)
def test_a_window_beyond_any_picture_is_made_no_room_for(
    tmp_path: Path, window: tuple[int, int, int, int], words: str
) -> None:
    path = write_plate(tmp_path / "a.exr", ramp(SMALL, 3))
    whole, name = path.read_bytes(), b"dataWindow\0box2i\0" + struct.pack("<I", 16)
    at = whole.index(name) + len(name)
    path.write_bytes(whole[:at] + struct.pack("<4i", *window) + whole[at + 16 :])
    with pytest.raises(UnderstudyError, match=rf"a\.exr: .*{words}.*render it again"):
        read_header(path)


def test_a_pixel_that_no_lens_makes_is_square(tmp_path: Path) -> None:
    path = write_file(
        tmp_path / "a.exr", part_spec("RGB", pixel_type="float", attributes={"PixelAspectRatio": 2.0}), ramp(SMALL, 3)
    )
    assert read_header(path).pixel_aspect == 2.0
    name = b"pixelAspectRatio\0float\0" + struct.pack("<I", 4)
    for stated in (1e-5, 1e5):
        path.write_bytes(
            path.read_bytes().replace(name + path.read_bytes().partition(name)[2][:4], name + struct.pack("<f", stated))
        )
        assert read_header(path).pixel_aspect == 1.0
