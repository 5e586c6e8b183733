"""Frame patterns and frame lists."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import UnderstudyError
from understudy.frames.sequence import Sequence, format_frames, parse_frames, sequences_of


@pytest.mark.parametrize("token", ["####", "%04d", "@@@@", "$F4"])
def test_every_notation_of_four_digits_names_the_same_file(token: str) -> None:
    sequence = Sequence(f"/shots/sh#1/plate_v002.{token}.exr")
    assert not sequence.is_still
    assert sequence.path(7) == Path("/shots/sh#1/plate_v002.0007.exr")
    assert sequence.path(12345) == Path("/shots/sh#1/plate_v002.12345.exr")
    assert sequence.path(-3) == Path("/shots/sh#1/plate_v002.-003.exr")


@pytest.mark.parametrize("token", ["#", "@", "%d", "$F"])
def test_one_digit_means_unpadded(token: str) -> None:
    assert Sequence(f"plate.{token}.exr").path(1001) == Path("plate.1001.exr")
    assert Sequence(f"plate.{token}.exr").path(7) == Path("plate.7.exr")


def test_a_name_without_a_token_is_a_still(tmp_path: Path) -> None:
    still = Sequence(str(tmp_path / "clean.1001.exr"))
    assert still.is_still
    assert still.path(5) == still.path(6) == tmp_path / "clean.1001.exr"
    assert still.frames_on_disk() == ()


def test_only_files_of_the_pattern_count_as_frames(tmp_path: Path) -> None:
    for name in ("a.0001.exr", "a.0010.exr", "a.11.exr", "a.12345.exr", "a.-002.exr", "b.0003.exr", "a.0004.png"):
        (tmp_path / name).touch()
    (tmp_path / "a.0005.exr").mkdir()
    assert Sequence(str(tmp_path / "a.####.exr")).frames_on_disk() == (-2, 1, 10, 12345)
    assert Sequence(str(tmp_path / "none" / "a.####.exr")).frames_on_disk() == ()


def test_a_folder_that_is_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UnderstudyError, match="cannot be looked into"):
        Sequence(str(tmp_path / "file" / "a.####.exr")).frames_on_disk()


@pytest.mark.parametrize(
    ("text", "frames"),
    [
        ("1001", (1001,)),
        ("1001,1013-1040x9", (1001, 1013, 1022, 1031, 1040)),
        (" 1-3 5 ", (1, 2, 3, 5)),
        ("5-3, 4", (3, 4, 5)),
        ("-2-1", (-2, -1, 0, 1)),
    ],
)
def test_frame_lists_are_read(text: str, frames: tuple[int, ...]) -> None:
    assert parse_frames(text) == frames


@pytest.mark.parametrize("text", ["", "a", "1-", "1.5", "1-10x0", "1-1000001", "1-99999999999", "1--"])
def test_a_bad_frame_list_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UnderstudyError) as refused:
        parse_frames(text)
    assert f"frames {text!r}" in str(refused.value)
    assert "\n" not in str(refused.value)


@given(st.sets(st.integers(-100, 5000), min_size=1, max_size=60))
def test_what_is_formatted_is_read_back(frames: set[int]) -> None:
    assert parse_frames(format_frames(frames)) == tuple(sorted(frames))


def test_files_are_told_by_their_patterns() -> None:
    paths = ["/sh 1/plate.1001.exr", "/sh 1/plate.1013.exr", "/sh 1/paint_v2.0998.exr", "clean.exr", "clean.exr"]
    assert sequences_of(paths) == {
        "/sh 1/plate.####.exr": (1001, 1013),
        "/sh 1/paint_v2.####.exr": (998,),
        "clean.exr": (),
    }
    assert Sequence("/sh 1/plate.####.exr").path(1013) == Path(paths[1])


def test_more_digits_than_a_frame_has_are_no_token() -> None:
    assert Sequence("plate.%65536d.exr").is_still
