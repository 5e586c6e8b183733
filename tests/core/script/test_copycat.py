"""The CopyCat node: which one, and what its knobs say."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.core.script.fixtures import script_of

from understudy.errors import Problems, UnderstudyError
from understudy.script.copycat import find_copycat, knob_overrides, training_inputs
from understudy.script.paths import PathRules

TWO = "CopyCat { inputs 0 name CopyCat1 }\nGrade { name Grade1 }\n"
TWO += "Group { name G }\n CopyCat { name CopyCat2 }\nend_group\n"


def test_the_only_node_or_the_named_one() -> None:
    assert find_copycat(script_of("Dot {}\nCopyCat { name CC }")).name == "CC"
    assert find_copycat(script_of(TWO), "CopyCat1").path == "CopyCat1"
    assert find_copycat(script_of(TWO), "G.CopyCat2").path == "G.CopyCat2"
    assert find_copycat(script_of(TWO), "CopyCat2").path == "G.CopyCat2"
    ours = "Group {\n name Understudy1\n addUserKnob {20 understudy l Understudy}\n}\nend_group\n"
    assert find_copycat(script_of(ours)).name == "Understudy1"


def test_knobs_of_our_node_that_nuke_does_not_write_are_off_zero_or_the_first_choice() -> None:
    declared = """
 addUserKnob {20 understudy l Understudy}
 addUserKnob {6 useMultiResolutionTraining l "Use Multi-Resolution Training" t "M {a b}" +STARTLINE}
 addUserKnob {4 modelSize l M t {how much} M {Small Medium "Very Large"}}
 addUserKnob {7 smoothness l Smoothness R 0 1}
 addUserKnob {3 seed l Seed}
 addUserKnob {3 epochs l Epochs}
 epochs 7"""
    script = script_of(f"Group {{\n inputs 0\n name Understudy1{declared}\n}}\nend_group\n", Path("/shots"))
    assert knob_overrides(find_copycat(script), PathRules(script=script, remap=())) == {
        "multi_resolution": False,
        "model_size": "small",
        "graph_smoothness": 0.0,
        "seed": 0,
        "epochs": 7,
    }


@pytest.mark.parametrize(
    ("text", "name", "what"),
    [
        (TWO, "", r"has 2 CopyCat nodes; choose one with -X: CopyCat1, G\.CopyCat2"),
        (TWO, "CopyCat9", r"has no node CopyCat9; its CopyCat nodes are CopyCat1, G\.CopyCat2"),
        (TWO, "Grade1", r"Grade1 is a Grade, no CopyCat node; its CopyCat nodes are CopyCat1"),
        ("Dot {}", "", r"shot\.nk: has no CopyCat node"),
        ("Dot {}", "CopyCat1", r"shot\.nk: has no CopyCat node"),
        ("CopyCat { name A }\nCopyCat { name A }", "A", "has 2 CopyCat nodes called A"),
    ],
)
def test_other_names_list_what_there_is(text: str, name: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=what):
        find_copycat(script_of(text), name)


def _overrides(knobs: str) -> dict[str, object]:
    script = script_of(f"CopyCat {{\n inputs 0\n name CopyCat1\n {knobs}\n}}\n", Path("/shots"))
    return knob_overrides(script.nodes[0], PathRules(script=script, remap=(("P:", "/mnt/p"),)))


@pytest.mark.parametrize(
    ("knobs", "expected"),
    [
        ("", {}),
        ("epochs 30000\n cropSize 512\n seed 7", {"epochs": 30000, "crop_size": 512, "seed": 7}),
        ("modelSize Large", {"model_size": "large"}),
        ("modelSize 0", {"model_size": "small"}),
        ("batchSizeType Manual\n batchSize 3", {"batch_size": 3}),
        ("batchSizeType 1\n batchSize 3", {"batch_size": 3}),
        ("batchSizeType Auto\n batchSize 3", {"batch_size": 0}),
        ("batchSize 3", {"batch_size": 0}),
        (r'dataDirectory "\[file dirname \[value root.name]]/run"', {"data_directory": Path("/shots/run")}),
        ("dataDirectory P:/run", {"data_directory": Path("/mnt/p/run")}),
        ('dataDirectory ""', {}),
        ("initialWeights Checkpoint\n checkpointFile a.cat", {"initial_weights": Path("/shots/a.cat")}),
        ("checkpointFile a.cat", {}),
        ("initialWeights None", {}),
        ("useGPUIfAvailable false", {"device": "cpu"}),
        ("useGPUIfAvailable true", {}),
        ("useMultiResolutionTraining false", {"multi_resolution": False}),
        ("checkpointInterval 10\n imageInterval 5", {"checkpoint_interval": 10, "contact_sheet_interval": 5}),
        ("learningRate 0.0005\n maxCheckpoints 4", {"learning_rate": 0.0005, "max_checkpoints": 4}),
        (
            "logScale true\n smoothness 0.2\n showOriginal 0",
            {"graph_log_scale": True, "graph_smoothness": 0.2, "graph_show_original": False},
        ),
        ("runName take_2\n trainingInfo {Channels: rgb}\n serialiseKnob {a b}", {"run_name": "take_2"}),
    ],
)
def test_knobs_become_settings(knobs: str, expected: dict[str, object]) -> None:
    assert _overrides(knobs) == expected


def test_values_that_are_not_supported_are_all_named() -> None:
    with pytest.raises(Problems) as fault:
        _overrides(
            "epochs many\n modelSize Huge\n initialWeights Deblur\n batchSizeType Magic\n cropSize {{frame}}\n"
            r'dataDirectory "\[exec id]"' + "\n useGPUIfAvailable perhaps"
        )
    named = [line.split("knob ")[1].split(" ")[0] for line in fault.value.lines]
    assert sorted(named) == [
        "batchSizeType",
        "cropSize",
        "dataDirectory",
        "epochs",
        "initialWeights",
        "modelSize",
        "useGPUIfAvailable",
    ]
    assert all(line.startswith("CopyCat1 (CopyCat), line 1: ") for line in fault.value.lines)
    with pytest.raises(UnderstudyError, match="initialWeights is Checkpoint, but checkpointFile is empty"):
        _overrides("initialWeights Checkpoint")


def test_inputs_that_are_not_connected_are_named() -> None:
    script = script_of("Read { name R }\npush 0\nCopyCat { inputs 2 name C }")
    with pytest.raises(Problems, match=r"C \(CopyCat\), line 3: nothing is connected to its input Input; connect"):
        training_inputs(script, script.nodes[-1])
    alone = script_of("CopyCat { inputs 0 name C }")
    with pytest.raises(Problems) as fault:
        training_inputs(alone, alone.nodes[0])
    assert len(fault.value.lines) == 2
