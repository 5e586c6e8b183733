"""Our node: CopyCat's inputs, knobs and defaults, in a script that real Tcl and understudy's own reader take alike."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import nuke
import pytest
from tests.plugin.nuke.fake.desk import Desk
from tests.plugin.nuke.scenes import read, scene, shot

from understudy.script import copycat
from understudy.script.graph import Script, read_script
from understudy.script.paths import PathRules
from understudy.settings import Settings
from understudy.sources.script import ScriptSource
from understudy_nuke import actions, node
from understudy_nuke.graph import INPUT_NAMES, is_training_node

pytest.importorskip("tkinter", reason="this Python has no tkinter, and so no Tcl", exc_type=ImportError)
from tests.core.script.tcl_graph import graph_from_tcl, graph_of

CHANGED = {
    "epochs": 7,
    "useGPUIfAvailable": False,
    "modelSize": "Large",
    "batchSizeType": "Manual",
    "batchSize": 2,
    "cropSize": 48,
    "learningRate": 0.004,
    "useMultiResolutionTraining": True,
    "smoothness": 0.0,
    "showOriginal": False,
    "runName": 'it\'s [odd] {a} "name" $x \\',
}


def _saved(folder: Path) -> Script:
    path = folder / "saved.nk"
    nuke.scriptSaveToTemp(path.as_posix())
    text = path.read_text(encoding="utf-8")
    script = read_script(path)
    assert graph_of(script).nodes == graph_from_tcl(text).nodes
    return script


def _settings(script: Script) -> Settings:
    """What the only training node of a script asks for."""
    overrides = copycat.knob_overrides(copycat.find_copycat(script), PathRules(script=script))
    return dataclasses.replace(Settings(), **overrides)  # type: ignore[arg-type]


def test_a_new_node_is_known_connected_and_has_the_defaults(tmp_path: Path) -> None:
    shot(tmp_path)
    plate, paint = read("Plate", tmp_path.as_posix()), read("Paint", tmp_path.as_posix())
    plate.setSelected(True)
    paint.setSelected(True)
    made = node.create()
    assert is_training_node(made)
    assert made.name() == "Understudy1"
    assert [made.input(0), made.input(1)] == [plate, paint]
    assert [chosen.name() for chosen in nuke.selectedNodes()] == ["Understudy1"]
    script = _saved(tmp_path)
    found = copycat.find_copycat(script)
    assert [above.name for above in copycat.training_inputs(script, found)] == ["Plate", "Paint"]
    assert _settings(script) == Settings()
    assert node.create().name() == "Understudy2"


def test_it_has_every_knob_that_the_settings_know_by_that_name_and_default() -> None:
    wanted = {field.metadata["knob"]: field.default for field in dataclasses.fields(Settings) if field.metadata["knob"]}
    del wanted["COPYCAT_SYNC_INTERVAL"]
    ours = {row.name: row.default for row in node.KNOBS}
    apart = {"dataDirectory": "", "checkpointFile": "", "modelSize": "Small"}
    others = {copycat.USE_GPU.name, copycat.INITIAL_WEIGHTS.name, copycat.BATCH_SIZE_TYPE.name}
    assert {name: ours[name] for name in wanted} == {**wanted, **apart}
    assert set(ours) == {*wanted, *others}
    assert INPUT_NAMES == copycat.INPUT_NAMES


def test_every_knob_reaches_the_settings_also_at_the_value_that_nuke_would_leave_out(tmp_path: Path) -> None:
    made = scene(tmp_path, "Understudy")
    for name, value in CHANGED.items():
        made[name].setValue(value)
    script = _saved(tmp_path)
    settings = _settings(script)
    assert settings.run_name == CHANGED["runName"]
    assert (settings.epochs, settings.device, settings.model_size, settings.batch_size) == (7, "cpu", "large", 2)
    assert (settings.crop_size, settings.learning_rate, settings.multi_resolution) == (48, 0.004, True)
    assert (settings.graph_smoothness, settings.graph_show_original) == (0.0, False)


def test_the_script_opens_again_and_gives_the_pairs(tmp_path: Path) -> None:
    scene(tmp_path, "Understudy")
    nuke.scriptOpen((tmp_path / "shot.nk").as_posix())
    again = nuke.toNode("Understudy1")
    assert again is not None
    assert is_training_node(again)
    assert again["epochs"].value() == 10000
    assert isinstance(again, nuke.Group)
    assert [child.Class() for child in again.nodes()] == ["Input", "Input", "Output"]
    pairs = ScriptSource(script=tmp_path / "shot.nk").pairs()
    assert [pair.frame for pair in pairs] == [1001, 1002, 1003]
    assert pairs[0].input.media.path == tmp_path / "plate" / "plate.1001.exr"
    assert pairs[0].target.media.path == tmp_path / "paint" / "plate.1001.exr"


def test_the_buttons_call_the_plugin_and_say_when_it_is_not_there(
    tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = scene(tmp_path, "Understudy")
    button = made["startTraining"]
    assert isinstance(button, nuke.PyScript_Knob)
    asked: list[str] = []
    monkeypatch.setattr(actions, "train", lambda training: asked.append(training.fullName()))
    button.execute()
    assert asked == ["Understudy1"]
    monkeypatch.setitem(__import__("sys").modules, "understudy_nuke", None)
    button.execute()
    assert desk.messages == ["understudy is not installed in this Nuke: add its plugin/nuke folder to NUKE_PATH"]


def test_the_menu_makes_one_with_nothing_selected(desk: Desk) -> None:
    actions.create_node()
    assert [made.name() for made in nuke.allNodes("Group")] == ["Understudy1"]
    assert desk.messages == []
