"""The tree as text: what it says of nodes, where branches stand, and each node once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.core.script.fixtures import evaluator_of, numbered_shot

from understudy.script.outline import outline


@pytest.fixture
def shot(tmp_path: Path) -> str:
    pattern = numbered_shot(tmp_path, range(1, 6), 8, 6)
    return f'Read {{\n inputs 0\n file "{pattern}"\n last 5\n name Plate\n}}\nset N [stack 0]\n'


def _lines(text: str, tmp_path: Path) -> list[str]:
    evaluator, last = evaluator_of(text)
    return [line.replace(tmp_path.as_posix(), "..") for line in outline(evaluator, [("Input", last)])]


def test_it_tells_knobs_and_what_changes_of_the_picture(shot: str, tmp_path: Path) -> None:
    text = (
        shot + "Grade { multiply {{curve x1 1 x5 2}} name Look note_font Bold }\nDot { }\nNoOp { name Nothing }\n"
        "Crop { box {1 1 7 5} name Cut }\nRemove { channels blue name Less }\nFrameHold { first_frame 3 name Hold }\n"
        "Grade { disable true name Off }\n"
    )
    assert _lines(text, tmp_path) == [
        "Input",
        "  Off (Grade): disabled",
        "  Hold (FrameHold): first_frame 3; frame 3",
        "  Less (Remove): channels blue; channels R G",
        "  Cut (Crop): box 1 1 7 5; window 6x4+1+1",
        "  Nothing (NoOp)",
        "  Look (Grade): multiply {curve x1 1 x5 2}",
        "  Plate (Read): ../plate.####.exr, last 5; frames 1-5, channels R G B, format 8x6",
    ]


def test_side_ways_stand_behind_a_dash_and_each_node_once(shot: str, tmp_path: Path) -> None:
    merge = "Merge2 { inputs 2+1 operation plus name M%d }\n"
    text = (
        f"{shot}push $N\nGrade {{ add 1 name Side }}\nCrop {{ box {{0 0 2 2}} reformat true name Small }}\npush $N\n"
        + merge.replace("2+1", "2") % 1
        + "Dot { }\nset D [stack 0]\npush $N\npush $D\n"
        + merge.replace("2+1", "2") % 2
    )
    plate = "Plate (Read): ../plate.####.exr, last 5; frames 1-5, channels R G B, format 8x6"
    assert _lines(text, tmp_path) == [
        "Input",
        "  M2 (Merge2): operation plus",
        f"  - {plate}",
        "  M1 (Merge2): operation plus",
        "  - Small (Crop): box 0 0 2 2, reformat true; format 2x2",
        "    Side (Grade): add 1",
        "    Plate (Read): as above",
        "  Plate (Read): as above",
    ]


def test_many_inputs_all_stand_behind_dashes(shot: str, tmp_path: Path) -> None:
    holds = "".join(f"push $N\nFrameHold {{ first_frame {frame} name H{frame} }}\n" for frame in (4, 3, 2, 1))
    lines = _lines(f"{shot}{holds}AppendClip {{ inputs 4 name All }}\n", tmp_path)
    assert lines[1] == "  All (AppendClip): frames 1-4"
    assert [line for line in lines if "FrameHold" in line] == [
        f"  - H{frame} (FrameHold): first_frame {frame}; frame {frame}" for frame in (1, 2, 3, 4)
    ]
    assert lines[4:6] == ["  - H2 (FrameHold): first_frame 2; frame 2", "    Plate (Read): as above"]


def test_groups_are_gone_through(shot: str, tmp_path: Path) -> None:
    group = "Group { name G }\n Input { inputs 0 name In }\n Grade { name Inner }\n Output { name Out }\nend_group\n"
    lines = _lines(shot + group + "NoOp { }\n", tmp_path)
    assert lines[2:6] == ["  G (Group)", "  G.Out (Output)", "  G.Inner (Grade)", "  G.In (Input)"]


def test_what_cannot_be_evaluated_is_shown_and_nothing_is_said_of_pictures(shot: str, tmp_path: Path) -> None:
    text = shot + "Keylight { name Key }\nCrop { box {1 1 7 5} name Cut }\nSwitch { which {{gone.x}} name S }\n"
    assert _lines(text, tmp_path) == [
        "Input",
        "  S (Switch): which {gone.x}",
        "  Cut (Crop): box 1 1 7 5",
        "  Key (Keylight): cannot be evaluated",
        "  Plate (Read): ../plate.####.exr, last 5",
    ]


def test_missing_files_and_inputs_leave_what_is_known(tmp_path: Path) -> None:
    read = 'Read { inputs 0 file "gone.####.exr" last 5 name R }\n'
    lines = _lines(read + "push 0\nMerge2 { inputs 2 name M }\n", tmp_path)
    assert lines == ["Input", "  M (Merge2)", "  R (Read): /nowhere/gone.####.exr, last 5"]
    assert _lines(read, tmp_path)[1] == "  R (Read): /nowhere/gone.####.exr, last 5; frames 1-5"


def test_python_of_a_node_is_named_and_not_run(shot: str, tmp_path: Path) -> None:
    python = f"open('{tmp_path.as_posix()}/bait', 'w')"
    callbacks = f'knobChanged "{python}" onCreate {{{python}}} autolabel "{python}" updateUI ""'
    text = f"{shot}Grade {{ add 1 {callbacks} name G }}\n"
    assert _lines(text, tmp_path)[1] == "  G (Grade): add 1, Python of onCreate, knobChanged is not run"
    assert not (tmp_path / "bait").exists()


def test_very_long_trees_end(shot: str, tmp_path: Path) -> None:
    lines = _lines(shot + "NoOp { }\n" * 3000, tmp_path)
    assert len(lines) == 2001
    assert lines[-1] == "and 1002 lines more"
