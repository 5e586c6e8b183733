"""Scripts saved in (the fake) Nuke, trained without it: by the command line that CopyCat takes, and by the farm."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nuke
import pytest
from tests.plugin.nuke.fake.desk import Desk
from tests.plugin.nuke.scenes import scene

from understudy_nuke import actions

FEW_STEPS = {"epochs": 3, "batchSizeType": "Manual", "batchSize": 3, "cropSize": 32, "modelSize": "Small"}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def _understudy(*words: str) -> str:
    command = [sys.executable, "-m", "understudy.cli.main", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_our_node_trains_from_its_script(tmp_path: Path) -> None:
    training = scene(tmp_path, "Understudy", saved=False)
    for name, value in FEW_STEPS.items():
        training[name].setValue(value)
    nuke.scriptSaveAs((tmp_path / "shot.nk").as_posix())
    said = _understudy("-F", "1", "-X", "Understudy1", (tmp_path / "shot.nk").as_posix())
    assert "[Step:3/3] Loss:" in said
    assert "Frame 1 (1 of 1)" in said
    (record,) = (tmp_path / "runs").glob("*.run.json")
    settings = json.loads(record.read_text())["settings"]
    assert (settings["crop_size"], settings["model_size"], settings["epochs"]) == (32, "small", 3)


def test_the_menu_sends_a_job_that_trains(tmp_path: Path, desk: Desk) -> None:
    training = scene(tmp_path, "Understudy")
    for name, value in FEW_STEPS.items():
        training[name].setValue(value)  # the script is changed now, so that a copy goes
    desk.fields = {"Farm": "local", "Ranks": "1", "Further flags": "--threads 1"}
    actions.train()
    said = desk.wait_for_message()
    assert said == f"Understudy1 was submitted to local; the run is {tmp_path}/runs/v001"
    _understudy("wait", f"{tmp_path}/runs/v001")
    assert list((tmp_path / "runs" / "v001").glob("*.3.safetensors"))
