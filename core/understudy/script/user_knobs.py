"""Knobs that a script declares itself (`addUserKnob`): Nuke writes their values only where they say something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

from understudy.errors import UnderstudyError
from understudy.script.graph import Node
from understudy.script.tokens import read_list

_ENUMERATION = "4"
_BOOLEAN = "6"
_LINK = "41"
_PARTS = {
    **{"3": ("",), "7": ("",), "12": ("x", "y"), "13": ("x", "y", "z"), "14": ("w", "h"), "15": ("x", "y", "r", "t")},
    **{"18": ("r", "g", "b", "a"), "19": ("r", "g", "b"), "30": ("u", "v")},
}
"""What the numbers of a kind of knob are called: Int, Double, XY, XYZ, WH, BBox, AColor, Color, UV. Unwritten: 0."""
_WITH_A_WORD = ("l", "t", "T", "M")
"""Label, tooltip, script (or where a link leads) and choices: each is followed by one word."""


@dataclass(frozen=True, kw_only=True)
class UserKnob:
    """One such knob."""

    name: str
    parts: tuple[str, ...] = ()
    """What links call its numbers; none where it has one."""
    choices: tuple[str, ...] = ()
    """Of an enumeration."""
    unwritten: str | None = None
    """Its value where the script leaves it out; None: not known."""
    leads_to: tuple[str, ...] = ()
    """Of a link: the node and the knob that it stands for, as seen from within its own node."""


def with_unwritten(node: Node) -> Node:
    """The node with the values that its own knobs have where the script leaves them out: off, 0, the first choice."""
    own = user_knobs(node).values()
    implied = {knob.name: knob.unwritten for knob in own if knob.unwritten is not None}
    return replace(node, knobs={**implied, **node.knobs})


def user_knobs(node: Node) -> Mapping[str, UserKnob]:
    """By name."""
    return _declared(node.user_knobs)


@lru_cache(maxsize=4096)
def _declared(raws: tuple[str, ...]) -> Mapping[str, UserKnob]:
    return {knob.name: knob for raw in raws for knob in _knob(_words(raw))}


def _knob(words: Sequence[str]) -> Iterator[UserKnob]:
    kind, name = (*words, "", "")[:2]
    if not name:
        return
    if kind in _PARTS:
        parts = _PARTS[kind]
        yield UserKnob(name=name, parts=parts if len(parts) > 1 else (), unwritten=" ".join("0" for _ in parts))
    elif kind == _BOOLEAN:
        yield UserKnob(name=name, unwritten="false")
    elif kind == _ENUMERATION:
        choices = tuple(word.partition("\t")[0] for word in _words(_option(words[2:], "M")))
        yield UserKnob(name=name, choices=choices, unwritten=choices[0] if choices else None)
    elif kind == _LINK:
        yield UserKnob(name=name, leads_to=tuple(filter(None, _option(words[2:], "T").split("."))))
    else:
        yield UserKnob(name=name)


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
