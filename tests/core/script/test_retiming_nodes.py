"""Retime and TimeWarp: which frame of the input each frame shows, worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.core.script.fixtures import evaluator_of, frame_shown, frames_shown, numbered_shot, pull, range_of

from understudy.errors import UnderstudyError
from understudy.frames.window import Window


@pytest.fixture
def shot(tmp_path: Path) -> str:
    """A Read of frames 1 to 12, held at both ends."""
    return f'Read {{\n file "{numbered_shot(tmp_path / "plate", range(1, 13))}"\n last 12\n name Read1\n}}\n'


@pytest.mark.parametrize(
    ("knobs", "expected_range", "frames", "expected"),
    [
        ("", "1-12", range(1, 13), list(range(1, 13))),
        # As Nuke saves it: what is not locked is written too, and follows from the rest.
        (
            "input.first 3 input.first_lock true input.last 12 output.first 3 output.last 7 speed 2 filter none",
            "3-7",
            range(2, 9),
            [3, 3, 5, 7, 9, 11, 11],
        ),
        (
            "speed 2 filter none output.first 101 output.first_lock true",
            "101-106",
            range(101, 107),
            [1, 3, 5, 7, 9, 11],
        ),
        ("speed 2 filter nearest output.last 20 output.last_lock true", "15-20", range(15, 21), [1, 3, 5, 7, 9, 11]),
        ("speed 5 filter none", "1-3", range(1, 4), [1, 6, 11]),
        ("output.first 1001 output.first_lock true", "1001-1012", range(1001, 1004), [1, 2, 3]),
        # 9 frames stretched over 3: every third; the speed that is written beside both locks follows from them.
        (
            "input.first_lock true input.last 9 input.last_lock true output.first 11 output.first_lock true "
            "output.last 13 output.last_lock true speed 7 filter nearest",
            "11-13",
            range(11, 14),
            [1, 4, 7],
        ),
        # 6 frames over 9: 1, 1.67, 2.33, 3 ...
        (
            "input.first_lock true input.last 6 input.last_lock true output.first 1 output.first_lock true "
            "output.last 9 output.last_lock true speed 0.6666666667 filter nearest",
            "1-9",
            range(1, 10),
            [1, 2, 2, 3, 4, 4, 5, 6, 6],
        ),
        ("reverse true", "1-12", range(1, 13), list(range(12, 0, -1))),
        (
            "reverse true input.first 3 input.first_lock true input.last 9 input.last_lock true speed 3 filter none",
            "3-5",
            range(3, 6),
            [9, 6, 3],
        ),
        ("speed 0.5 filter nearest input.first 2 input.first_lock true", "2-23", range(2, 9, 2), [2, 3, 4, 5]),
        ('time "" shutter 1 before hold', "1-12", range(11, 15), [11, 12, 12, 12]),
    ],
)
def test_ranges_and_speed(shot: str, knobs: str, expected_range: str, frames: range, expected: list[int]) -> None:
    text = shot + f"Retime {{ {knobs} }}\n"
    assert range_of(text) == expected_range
    assert frames_shown(text, frames) == expected


@pytest.mark.parametrize(
    ("outside", "before", "after"),
    [
        ("hold", [4, 4, 4], [7, 7, 7]),
        ("continue", [1, 2, 3], [8, 9, 10]),
        ("loop", [5, 6, 7], [4, 5, 6]),
        ("bounce", [7, 6, 5], [6, 5, 4]),
        ("black", [0, 0, 0], [0, 0, 0]),
    ],
)
def test_outside_its_range(shot: str, outside: str, before: list[int], after: list[int]) -> None:
    """Frames 4 to 7 at 101 to 104."""
    text = shot + (
        "Retime { input.first 4 input.first_lock true input.last 7 input.last_lock true output.first 101 "
        f"output.first_lock true before {outside} after {outside} }}\n"
    )
    assert range_of(text) == "101-104"
    assert frames_shown(text, range(98, 101)) == before
    assert frames_shown(text, range(105, 108)) == after


def test_black_covers_the_format(shot: str) -> None:
    image = pull(shot + "Retime { before black }\n", -3, ("R", "G"))
    assert image.data_window == image.display_window == Window(0, 0, 4, 3)
    assert not image.pixels.any()


def test_what_nobody_knows_is_refused(shot: str) -> None:
    with pytest.raises(
        UnderstudyError, match=r"Retime1 \(Retime\), line 6: asks for 1\.5 at frame 2, which is halfway"
    ):
        pull(shot + "Retime { speed 0.5 filter nearest }", 2)
    with pytest.raises(UnderstudyError, match=r"asks for 1\.75 at frame 2, which is between frames; set its filter"):
        pull(shot + "Retime { speed 0.75 filter none }", 2)
    with pytest.raises(UnderstudyError, match="knob shutter is below 0; make it 0 or more"):
        pull(shot + "Retime { speed 2 shutter -1 }", 1)
    with pytest.raises(UnderstudyError, match="knob shutter blends 2000 frames, over 1000; make it smaller"):
        pull(shot + "Retime { speed 4 shutter 500 }", 1)
    for speed in ("-1", "0"):
        with pytest.raises(UnderstudyError, match=rf"knob speed is {speed}; set it above 0, and reverse to run"):
            pull(shot + f"Retime {{ speed {speed} }}", 1)
    with pytest.raises(UnderstudyError, match="knob speed is animated"):
        pull(shot + "Retime { speed {{curve x1 1 x9 2}} }", 1)
    with pytest.raises(UnderstudyError, match="knob warp set to 'curve x1 1 x9 2' cannot be evaluated"):
        pull(shot + "Retime { warp {curve x1 1 x9 2} }", 1)
    with pytest.raises(UnderstudyError, match=r"knobs input\.first and input\.last give the range 5-2; swap or set"):
        pull(shot + "Retime { input.first 5 input.first_lock 1 input.last 2 input.last_lock 1 }", 1)
    with pytest.raises(UnderstudyError, match=r"knobs output\.first and output\.last give the range 5-2; swap or set"):
        pull(shot + "Retime { output.first 5 output.first_lock 1 output.last 2 output.last_lock 1 }", 1)
    with pytest.raises(UnderstudyError, match="knob before is 'mirror', which is none of continue, hold, loop, bounce"):
        pull(shot + "Retime { before mirror }", 1)


def test_a_speed_of_ten_digits_is_whole_where_it_is_meant_to_be(shot: str) -> None:
    """0.3333333333 over 9001 frames is off by 3e-7."""
    text = shot + "Retime { speed 0.3333333333 filter none output.first -9000 output.first_lock true after continue }"
    assert range_of(text) == "-9000--8965"
    assert frame_shown(text, -8973) == 10
    assert frame_shown(text, -3) == 12


def test_timewarp_follows_its_curve(shot: str) -> None:
    warped = shot + 'TimeWarp {\n lookup {{%s}}\n length 0\n time ""\n filter %s\n}\n'
    assert frames_shown(warped % ("curve L x1 3 x5 11", "none"), range(1, 6)) == [3, 5, 7, 9, 11]
    assert frames_shown(warped % ("curve L x1 3 x5 4", "nearest"), [1, 2, 4, 5]) == [3, 3, 4, 4]  # type: ignore[arg-type]
    assert frames_shown(warped % ("floor(frame/2)", "none"), range(4, 9)) == [2, 2, 3, 3, 4]
    assert frames_shown(warped % ("frame*2 C x1 1 x9 9", "none"), range(1, 4)) == [2, 4, 6]
    assert frames_shown(shot + "TimeWarp { lookup 7 filter nearest }", range(1, 3)) == [7, 7]
    assert range_of(warped % ("frame*2", "none")) == "1-12"
    with pytest.raises(UnderstudyError, match=r"asks for 3\.5 at frame 3, which is halfway between two"):
        pull(warped % ("curve L x1 3 x5 4", "nearest"), 3)
    with pytest.raises(UnderstudyError, match="knob length blends 1500 frames, over 1000"):
        pull(shot + "TimeWarp { lookup 7 length 1500 }", 1)
    with pytest.raises(UnderstudyError, match="knob lookup is left out"):
        pull(shot + "TimeWarp { filter none }", 1)


def test_a_region_is_the_whole_picture_cut(shot: str) -> None:
    text = shot + "Retime { speed 3 filter none reverse true before black }"
    whole = pull(text, 2)
    evaluator, last = evaluator_of(text)
    for region in (Window(1, 1, 3, 2), Window(-2, -2, 9, 9)):
        part = evaluator.pull(last, 2, ("B", "R"), region)
        np.testing.assert_array_equal(part.over(region), whole.over(region)[..., [2, 0]])


def test_the_files_behind_are_those_of_the_frame_shown(shot: str) -> None:
    evaluator, last = evaluator_of(shot + "Retime { speed 4 filter none }")
    assert [file.frame for file in evaluator.files(last, 3)] == [9]


def _means(text: str, frames: range) -> list[float]:
    """Of the frames that each of `frames` is made of; the first red pixel of a frame of the shot is its number."""
    return [float(pull(text, frame, ("R",)).pixels[-1, 0, 0]) for frame in frames]


@pytest.mark.parametrize(
    ("knobs", "expected"),
    [
        ("speed 2", [1.5, 3.5, 5.5]),  # 1 and 2, 3 and 4 ...
        ("speed 3", [2, 5, 8]),
        ("speed 3 shutter 0.5", [(1 + 2 * 0.5) / 1.5, (4 + 5 * 0.5) / 1.5, (7 + 8 * 0.5) / 1.5]),
        ("speed 1.5", [(1 + 2 * 0.5) / 1.5, (2 * 0.5 + 3) / 1.5, (4 + 5 * 0.5) / 1.5]),
        ("speed 0.5", [1, 1, 2, 2, 3]),  # every frame twice
        ("speed 0.5 shutter 2", [1, 1.5, 2, 2.5, 3]),
        ("speed 0.5 shutter 3", [(1 + 2 * 0.5) / 1.5, (1 * 0.5 + 2) / 1.5, (2 + 3 * 0.5) / 1.5]),
        ("speed 0.75", [1, (1 * 0.25 + 2 * 0.5) / 0.75, (2 * 0.5 + 3 * 0.25) / 0.75, 3]),
        ("speed 0.3333333333", [1, 1, 1, 2, 2, 2, 3]),
        ("speed 0.5 shutter 0", [1, 1, 2, 2, 3]),
        ("shutter 2", [1.5, 2.5, 3.5]),
        ("shutter 0.5", [1, 2, 3]),
        ("reverse true", [12, 11, 10]),
        ("reverse true speed 2", [11.5, 9.5, 7.5]),
        ("reverse true speed 0.5 shutter 2", [12, 11.5, 11, 10.5]),
        # 9 frames over 6: three halves of a frame each
        (
            "input.first_lock true input.last 9 input.last_lock true output.first 1 output.first_lock true "
            "output.last 6 output.last_lock true",
            [(1 + 2 * 0.5) / 1.5, (2 * 0.5 + 3) / 1.5, (4 + 5 * 0.5) / 1.5],
        ),
    ],
)
def test_box_is_the_mean_of_the_frames_that_the_shutter_covers(shot: str, knobs: str, expected: list[float]) -> None:
    """By our reading: each frame lasts from its number to the next, the shutter opens at the frame's own place."""
    frames = range(1, len(expected) + 1)
    assert _means(shot + f"Retime {{ {knobs} }}", frames) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("outside", "before", "after"),
    [
        ("hold", [4.5, 4.5], [6.5, 6.5]),
        ("continue", [1, 2.5], [8.5, 10.5]),
        ("loop", [4.5, 6.5], [4.5, 6.5]),
        ("bounce", [4.5, 6.5], [4.5, 6.5]),
        ("black", [0, 0], [0, 0]),
    ],
)
def test_box_outside_its_range(shot: str, outside: str, before: list[float], after: list[float]) -> None:
    """Frames 4 to 7, two by two, at 101 and 102; the Read holds frame 1 before its first."""
    text = shot + (
        "Retime { input.first 4 input.first_lock true input.last 7 input.last_lock true output.first 101 speed 2 "
        f"output.first_lock true before {outside} after {outside} }}\n"
    )
    assert range_of(text) == "101-102"
    assert _means(text, range(101, 103)) == pytest.approx([4.5, 6.5], rel=1e-6)
    assert _means(text, range(99, 101)) == pytest.approx(before, rel=1e-6)
    assert _means(text, range(103, 105)) == pytest.approx(after, rel=1e-6)


def test_box_goes_on_in_the_input_beyond_its_range(shot: str) -> None:
    """11 frames two by two: the last covers frame 11 and the next, which the node above has; 12 it would hold."""
    cut = shot + "FrameRange { first_frame 1 last_frame 11 }\nRetime { speed 2 }"
    assert _means(cut, range(6, 7)) == pytest.approx([11.5])
    assert _means(shot + "Retime { speed 5 }", range(3, 4)) == pytest.approx([(11 + 4 * 12) / 5])


def test_timewarp_blends_so_many_frames_as_its_length(shot: str) -> None:
    assert _means(shot + "TimeWarp { lookup {{frame*2}} length 2 }", range(1, 4)) == pytest.approx([2.5, 4.5, 6.5])
    assert _means(shot + "TimeWarp { lookup {{frame/2}} }", range(2, 6)) == pytest.approx([1, 1.5, 2, 2.5])
    assert _means(shot + "TimeWarp { lookup {{12-frame*2}} length {{-2}} }", range(1, 4)) == pytest.approx(
        [9.5, 7.5, 5.5]
    )
    assert _means(shot + "TimeWarp { lookup 7 length 0 }", range(1, 3)) == pytest.approx([7, 7])
    assert _means(shot + "TimeWarp { lookup 7 }", range(1, 3)) == pytest.approx([7, 7])


def test_blended_frames_have_all_channels_and_room_for_every_window(shot: str) -> None:
    moving = shot + "Crop { box {{frame-1} 0 {frame} 3} }\nRetime { speed 2 }"
    image = pull(moving, 1)  # frames 1 and 2, of one column each
    assert image.channels == ("R", "G", "B")
    assert image.data_window == Window(0, 0, 2, 3)
    y, c = np.arange(3)[::-1, None] / 100, np.arange(3)[None, :] / 1000
    columns = [(1 + y + c) / 2, (2 + 0.1 + y + c) / 2]  # H C; black where the other frame lies
    np.testing.assert_allclose(image.pixels, np.stack(columns, axis=1), rtol=1e-6)
    evaluator, last = evaluator_of(moving)
    for region in (Window(1, 1, 3, 2), Window(-2, -2, 9, 9)):
        part = evaluator.pull(last, 1, ("B", "R"), region)
        np.testing.assert_array_equal(part.over(region), image.over(region)[..., [2, 0]])
    assert sorted(file.frame for file in evaluator.files(last, 1)) == [1, 2]


def test_equal_frames_with_other_shares_are_not_mistaken_for_one_another(shot: str) -> None:
    evaluator, last = evaluator_of(shot + "Retime { speed 0.75 }")
    values = [float(evaluator.pull(last, frame, ("R",)).pixels[-1, 0, 0]) for frame in (5, 6, 7)]
    assert values == pytest.approx([4, (4 * 0.25 + 5 * 0.5) / 0.75, (5 * 0.5 + 6 * 0.25) / 0.75], rel=1e-6)
