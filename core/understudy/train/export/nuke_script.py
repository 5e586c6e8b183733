"""What Nuke reads: a script that makes the .cat file and shows it at work, and a gizmo with its cat.json for a Cattery.

No path in them is absolute: the script finds its files beside itself, the gizmo its .cat file on Nuke's plugin path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from understudy.script.writing import SCRIPT_FOLDER, node, placed, quoted
from understudy.train.export.nuke_channels import Passage, layers_to_declare, passages
from understudy.train.model_file import SavedModel

OLDEST_NUKE = 13.2
"""The first with a Cattery; also what the script says it was written by, so that every Nuke since opens it quietly."""
COPIED_AT_ONCE = 4
"""Channels that a Copy node takes."""
ROW = 96
"""Pixels between neighbours in the node graph."""


@dataclass(frozen=True, kw_only=True)
class NukeModel:
    """One model, as Nuke is told about it."""

    name: str
    """Begins every file's name, and is the gizmo's class: letters, digits and _."""
    about: str
    """Where it comes from, in a line."""
    space: str
    """Colour space of the pixels it takes and gives."""
    inputs: tuple[Passage, ...]
    targets: tuple[Passage, ...]

    @property
    def borrowed(self) -> tuple[str, ...]:
        """Channels that reach Inference by another name."""
        return tuple(passage.name for passage in (*self.inputs, *self.targets) if passage.is_borrowed)

    @property
    def num_rows(self) -> int:
        """Nodes one below the other between the plate and the answer, at most."""
        return 1 + len([*_in_groups(self.inputs)]) + len([*_in_groups(self.targets)])


def nuke_model(saved: SavedModel, name: str) -> NukeModel:
    """Raises UnderstudyError for more channels than Nuke can hand over."""
    card, spec = saved.card, saved.model.spec
    layer = f", trained on layer {card.input_layer}" if card.input_layer else ""
    return NukeModel(
        name=class_name(name),
        about=f"{card.run_name}, step {card.step}{layer}, by understudy {card.understudy_version}",
        space=card.working_space,
        inputs=passages(spec.input_channels),
        targets=passages(spec.target_channels),
    )


def class_name(text: str) -> str:
    """The text as Nuke can call a gizmo."""
    word = re.sub(r"\W", "_", text, flags=re.ASCII)
    return word if word[:1].isalpha() else f"U_{word}"


def script_text(model: NukeModel) -> str:
    """RUN.nk: open it, press the button of CatFileCreator1, and connect the plate to the dot."""
    note = (
        f"{model.about}\n{_listed(model.inputs)} -> {_listed(model.targets)}, scene-linear {model.space}\n\n"
        "1  Create the .cat file, once: the button of CatFileCreator1 (NukeX).\n"
        "2  Connect the plate to the dot.\n"
        f"3  In other scripts: put the folder {model.name} into a Cattery, and take the node from its menu."
    )
    cat_file = f"{SCRIPT_FOLDER}/{model.name}/{model.name}.cat"
    creator = [
        ("inputs", "0"),
        ("torchScriptFile", quoted(f"{SCRIPT_FOLDER}/{model.name}.pt")),
        ("catFile", quoted(cat_file)),
        ("channelsIn", _slots(model.inputs)),
        ("channelsOut", _slots(model.targets)),
        ("modelId", model.name),
    ]
    return "".join(
        (
            _head(model),
            node("Root", [("inputs", "0")]),
            node("StickyNote", [("inputs", "0"), ("label", quoted(note)), *placed("StickyNote1", -3 * ROW, -2 * ROW)]),
            node("CatFileCreator", [*creator, *placed("CatFileCreator1", -3 * ROW, 0)]),
            node("Dot", [("inputs", "0"), ("label", "plate"), *placed("Dot1", 34, -ROW)]),
            *_chain(model, cat_file, (), depth=0),
        )
    )


def gizmo_text(model: NukeModel) -> str:
    """RUN.gizmo: the same as one node, whatever channels the model works on."""
    knobs = [
        ("help", quoted(f"{model.about}. Takes and gives scene-linear {model.space}.")),
        ("addUserKnob", "{20 understudy l Understudy}"),
        ("addUserKnob", '{6 useGPU l "Use GPU if available" +STARTLINE}'),
        ("useGPU", "true"),
        ("addUserKnob", '{6 half l "Optimize for Speed and Memory" +STARTLINE}'),
        (
            "addUserKnob",
            f"{{26 channels l Channels T {quoted(f'{_listed(model.inputs)} -> {_listed(model.targets)}')}}}",
        ),
        ("name", model.name),
    ]
    inherited = (("useGPUIfAvailable", "{{parent.useGPU}}"), ("halfPrecision", "{{parent.half}}"))
    cat_file = f"[lindex [plugins -all {model.name}.cat] 0]"
    return "".join(
        (
            _head(model),
            node("Gizmo", knobs),
            node("Input", [("inputs", "0"), *placed("Input1", 0, -ROW)], depth=1),
            *_chain(model, cat_file, inherited, depth=1),
            node("Output", placed("Output1", 0, model.num_rows * ROW), depth=1),
            "end_group\n",
        )
    )


def cattery_record(model: NukeModel) -> str:
    """cat.json: what makes the gizmo appear in Nuke's Cattery menu."""
    listed = {"filepath": f"{model.name}.gizmo", "name": model.name, "icon": ""}
    about = {
        "minimum_nuke_version_required": OLDEST_NUKE,
        "version": 1,
        "category": "Understudy",
        "description": model.about,
        "cats": [listed],
    }
    return json.dumps(about, indent=4) + "\n"


def _head(model: NukeModel) -> str:
    layers = layers_to_declare(model.inputs, model.targets)
    declared = "".join(f"add_layer {{{' '.join((layer, *names))}}}\n" for layer, names in layers.items())
    return f"#! understudy export\nversion {OLDEST_NUKE} v1\n{declared}"


def _chain(model: NukeModel, cat_file: str, more: Sequence[tuple[str, str]], *, depth: int) -> Iterator[str]:
    """From the node on the stack to the answer, which it leaves there; `more`: knobs of the Inference."""
    rows = count()
    yield "set Nplate [stack 0]\n"
    for number, some in enumerate(_in_groups([one for one in model.inputs if one.is_borrowed]), start=1):
        changes = [(passage.name, passage.slot) for passage in some]
        yield _copied(f"Give{number}", changes, into="Nplate" if number == 1 else "Nlent", depth=depth, row=next(rows))
        yield "set Nlent [stack 0]\n"
    inference = [*more, ("modelFile", quoted(cat_file)), *placed("Inference1", 0, next(rows) * ROW)]
    yield node("Inference", inference, depth=depth)
    if model.borrowed:
        yield "set Nanswer [stack 0]\n"
        yield "push $Nplate\n"
        yield "set Nwhole [stack 0]\n"
        for number, some in enumerate(_in_groups(model.targets), start=1):
            changes = [(passage.slot, passage.name) for passage in some]
            yield _copied(f"Take{number}", changes, out_of="Nanswer", into="Nwhole", depth=depth, row=next(rows))
            yield "set Nwhole [stack 0]\n"


def _copied(
    name: str, changes: Sequence[tuple[str, str]], *, into: str, depth: int, row: int, out_of: str = "Nplate"
) -> str:
    """A Copy of channels `out_of` one node `into` another: (by its name there, by its name here)."""
    knobs = [("inputs", "2")]
    for number, (source, target) in enumerate(changes):
        knobs += [(f"from{number}", source), (f"to{number}", target)]
    return f"push ${out_of}\npush ${into}\n" + node("Copy", [*knobs, *placed(name, 0, row * ROW)], depth=depth)


def _in_groups(some: Sequence[Passage]) -> Iterator[Sequence[Passage]]:
    for first in range(0, len(some), COPIED_AT_ONCE):
        yield some[first : first + COPIED_AT_ONCE]


def _slots(side: Sequence[Passage]) -> str:
    return ",".join(passage.slot for passage in side)


def _listed(side: Sequence[Passage]) -> str:
    return ", ".join(passage.name for passage in side)
