"""The demo's script, read by a real Tcl interpreter and by our own reader."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from understudy.demo.files import DemoFiles
from understudy.demo.script import DemoTraining, script_text
from understudy.demo.shot import DemoShot
from understudy.script.graph import Script, parse_script, read_script
from understudy.script.paths import PathRules

SHOT = DemoShot()
TRAINING = DemoTraining(epochs=321, batch_size=3, crop_size=96, model_size="large")


@dataclass
class TclScript:
    """What Tcl itself makes of a script, with each node class as a command of its own."""

    root: dict[str, str] = field(default_factory=dict)
    knobs: dict[str, dict[str, str]] = field(default_factory=dict)
    inputs: dict[str, list[str]] = field(default_factory=dict)


def read_with_tcl(text: str) -> TclScript:
    tkinter = pytest.importorskip("tkinter", reason="this Python comes without tkinter, the only Tcl at hand")
    tcl = tkinter.Tcl()
    read = TclScript()
    stack: list[str] = []

    def node(class_name: str, body: str) -> None:
        words = tcl.splitlist(body)
        knobs = dict(zip(words[::2], words[1::2], strict=True))
        if class_name == "Root":
            read.root = knobs
            return
        read.knobs[knobs["name"]] = knobs
        read.inputs[knobs["name"]] = [stack.pop() for _ in range(int(knobs.get("inputs", "1")))]
        stack.append(knobs["name"])

    tcl.createcommand("unknown", node)
    tcl.createcommand("version", lambda *_: None)
    tcl.createcommand("stack", lambda depth: stack[-1 - int(depth)])
    tcl.createcommand("push", stack.append)
    tcl.eval(text)
    return read


def script_of(folder: Path, shot: DemoShot = SHOT) -> str:
    return script_text(shot, DemoFiles(folder=folder), TRAINING)


def upstream(script: Script, name: str, number: int) -> str:
    node = next(node for node in script.nodes if node.name == name)
    above = script.input_of(node, number)
    assert above is not None
    return above.name


def test_tcl_reads_the_graph() -> None:
    read = read_with_tcl(script_of(Path("demo")))
    assert read.inputs["CopyCat1"] == ["AppendClip1", "AppendClip2"]
    for clip, source in (("AppendClip1", "Read1"), ("AppendClip2", "Read2")):
        holds = read.inputs[clip]
        assert [read.knobs[hold]["firstFrame"] for hold in holds] == [str(frame) for frame in SHOT.painted_frames]
        assert all(read.inputs[hold] == [source] for hold in holds)
    assert read.knobs["Read1"]["file"] == "[file dirname [value root.name]]/plate/plate.####.exr"
    assert read.knobs["Read2"]["file"] == "[file dirname [value root.name]]/paint/paint.####.exr"
    assert (read.root["first_frame"], read.root["last_frame"]) == ("1001", "1048")
    assert read.root["format"].startswith("480 270 0 0 480 270 1")


def test_tcl_reads_the_knobs_of_copycat() -> None:
    knobs = read_with_tcl(script_of(Path("demo"))).knobs["CopyCat1"]
    assert knobs["dataDirectory"] == "[file dirname [value root.name]]/runs"
    asked = {name: knobs[name] for name in ("epochs", "batchSize", "cropSize", "modelSize", "batchSizeType")}
    assert asked == {
        "epochs": "321", "batchSize": "3", "cropSize": "96", "modelSize": "Large", "batchSizeType": "Manual",
    }  # fmt: skip


@pytest.mark.parametrize(
    "name", ["plain", "two words", 'quote " here', "[brackets]", "{brace", "$dollar", "back\\slash"]
)
def test_any_folder_name_comes_through(name: str) -> None:
    text = script_of(Path("/shots") / name)
    script = Path("/shots") / name / "shot.nk"
    assert read_with_tcl(text).root["name"] == script.absolute().as_posix()
    assert parse_script(text, script).root["name"] == script.absolute().as_posix()


def test_our_reader_sees_the_same_graph() -> None:
    text = script_of(Path("demo"))
    ours, tcl = parse_script(text, Path("demo/shot.nk")), read_with_tcl(text)
    for name, above in tcl.inputs.items():
        assert [upstream(ours, name, number) for number in range(len(above))] == above
    assert {node.name: dict(node.knobs) for node in ours.nodes} == tcl.knobs


def test_paths_follow_the_folder(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    (before / "shot.nk").write_text(script_of(before))
    before.rename(after)
    script = read_script(after / "shot.nk")
    (read_plate,) = (node for node in script.nodes if node.name == "Read1")
    (copycat,) = (node for node in script.nodes if node.class_name == "CopyCat")
    rules = PathRules(script=script)
    assert rules.path_of(read_plate, "file") == f"{after.as_posix()}/plate/plate.####.exr"
    assert rules.path_of(copycat, "dataDirectory") == (DemoFiles(folder=after).data_directory).as_posix()


def test_one_painted_frame_needs_no_second_clip() -> None:
    single = DemoShot(painted_frames=(1010,))
    read = read_with_tcl(script_of(Path("demo"), single))
    assert read.inputs["AppendClip1"] == ["FrameHold1"]
    assert read.inputs["AppendClip2"] == ["FrameHold2"]


def test_no_two_nodes_lie_on_each_other() -> None:
    knobs = read_with_tcl(script_of(Path("demo"))).knobs
    assert len({(node["xpos"], node["ypos"]) for node in knobs.values()}) == len(knobs)
