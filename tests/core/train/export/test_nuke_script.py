"""What Nuke is given: read by real Tcl and by our own reader, with the right channels and no place of this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.core.script.fixtures import script_of
from tests.core.script.tcl_graph import graph_from_tcl, graph_of
from tests.core.train.export.models import RGB, lively_model, save_lively_model

from understudy.errors import UnderstudyError
from understudy.script.graph import Node, Script
from understudy.train.export.nuke_channels import KNOWN, layers_to_declare, passages
from understudy.train.export.nuke_script import (
    NukeModel,
    cattery_record,
    class_name,
    gizmo_text,
    nuke_model,
    script_text,
)
from understudy.train.model_file import load_model

SIDES = {
    "colour": (RGB, RGB),
    "with alpha": ((*RGB, "A"), (*RGB, "A")),
    "a matte": (RGB, ("A",)),
    "a mask of its own": (RGB, ("whitebarmask.mask",)),
    "a layer": (("diffuse.R", "diffuse.G", "diffuse.B"), ("diffuse.R", "diffuse.G", "diffuse.B")),
    "many": ((*RGB, "A", "Z", "N.X", "N.Y", "N.Z", "forward.u"), ("N.X", "N.Y", "N.Z", "Z", "mask.a")),
    "another order": (("A", "B", "G", "R"), ("B", "G", "R")),
}


def _model(inputs: tuple[str, ...], targets: tuple[str, ...], about: str = "comp, step 40") -> NukeModel:
    return NukeModel(
        name="comp", about=about, space="lin_rec709_scene", inputs=passages(inputs), targets=passages(targets)
    )


@pytest.mark.parametrize("text_of", [script_text, gizmo_text])
@pytest.mark.parametrize("sides", SIDES)
def test_tcl_and_our_reader_build_one_graph(text_of: type, sides: str) -> None:
    text = text_of(_model(*SIDES[sides], about='it\'s {odd} [expr 1] $x "q" \\'))
    ours, theirs = graph_of(script_of(text)), graph_from_tcl(text)
    assert ours.nodes == theirs.nodes
    assert ours.root == theirs.root


@pytest.mark.parametrize("sides", SIDES)
def test_channels_come_to_the_model_in_its_order_and_back_by_their_names(sides: str) -> None:
    """Follows every channel through the script's nodes, as Nuke would."""
    inputs, targets = SIDES[sides]
    model = _model(inputs, targets)
    script = script_of(script_text(model))
    creator = next(node for node in script.nodes if node.class_name == "CatFileCreator")
    given, taken = creator.knobs["channelsIn"].split(","), creator.knobs["channelsOut"].split(",")
    assert set(given) | set(taken) <= set(KNOWN)
    assert given == [slot for slot in KNOWN if slot in given]
    content = _followed(script, script.nodes[-1], given, taken)
    assert [content[one.name] for one in model.targets] == [f"answer {number}" for number in range(len(targets))]
    untouched = {name: value for name, value in content.items() if name not in {one.name for one in model.targets}}
    assert untouched == {name: f"plate {name}" for name in untouched}
    assert [_seen(script, given)[number] for number in range(len(inputs))] == [
        f"plate {one.name}" for one in model.inputs
    ]


def test_files_hang_on_the_scripts_folder_and_the_plugin_path(tmp_path: Path) -> None:
    script = script_of(script_text(_model(RGB, ("A",))))
    by_class = {node.class_name: node.knobs for node in script.nodes}
    folder = "[file dirname [value root.name]]"
    assert by_class["CatFileCreator"]["torchScriptFile"] == f"{folder}/comp.pt"
    assert by_class["CatFileCreator"]["catFile"] == f"{folder}/comp/comp.cat"
    assert by_class["Inference"]["modelFile"] == f"{folder}/comp/comp.cat"
    assert by_class["CatFileCreator"]["channelsIn"] == "rgba.red,rgba.green,rgba.blue"
    assert by_class["CatFileCreator"]["channelsOut"] == "rgba.alpha"
    inside = script_of(gizmo_text(_model(RGB, ("A",))))
    inference = next(node for node in inside.nodes if node.class_name == "Inference")
    assert inference.knobs["modelFile"] == "[lindex [plugins -all comp.cat] 0]"
    assert (inference.knobs["useGPUIfAvailable"], inference.knobs["halfPrecision"]) == (
        "{parent.useGPU}",
        "{parent.half}",
    )
    assert [node.class_name for node in inside.nodes] == ["Gizmo", "Input", "Inference", "Output"]
    path = save_lively_model(tmp_path / "comp.40.safetensors", lively_model())
    written = nuke_model(load_model(path), "comp")
    assert str(tmp_path) not in script_text(written) + gizmo_text(written) + cattery_record(written)


def test_the_cattery_finds_the_gizmo_by_its_record() -> None:
    record = json.loads(cattery_record(_model(RGB, RGB)))
    assert record["minimum_nuke_version_required"] == 13.2
    assert [cat["filepath"] for cat in record["cats"]] == ["comp.gizmo"]
    assert set(record) == {"minimum_nuke_version_required", "version", "category", "description", "cats"}


def test_layers_that_a_script_lacks_are_declared() -> None:
    text = script_text(_model(*SIDES["many"]))
    assert "\nadd_layer {N N.X N.Y N.Z}\n" in text
    assert "add_layer" not in script_text(_model(RGB, ("A",)))
    assert layers_to_declare(passages(("light 1.R", "a.b.G"))) == {
        "light_1": ("light_1.red",),
        "a_b": ("a_b.green",),
    }


def test_more_channels_than_inference_has_are_refused() -> None:
    with pytest.raises(UnderstudyError, match=r"--to nuke: the model has 20 channels, Nuke's Inference takes 19"):
        passages(tuple(f"aov.x{number}" for number in range(20)))


@pytest.mark.parametrize(
    ("text", "name"), [("Training_261121_032315", None), ("sh010-v2", "sh010_v2"), ("0010", "U_0010"), ("_a", "U__a")]
)
def test_a_gizmo_has_a_name_that_nuke_can_call(text: str, name: str | None) -> None:
    assert class_name(text) == (name or text)


def _followed(script: Script, node: Node, given: list[str], taken: list[str]) -> dict[str, str]:
    """What each channel holds below the node: `plate NAME` or `answer NUMBER`."""
    if node.class_name == "Dot":
        return _Plate()
    above = [script.input_of(node, number) for number in range(len(node.inputs))]
    assert all(above), node
    streams = [_followed(script, one, given, taken) for one in above if one is not None]
    content = _Plate(streams[0])
    if node.class_name == "Inference":
        content.update((slot, f"answer {number}") for number, slot in enumerate(taken))
    elif node.class_name == "Copy":
        for number in range(4):
            if f"from{number}" in node.knobs:
                content[node.knobs[f"to{number}"]] = streams[1][node.knobs[f"from{number}"]]
    return content


def _seen(script: Script, given: list[str]) -> list[str]:
    inference = next(node for node in script.nodes if node.class_name == "Inference")
    above = script.input_of(inference, 0)
    assert above is not None
    stream = _followed(script, above, given, [])
    return [stream[slot] for slot in given]


class _Plate(dict[str, str]):
    """A picture whose channels hold what the plate has there unless something else was put in."""

    def __missing__(self, name: str) -> str:
        return f"plate {name}"
