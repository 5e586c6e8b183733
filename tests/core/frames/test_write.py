"""Writing EXR: everything comes back, and a full disk leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest
from tests.picture_files import SMALL, part_spec, ramp, write_file

from understudy.errors import UnderstudyError
from understudy.frames.image import Image
from understudy.frames.read import open_image, read_header, read_image
from understudy.frames.window import Window
from understudy.frames.write import write_image


def picture(**changes: object) -> Image:
    data = Window(-4, 3, 16, 13)
    fields: dict[str, object] = {
        "pixels": ramp(data, 4),
        "channels": ("R", "G", "B", "mask.a"),
        "data_window": data,
        "display_window": Window.of_size(30, 20),
        "pixel_aspect": 2.0,
        "metadata": {"smpte:TimeCode": "01:02:03:04", "FramesPerSecond": "24000/1001", "acme/take": 3},
    }
    return Image(**{**fields, **changes})  # type: ignore[arg-type]  # the fields are those of Image


def test_pixels_windows_channels_aspect_and_metadata_come_back(tmp_path: Path) -> None:
    written = picture()
    write_image(tmp_path / "a.exr", written)
    back = read_image(tmp_path / "a.exr", channels=written.channels)
    np.testing.assert_array_equal(back.pixels, written.pixels)
    assert (back.data_window, back.display_window) == (written.data_window, written.display_window)
    assert back.pixel_aspect == 2.0
    assert back.metadata.items() >= written.metadata.items()
    assert [path.name for path in tmp_path.iterdir()] == ["a.exr"]


def test_half_is_written_unless_a_value_would_not_fit(tmp_path: Path) -> None:
    write_image(tmp_path / "a.exr", picture())
    bright = picture().pixels
    bright[0, 0, 0] = 70000.0
    bright[0, 1, 0] = np.inf
    write_image(tmp_path / "b.exr", picture(pixels=bright))
    assert read_header(tmp_path / "a.exr").parts[0].pixel_type == "half"
    assert read_header(tmp_path / "b.exr").parts[0].pixel_type == "float"
    np.testing.assert_array_equal(read_image(tmp_path / "b.exr").pixels, bright[..., :3])


def test_header_fields_of_the_source_go_along(tmp_path: Path) -> None:
    spec = part_spec(("R",), attributes={"acme/shot": "sh010"})
    spec.attribute("worldToCamera", "matrix", tuple(float(n) for n in range(16)))
    source = write_file(tmp_path / "source.exr", spec, ramp(SMALL, 1))
    write_image(tmp_path / "a.exr", picture(), like=source)
    fields = {field.name: field.value for field in open_image(tmp_path / "a.exr").spec().extra_attribs}
    assert fields["worldToCamera"] == tuple(float(n) for n in range(16))
    assert fields["acme/shot"] == "sh010"
    assert fields["PixelAspectRatio"] == 2.0


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match=r"a\.png: only EXR"):
        write_image(tmp_path / "a.png", picture())
    with pytest.raises(UnderstudyError, match=r"absent.a\.exr: cannot be written"):
        write_image(tmp_path / "absent" / "a.exr", picture())


@pytest.mark.skipif(os.name == "nt", reason="needs RLIMIT_FSIZE")
@pytest.mark.parametrize("limit", [50, 60_000])
def test_a_full_disk_gives_one_line_and_leaves_the_older_file(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "a.exr"
    write_image(path, picture())
    before = path.read_bytes()
    script = (
        "import resource, sys\nfrom pathlib import Path\nimport numpy as np\n"
        "from understudy.errors import UnderstudyError\nfrom understudy.frames.image import Image\n"
        "from understudy.frames.window import Window\nfrom understudy.frames.write import write_image\n"
        "w = Window.of_size(200, 200)\n"
        "noise = np.random.default_rng(1).random((200, 200, 3), np.float32)\n"
        "image = Image(pixels=noise, channels=('R', 'G', 'B'), data_window=w, display_window=w)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        "try:\n    write_image(Path(sys.argv[1]), image)\n"
        "except UnderstudyError as error:\n    print(error)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.stdout.startswith(f"{path}: cannot be written"), ended.stderr
    assert ended.stdout.count("\n") == 1
    assert path.read_bytes() == before
    assert [left.name for left in tmp_path.iterdir()] == ["a.exr"]
    assert oiio.ImageInput.open(str(path)) is not None


def test_fields_of_a_damaged_header_are_left_out(tmp_path: Path) -> None:
    spec = part_spec(("Z",), pixel_type="float", attributes={"owner": "MINE", "reelName": "0042"})
    source = write_file(tmp_path / "source.exr", spec, ramp(SMALL, 1))
    source.write_bytes(
        source.read_bytes().replace(b"MINE", b"\xff\xfe\x80!").replace(b"reelName", b"reel\xff\xfe\xfd\xfc")
    )
    shown = read_image(source)
    assert not {"owner", "Copyright", "reelName"} & shown.metadata.keys()
    write_image(tmp_path / "a.exr", shown, like=source)
    np.testing.assert_array_equal(read_image(tmp_path / "a.exr").pixels, shown.pixels)
