"""Knobs that a script declares itself (`addUserKnob`): Nuke writes their values only where they say something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from understudy.errors import UnderstudyError
from understudy.script.graph import Node
from understudy.script.tokens import read_list

_NUMBERS = ("3", "7")
"""Int_Knob and Double_Knob; unwritten they are 0."""
_ENUMERATION = "4"
_BOOLEAN = "6"
_WITH_A_WORD = ("l", "t", "T", "M")
"""Label, tooltip, script and choices: each is followed by one word."""


def with_unwritten(node: Node) -> Node:
    """The node with the values that its own knobs have where the script leaves them out: off, 0, the first choice."""
    implied = {name: value for raw in node.user_knobs for name, value in _implied(_words(raw))}
    return replace(node, knobs={**implied, **node.knobs})


def _implied(declaration: Sequence[str]) -> Iterator[tuple[str, str]]:
    kind, name = (*declaration, "", "")[:2]
    if kind in _NUMBERS:
        yield name, "0"
    elif kind == _BOOLEAN:
        yield name, "false"
    elif kind == _ENUMERATION and (choices := _words(_option(declaration[2:], "M"))):
        yield name, choices[0]


def _option(words: Sequence[str], wanted: str) -> str:
    rest = iter(words)
    for word in rest:
        if word in _WITH_A_WORD:
            value = next(rest, "")
            if word == wanted:
                return value
    return ""


def _words(raw: str) -> list[str]:
    """None of a text that is no list: then nothing is known of the knob."""
    with suppress(UnderstudyError):
        return [word.text for word in read_list(raw, "", 0)]
    return []
