"""Reads a .nk into the fake's graph, by understudy's own parser."""

from __future__ import annotations

from pathlib import Path

from tests.plugin.nuke.fake import api

from understudy.script.graph import Node as ReadNode
from understudy.script.graph import read_script
from understudy.script.tokens import read_list

_KINDS = {
    "1": api.String_Knob,
    "2": api.File_Knob,
    "3": api.Int_Knob,
    "6": api.Boolean_Knob,
    "7": api.Double_Knob,
    "20": api.Tab_Knob,
}


def read(path: str, root: api.Root) -> None:
    script = read_script(Path(path))
    for name, value in script.root.items():
        if name in root.knobs():
            root[name].setValue(value)
    made: list[api.Node] = []
    for node in script.nodes:
        parent = root if node.parent is None else made[node.parent]
        assert isinstance(parent, api.Group)
        made.append(_node(node, parent, made))


def _node(node: ReadNode, parent: api.Group, made: list[api.Node]) -> api.Node:
    with parent:
        new = api._made(node.class_name)
    for text in node.user_knobs:
        new.addKnob(_user_knob(text))
    if "file_type" in node.knobs:
        new["file_type"].setValue(node.knobs["file_type"])
    for name, value in node.knobs.items():
        if name in new.knobs():
            new[name].setValue(value)
    for number, place in enumerate(node.inputs):
        if place is not None:
            new.setInput(number, made[place])
    return new


def _user_knob(text: str) -> api.Knob:
    kind, name, *words = [word.text for word in read_list(text, "", 0)]
    about: dict[str, str] = {}
    while words:
        key = words.pop(0)
        if key[0] not in "+-":
            about[key] = words.pop(0)
    label = about.get("l", "")
    if kind == "4":
        return api.Enumeration_Knob(name, label, [word.text for word in read_list(about["M"], "", 0)])
    if kind == "22":
        return api.PyScript_Knob(name, label, about.get("T", ""))
    made: api.Knob = _KINDS[kind](name, label)
    return made
