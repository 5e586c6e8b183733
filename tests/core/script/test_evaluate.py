"""The evaluator: what it says before it begins, and that it pulls no more than it must."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.core.script.fixtures import evaluator_of, numbered_shot, pull

from understudy.errors import Problems, UnderstudyError
from understudy.frames.window import Window
from understudy.script.evaluate import Evaluator
from understudy.script.graph import Node
from understudy.script.nodes import NODE_CLASSES
from understudy.script.nodes.base import PAGES, Reading, Tree
from understudy.script.nodes.grade import Grade
from understudy.script.paths import PathRules
from understudy.script.values.moment import Moment


@pytest.fixture
def shot(tmp_path: Path) -> str:
    return f'Read {{ file "{numbered_shot(tmp_path, range(1, 4))}" last 3 name Read1 }}\n'


def _problems(text: str) -> tuple[str, ...]:
    evaluator, last = evaluator_of(text)
    with pytest.raises(Problems) as fault:
        evaluator.check([last])
    return fault.value.lines


def test_all_that_cannot_be_evaluated_is_said_at_once(shot: str) -> None:
    lines = _problems(
        shot + "Keylight { name Key1 }\nGroup { name Group1 }\n Input { name In }\n Keyer3 { name Keyer3 }\n"
        " ZDefocus2 { name Blur1 }\n Grade { name Inside softness 1 mix {{t*}} }\n Output { name Output1 }\nend_group\n"
        "Crop { name Crop1 box {0 0 4 3} softness 2 }\nZDefocus2 { name Defocus1 }\n"
    )
    cannot = "understudy cannot evaluate this class; render it first, e.g. with a Write after"
    knob = "bake it, or render the node first"
    assert sorted(lines) == [
        f"Crop1 (Crop), line 10: knob softness set to '2' cannot be evaluated; {knob}",
        f"Defocus1 (ZDefocus2), line 11: {cannot} it",
        f"Group1.Blur1 (ZDefocus2), line 6: {cannot} Group1.Inside",
        f"Group1.Inside (Grade), line 7: knob mix holds 't*', which is not understood at its end; {knob}",
        f"Group1.Keyer3 (Keyer3), line 5: {cannot} Group1.Inside",
        f"Key1 (Keylight), line 2: {cannot} Group1.In",
    ]


def test_missing_inputs_outputs_and_stray_inputs_are_named(shot: str) -> None:
    assert _problems("Grade { name G }") == (
        "G (Grade), line 1: nothing is connected to its input 0; connect it or delete the node",
    )
    assert "has no Output node within" in _problems(shot + "Group { name E }\nend_group\nDot {}")[0]
    assert "is an Input outside any group" in _problems("Input {}\nDot {}")[0]
    assert "input 0" in _problems("push 0\nAppendClip {}")[0]


def test_a_cycle_is_refused(shot: str) -> None:
    evaluator, last = evaluator_of(shot + "Grade { name A }\nGrade { name B }\n")
    script = evaluator.script
    nodes = (script.nodes[0], replace(script.nodes[1], inputs=(2,)), last)
    looped = replace(script, nodes=nodes)
    with pytest.raises(Problems, match=r"B \(Grade\), line 3: feeds itself; break the cycle"):
        Evaluator(looped, Reading(paths=PathRules(script=looped))).check([last])


def test_missing_files_of_a_frame_are_all_named(shot: str, tmp_path: Path) -> None:
    evaluator, last = evaluator_of(shot + "FrameHold { firstFrame 2 }")
    assert [(file.path.name, file.frame) for file in evaluator.files(last, 7)] == [("plate.0002.exr", 2)]
    (tmp_path / "plate.0002.exr").unlink()
    with pytest.raises(Problems, match=r"Read1 \(Read\), line 1: frame 2 is missing: .*plate\.0002\.exr: no such file"):
        evaluator.files(last, 7)


def test_held_frames_are_decoded_once(shot: str, tmp_path: Path) -> None:
    evaluator, last = evaluator_of(shot + "FrameHold { firstFrame 2 }\nGrade { multiply 2 }")
    first = evaluator.pull(last, 1, ("R",))
    (tmp_path / "plate.0002.exr").unlink()
    second = evaluator.pull(last, 2, ("R",))
    np.testing.assert_array_equal(first.pixels, second.pixels)


def test_channels_asked_for_are_the_channels_given(shot: str) -> None:
    image = pull(shot + "Grade { multiply 2 }", channels=("A", "B"))
    assert image.channels == ("A", "B")
    assert image.pixels[..., 0].max() == 0
    assert image.pixels[-1, 0, 1] == pytest.approx(2.004)


def test_a_tall_picture_is_the_same_in_bands_and_in_parts(tmp_path: Path) -> None:
    tall = numbered_shot(tmp_path, range(1, 2), height=600)
    text = f'Read {{ inputs 0 file "{tall}" }}\nGrade {{ add 0.5 }}\nCrop {{ box {{1 20 3 590}} }}\n'
    whole = pull(text, channels=("B", "R"))
    evaluator, last = evaluator_of(text)
    for rows in ((10, 11), (250, 262), (500, 580)):
        part = evaluator.pull(last, 1, ("B", "R"), Window(1, rows[0], 3, rows[1]))
        np.testing.assert_array_equal(part.pixels, whole.over(part.data_window))


def test_channels_are_found_among_more_that_were_asked_for_before(shot: str, tmp_path: Path) -> None:
    evaluator, last = evaluator_of(shot)
    whole = evaluator.pull(last, 2, ("R", "G", "B"))
    (tmp_path / "plate.0002.exr").unlink()
    np.testing.assert_array_equal(evaluator.pull(last, 2, ("B", "R")).pixels, whole.pixels[..., [2, 0]])


def test_a_node_without_fault_is_checked_once(shot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at a large tree, or at a lookup table, takes long; a node with a fault is looked at again."""
    checked: list[str] = []
    check = Grade.check

    def counted(self: Grade, tree: Tree, node: Node, moment: Moment) -> None:
        checked.append(node.name)
        check(self, tree, node, moment)

    monkeypatch.setattr(Grade, "check", counted)
    evaluator, last = evaluator_of(shot + "Grade { name A }\nGrade { gamma 0 name B }\nNoOp { name C }\n")
    for _ in range(2):
        with pytest.raises(Problems, match=r"B \(Grade\), line 3: knob gamma is 0 or less"):
            evaluator.check([last])
    assert (checked.count("A"), checked.count("B")) == (1, 2)


def test_a_part_is_found_in_a_larger_one_that_was_asked_for_before(tmp_path: Path) -> None:
    evaluator, last = evaluator_of(f'Read {{ file "{numbered_shot(tmp_path, range(1, 2), 9, 8, "RGBA")}" }}')
    around = evaluator.pull(last, 1, ("R", "G", "A"), Window(1, 1, 8, 7))
    (tmp_path / "plate.0001.exr").unlink()
    for channels, part in (
        (("A",), Window(2, 3, 5, 6)),
        (("A", "R"), Window(1, 1, 8, 7)),
        (("G",), Window(7, 1, 8, 7)),
    ):
        shown = evaluator.pull(last, 1, channels, part)
        places = [around.channels.index(channel) for channel in channels]
        np.testing.assert_array_equal(shown.pixels, around.over(part)[..., places])
    for channels, part in ((("B",), Window(2, 3, 5, 6)), (("A",), Window(0, 1, 8, 7))):
        with pytest.raises(UnderstudyError, match=r"plate\.0001\.exr"):
            evaluator.pull(last, 1, channels, part)


def test_every_class_says_its_names_and_its_page() -> None:
    for known in NODE_CLASSES:
        assert known.names
        assert re.fullmatch(re.escape(PAGES) + r"[a-z_]+/[a-z0-9_]+\.html", PAGES + known.page)
    names = [name for known in NODE_CLASSES for name in known.names]
    assert len(names) == len(set(names))
