"""A bake's two scripts, as real Tcl reads them: the old graph and two Writes; the training node over two Reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.core.cli.command import Command
from tests.core.script.fixtures import COMP

from understudy.errors import UnderstudyError
from understudy.script.bake import Bake, lay_out
from understudy.script.copycat import find_copycat, knob_overrides, training_inputs
from understudy.script.graph import Node, Script, read_script
from understudy.script.nodes.base import Span
from understudy.script.paths import PathRules
from understudy.sources.script import ScriptSource

pytest.importorskip("tkinter", reason="this Python has no tkinter, and so no Tcl", exc_type=ImportError)
from tests.core.script.tcl_graph import graph_from_tcl, graph_of

FRAMES = Span(1001, 1003)
SHOT = r"""version 16.0 v1
Read {
 inputs 0
 file paint.####.exr
 name Paint
}
Read {
 inputs 0
 file plate.####.exr
 name Plate
}
Group {
 name Look
}
 Input {
  inputs 0
  name Input1
 }
 Blur {
  label "a \} \{ in words\n\}"
  name Blur1
 }
 Output {
  name Output1
 }
end_group
"""
TRAINING = r"""CopyCat {
 inputs 2
 dataDirectory "\[file dirname \[value root.name]]/my \{runs\}"
 initialWeights Checkpoint
 checkpointFile models/first.safetensors
 epochs 7
 name CopyCat1
}
Dot {
 name Below
}
"""
GROUPED = r"""Group {
 inputs 2
 name Outer
}
 Input {
  inputs 0
  name Input1
 }
set N1 [stack 0]
 Input {
  inputs 0
  number 1
  name Input2
 }
push $N1
 Group {
  inputs 2
  name Understudy1
  addUserKnob {20 understudy}
  addUserKnob {3 epochs}
  epochs 7
 }
  Input {
   inputs 0
   name Input
  }
  Output {
   name Output1
  }
 end_group
 Output {
  name Output1
 }
end_group
Dot {
 name Below
}
"""


def laid_out(folder: Path, text: str, node: str = "") -> tuple[Bake, Script, Script]:
    """The bake, the script to render and the one to train from; both are to Tcl what they are to us."""
    (folder / "shot.nk").write_text(text)
    bake = lay_out(folder / "shot.nk", node, FRAMES, folder / "b 1")
    scripts = [read_script(path, original=folder / "shot.nk") for path in (bake.script, bake.baked)]
    for path, script in zip((bake.script, bake.baked), scripts, strict=True):
        assert graph_of(script).nodes == graph_from_tcl(path.read_text()).nodes
    return bake, scripts[0], scripts[1]


def by_path(script: Script, path: str) -> Node:
    return next(node for node in script.nodes if node.path == path)


def plain(script: Script) -> list[tuple[object, ...]]:
    """The graph without places in the file."""
    names = [node.path for node in script.nodes]
    return [
        (node.class_name, node.path, node.knobs, [None if n is None else names[n] for n in node.inputs])
        for node in script.nodes
        if node.class_name != "Write"
    ]


@pytest.mark.parametrize(
    ("training", "node", "around"), [(TRAINING, "CopyCat1", ""), (GROUPED, "Outer.Understudy1", "Outer.")]
)
def test_the_writes_are_fed_as_the_training_node_is(tmp_path: Path, training: str, node: str, around: str) -> None:
    bake, rendered, _ = laid_out(tmp_path, SHOT + training)
    assert plain(rendered) == plain(read_script(tmp_path / "shot.nk"))
    assert bake.writes == (f"{around}UnderstudyInput", f"{around}UnderstudyTarget")
    sides = training_inputs(rendered, find_copycat(rendered, node))
    for side, name, file in zip(sides, bake.writes, ("input", "target"), strict=True):
        write = by_path(rendered, name)
        assert rendered.input_of(write, 0) == side
        wanted = {"channels": "all", "file_type": "exr", "datatype": "32 bit float", "raw": "true", "autocrop": "false"}
        assert {knob: write.knobs[knob] for knob in wanted} == wanted
        assert write.knobs["file"] == f"{tmp_path}/b 1/{file}.####.exr"
    assert bake.words() == ["-F", "1001-1003", "-X", ",".join(bake.writes), str(bake.script)]
    assert bake.script.parent == tmp_path


def test_the_baked_script_trains_as_the_node_says_wherever_it_lies(tmp_path: Path) -> None:
    bake, _, baked = laid_out(tmp_path, SHOT + TRAINING)
    assert [node.class_name for node in baked.nodes] == ["Read", "Read", "CopyCat"]
    assert ScriptSource(script=bake.baked).knob_overrides() == {
        "data_directory": tmp_path / "my {runs}",
        "initial_weights": tmp_path / "models" / "first.safetensors",
        "epochs": 7,
    }
    pairs = ScriptSource(script=bake.baked).pairs(are_to_come=True)
    assert [pair.frame for pair in pairs] == [1001, 1002, 1003]
    assert pairs[0].input.media.path == tmp_path / "b 1" / "input.1001.exr"
    assert pairs[0].target.media.path == tmp_path / "b 1" / "target.1001.exr"


def test_a_node_of_ours_comes_along_with_what_is_in_it(tmp_path: Path) -> None:
    bake, _, baked = laid_out(tmp_path, SHOT + GROUPED)
    assert [node.path for node in baked.nodes][2:] == ["Understudy1", "Understudy1.Input", "Understudy1.Output1"]
    training = find_copycat(baked)
    assert knob_overrides(training, PathRules(script=baked)) == {"epochs": 7}
    assert len(ScriptSource(script=bake.baked).pairs(are_to_come=True)) == 3


def test_a_preview_is_left_out(tmp_path: Path) -> None:
    text = SHOT.replace("Read {", "Dot { inputs 0 name Other }\nRead {", 1) + TRAINING.replace("inputs 2", "inputs 3")
    _, _, baked = laid_out(tmp_path, text)
    shown, wanted = training_inputs(baked, baked.nodes[-1])
    assert (shown.name, wanted.name) == ("UnderstudyInputBaked", "UnderstudyTargetBaked")
    assert baked.nodes[-1].inputs[2] is None


def test_a_name_that_is_taken_is_not_taken_again(tmp_path: Path) -> None:
    text = SHOT + TRAINING + "Write {\n name UnderstudyInput\n}\nWrite {\n name UnderstudyInput1\n}\n"
    assert laid_out(tmp_path, text)[0].writes == ("UnderstudyInput2", "UnderstudyTarget")


def test_everything_that_nuke_writes_stays_as_it_was(tmp_path: Path) -> None:
    """A comp with curves, groups, clones and odd words; one byte in it is no UTF-8."""
    script = tmp_path / "shot.nk"
    before = COMP.encode().replace(b"PLATES", b"PL\xc4TES") + b"push 0\npush 0\n" + (SHOT + TRAINING).encode()
    script.write_bytes(before)
    bake = lay_out(script, "CopyCat1", FRAMES, tmp_path / "b1")
    kept, told = before.decode("latin-1").splitlines(), bake.script.read_bytes().decode("latin-1").splitlines()
    assert [line for line in told if line in kept][: len(kept)] == kept
    assert plain(read_script(bake.script)) == plain(read_script(script))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (SHOT, "has no CopyCat node; add one"),
        (SHOT + TRAINING.replace("inputs 2", "inputs 1"), "nothing is connected to its input Ground Truth"),
        (SHOT + TRAINING.replace("file dirname", "exec"), "knob dataDirectory holds the expression"),
        (
            SHOT + TRAINING.replace("CopyCat {", "clone node7f|CopyCat|3 CopyCat {"),
            "CopyCat1 (CopyCat), line 27: is a clone; declone it, then bake",
        ),
    ],
)
def test_what_cannot_be_baked_is_said_and_leaves_nothing(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "shot.nk").write_text(text)
    with pytest.raises(UnderstudyError) as refused:
        lay_out(tmp_path / "shot.nk", "", FRAMES, tmp_path / "b1")
    assert says in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ["shot.nk"]


def test_the_command_tells_what_to_render(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = Command(capsys)
    script, folder = tmp_path / "shot.nk", tmp_path / "b1"
    script.write_text(SHOT + TRAINING)
    words: list[str | Path] = ["bake", "-X", "CopyCat1", "-F", "1001-1003", "--folder", folder, script]
    wanted = ["-F", "1001-1003", "-X", "UnderstudyInput,UnderstudyTarget", f"{tmp_path}/.shot.b1.nk"]
    assert json.loads(command(*words, "--json").out) == {"baked": f"{folder}/baked.nk", "nuke": wanted}
    assert command(*words).out.splitlines()[1] == f"nuke {' '.join(wanted)}"
    words[4] = "1001,1003"
    assert "-F 1001,1003: a bake is of all frames" in command.refused(*words)
    words[-1] = tmp_path / "gone.nk"
    assert "gone.nk: cannot be read (No such file or directory)" in command.refused(*words[:4], "7", *words[5:])
