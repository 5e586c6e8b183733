"""Nuke as the panel's host: what the panel asks is there, and what goes wrong is a HostFault of one line."""

from __future__ import annotations

import sys
from pathlib import Path

import nuke
import pytest
from tests.plugin.nuke.fake.desk import Desk
from tests.plugin.nuke.scenes import scene

from understudy.sources.script import ScriptSource
from understudy_nuke.host import NukeHost
from understudy_ui.panel.host import Host, HostFault, TrainingNode


@pytest.fixture
def host() -> Host:
    return NukeHost()


def test_selected_training_nodes_say_what_they_lack(tmp_path: Path, host: Host) -> None:
    training = scene(tmp_path)
    assert host.selected_nodes() == []
    training.setSelected(True)
    bare = nuke.nodes.CopyCat()
    bare.setSelected(True)
    nuke.toNode("Plate").setSelected(True)  # type: ignore[union-attr]
    found = {node.name: node for node in host.selected_nodes()}
    assert found == {
        "CopyCat1": TrainingNode("CopyCat1"),
        "CopyCat2": TrainingNode("CopyCat2", ("Input", "Ground Truth")),
    }


def test_script_snapshot_and_answers(tmp_path: Path, host: Host) -> None:
    assert (host.name, host.script_path(), host.can_create_inference()) == ("Nuke", "", True)
    with pytest.raises(HostFault, match="the script was never saved; save it first"):
        host.save_snapshot()
    training = scene(tmp_path)
    assert host.script_path() == host.save_snapshot() == f"{tmp_path}/shot.nk"
    training["epochs"].setValue(9)
    assert ScriptSource(script=Path(host.save_snapshot())).knob_overrides()["epochs"] == 9
    assert host.script_path() == f"{tmp_path}/shot.nk"
    program = host.answers()
    assert program.words == (sys.executable, "-m", "understudy_ui.answers")
    assert not any(name.startswith(("PYTHONPATH", "OCIO", "QT")) for name in program.environment)


@pytest.mark.parametrize(("stated", "named"), [("/gone/python", "/gone/python"), ("", "python3")])
def test_a_missing_python_is_left_to_the_panel_to_say(
    host: Host, monkeypatch: pytest.MonkeyPatch, stated: str, named: str
) -> None:
    monkeypatch.setenv("UNDERSTUDY_PYTHON", stated)
    monkeypatch.setenv("PATH", "/gone")
    assert host.answers().words[0] == named


def _in_viewer(desk: Desk) -> str:
    return desk.viewer.name() if desk.viewer else ""


def test_frames_inference_and_results(tmp_path: Path, host: Host, desk: Desk) -> None:
    training = scene(tmp_path)
    host.go_to_frame(1002)
    assert desk.frame == 1002
    host.create_inference("CopyCat1", "/runs/a.cat")
    assert [node["modelFile"].value() for node in nuke.allNodes("Inference")] == ["/runs/a.cat"]
    host.show_result("/runs/result.####.exr", 1001, 1003)
    assert _in_viewer(desk) == "Switch1"
    nuke.delete(training)
    host.show_result("/runs/result.####.exr", 1001, 1003)
    assert _in_viewer(desk) == "Read2"
    for node, checkpoint, said in (
        ("CopyCat1", "/runs/a.cat", "CopyCat1: is not in this script any more"),
        ("", "/runs/a.cat", "the script has no training node"),
    ):
        with pytest.raises(HostFault, match=said):
            host.create_inference(node, checkpoint)
    scene(tmp_path)
    with pytest.raises(HostFault, match=r"a\.onnx: is no model; choose a \.safetensors or \.cat file"):
        host.create_inference("", "/runs/a.onnx")
