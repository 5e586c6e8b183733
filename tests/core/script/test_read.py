"""Read: missing files, channels, alpha and colour."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.core.script.fixtures import evaluator_of, frame_shown, numbered_shot, pull, write_exr
from tests.picture_files import part_spec, write_parts

from understudy.errors import UnderstudyError
from understudy.frames.window import Window


def _read(pattern: str, knobs: str = "", last: int = 5) -> str:
    return f'Read {{\n file "{pattern}"\n last {last}\n {knobs}\n name Read1\n}}\n'


def _with_gaps(folder: Path) -> str:
    pattern = numbered_shot(folder, range(1, 6))
    for frame in (2, 3):
        (folder / f"plate.{frame:04d}.exr").unlink()
    return pattern


def test_missing_frames_do_what_on_error_says(tmp_path: Path) -> None:
    pattern = _with_gaps(tmp_path)
    nearest = _read(pattern, 'on_error "nearest frame"')
    assert [frame_shown(nearest, frame) for frame in range(1, 6)] == [1, 1, 4, 4, 5]
    assert [frame_shown(_read(pattern, "on_error black"), frame) for frame in range(1, 6)] == [1, 0, 0, 4, 5]
    assert pull(_read(pattern, "on_error black"), 2).display_window == Window(0, 0, 4, 3)
    for policy in ("", "on_error checkerboard"):
        with pytest.raises(UnderstudyError, match=r"Read1 \(Read\), line 1: frame 3 is missing: .*plate\.0003\.exr"):
            pull(_read(pattern, policy), 3)


def test_a_black_frame_of_no_file_has_the_stated_format(tmp_path: Path) -> None:
    text = 'Root { format "30 20 0 0 30 20 1 x" }\n' + _read(f"{tmp_path.as_posix()}/no.####.exr", "on_error black")
    evaluator, last = evaluator_of(text)
    assert evaluator.pull(last, 1, ("R",)).display_window == Window(0, 0, 30, 20)
    stated, last = evaluator_of(text.replace("on_error", 'format "10 5 0 0 10 5 1 y"\n on_error'))
    assert stated.pull(last, 1, ("R",)).data_window == Window(0, 0, 10, 5)


@pytest.mark.parametrize("token", ["%04d", "####", "@@@@"])
def test_frame_patterns(tmp_path: Path, token: str) -> None:
    numbered_shot(tmp_path, range(1, 4))
    assert frame_shown(_read(f"{tmp_path.as_posix()}/plate.{token}.exr", last=3), 2) == 2


def test_a_still_is_the_same_at_every_frame(tmp_path: Path) -> None:
    numbered_shot(tmp_path, range(7, 8))
    text = _read(f"{tmp_path.as_posix()}/plate.0007.exr", last=3)
    assert [frame_shown(text, frame) for frame in (1, 2, 3)] == [7, 7, 7]


def test_channels_come_by_name_and_missing_ones_are_black(tmp_path: Path) -> None:
    pixels = np.arange(6, dtype=np.float32).reshape(1, 2, 3)
    write_exr(tmp_path / "a.exr", pixels, ("R", "mask.a", "Z"))
    text = _read(f"{tmp_path.as_posix()}/a.exr")
    evaluator, last = evaluator_of(text)
    assert set(evaluator.channels(last)) == {"R", "mask.a", "Z"}
    image = pull(text, channels=("Z", "G", "R"))
    assert image.channels == ("Z", "G", "R")
    np.testing.assert_array_equal(image.pixels[0], [[2, 0, 0], [5, 0, 3]])


def test_parts_of_one_file_are_joined(tmp_path: Path) -> None:
    whole, corner = Window(0, 0, 4, 2), Window(2, 0, 4, 1)
    rgb, mask = np.full((2, 4, 3), 0.5, np.float32), np.ones((1, 2, 1), np.float32)
    write_parts(
        tmp_path / "parts.exr",
        [
            (part_spec("RGB", whole, whole, "float", name="beauty"), rgb),
            (part_spec(["mask.a"], corner, whole, "float", name="mask"), mask),
        ],
    )
    image = pull(_read(f"{tmp_path.as_posix()}/parts.exr"), channels=("mask.a", "R"))
    assert image.data_window == whole
    np.testing.assert_array_equal(image.pixels[..., 0], [[0, 0, 1, 1], [0, 0, 0, 0]])
    np.testing.assert_array_equal(image.pixels[..., 1], np.full((2, 4), 0.5))


def test_views_choose_parts_and_fill_patterns(tmp_path: Path) -> None:
    window = Window(0, 0, 2, 1)
    parts = [
        (
            part_spec("R", window, window, "float", name=f"rgb.{view}", attributes={"view": view}),
            np.full((1, 2, 1), value),
        )
        for view, value in (("left", 1.0), ("right", 2.0))
    ]
    write_parts(tmp_path / "stereo.exr", [(spec, pixels.astype(np.float32)) for spec, pixels in parts])
    write_exr(tmp_path / "right" / "r.exr", np.full((1, 2, 1), 3, np.float32), ("R",))
    for name, view, value in (("stereo.exr", "", 1), ("stereo.exr", "right", 2), ("%V/%v.exr", "right", 3)):
        evaluator, last = evaluator_of(_read(f"{tmp_path.as_posix()}/{name}"), view=view)
        evaluator.check([last])
        assert evaluator.pull(last, 1, ("R",)).pixels.max() == value
    with pytest.raises(UnderstudyError, match="say which view is meant"):
        pull(_read(f"{tmp_path.as_posix()}/%V/%v.exr"))


def test_auto_alpha_is_solid_where_the_file_has_none(tmp_path: Path) -> None:
    pattern = numbered_shot(tmp_path, range(1, 2))
    evaluator, last = evaluator_of(_read(pattern, "auto_alpha true"))
    assert evaluator.channels(last) == ("R", "G", "B", "A")
    assert (pull(_read(pattern, "auto_alpha true")).pixels[..., 3] == 1).all()
    with_alpha = numbered_shot(tmp_path / "rgba", range(1, 2), channels="RGBA")
    assert pull(_read(with_alpha, "auto_alpha true")).pixels[-1, 0, 3] == pytest.approx(1.003)


def _first_pixel(path: Path, knobs: str) -> list[float]:
    return [float(value) for value in pull(_read(path.as_posix(), knobs)).pixels[0, 0]]


def test_colorspace_and_raw(tmp_path: Path) -> None:
    write_exr(tmp_path / "a.exr", np.full((1, 1, 4), 0.5, np.float32), ("R", "G", "B", "A"))
    srgb = ((0.5 + 0.055) / 1.055) ** 2.4
    rec709 = ((0.5 + 0.099) / 1.099) ** (1 / 0.45)
    for knobs, expected in (
        ("", 0.5),
        ("colorspace linear", 0.5),
        ("colorspace scene_linear", 0.5),
        ('colorspace "default (linear)"', 0.5),
        ("colorspace sRGB", srgb),
        ('colorspace "default (sRGB)"', srgb),
        ("colorspace sRGB\n raw true", 0.5),
        ("colorspace rec709", rec709),
        ("colorspace Gamma2.2", 0.5**2.2),
        ("colorspace lin_rec709_scene", 0.5),
    ):
        pixel = _first_pixel(tmp_path / "a.exr", knobs)
        np.testing.assert_allclose(pixel[:3], expected, atol=1e-5, err_msg=knobs)
        assert pixel[3] == 0.5
    with pytest.raises(UnderstudyError, match=r"Read1 \(Read\), line 1: knob colorspace is 'Kodachrome'"):
        pull(_read((tmp_path / "a.exr").as_posix(), "colorspace Kodachrome"))


def test_one_colour_asked_for_is_converted_like_all_three(tmp_path: Path) -> None:
    write_exr(tmp_path / "a.exr", np.array([[[0.1, 0.5, 0.9]]], np.float32))
    read = _read((tmp_path / "a.exr").as_posix(), 'colorspace "ACES - ACEScg"')
    whole, green = pull(read), pull(read, channels=("G",))
    assert abs(float(whole.pixels[0, 0, 1]) - 0.5) > 0.01
    assert green.pixels[0, 0, 0] == whole.pixels[0, 0, 1]


def test_premultiplied_colour_is_converted_without_its_alpha(tmp_path: Path) -> None:
    write_exr(tmp_path / "a.exr", np.array([[[0.25, 0.25, 0.25, 0.5]]], np.float32), ("R", "G", "B", "A"))
    expected = 0.5 * ((0.5 + 0.055) / 1.055) ** 2.4
    np.testing.assert_allclose(
        _first_pixel(tmp_path / "a.exr", "colorspace sRGB\n premultiplied true")[:3], expected, atol=1e-5
    )


def test_a_read_without_file_and_a_movie_are_named(tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match=r"Read1 \(Read\), line 1: knob file is empty"):
        pull("Read { name Read1 }")
    (tmp_path / "a.mov").write_bytes(b"x")
    with pytest.raises(UnderstudyError, match=r"a\.mov: is a movie"):
        pull(_read((tmp_path / "a.mov").as_posix()))


@pytest.mark.parametrize("name", ["x" * 5000 + ".exr", "plate.%0300d.exr"])
def test_a_name_that_no_system_takes_is_told_of(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnderstudyError, match=r"(cannot be read|none of its files exist)"):
        pull(f'Read {{ file "{tmp_path.as_posix()}/{name}" }}')
