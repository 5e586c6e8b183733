"""Names in expressions: which knob of which node `parent.Crop1.box.x` means, seen from the node that says it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeAlias

from understudy.script.formats import root_format
from understudy.script.graph import Node, Script
from understudy.script.user_knobs import with_unwritten
from understudy.script.values.fault import Unreadable, shortened

_INPUT = re.compile(r"input(\d{0,3})")
_PLACES = {"x": 0, "y": 1, "z": 2, "g": 1, "b": 2, "a": 3}
"""Parts of a knob of which no more is known; `r` would be red of a colour, but the right side of a box."""


class Declared(Protocol):
    """A knob of a class that is known, as links see it."""

    @property
    def names(self) -> tuple[str, ...]:
        """All that scripts call it."""

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of its numbers; none where it has one."""

    @property
    def default_numbers(self) -> tuple[float, ...]:
        """What it is where a script leaves it out; none where it is no number, or where that is not known."""


Declarations: TypeAlias = Mapping[str, Sequence[Declared]]
"""The knobs of each class of nodes, by the class's name."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a name means."""

    node: Node | None
    """None: the root."""
    knob: str
    raw: str | None
    """None: the script leaves the knob out."""
    default: tuple[float, ...]
    part: int | None
    """The place of the number in the knob; None where the name states none."""


@dataclass(frozen=True, kw_only=True)
class Links:
    """Finds what names mean in one script."""

    script: Script
    declared: Declarations = field(default_factory=dict)

    def target(self, origin: Node, words: Sequence[str]) -> Target:
        """What the words, as seen from the node, mean. Raises Unreadable where there is no such knob."""
        place: Node | None = origin
        for at, word in enumerate(words):
            if self._knob(place, word):
                return self._target(place, word, words[at + 1 :])
            place = self._step(place, word, origin if at == 0 else None, words)
        raise Unreadable(f"refers to {shortened('.'.join(words))}, which is a node and no knob")

    def _step(self, place: Node | None, word: str, origin: Node | None, words: Sequence[str]) -> Node | None:
        if word == "this":
            return place
        if word == "root":
            return None
        if word == "parent":
            return self._parent(place)
        child = self._children.get((None if place is None else place.index, word))
        if child is None and origin is not None:
            child = self._children.get((origin.parent, word))
        child = child or self._input(place, word)
        if child is None:
            raise Unreadable(f"refers to {shortened('.'.join(words))}, and there is no {shortened(word)}")
        return child

    def _input(self, place: Node | None, word: str) -> Node | None:
        stated = _INPUT.fullmatch(word)
        return self.script.input_of(place, int(stated[1] or 0)) if stated and place is not None else None

    def _parent(self, place: Node | None) -> Node | None:
        return None if place is None or place.parent is None else self.script.nodes[place.parent]

    def _knob(self, place: Node | None, word: str) -> bool:
        if place is None:
            return word in ("width", "height") or word in self.script.root
        return word in self._knobs_of(place) or self._declaration(place, word) is not None

    def _target(self, node: Node | None, knob: str, rest: Sequence[str]) -> Target:
        name = ".".join((knob, *rest))
        if len(rest) > 1:
            raise Unreadable(f"refers to {shortened(name)}, and a knob has no such part")
        if node is None:
            return self._of_root(knob, rest)
        known = self._declaration(node, knob)
        knobs = self._knobs_of(node)
        spellings = known.names if known else (knob,)
        return Target(
            node=node,
            knob=knob,
            raw=next((knobs[spelling] for spelling in spellings if spelling in knobs), None),
            default=known.default_numbers if known else (),
            part=_part(rest[0], known.parts if known else (), name) if rest else None,
        )

    def _of_root(self, knob: str, rest: Sequence[str]) -> Target:
        if knob in ("width", "height") and not rest:
            window = root_format(self.script)
            size = float(window.width if knob == "width" else window.height)
            return Target(node=None, knob=knob, raw=None, default=(size,), part=None)
        part = _part(rest[0], (), knob) if rest else None
        return Target(node=None, knob=knob, raw=self.script.root[knob], default=(), part=part)

    def _knobs_of(self, node: Node) -> Mapping[str, str]:
        return with_unwritten(node).knobs if node.user_knobs else node.knobs

    def _declaration(self, node: Node, knob: str) -> Declared | None:
        return self._by_name.get((node.class_name, knob))

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], Declared]:
        """Declared knobs by class and by each name that they have."""
        every = ((of_class, known) for of_class, declared in self.declared.items() for known in declared)
        return {(of_class, name): known for of_class, known in every for name in known.names}

    @cached_property
    def _children(self) -> dict[tuple[int | None, str], Node]:
        """Nodes by the group they lie in and their name; of several so called, the first."""
        return {(node.parent, node.name): node for node in reversed(self.script.nodes)}


def _part(word: str, parts: tuple[str, ...], name: str) -> int:
    if word in parts:
        return parts.index(word)
    if word.isdigit() and len(word) < 3:
        return int(word)
    if not parts and word in _PLACES:
        return _PLACES[word]
    raise Unreadable(f"refers to part {shortened(word)} of {shortened(name)}, which is not known")
