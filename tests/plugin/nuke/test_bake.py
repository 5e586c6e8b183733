"""A bake leaves the open script alone, and what it writes is read by understudy as the same pairs."""

from __future__ import annotations

import sys
from pathlib import Path

import nuke
import numpy as np
import pytest
from tests.plugin.nuke.fake.desk import Desk
from tests.plugin.nuke.scenes import scene

from understudy.script.graph import read_script
from understudy.sources.script import ScriptSource
from understudy_nuke import actions, bake_terminal

pytest.importorskip("tkinter", reason="this Python has no tkinter, and so no Tcl", exc_type=ImportError)
from tests.core.script.tcl_graph import graph_from_tcl, graph_of

NUKE = """#!{python}
import sys
sys.path[:0] = {path!r}
from tests.plugin.nuke.fake import api
sys.modules["nuke"] = api
assert sys.argv[1] == "-t", sys.argv
sys.argv = sys.argv[2:]
import runpy
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture(autouse=True)
def second_nuke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that takes Nuke's words and runs a Python file with the fake."""
    program = tmp_path / "second" / "Nuke16.0"
    program.parent.mkdir()
    program.write_text(NUKE.format(python=sys.executable, path=sys.path))
    program.chmod(0o755)
    monkeypatch.setattr(nuke, "EXE_PATH", str(program))


def test_a_bake_here_gives_a_script_with_the_same_pairs(tmp_path: Path, desk: Desk) -> None:
    training = scene(tmp_path, upstream="Blur")
    training["epochs"].setValue(3)
    before, nodes = set(tmp_path.iterdir()), len(nuke.allNodes())
    actions.bake_here()
    baked = Path(desk.wait_for_message().removeprefix("Baked; train from "))
    assert baked.parent.parent == tmp_path / "runs" / "bake"
    assert len(nuke.allNodes()) == nodes
    assert nuke.root().modified()
    assert set(tmp_path.iterdir()) - before == {tmp_path / "runs"}

    text = baked.read_text()
    assert graph_of(read_script(baked)).nodes == graph_from_tcl(text).nodes
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
    path.write_text((folder / "shot.nk").read_text().replace("Blur {", "Dot {"))
    return path


def test_a_bake_for_the_farm_is_a_copy_with_two_writes(tmp_path: Path, desk: Desk) -> None:
    scene(tmp_path, "Understudy", upstream="Blur")
    desk.fields = {"Last frame": "1002"}
    actions.bake_on_farm()
    said = desk.wait_for_message()
    assert len(said.splitlines()) == 1
    (copy,) = tmp_path.glob(".shot.understudy.bake.*.nk")
    assert f"nuke -F 1001-1002 -X UnderstudyInput,UnderstudyTarget {copy}" in said
    writes = {node.name: node for node in read_script(copy).nodes if node.class_name == "Write"}
    assert set(writes) == set(bake_terminal.WRITES)
    for node in writes.values():
        wanted = {"channels": "all", "file_type": "exr", "datatype": "32 bit float", "raw": "true"}
        assert {name: node.knobs[name] for name in wanted} == wanted
    (baked,) = tmp_path.glob("runs/bake/*/baked.nk")
    assert not list(baked.parent.glob("*.exr"))
    reads = {node.name: node.knobs for node in read_script(baked).nodes}
    assert reads["UnderstudyInputBaked"]["file"] == writes["UnderstudyInput"].knobs["file"]
    assert (reads["UnderstudyInputBaked"]["first"], reads["UnderstudyInputBaked"]["last"]) == ("1001", "1002")


def test_inside_a_group_the_writes_are_beside_the_node(tmp_path: Path) -> None:
    scene(tmp_path)
    group = nuke.nodes.Group()
    group.setInput(0, nuke.toNode("Plate"))
    with group:
        arrow, training = nuke.nodes.Input(), nuke.nodes.CopyCat()
    for number in (0, 1):
        training.setInput(number, arrow)
    training["dataDirectory"].setValue((tmp_path / "runs").as_posix())
    nuke.scriptSave()
    folder = (tmp_path / "baked").as_posix()
    bake_terminal.bake((tmp_path / "shot.nk").as_posix(), "Group1.CopyCat1", folder, 1001, 1001, renders=True)
    assert len(ScriptSource(script=tmp_path / "baked" / "baked.nk", node="Group1.CopyCat1").pairs()) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("cancelled", ""),
        ("words", "CopyCat1: the frames to bake are no whole numbers"),
        ("no nuke", "/gone/Nuke: cannot be started (No such file or directory)"),
        ("no folder", "CopyCat1: knob dataDirectory is empty"),
        ("file in the way", "Not a directory"),
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


def test_a_node_that_is_not_in_the_copy_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene(tmp_path)
    script = (tmp_path / "shot.nk").as_posix()
    assert bake_terminal.main([script, "Gone", "x", "1", "2"]) == 2
    assert capsys.readouterr().err == f"understudy: {script}: has no node Gone; save the script and bake again\n"
