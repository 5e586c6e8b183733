"""The training node of a script: which one it is, what is connected to it, and what its knobs ask for."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import get_args

from understudy.errors import ProblemList
from understudy.script.choosing import the_node
from understudy.script.graph import Node, Script
from understudy.script.knobs import Knob, bool_knob, enum_knob, float_knob, int_knob, text_knob
from understudy.script.nodes.base import node_error
from understudy.script.paths import PathRules
from understudy.script.user_knobs import with_unwritten
from understudy.script.values.links import Links
from understudy.script.values.moment import Moment
from understudy.settings import ModelSize, Settings

INPUT, GROUND_TRUTH = 0, 1
INPUT_NAMES = ("Input", "Ground Truth")
"""CopyCat's names of its first two inputs; a third, Preview, plays no part in training."""

USE_GPU = bool_knob("useGPUIfAvailable", True)
INITIAL_WEIGHTS = enum_knob("initialWeights", ("None", "Checkpoint"), "None")
BATCH_SIZE_TYPE = enum_knob("batchSizeType", ("Auto", "Manual"), "Auto")

TRAINING_CLASSES = ("CopyCat", "Understudy")
_OUR_TAB = "20 understudy"
"""The user knob by which a Group is known to be our node."""


def find_copycat(script: Script, name: str = "") -> Node:
    """The training node called `name` (its name or full path), or the only one.

    Raises UnderstudyError listing the training nodes that there are.
    """
    without = "add one, or give --input and --target instead"
    return with_unwritten(the_node(script, training_nodes(script), name, kind="CopyCat", flag="-X", without=without))


def training_nodes(script: Script) -> list[Node]:
    return [node for node in script.nodes if is_training_node(node)]


def is_training_node(node: Node) -> bool:
    return node.class_name in TRAINING_CLASSES or any(knob.startswith(_OUR_TAB) for knob in node.user_knobs)


def training_inputs(script: Script, copycat: Node) -> tuple[Node, Node]:
    """What is connected to Input and Ground Truth. Raises Problems naming the inputs to which nothing is."""
    problems = ProblemList()
    connected = [script.input_of(copycat, number) for number in (INPUT, GROUND_TRUTH)]
    for name, node in zip(INPUT_NAMES, connected, strict=True):
        if node is None:
            problems.add(str(node_error(copycat, f"nothing is connected to its input {name}; connect the frames")))
    problems.raise_if_any()
    shown, wanted = connected
    assert shown is not None
    assert wanted is not None
    return shown, wanted


def knob_overrides(copycat: Node, paths: PathRules) -> dict[str, object]:
    """The Settings fields that the node's stated knobs set; a knob that the script leaves out sets none.

    Raises Problems naming node and knob for every value that cannot be read or is not supported.
    """
    problems = ProblemList()
    overrides: dict[str, object] = {}
    for field in dataclasses.fields(Settings):
        knob_name = str(field.metadata["knob"])
        if knob_name in copycat.knobs:
            with problems.collecting():
                overrides[field.name] = _value(copycat, field, paths)
    with problems.collecting():
        overrides.update(_choices(copycat, overrides, _always(paths)))
    problems.raise_if_any()
    return {name: value for name, value in overrides.items() if value is not None}


def _value(node: Node, field: dataclasses.Field[object], paths: PathRules) -> object:
    """The knob as its field's type; None where it says nothing."""
    knob_name, default = str(field.metadata["knob"]), field.default
    if isinstance(default, Path) or default is None:
        path = paths.path_of(node, knob_name)
        return Path(path) if path else None
    if field.name == "model_size":
        words = get_args(ModelSize)
        return enum_knob(knob_name, words, str(default)).of(node, _always(paths))
    return _knob_like(knob_name, default).of(node, _always(paths))


def _always(paths: PathRules) -> Moment:
    """Training has no frame: its knobs must not change."""
    return Moment(links=Links(script=paths.script), frame=None)


def _knob_like(name: str, default: object) -> Knob[object]:
    if isinstance(default, bool):
        return bool_knob(name, default)
    if isinstance(default, int):
        return int_knob(name, default)
    if isinstance(default, float):
        return float_knob(name, default)
    return text_knob(name)


def _choices(node: Node, overrides: dict[str, object], moment: Moment) -> dict[str, object]:
    """Fields that hang on more than one knob."""
    problems = ProblemList()
    chosen: dict[str, object] = {}
    with problems.collecting():
        if BATCH_SIZE_TYPE.of(node, moment) == "Auto":
            chosen["batch_size"] = 0 if BATCH_SIZE_TYPE.is_stated(node) or "batch_size" in overrides else None
    with problems.collecting():
        starts_from_file = INITIAL_WEIGHTS.of(node, moment) == "Checkpoint"
        if not starts_from_file:
            chosen["initial_weights"] = None
        elif overrides.get("initial_weights") is None:
            raise node_error(node, "knob initialWeights is Checkpoint, but checkpointFile is empty; name the file")
    with problems.collecting():
        if not USE_GPU.of(node, moment):
            chosen["device"] = "cpu"
    problems.raise_if_any()
    return chosen
