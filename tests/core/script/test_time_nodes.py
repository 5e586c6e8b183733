"""Which frame each node shows: Read's ends, holds, clips, offsets, switches and groups."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.core.script.fixtures import evaluator_of, frame_shown, frames_shown, numbered_shot, pull, range_of

from understudy.errors import UnderstudyError


@pytest.fixture
def shot(tmp_path: Path) -> str:
    """A Read of frames 1 to 5, named Read1, the top of the stack."""
    pattern = numbered_shot(tmp_path / "plate", range(1, 6))
    return f'Read {{\n file "{pattern}"\n last 5\n name Read1\n}}\n'


def _read(shot: str, knobs: str) -> str:
    return shot.replace(" name Read1", f" {knobs}\n name Read1").replace(
        " last 5\n", "" if "last" in knobs else " last 5\n"
    )


@pytest.mark.parametrize(
    ("knobs", "expected"),
    [
        ("", [1, 1, 1, 1, 2, 3, 4, 5, 5, 5, 5]),
        ("before hold\n after hold", [1, 1, 1, 1, 2, 3, 4, 5, 5, 5, 5]),
        ("before loop\n after loop", [3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3]),
        ("before bounce\n after bounce", [4, 3, 2, 1, 2, 3, 4, 5, 4, 3, 2]),
        ("before black\n after black", [0, 0, 0, 1, 2, 3, 4, 5, 0, 0, 0]),
        ("before 1\n after 2", [3, 4, 5, 1, 2, 3, 4, 5, 4, 3, 2]),
        ("first 2\n last 3\n before loop\n after bounce", [2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2]),
        ('frame_mode "start at"\n frame 3', [1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 5]),
        ("frame_mode offset\n frame 2", [1, 1, 2, 3, 4, 5, 5, 5, 5, 5, 5]),
        ("frame_mode expression\n frame frame", [1, 1, 1, 1, 2, 3, 4, 5, 5, 5, 5]),
    ],
)
def test_read_outside_its_range(shot: str, knobs: str, expected: list[int]) -> None:
    assert frames_shown(_read(shot, knobs), range(-2, 9)) == expected


def test_read_ranges_follow_frame_mode_and_defaults(shot: str) -> None:
    assert range_of(shot) == "1-5"
    assert range_of(shot.replace(" last 5\n", "")) == "1-1"
    assert range_of(_read(shot, 'frame_mode "start at"\n frame 1001')) == "1001-1005"
    assert range_of(_read(shot, "frame_mode start_at\n frame 1001")) == "1001-1005"
    assert range_of(_read(shot, "frame_mode offset\n frame 10")) == "-9--5"


def test_read_refuses_what_it_cannot_know(shot: str) -> None:
    with pytest.raises(UnderstudyError, match=r"Read1 \(Read\).*has no frame 9 .*knob after says error"):
        pull(_read(shot, "after error"), 9)
    with pytest.raises(UnderstudyError, match=r"Read1 \(Read\).*knob frame comes to 0\.5 at frame 1, which is between"):
        pull(_read(shot, "frame {frame/2}"))
    with pytest.raises(UnderstudyError, match=r"Read1 \(Read\).*knob frame holds the command '\[exec id\]', which is"):
        pull(_read(shot, r"frame {[exec id]}"))
    with pytest.raises(UnderstudyError, match=r"knob before is 'mirror', which is none of hold, loop, bounce, black"):
        pull(_read(shot, "before mirror"))
    with pytest.raises(UnderstudyError, match=r"knob first is 1\.5|knob first is '1\.5', not a whole number"):
        pull(_read(shot, "first 1.5"))
    with pytest.raises(UnderstudyError, match=r"knobs first and last give the range 6-5"):
        pull(_read(shot, "first 6"))


@pytest.mark.parametrize("spelling", ["firstFrame", "first_frame"])
def test_framehold_shows_one_frame_and_has_one(shot: str, spelling: str) -> None:
    held = shot + f"FrameHold {{ {spelling} 3 }}\n"
    assert frames_shown(held, range(-1, 9)) == [3] * 10
    assert range_of(held) == "3-3"


def test_framehold_with_an_increment_steps(shot: str) -> None:
    assert frames_shown(shot + "FrameHold { first_frame 1 increment 2 }", range(1, 6)) == [1, 1, 3, 3, 5]


def test_appendclip_plays_its_inputs_in_turn(shot: str) -> None:
    stacked = (
        shot + "set N1 [stack 0]\nFrameRange { first_frame 4 last_frame 5 }\n"
        "push $N1\nFrameHold { firstFrame 2 }\npush $N1\nAppendClip { inputs 3 }\n"
    )
    assert range_of(stacked) == "1-8"
    assert frames_shown(stacked, range(0, 11)) == [1, 1, 2, 3, 4, 5, 2, 4, 5, 5, 5]
    moved = stacked.replace("inputs 3", "inputs 3 firstFrame 101")
    assert range_of(moved) == "101-108"
    assert frames_shown(moved, range(101, 109)) == [1, 2, 3, 4, 5, 2, 4, 5]
    with pytest.raises(UnderstudyError, match=r"AppendClip1 \(AppendClip\).*knob time set to '7' cannot be evaluated"):
        pull(stacked.replace("inputs 3", 'inputs 3 time "7"'))


def test_appendclip_asks_its_end_clips_for_frames_beyond_their_ranges(shot: str) -> None:
    """The range that FrameRange states ends at 3, but the Read under it has frames to show."""
    cut = shot + "FrameRange { first_frame 2 last_frame 3 }\nAppendClip { firstFrame 11 }\n"
    assert range_of(cut) == "11-12"
    assert frames_shown(cut, range(9, 16)) == [1, 1, 2, 3, 4, 5, 5]


def test_frames_that_are_shown_as_they_are_are_kept_once(shot: str) -> None:
    for node in ("AppendClip { }", "TimeClip { first 2 last 4 }", "Retime { filter none }"):
        evaluator, last = evaluator_of(shot + node)
        read = evaluator.script.nodes[0]
        assert evaluator.pull(last, 3, ("R",)).pixels is evaluator.pull(read, 3, ("R",)).pixels, node


def test_framerange_changes_the_range_alone(shot: str) -> None:
    assert range_of(shot + "FrameRange { first_frame 2 last_frame 9 }") == "2-9"
    assert range_of(shot + "FrameRange { last_frame 3 }") == "1-3"
    assert range_of(shot + "FrameRange { }") == "1-5"
    assert frames_shown(shot + "FrameRange { first_frame 2 last_frame 3 }", range(1, 6)) == [1, 2, 3, 4, 5]
    with pytest.raises(UnderstudyError, match=r"first_frame and last_frame give the range 7-1"):
        range_of(shot + "FrameRange { first_frame 7 }")


def test_timeoffset_moves_and_reverses(shot: str) -> None:
    assert frames_shown(shot + "TimeOffset { time_offset 2 }", range(1, 9)) == [1, 1, 1, 2, 3, 4, 5, 5]
    assert range_of(shot + "TimeOffset { time_offset 2 }") == "3-7"
    assert frames_shown(shot + "TimeOffset { reverse_input true }", range(1, 6)) == [5, 4, 3, 2, 1]
    assert frames_shown(shot + "TimeOffset { time_offset 10 reverse_input 1 }", range(11, 16)) == [5, 4, 3, 2, 1]
    with pytest.raises(UnderstudyError, match=r"time_offset is 0\.5, which is between frames"):
        pull(shot + "TimeOffset { time_offset 0.5 }")


def test_timeclip_trims_slips_and_reverses(shot: str) -> None:
    assert range_of(shot + "TimeClip { first 2 last 4 }") == "2-4"
    assert range_of(shot + "TimeClip { }") == "1-5"
    assert frames_shown(shot + "TimeClip { first 2 last 4 }", range(0, 7)) == [2, 2, 2, 3, 4, 4, 4]
    placed = "TimeClip { first 2 last 4 frame_mode {start at} frame 101 before black after loop }"
    assert range_of(shot + placed) == "101-103"
    assert frames_shown(shot + placed, range(100, 106)) == [0, 2, 3, 4, 2, 3]
    assert frames_shown(shot + "TimeClip { first 2 last 4 reverse true }", range(2, 5)) == [4, 3, 2]
    with pytest.raises(UnderstudyError, match=r"knob fadeIn set to '5' cannot be evaluated"):
        pull(shot + "TimeClip { fadeIn 5 }")


def test_switch_hands_on_the_chosen_input(shot: str) -> None:
    switch = shot + "set N1 [stack 0]\nFrameHold { firstFrame 2 }\npush $N1\nSwitch { inputs 2 which %s }\n"
    assert frame_shown(switch % "0", 5) == 5
    assert frame_shown(switch % "1", 5) == 2
    assert frame_shown(switch % "{{curve 1}}", 5) == 2
    with pytest.raises(UnderstudyError, match=r"Switch1 \(Switch\).*knob which is 2, but it has 2 inputs"):
        pull(switch % "2")
    with pytest.raises(UnderstudyError, match=r"knob which refers to 'parent\.which', and there is no 'which'"):
        pull(switch % "{{parent.which}}")
    assert frames_shown(switch % "{{curve K x1 1 x4 0}}", range(1, 7)) == [2, 2, 2, 4, 5, 5]
    assert range_of(switch % "{{curve K x1 1 x4 0}}") == "1-5"
    with pytest.raises(UnderstudyError, match=r"Switch1 \(Switch\).*knob which is 2, but it has 2 inputs"):
        pull(switch % "{{curve K x1 1 x4 2}}", 4)


def test_the_input_that_switch_leaves_out_may_be_anything(shot: str) -> None:
    assert frame_shown(shot + "set N1 [stack 0]\nKeylight {}\npush $N1\nSwitch { inputs 2 }\n", 3) == 3


def test_groups_lead_through_input_and_output(shot: str) -> None:
    group = (
        shot + "set N1 [stack 0]\nFrameHold { firstFrame 2 }\npush $N1\nGroup {\n inputs 2\n name Group1\n}\n"
        " Input { inputs 0 name A }\n Dot { name Unused }\n Input { inputs 0 name B number 1 }\n"
        " Dot {}\n NoOp {}\n PostageStamp {}\n Output { name Output1 }\nend_group\n"
    )
    outside = group + "Dot { name Last }\n"
    assert [frame_shown(outside, frame) for frame in (1, 5)] == [2, 2]
    assert frame_shown(outside.replace("inputs 2\n", "inputs 2\n disable true\n"), 5) == 5
    with pytest.raises(UnderstudyError, match=r"Group1 \(Group\).*nothing is connected to its input 1"):
        pull(outside.replace("Group {\n inputs 2", "Group {\n inputs 1"))


def test_disabled_nodes_pass_their_first_input(shot: str) -> None:
    assert frame_shown(shot + "FrameHold { firstFrame 2 disable true }", 4) == 4
    assert frame_shown(shot + "Keylight { disable true }", 4) == 4
    with pytest.raises(UnderstudyError, match="knob disable refers to"):
        pull(shot + "FrameHold { firstFrame 2 disable {{!parent.on}} }")
    with pytest.raises(UnderstudyError, match=r"Read1 \(Read\).*nothing is connected to its input 0"):
        pull(_read(shot, "disable true") + "Dot {}")


def test_long_chains_need_no_stack_and_endless_ones_are_refused(shot: str) -> None:
    assert frame_shown(shot + "Dot {}\n" * 5000, 3) == 3
    grades = "Grade { multiply 1 }\n"
    assert frame_shown(shot + grades * 149, 3) == 3
    with pytest.raises(UnderstudyError, match="has over 150 nodes above it; render one of them"):
        pull(shot + grades * 200)


def test_a_clip_appended_to_itself_without_end_is_refused(shot: str) -> None:
    twice = "set N [stack 0]\npush $N\nAppendClip { inputs 2 }\n"
    evaluator, last = evaluator_of(f"{shot}{twice * 100}")
    says = r"AppendClip\d+ .*is over 1000000000 frames long; mend its knobs, or shorten it with FrameRange"
    with pytest.raises(UnderstudyError, match=says):
        evaluator.span(last)
