"""A model becomes an Inference node: by the .cat file of its export, which a second NukeX makes where there is none."""

from __future__ import annotations

import json
import os
from pathlib import Path

import nuke
import pytest
from tests.core.train.export.models import RGB, lively_model, save_lively_model
from tests.core.train.export.nukex import StandIn, stand_in_nukex
from tests.plugin.nuke.fake.desk import Desk
from tests.plugin.nuke.scenes import scene

from understudy_nuke import actions

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-in is a script with a first line that names Python")


@pytest.fixture
def nukex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    stand_in = stand_in_nukex(tmp_path, monkeypatch)
    monkeypatch.setattr(nuke, "EXE_PATH", str(stand_in.program))
    return stand_in


def _model(folder: Path, channel: str) -> Path:
    folder.mkdir()
    return save_lively_model(folder / "comp.40.safetensors", lively_model(RGB, (channel,)))


def test_a_model_is_exported_once_and_inferred_twice(tmp_path: Path, desk: Desk, nukex: StandIn) -> None:
    training = scene(tmp_path)
    model = _model(tmp_path / "runs [v2]", "A")
    desk.file_chosen = str(model)
    actions.inference()
    assert nuke.allNodes("Inference") == []
    desk.wait_until(lambda: bool(nuke.allNodes("Inference")) or bool(desk.messages))
    cat_file = model.with_name("comp.40.nuke") / "comp" / "comp.cat"
    assert desk.messages == []
    assert cat_file.is_file()
    nukex.notes.unlink()
    actions.inference()
    first, second = nuke.allNodes("Inference")
    for inference in (first, second):
        assert inference["modelFile"].value() == cat_file.as_posix()
        assert inference.input(0) is training.input(0)
    assert not nukex.notes.exists()


@pytest.mark.usefixtures("nukex")
def test_a_model_on_channels_of_its_own_is_sent_to_the_cattery(tmp_path: Path, desk: Desk) -> None:
    scene(tmp_path)
    desk.file_chosen = str(_model(tmp_path / "runs", "wire.a"))
    actions.inference()
    said = desk.wait_for_message()
    assert said.startswith(f"{tmp_path}/runs/comp.40.nuke/comp: Inference does not know wire.alpha; copy this folder")
    assert nuke.allNodes("Inference") == []


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("licence", "made no .cat file"),
        ("gone", "is no program"),
        ("deleted", "CopyCat1: is not in this script any more"),
    ],
)
def test_what_goes_wrong_meanwhile_is_said_in_a_line(
    tmp_path: Path, desk: Desk, nukex: StandIn, monkeypatch: pytest.MonkeyPatch, fault: str, said: str
) -> None:
    training = scene(tmp_path)
    desk.file_chosen = str(_model(tmp_path / "runs", "A"))
    if fault == "gone":
        nukex.program.unlink()
    if fault == "licence":
        monkeypatch.setenv("STAND_IN_FAULT", fault)
    actions.inference()
    if fault == "deleted":
        nuke.delete(training)
    (line,) = desk.wait_for_message().splitlines()
    assert said in line


def test_a_broken_export_is_said(tmp_path: Path, desk: Desk) -> None:
    scene(tmp_path)
    folder = tmp_path / "runs" / "comp.40.nuke" / "comp"
    folder.mkdir(parents=True)
    (folder / "comp.cat").write_bytes(b"cat")
    (folder.parent / "export.json").write_text(json.dumps({"schema": 1}))
    desk.file_chosen = str(tmp_path / "runs" / "comp.40.safetensors")
    actions.inference()
    assert desk.messages[0].startswith(f"{folder.parent}/export.json: cannot be read (KeyError")
