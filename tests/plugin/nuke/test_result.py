"""What a training gave comes into the script below its node, connected, as one step of undo."""

from __future__ import annotations

from pathlib import Path

import nuke
import pytest
from tests.plugin.nuke.fake.desk import Desk
from tests.plugin.nuke.scenes import scene

from understudy.script.graph import read_script
from understudy_nuke import actions


def test_a_cat_file_becomes_an_inference_node_on_what_input_shows(tmp_path: Path, desk: Desk) -> None:
    training = scene(tmp_path)
    desk.file_chosen = "/runs/Training_1.1000.cat"
    actions.inference()
    (inference,) = nuke.allNodes("Inference")
    assert inference["modelFile"].value() == "/runs/Training_1.1000.cat"
    assert inference.input(0) is training.input(0)
    assert (inference.xpos(), inference.ypos()) == (training.xpos(), training.ypos() + 100)
    assert desk.undone == ["Create Inference"]
    assert desk.messages == []


def test_applied_frames_become_a_raw_read_and_a_switch(tmp_path: Path, desk: Desk) -> None:
    training = scene(tmp_path)
    desk.file_chosen = "/runs/result.####.exr 1001-1048"
    actions.inference(training)
    (switch,) = nuke.allNodes("Switch")
    shown = switch.input(1)
    assert shown is not None
    knobs = ("file", "first", "last", "origfirst", "origlast", "raw")
    assert [shown[name].value() for name in knobs] == ["/runs/result.####.exr", 1001, 1048, 1001, 1048, True]
    assert switch.input(0) is training.input(0)
    assert switch["which"].value() == 1
    assert switch.ypos() > shown.ypos() > training.ypos()
    nuke.scriptSave()
    saved = {node.name: node for node in read_script(tmp_path / "shot.nk").nodes}
    assert saved["Read1"].knobs["file"] == "/runs/result.####.exr"
    assert desk.messages == []


@pytest.mark.parametrize(
    ("chosen", "has_nukex", "said"),
    [
        ("/runs/result.1001.exr", True, "/runs/result.1001.exr: is no sequence; choose the applied frames as one"),
        ("/runs/a.cat", False, "this Nuke has no Inference (Inference: no licence for nukex was found); apply"),
    ],
)
def test_what_cannot_be_brought_back_is_said(
    tmp_path: Path, desk: Desk, chosen: str, has_nukex: bool, said: str
) -> None:
    scene(tmp_path, "Understudy")
    desk.file_chosen, desk.has_nukex = chosen, has_nukex
    actions.inference()
    assert [line.startswith(said) for line in desk.messages] == [True], desk.messages
    assert len(desk.messages[0].splitlines()) == 1


def test_nothing_happens_when_no_file_is_chosen(tmp_path: Path, desk: Desk) -> None:
    scene(tmp_path)
    before = len(nuke.allNodes())
    actions.inference()
    assert len(nuke.allNodes()) == before
    assert desk.messages == []
