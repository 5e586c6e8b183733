"""A bake leaves the open script alone, and what it writes is read by understudy as the same pairs."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import nuke
import numpy as np
import pytest
from tests.plugin.nuke.fake.desk import Desk
from tests.plugin.nuke.scenes import scene

from understudy.report.run_record import read_record
from understudy.runs import find_run
from understudy.sources.script import ScriptSource
from understudy_nuke import actions, studio

NUKE = """#!{python}
import argparse, sys
sys.path[:0] = {path!r}
from tests.plugin.nuke.fake import api
parser = argparse.ArgumentParser()
parser.add_argument("-F")
parser.add_argument("-X")
parser.add_argument("script")
words = parser.parse_args()
api.scriptOpen(words.script)
first, last = map(int, words.F.split("-"))
for name in words.X.split(","):
    api.execute(api.toNode(name), first, last)
"""


@pytest.fixture(autouse=True)
def second_nuke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that takes Nuke's words and renders with the fake."""
    program = tmp_path / "second" / "Nuke16.0"
    program.parent.mkdir()
    program.write_text(NUKE.format(python=sys.executable, path=sys.path))
    program.chmod(0o755)
    monkeypatch.setattr(nuke, "EXE_PATH", str(program))
    return program


def test_a_bake_here_gives_a_script_with_the_same_pairs(tmp_path: Path, desk: Desk) -> None:
    training = scene(tmp_path, upstream="Keylight")
    training["epochs"].setValue(3)
    before, nodes = set(tmp_path.iterdir()), len(nuke.allNodes())
    actions.bake_here()
    baked = Path(desk.wait_for_message().removeprefix("Baked; train from "))
    assert baked.parent.parent == tmp_path / "runs" / "bake"
    assert len(nuke.allNodes()) == nodes
    assert nuke.root().modified()
    assert set(tmp_path.iterdir()) - before == {tmp_path / "runs"}

    source = ScriptSource(script=baked)
    assert source.knob_overrides() == {"epochs": 3, "data_directory": tmp_path / "runs"}
    for pair in source.pairs():
        for side, frame in (("plate", pair.input), ("paint", pair.target)):
            assert frame.media.path.parent == baked.parent
            plain = ScriptSource(script=_without_blur(tmp_path)).pairs()[pair.frame - 1001]
            expected = (plain.input if side == "plate" else plain.target).read()
            np.testing.assert_array_equal(frame.read().pixels, expected.pixels)


def _without_blur(folder: Path) -> Path:
    path = folder / "plain.nk"
    path.write_text((folder / "shot.nk").read_text().replace("Keylight {", "Dot {"))
    return path


@pytest.mark.slow
def test_a_bake_on_the_farm_is_trained_on_when_it_is_done(
    tmp_path: Path, desk: Desk, second_nuke: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The farm's Nuke is another one than this; the copy that it renders outlives the submission."""
    pytest.importorskip("torch")
    training = scene(tmp_path, "Understudy", upstream="Keylight")
    for name, value in {"cropSize": 32, "modelSize": "Small", "batchSizeType": "Manual", "batchSize": 2}.items():
        training[name].setValue(value)
    monkeypatch.setattr(nuke, "EXE_PATH", "/gone/Nuke")
    monkeypatch.setenv(studio.NUKE_VARIABLE, f"env {shlex.quote(str(second_nuke))}")
    desk.fields = {"Last frame": "1002", "Farm": "local", "Further flags": "--threads 1 --steps 2"}
    actions.bake_on_farm()
    said = desk.wait_for_message()
    assert said == f"Understudy1 was submitted to local; the run is {tmp_path}/runs/v001"
    job = json.loads((tmp_path / "runs" / "v001" / "job.json").read_text())
    bake, train = job["steps"]
    (copy,) = tmp_path.glob(".shot.*.nk")
    words = ["-F", "1001-1002", "-X", "UnderstudyInput,UnderstudyTarget", str(copy)]
    assert (bake["name"], bake["argv"], train["after"]) == ("bake", ["env", str(second_nuke), *words], ["bake"])
    understudy = [sys.executable, "-m", "understudy.cli.main", "wait", str(tmp_path / "runs")]
    done = subprocess.run(understudy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    record = read_record(find_run(tmp_path / "runs").record)
    assert (record.state, [pair.frame for pair in record.pairs]) == ("finished", [1001, 1002])


def test_the_farms_nuke_is_this_one_unless_the_studio_says_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(studio.NUKE_VARIABLE, raising=False)
    assert studio.nuke_on_farm() == [nuke.EXE_PATH]
    monkeypatch.setenv(studio.NUKE_VARIABLE, "rez env nuke-16 -- nuke")
    assert studio.nuke_on_farm() == ["rez", "env", "nuke-16", "--", "nuke"]


@pytest.mark.parametrize(
    ("nuke_on_farm", "data_directory", "said"),
    [("'open", "runs", '$UNDERSTUDY_FARM_NUKE "\'open" cannot be read'), ("nuke", "", "knob dataDirectory is empty")],
)
def test_a_bake_on_the_farm_that_cannot_be_is_said_in_one_line(
    tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch, nuke_on_farm: str, data_directory: str, said: str
) -> None:
    monkeypatch.setenv(studio.NUKE_VARIABLE, nuke_on_farm)
    scene(tmp_path)["dataDirectory"].setValue(data_directory)
    actions.bake_on_farm()
    assert [said in line for line in desk.messages] == [True], desk.messages


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("cancelled", ""),
        ("words", "CopyCat1: the frames to bake are no whole numbers"),
        ("no nuke", "/gone/Nuke: cannot be started (No such file or directory)"),
        ("no folder", "CopyCat1: knob dataDirectory is empty"),
        ("file in the way", "a file is in the way of this folder"),
    ],
)
def test_a_bake_that_cannot_be_is_said_in_one_line(
    tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch, change: str, said: str
) -> None:
    training = scene(tmp_path)
    if change == "cancelled":
        desk.fields = None
        actions.bake_here()
        assert desk.messages == []
        return
    if change == "words":
        desk.fields = {"First frame": "one"}
    elif change == "no nuke":
        monkeypatch.setattr(nuke, "EXE_PATH", "/gone/Nuke")
    elif change == "no folder":
        training["dataDirectory"].setValue("")
    elif change == "file in the way":
        (tmp_path / "file").touch()
        training["dataDirectory"].setValue((tmp_path / "file" / "runs").as_posix())
    actions.bake_here()
    line = desk.messages[-1] if desk.messages else desk.wait_for_message()
    assert said in line
    assert len(line.splitlines()) == 1
    assert not list(tmp_path.glob(".shot.understudy.*"))
