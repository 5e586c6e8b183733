"""Nodes that are evaluated by a reading of their page: it is said of those that need it, and of no others."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.core.script.fixtures import evaluator_of, numbered_shot

from understudy.script.nodes import NODE_CLASSES
from understudy.script.outline import outline


@pytest.fixture
def shot(tmp_path: Path) -> str:
    pattern = numbered_shot(tmp_path, range(1, 6), 8, 6, "RGBA")
    return f'Read {{\n inputs 0\n file "{pattern}"\n last 5\n name Plate\n}}\n'


def _remarks(text: str) -> tuple[str, ...]:
    evaluator, last = evaluator_of(text)
    evaluator.check([last])
    return evaluator.remarks([last])


@pytest.mark.parametrize(
    "node",
    [
        "EdgeBlur { }",
        "Histogram { channels rgb }",
        "HueShift { hue_rotation 10 }",
        "HueShift { hue_rotation {{frame-1}} }",
        "HueShift { color_saturation 0.5 }",
        "Retime { speed 2 }",
        "Retime { speed 0.5 }",
        "Retime { shutter 1.5 }",
        "Retime { input.last 4 input.last_lock 1 output.first 1 output.first_lock 1 output.last 2 output.last_lock 1 }",
        "TimeWarp { lookup {{frame/2}} }",
        "TimeWarp { lookup 2.5 }",
        "TimeWarp { lookup 2 length 3 }",
    ],
)
def test_what_follows_a_reading_says_so(shot: str, node: str) -> None:
    kind = node.split()[0]
    (line,) = _remarks(shot + node)
    begin = f"{kind}1 ({kind}): evaluated by our reading of Foundry's page, not compared with Nuke: "
    assert line.startswith(begin)
    assumed, _, way_out = line.removeprefix(begin).partition("; ")
    assert assumed
    assert way_out == "render it to a file where pixels must be exact"
    evaluator, last = evaluator_of(shot + node)
    assert f"not compared with Nuke: {assumed}" in outline(evaluator, [("Input", last)])[1]


@pytest.mark.parametrize(
    "node",
    [
        "HueShift { saturation 2 brightness 0.5 }",
        "HueShift { hue_rotation 0 }",
        "Retime { }",
        "Retime { reverse true shutter 0.5 }",
        "Retime { speed 2 filter none }",
        "Retime { speed 3 filter nearest }",
        "Retime { speed 7 input.last 4 input.last_lock 1 output.first 2 output.first_lock 1 output.last 5 "
        "output.last_lock 1 }",
        "TimeWarp { lookup {{frame}} filter nearest }",
        "TimeWarp { lookup 3 }",
        "Blur { size 3 }",
        "EdgeBlur { disable true }",
        "Retime { speed 2 disable true }",
    ],
)
def test_nothing_is_said_of_what_needs_none(shot: str, node: str) -> None:
    assert _remarks(shot + node) == ()
    evaluator, last = evaluator_of(shot + node)
    assert not any("compared" in line for line in outline(evaluator, [("Input", last)]))


def test_each_node_is_named_once_also_in_groups_and_not_where_it_is_not_shown(shot: str) -> None:
    text = (
        f"{shot}set N [stack 0]\nEdgeBlur {{ name Soft }}\nset S [stack 0]\npush $S\nMerge2 {{ inputs 2 }}\n"
        "Group { name G }\n Input { inputs 0 }\n Histogram { channels rgb name Levels }\n Output { }\nend_group\n"
        "push $N\nEdgeBlur { name Unseen }\nSwitch { inputs 2 which 1 }\n"
    )
    assert [line.split(" (")[0] for line in _remarks(text)] == ["Soft", "G.Levels"]


def test_a_tree_that_cannot_be_evaluated_is_still_shown(shot: str) -> None:
    evaluator, last = evaluator_of(shot + "Keylight { name Key }\nRetime { speed -2 name Back }\n")
    assert outline(evaluator, [("Input", last)])[1:3] == (
        "  Back (Retime): speed -2",
        "  Key (Keylight): cannot be evaluated",
    )


def test_what_is_assumed_is_short() -> None:
    assumed = {name: known.assumed for known in NODE_CLASSES for name in known.names if known.assumed}
    assert set(assumed) == {"EdgeBlur", "Histogram", "HueShift", "Retime", "TimeWarp"}
    assert all(len(text.split()) < 22 and text[-1].isalnum() for text in assumed.values())
