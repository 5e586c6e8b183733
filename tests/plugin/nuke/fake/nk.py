"""Writes the fake's graph as Nuke saves it: a stack of nodes, knobs that are not at their default, groups nested."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.plugin.nuke.fake.api import Group, Knob, Node, Root

_TYPES = {
    "Tab_Knob": 20,
    "String_Knob": 1,
    "File_Knob": 2,
    "Int_Knob": 3,
    "Enumeration_Knob": 4,
    "Boolean_Knob": 6,
    "Double_Knob": 7,
    "PyScript_Knob": 22,
}
_PLAIN = re.compile(r"[\w./:%#@,+-]+")


def text_of(root: Root) -> str:
    head = ["#! /opt/Nuke16.0v1/Nuke16.0 -nx", "version 16.0 v1", "Root {", " inputs 0"]
    return "\n".join([*head, *_own_knobs(root), "}", *_nodes(root, "")]) + "\n"


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """The name, or with the next number that is free."""
    taken = set(taken)
    stem, number = re.fullmatch(r"(.*?)(\d*)", wanted, re.DOTALL).groups()  # type: ignore[union-attr]
    while wanted in taken:
        number = str(int(number or 0) + 1)
        wanted = stem + number
    return wanted


def quoted(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return '"' + re.sub(r'([\\"\[\]{}$])', r"\\\1", text).replace("\n", "\\n") + '"'


def _nodes(group: Group, indent: str) -> Iterator[str]:
    for node in _in_order(group):
        for number in reversed(range(node.inputs())):
            above = node.input(number)
            yield f"push ${_handle(above)}" if above else "push 0"
        yield f"{indent}{node.Class()} {{"
        yield f"{indent} inputs {node.inputs()}"
        yield from (indent + line for line in _own_knobs(node))
        yield from (indent + line for line in _user_knobs(node))
        yield indent + "}"
        if node.Class() == "Group":
            yield from _nodes(node, indent + " ")  # type: ignore[arg-type]
            yield indent + "end_group"
        yield f"set {_handle(node)} [stack 0]"


def _in_order(group: Group) -> list[Node]:
    """Inputs before what they feed."""
    done: dict[int, Node] = {}

    def visit(node: Node) -> None:
        if id(node) in done:
            return
        for number in range(node.inputs()):
            above = node.input(number)
            if above is not None:
                visit(above)
        done[id(node)] = node

    for node in group.nodes():
        visit(node)
    return list(done.values())


def _handle(node: Node) -> str:
    return f"N{id(node):x}"


def _own_knobs(node: Node) -> Iterator[str]:
    for name, knob in node.knobs().items():
        if name not in node._user_knobs and (knob._value != knob._default or knob._expression):
            yield f" {name} {_value(knob)}"


def _user_knobs(node: Node) -> Iterator[str]:
    """Nuke leaves out values that a new knob of the type has, unless told to save them always."""
    from tests.plugin.nuke.fake.api import ALWAYS_SAVE, STARTLINE, PyScript_Knob, Tab_Knob

    for name in node._user_knobs:
        knob = node[name]
        words = [str(_TYPES[type(knob).__name__]), name]
        words += ["l", quoted(knob.label()) if knob.label() else '""'] if knob.label() != name else []
        words += ["M", "{" + " ".join(map(quoted, knob.values())) + "}"] if hasattr(knob, "values") else []
        words += ["t", quoted(knob.tooltip())] if knob.tooltip() else []
        words += ["T", quoted(str(knob.value()))] if isinstance(knob, PyScript_Knob) else []
        words += ["+STARTLINE"] if knob.getFlag(STARTLINE) else []
        yield f" addUserKnob {{{' '.join(words)}}}"
        has_value = not isinstance(knob, (Tab_Knob, PyScript_Knob))
        if has_value and (knob._value != knob._default or knob.getFlag(ALWAYS_SAVE)):
            yield f" {name} {_value(knob)}"


def _value(knob: Knob) -> str:
    if knob._expression:
        return "{{" + knob._expression + "}}"
    if isinstance(knob._value, bool):
        return "true" if knob._value else "false"
    return quoted(str(knob._value)) if knob._value != "" else '""'
