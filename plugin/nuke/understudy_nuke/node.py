"""Our training node, for Nuke without NukeX: a Group with CopyCat's inputs, knobs and defaults.

It is saved as plain nodes, so that a script which holds one opens in every Nuke, and is read without any.
"""

from __future__ import annotations

from typing import NamedTuple

import nuke

from .graph import TAB

NAME = "Understudy"
INPUT_NODES = ("Input", "GroundTruth")
"""Names of the Input nodes within, which Nuke writes at the arrows."""


class KnobRow(NamedTuple):
    """One knob of the node; CopyCat's name, word and default where it has such a knob."""

    kind: str
    name: str
    label: str
    default: bool | int | float | str
    choices: tuple[str, ...] = ()
    tooltip: str = ""


KNOBS = (
    KnobRow("file", "dataDirectory", "Data Directory", "", (), "Folder for checkpoints, contact sheets and graphs"),
    KnobRow("text", "runName", "Run Name", "", (), "Begins the names of all files; empty: Training_YYMMDD_HHMMSS"),
    KnobRow("whole", "epochs", "Epochs", 10000, (), "Passes over the whole set"),
    KnobRow("bool", "useGPUIfAvailable", "Use GPU if available", True),
    KnobRow("word", "initialWeights", "Initial Weights", "None", ("None", "Checkpoint")),
    KnobRow("file", "checkpointFile", "Checkpoint File", "", (), "Model to start from: a .safetensors file"),
    KnobRow("word", "modelSize", "Model Size", "Small", ("Small", "Medium", "Large")),
    KnobRow("word", "batchSizeType", "Batch Size", "Auto", ("Auto", "Manual")),
    KnobRow("whole", "batchSize", "", 0, (), "Crops a step, over all ranks; counts when Batch Size is Manual"),
    KnobRow("whole", "cropSize", "Crop Size", 96, (), "Side of the random crops in pixels"),
    KnobRow("number", "learningRate", "Learning Rate", 0.002, (), "Of the optimizer, at its peak; mattes take half"),
    KnobRow("whole", "seed", "Seed", 0),
    KnobRow("whole", "checkpointInterval", "Checkpoint Interval", 1000, (), "Steps"),
    KnobRow("whole", "maxCheckpoints", "Checkpoints kept", 10),
    KnobRow("whole", "imageInterval", "Contact Sheet Interval", 0, (), "Steps; 0: chosen by the clock"),
    KnobRow("bool", "useMultiResolutionTraining", "Use Multi-Resolution Training", False),
    KnobRow("bool", "logScale", "Log Scale", False, (), "Of the graph"),
    KnobRow("number", "smoothness", "Smoothness", 0.6, (), "Of the graph"),
    KnobRow("bool", "showOriginal", "Show Original Curve", True),
)
BUTTONS = (("startTraining", "Train on Farm...", "train"), ("createInference", "Create Inference...", "inference"))


def create() -> nuke.Node:
    """Make the node as Nuke's own menus do: connected to what is selected, in that order, and selected itself."""
    chosen = nuke.selectedNodes()[::-1]  # Nuke names the last one first
    group = nuke.nodes.Group()
    group.setName(f"{NAME}1")
    _fill(group)
    _add_knobs(group)
    for number, above in enumerate(chosen[: len(INPUT_NODES)]):
        group.setInput(number, above)
    if chosen:
        group.setXYpos(chosen[0].xpos(), max(above.ypos() for above in chosen) + 100)
    for node in chosen:
        node.setSelected(False)
    group.setSelected(True)
    if nuke.GUI:
        group.showControlPanel()
    return group


def _fill(group: nuke.Group) -> None:
    """The node shows its Input, as CopyCat does."""
    with group:
        for number, name in enumerate(INPUT_NODES):
            arrow = nuke.nodes.Input()
            arrow.setName(name)
            arrow["number"].setValue(number)
        output = nuke.nodes.Output()
        output.setInput(0, group.node(INPUT_NODES[0]))


def _add_knobs(group: nuke.Group) -> None:
    group.addKnob(nuke.Tab_Knob(TAB, TAB))
    for row in KNOBS:
        knob = _knob(row)
        knob.setTooltip(row.tooltip)
        knob.setFlag(nuke.ALWAYS_SAVE)  # else a knob that is off, 0 or at its first word is not in the script
        group.addKnob(knob)
        knob.setValue(row.default)
    for name, label, action in BUTTONS:
        group.addKnob(nuke.PyScript_Knob(name, label, _BUTTON_SCRIPT.format(action=action)))


def _knob(row: KnobRow) -> nuke.Knob:
    if row.kind == "word":
        return nuke.Enumeration_Knob(row.name, row.label, list(row.choices))
    kinds = {
        "file": nuke.File_Knob,
        "text": nuke.String_Knob,
        "whole": nuke.Int_Knob,
        "number": nuke.Double_Knob,
        "bool": nuke.Boolean_Knob,
    }
    knob: nuke.Knob = kinds[row.kind](row.name, row.label)
    if row.kind == "bool":
        knob.setFlag(nuke.STARTLINE)
    return knob


# The script may be opened where the plugin is not installed.
_BUTTON_SCRIPT = """\
try:
    from understudy_nuke import actions
except ImportError:
    nuke.message("understudy is not installed in this Nuke: add its plugin/nuke folder to NUKE_PATH")
else:
    actions.{action}(nuke.thisNode())
"""
