"""Names in expressions: which knob of which node `parent.Crop1.box.x` means, seen from the node that says it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeAlias

from understudy.script.formats import script_format
from understudy.script.graph import Node, Script
from understudy.script.user_knobs import user_knobs, with_unwritten
from understudy.script.values.facts import Fact, Pictures, fact_of
from understudy.script.values.fault import Unreadable, shortened

_INPUT = re.compile(r"input(\d{0,3})")
_WAYS = ("this", "parent", "root")
_PLACES = {"x": 0, "y": 1, "z": 2, "g": 1, "b": 2, "a": 3, "w": 0, "h": 1, "t": 3}
"""Parts of a knob of which no more is known; `r` would be red of a colour, but the right side of a box."""
_OF_ALL = {"disable": (0.0,), "hide_input": (0.0,), "postage_stamp": (0.0,)}
"""Knobs that every node has, where a script leaves them out."""
_OF_ROOT = {"first_frame": 1.0, "last_frame": 100.0, "fps": 24.0}
_MOST_LINKS = 32
"""Link knobs, one leading to the next."""


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

    @property
    def choices(self) -> tuple[str, ...]:
        """Of an enumeration all words, in their order: a link to it is the number of one."""

    @property
    def default_text(self) -> str:
        """What it says where a script leaves it out, if it has words."""


Declarations: TypeAlias = Mapping[str, Sequence[Declared]]
"""The knobs of each class of nodes, by the class's name."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a name means."""

    node: Node | None
    """None: the root."""
    knob: str
    raw: str | None = None
    """None: the script leaves the knob out."""
    default: tuple[float, ...] = ()
    part: int | None = None
    """The place of the number in the knob; None where the name states none."""
    choices: tuple[str, ...] = ()
    """The words of an enumeration."""
    default_text: str = ""
    fact: Fact | None = None
    """What is meant of the node's picture, in place of a knob."""


@dataclass(frozen=True, kw_only=True)
class Links:
    """Finds what names mean in one script."""

    script: Script
    declared: Declarations = field(default_factory=dict)
    pictures: Pictures | None = None
    """Knows width, format, bbox and range of nodes; None: nobody does."""

    def target(self, origin: Node, words: Sequence[str], depth: int = 0) -> Target:
        """What the words, as seen from the node, mean. Raises Unreadable where there is no such knob."""
        place: Node | None = self._home(origin, words)
        is_knob = False
        for at, word in enumerate(words):
            rest = words[at + 1 :]
            if word == "knob" and rest and not self._knob(place, word):
                is_knob = True
                continue
            if self._leads_on(place, word):
                return self._linked(place, word, rest, depth)
            fact = None if is_knob else fact_of(word, rest, self._has_parts(place, word))
            if fact is not None:
                return self._of_picture(place, word, fact)
            if self._knob(place, word):
                return self._target(place, word, rest)
            place = self._step(place, word, origin if at == 0 else None, words)
        raise Unreadable(f"refers to {shortened('.'.join(words))}, which is a node and no knob")

    def _home(self, origin: Node, words: Sequence[str]) -> Node:
        """From where the words are understood: a group around, of a knob that only it has."""
        word, group = words[0], self._parent(origin)
        is_way = word in _WAYS or _INPUT.fullmatch(word) or fact_of(word, words[1:], has_knob=False)
        is_here = self._knob(origin, word) or (origin.index, word) in self._children
        if group is None or is_way or is_here or (origin.parent, word) in self._children:
            return origin
        while group is not None and not self._knob(group, word):
            group = self._parent(group)
        return group or origin

    def exists(self, origin: Node, words: Sequence[str]) -> bool:
        """Whether there is such a node. Raises Unreadable where a knob is asked for that is not known."""
        place: Node | None = origin
        for at, word in enumerate(words):
            if self._knob(place, word):
                return True
            try:
                place = self._step(place, word, origin if at == 0 else None, words)
            except Unreadable:
                if at + 1 < len(words) or _INPUT.fullmatch(word) or place is None:
                    return False
                raise _uncertain(words) from None
        if place is not None and place.name == words[-1] and place.class_name == "Input":
            raise _uncertain(words)  # it, or what is connected to the group by its name
        return True

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
            return word in self.script.root or word in _OF_ROOT
        is_stated = word in place.knobs or word in user_knobs(place)
        return is_stated or word in _OF_ALL or self._declaration(place, word) is not None

    def _has_parts(self, place: Node | None, word: str) -> bool:
        """Whether the node has a knob of that name which has numbers: then the picture is not meant."""
        if place is None:
            return word in _OF_ROOT
        own = user_knobs(place).get(word)
        known = self._declaration(place, word)
        return own is not None or (known.default_numbers != () if known else word in place.knobs)

    def _of_picture(self, place: Node | None, word: str, fact: Fact) -> Target:
        if place is not None:
            return Target(node=place, knob=word, fact=fact)
        stated = script_format(self.script)
        number = fact.of_format(stated.window, stated.pixel_aspect)
        return Target(node=None, knob=word, default=(number,))

    def _leads_on(self, place: Node | None, word: str) -> bool:
        own = user_knobs(place).get(word) if place is not None else None
        return own is not None and bool(own.leads_to)

    def _linked(self, place: Node | None, word: str, rest: Sequence[str], depth: int) -> Target:
        """What a link knob leads to."""
        assert place is not None
        if depth >= _MOST_LINKS:
            raise Unreadable(f"follows over {_MOST_LINKS} link knobs in a row, the last of them {place.path}.{word}")
        return self.target(place, (*user_knobs(place)[word].leads_to, *rest), depth + 1)

    def _target(self, node: Node | None, knob: str, rest: Sequence[str]) -> Target:
        name = ".".join((knob, *rest))
        if node is None and knob == "frame":
            raise Unreadable("refers to root.frame, where Nuke's timeline stood; write frame")
        if len(rest) > 1:
            raise Unreadable(f"refers to {shortened(name)}, and a knob has no such part")
        if node is None:
            part = _part(rest[0], (), knob) if rest else None
            return Target(node=None, knob=knob, raw=self.script.root.get(knob), default=_of_root(knob), part=part)
        known, own = self._declaration(node, knob), user_knobs(node).get(knob)
        knobs = self._knobs_of(node)
        spellings = known.names if known else (knob,)
        parts = known.parts if known else own.parts if own else ()
        return Target(
            node=node,
            knob=knob,
            raw=next((knobs[spelling] for spelling in spellings if spelling in knobs), None),
            default=known.default_numbers if known else _OF_ALL.get(knob, ()),
            part=_part(rest[0], parts, name) if rest else None,
            choices=known.choices if known else own.choices if own else (),
            default_text=known.default_text if known else "",
        )

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


def _uncertain(words: Sequence[str]) -> Unreadable:
    return Unreadable(f"asks whether {shortened('.'.join(words))} exists, which is not known")


def _of_root(knob: str) -> tuple[float, ...]:
    return (_OF_ROOT[knob],) if knob in _OF_ROOT else ()


def _part(word: str, parts: tuple[str, ...], name: str) -> int:
    if word in parts:
        return parts.index(word)
    if word.isdigit() and len(word) < 3:
        return int(word)
    if not parts and word in _PLACES:
        return _PLACES[word]
    raise Unreadable(f"refers to part {shortened(word)} of {shortened(name)}, which is not known")
