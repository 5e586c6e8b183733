"""Numbers of a script's knobs at a frame: curves and expressions are computed, and links are followed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias, TypeVar

from understudy.script.graph import Node
from understudy.script.values.curves import Curve
from understudy.script.values.fault import Moves, Unreadable, shortened
from understudy.script.values.formula import Name
from understudy.script.values.links import Links, Target
from understudy.script.values.written import Driven, Source, linked_words, sources_of, whole_source

Chosen = TypeVar("Chosen")
_Key: TypeAlias = "tuple[int, str, int, float | None]"
"""A number of a knob at a frame: the node's place, the knob, the number's place."""

_DEEPEST = 32
"""Links one behind the other; each costs a few frames of Python's stack."""
_MOST = 2000
"""Links that one value may follow."""
_FRAME_WORDS = ("frame", "t")
_FIXED_WORDS: Mapping[str, float] = {"$gui": 0.0}
"""Nuke's own word for whether there is an interface: never here, as on a farm."""


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A frame at which values are asked for, or all frames at once."""

    links: Links
    frame: float | None
    """None: what holds at every frame is asked for, and a value that moves is refused."""

    def numbers(self, node: Node, knob: str, raw: str) -> list[float]:
        """All numbers of a knob. Raises Unreadable, and Moves for one that changes with the frame."""
        chase, sources = _Chase(links=self.links), sources_of(raw)
        return [chase.computed(node, knob, place, source, self.frame) for place, source in enumerate(sources)]

    def number(self, node: Node, knob: str, raw: str) -> float:
        """The number of a knob that has one only."""
        return _Chase(links=self.links).computed(node, knob, 0, whole_source(raw), self.frame)

    def text(self, node: Node, knob: str, raw: str) -> str:
        """What a knob of words says: that of another knob, where it is nothing but a link to one. Raises Unreadable."""
        place, name = node, knob
        for _ in range(_DEEPEST):
            words = linked_words(raw)
            if not words:
                return raw
            target = self.links.target(place, words)
            if target.node is None or (target.choices and not _are_alike(target, node, knob)):
                return raw  # a number, or a word of another list, of which the number counts
            place, name = target.node, target.knob
            unstated = target.default_text or " ".join(f"{number:g}" for number in target.default)
            raw = unstated if target.raw is None else target.raw
        raise Unreadable(f"follows over {_DEEPEST} links in a row, the last of them {place.path}.{name}")


@dataclass(kw_only=True)
class _Chase:
    """The links that lead to one knob's numbers."""

    links: Links
    _open: list[_Key] = field(default_factory=list)
    _known: dict[_Key, float] = field(default_factory=dict)

    def computed(self, node: Node, knob: str, place: int, source: Source, frame: float | None) -> float:
        if isinstance(source, float):
            return source
        if isinstance(source, Curve):
            return source.at(frame)
        key = (node.index, knob, place, frame)
        if key not in self._known:
            self._refuse_endless(node, knob, key)
            self._open.append(key)
            self._known[key] = source.formula.value(partial(self._look, node, place, source, frame))
            self._open.pop()
        return self._known[key]

    def _refuse_endless(self, node: Node, knob: str, key: _Key) -> None:
        if key in self._open:
            raise Unreadable(f"depends on itself through {node.path}.{knob}")
        if len(self._open) >= _DEEPEST or len(self._known) >= _MOST:
            raise Unreadable(f"follows over {_DEEPEST} links in a row, or {_MOST} in all")

    def _look(
        self, node: Node, place: int, source: Driven, frame: float | None, name: Name, stated: float | None
    ) -> float:
        """What a name in an expression of the node comes to."""
        at = frame if stated is None else stated
        if name.is_existence:
            return float(self.links.exists(node, name.words))
        if name.words == ("curve",):
            if source.curve is None:
                raise Unreadable("refers to its curve, but has no key")
            return source.curve.at(at)
        word = name.words[0] if len(name.words) == 1 else ""
        if word in _FRAME_WORDS and not name.has_frame:
            if frame is None:
                raise Moves("changes with the frame, where one number is needed")
            return frame
        return _FIXED_WORDS[word] if word in _FIXED_WORDS else self._followed(node, name, place, at)

    def _followed(self, node: Node, name: Name, place: int, frame: float | None) -> float:
        target = self.links.target(node, name.words)
        if target.fact is not None:
            return self._of_picture(target, name, frame)
        if target.raw is None:
            return _chosen(target.default, target, place, name)
        if target.choices and (folded(target.raw) in map(folded, target.choices)):
            return float([*map(folded, target.choices)].index(folded(target.raw)))
        sources = sources_of(target.raw)
        source = _chosen(sources, target, place, name)
        if target.node is not None:
            return self.computed(target.node, target.knob, sources.index(source), source, frame)
        if isinstance(source, Driven):
            raise Unreadable(
                f"refers to {shortened('.'.join(name.words))}, which is an expression of the script itself"
            )
        return source if isinstance(source, float) else source.at(frame)

    def _of_picture(self, target: Target, name: Name, frame: float | None) -> float:
        if self.links.pictures is None or target.node is None or target.fact is None:
            raise Unreadable(f"refers to {shortened('.'.join(name.words))}, which is not known here")
        return self.links.pictures.number(target.node, target.fact, frame)


def _are_alike(target: Target, node: Node, knob: str) -> bool:
    """Whether both are the same knob of one class, whose words are the same."""
    return target.node is not None and (target.node.class_name, target.knob) == (node.class_name, knob)


def folded(word: str) -> str:
    """A word of an enumeration, however it is spelt."""
    return word.strip().lower().replace(" ", "_")


def _chosen(values: Sequence[Chosen], target: Target, place: int, name: Name) -> Chosen:
    """The part that the name states, else the one at the asker's own place; a lone number stands for all."""
    if not values:
        raise Unreadable(f"refers to {shortened('.'.join(name.words))}, which the script leaves out")
    if len(values) == 1:
        return values[0]
    wanted = (place if place < len(values) else 0) if target.part is None else target.part
    if wanted >= len(values):
        raise Unreadable(f"refers to {shortened('.'.join(name.words))}, which has {len(values)} numbers")
    return values[wanted]
