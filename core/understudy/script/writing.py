"""Nuke scripts as text: nodes, knobs and words that Tcl reads as they were meant."""

from __future__ import annotations

from collections.abc import Iterable

SCRIPT_FOLDER = "[file dirname [value root.name]]"
"""The folder in which the open script lies: paths that begin so move with it."""

Knobs = Iterable[tuple[str, str]]
"""Names and what follows them, quoted where it must be."""


def node(class_name: str, knobs: Knobs, *, depth: int = 0) -> str:
    """A node's lines; `depth`: groups around it."""
    indent = " " * depth
    lines = "".join(f"{indent} {knob} {value}\n" for knob, value in knobs)
    return f"{indent}{class_name} {{\n{lines}{indent}}}\n"


def placed(name: str, x: int, y: int) -> list[tuple[str, str]]:
    """The knobs that name a node and put it into the node graph, pixels."""
    return [("name", name), ("xpos", str(x)), ("ypos", str(y))]


def quoted(text: str) -> str:
    """A Tcl word inside a braced node: quotes, brackets and braces lose their meaning."""
    escaped = "".join("\\" + letter if letter in '\\"[{}$' else letter for letter in text)
    return '"' + escaped.replace("\n", "\\n") + '"'
