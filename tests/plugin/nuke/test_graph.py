"""What the plugin sees in a graph is what understudy's own reader sees in the saved script."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import nuke
import pytest
from tests.plugin.nuke.scenes import scene

from understudy.errors import Problems, UnderstudyError
from understudy.script.copycat import find_copycat, training_inputs
from understudy.script.evaluate import Evaluator
from understudy.script.graph import read_script
from understudy.script.nodes import BY_NAME
from understudy.script.nodes.base import NodeClass, Reading
from understudy.script.paths import PathRules
from understudy_nuke import graph
from understudy_nuke.problem import Problem


def test_the_list_of_classes_is_that_of_the_reader() -> None:
    """But for those that are nothing but a reading of their page."""
    by_reading = {name for name, known in BY_NAME.items() if _is_a_reading(known)}
    assert by_reading == {"EdgeBlur", "Histogram"}
    assert set(BY_NAME) - by_reading == graph.EVALUATED


def _is_a_reading(known: NodeClass) -> bool:
    """At any use: no use of it is told from the others."""
    return bool(known.assumed) and type(known).assumes is NodeClass.assumes


@pytest.mark.parametrize(
    ("class_name", "knobs", "is_baked"),
    [
        ("Retime", {}, False),
        ("Retime", {"speed": 2.0}, True),
        ("Retime", {"speed": 2.0, "filter": "nearest"}, False),
        ("Retime", {"shutter": 1.5}, True),
        ("Retime", {"output.first_lock": True}, False),
        ("Retime", {"output.first_lock": True, "output.last_lock": True}, True),
        ("TimeWarp", {}, True),
        ("TimeWarp", {"filter": "none"}, False),
        ("HueShift", {}, False),
        ("HueShift", {"hue_rotation": 12.0}, True),
        ("HueShift", {"color_saturation": 0.5}, True),
        ("EdgeBlur", {}, True),
    ],
)
def test_what_understudy_would_read_its_own_way_is_left_to_nuke(
    tmp_path: Path, class_name: str, knobs: dict[str, float | bool | str], is_baked: bool
) -> None:
    training = scene(tmp_path, upstream=class_name)
    node = training.input(0)
    assert node is not None
    for name, value in knobs.items():
        node[name].setValue(value)
    assert _seen(training) == ({f"{class_name}1"} if is_baked else set())


def test_a_hue_that_moves_is_left_to_nuke(tmp_path: Path) -> None:
    training = scene(tmp_path, upstream="HueShift")
    node = training.input(0)
    assert node is not None
    cast(nuke.Array_Knob, node["hue_rotation"]).setExpression("frame - 1")
    assert _seen(training) == {"HueShift1"}


def _refused_by_the_reader(folder: Path, name: str) -> set[str]:
    """Names of the nodes that the reader of the saved script refuses for their class."""
    path = folder / "as_saved.nk"
    path.unlink(missing_ok=True)
    nuke.scriptSaveToTemp(path.as_posix())
    script = read_script(path)
    evaluator = Evaluator(script, Reading(paths=PathRules(script=script)))
    try:
        evaluator.check(training_inputs(script, find_copycat(script, name)))
    except (Problems, UnderstudyError) as fault:
        lines = fault.lines if isinstance(fault, Problems) else [str(fault)]
        assert all("cannot evaluate this class" in line for line in lines), lines
        return {line.split(" ")[0] for line in lines}
    return set()


def _seen(training: nuke.Node) -> set[str]:
    return {node.fullName() for node in graph.only_in_nuke(training)}


def _below(class_name: str, *above: nuke.Node) -> nuke.Node:
    made: nuke.Node = getattr(nuke.nodes, class_name)()
    for number, node in enumerate(above):
        made.setInput(number, node)
    return made


def test_what_only_nuke_evaluates_is_named_as_the_reader_would(tmp_path: Path) -> None:
    training = scene(tmp_path)
    plate, paint = training.input(0), training.input(1)
    assert plate is not None
    assert paint is not None
    assert _seen(training) == set()

    denoised = _below("Keylight", plate)
    training.setInput(0, _below("Grade", denoised))
    assert _seen(training) == {"Keylight1"} == _refused_by_the_reader(tmp_path, "CopyCat1")

    denoised["disable"].setValue(True)
    assert _seen(training) == set() == _refused_by_the_reader(tmp_path, "CopyCat1")

    denoised["disable"].setValue(False)
    switch = _below("Switch", plate, denoised)
    training.setInput(0, switch)
    assert _seen(training) == set() == _refused_by_the_reader(tmp_path, "CopyCat1")
    switch["which"].setValue(1)
    assert _seen(training) == {"Keylight1"} == _refused_by_the_reader(tmp_path, "CopyCat1")
    switch["which"].setValue(0)
    cast(nuke.Array_Knob, switch["which"]).setExpression("frame > 3")
    assert _seen(training) == {"Keylight1"} == _refused_by_the_reader(tmp_path, "CopyCat1")

    training.setInput(0, denoised)
    denoised["disable"].setValue(True)
    cast(nuke.Array_Knob, denoised["disable"]).setExpression("frame < 3")
    assert _seen(training) == {"Keylight1"} == _refused_by_the_reader(tmp_path, "CopyCat1")

    group = nuke.nodes.Group()
    with group:
        arrow = nuke.nodes.Input()
        inner = _below("Keylight", arrow)
        output = _below("Output", inner)
    group.setInput(0, plate)
    training.setInput(0, plate)
    training.setInput(1, _below("Dot", group))
    assert _seen(training) == {"Group1.Keylight1"} == _refused_by_the_reader(tmp_path, "CopyCat1")
    output.setInput(0, arrow)
    assert _seen(training) == set() == _refused_by_the_reader(tmp_path, "CopyCat1")
    group.setInput(0, denoised)
    assert _seen(training) == {"Keylight1"} == _refused_by_the_reader(tmp_path, "CopyCat1")


def test_the_training_node_is_the_selected_one_or_the_only_one(tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"the script has no training node; make one by"):
        graph.chosen_training_node()
    first = scene(tmp_path)
    assert graph.chosen_training_node().fullName() == "CopyCat1"
    with nuke.nodes.Group():
        second = nuke.nodes.CopyCat()
    with pytest.raises(Problem, match=r"there are 2 training nodes \(CopyCat1, Group1.CopyCat1\); select"):
        graph.chosen_training_node()
    first.setSelected(True)
    assert graph.chosen_training_node().fullName() == "CopyCat1"
    assert second.fullName() == "Group1.CopyCat1"


@pytest.mark.parametrize(
    ("open_ones", "said"), [([0], "its Input;"), ([1], "its Ground Truth;"), ([0, 1], "its Input and Ground Truth;")]
)
def test_inputs_that_are_not_connected_are_named(tmp_path: Path, open_ones: list[int], said: str) -> None:
    training = scene(tmp_path)
    for number in open_ones:
        training.setInput(number, None)
    with pytest.raises(Problem, match=said):
        graph.sides(training)


def test_common_frames(tmp_path: Path) -> None:
    training = scene(tmp_path)
    assert graph.common_frames(training) == (1001, 1003)
    paint = training.input(1)
    assert paint is not None
    paint["first"].setValue(1003)
    paint["last"].setValue(1009)
    assert graph.common_frames(training) == (1003, 1003)
    paint["first"].setValue(1005)
    with pytest.raises(Problem, match=r"CopyCat1: Input and Ground Truth have no frame in common"):
        graph.common_frames(training)
