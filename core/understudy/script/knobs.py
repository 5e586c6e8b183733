"""Knobs read as what they are: each is declared once with its name and default, and refuses what it cannot be."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from understudy.errors import UnderstudyError
from understudy.script.channels import ChannelSet, channel_set
from understudy.script.graph import Node
from understudy.script.tokens import read_list

Value = TypeVar("Value", covariant=True)

Colour = tuple[float, float, float, float]
"""Values for red, green, blue, alpha."""
Box = tuple[float, float, float, float]
"""x, y, r, t in pixels from the format's lower left corner, y up."""

_LARGEST = 1e15
"""Beyond it a value is a slip, and no longer exact as an integer."""
_TRUE = ("true", "1", "on", "yes")
_FALSE = ("false", "0", "off", "no")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


@dataclass(frozen=True, kw_only=True)
class Knob(Generic[Value]):
    """One knob of a node class."""

    name: str
    default: Value
    """What Nuke leaves out of the script."""
    parse: Callable[[str], Value]
    """Raises _Unreadable."""
    aliases: tuple[str, ...] = ()
    """Names by which other versions wrote it."""

    def of(self, node: Node) -> Value:
        """The node's value. Raises UnderstudyError naming node and knob if it is not one that this knob can have."""
        for name in (self.name, *self.aliases):
            if name in node.knobs:
                return self._parsed(node, name)
        return self.default

    def is_stated(self, node: Node) -> bool:
        return any(name in node.knobs for name in (self.name, *self.aliases))

    def refuse_change(self, node: Node) -> None:
        """Raise UnderstudyError if the node has anything but the default, which is all that can be evaluated."""
        if self.of(node) != self.default:
            raise knob_error(node, self.name, f"set to {_short(node.knobs, self)} cannot be evaluated")

    def _parsed(self, node: Node, name: str) -> Value:
        try:
            return self.parse(node.knobs[name])
        except _Unreadable as fault:
            raise knob_error(node, name, str(fault)) from None


class _Unreadable(Exception):
    """Says why a raw value cannot be read."""


def knob_error(node: Node, knob: str, what: str) -> UnderstudyError:
    """One line: node, class, knob, what is wrong, and the way out that always works."""
    return UnderstudyError(f"{node.label}, line {node.line}: knob {knob} {what}; bake it, or render the node first")


def bool_knob(name: str, default: bool) -> Knob[bool]:
    return Knob(name=name, default=default, parse=_bool)


def int_knob(name: str, default: int, *aliases: str) -> Knob[int]:
    return Knob(name=name, default=default, parse=_int, aliases=aliases)


def float_knob(name: str, default: float) -> Knob[float]:
    return Knob(name=name, default=default, parse=_number)


def colour_knob(name: str, default: float) -> Knob[Colour]:
    return Knob(name=name, default=(default,) * 4, parse=_colour)


def box_knob(name: str, default: Box) -> Knob[Box]:
    return Knob(name=name, default=default, parse=_box)


def text_knob(name: str, default: str = "") -> Knob[str]:
    return Knob(name=name, default=default, parse=str.strip)


def enum_knob(name: str, choices: Sequence[str], default: str) -> Knob[str]:
    """A word of `choices`, written out, with _ for spaces, or as its number from 0."""
    return Knob(name=name, default=default, parse=lambda raw: _enum(raw, choices))


def channels_knob(name: str, default: str) -> Knob[ChannelSet]:
    return Knob(name=name, default=channel_set([default]), parse=_channels)


def numbers_in(raw: str) -> list[float]:
    """The numbers of a knob such as a format. Raises ValueError at anything else."""
    return [_finite(word) for word in raw.split()]


def _bool(raw: str) -> bool:
    word = raw.strip().lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    return _number(raw) != 0


def _int(raw: str) -> int:
    value = _number(raw)
    if value != int(value):
        raise _Unreadable(f"is {_cut(raw)}, not a whole number")
    return int(value)


def _colour(raw: str) -> Colour:
    values = _numbers(raw)
    if len(values) == 1:
        values = values * 4
    if len(values) != 4:
        raise _Unreadable(f"has {len(values)} values in place of 1 or 4")
    return (values[0], values[1], values[2], values[3])


def _box(raw: str) -> Box:
    values = _numbers(raw)
    if len(values) != 4:
        raise _Unreadable(f"has {len(values)} values in place of x y r t")
    return (values[0], values[1], values[2], values[3])


def _enum(raw: str, choices: Sequence[str]) -> str:
    word = raw.strip()
    folded = {choice.lower().replace(" ", "_"): choice for choice in choices}
    if word.lower().replace(" ", "_") in folded:
        return folded[word.lower().replace(" ", "_")]
    if word.isdigit() and len(word) < 4 and int(word) < len(choices):
        return choices[int(word)]
    raise _Unreadable(f"is {_cut(raw)}, which is none of {', '.join(choices)}")


def _channels(raw: str) -> ChannelSet:
    words = [word for word in re.split(r"[\s{}]+", raw) if word]
    strange = [word for word in words if not re.fullmatch(r"-?[\w.]+", word)]
    if strange:
        raise _Unreadable(f"holds {_cut(strange[0])}, which is not a channel or layer")
    return channel_set(words)


def _numbers(raw: str) -> list[float]:
    """The numbers of an array knob; a curve counts as its only key's value."""
    words = _words(raw)
    return [_constant_curve(words)] if words[:1] == ["curve"] else [_number(word) for word in words]


def _number(raw: str) -> float:
    """A number, also in the one pair of braces in which Nuke writes a curve."""
    words = _words(raw)
    if len(words) == 1 and words[0] != raw.strip():
        words = _words(words[0])
    if words[:1] == ["curve"]:
        return _constant_curve(words)
    try:
        return _finite(" ".join(words))
    except ValueError:
        raise _Unreadable(f"holds {_cut(' '.join(words))} where a number is needed") from None


def _constant_curve(words: Sequence[str]) -> float:
    """The value of a curve with one key; a key follows its frame (x1001), flags and slopes are other letters."""
    values = [float(word) for word in words[1:] if _NUMBER.fullmatch(word)]
    if len(values) != 1:
        raise _Unreadable(f"is animated ({len(values)} keys) where one number is needed")
    return values[0]


def _words(raw: str) -> list[str]:
    try:
        return [word.text for word in read_list(raw, "", 0)]
    except UnderstudyError:
        raise _Unreadable(f"holds unbalanced text {_cut(raw)}") from None


def _finite(word: str) -> float:
    value = float(word) if _NUMBER.fullmatch(word) else math.nan
    if not abs(value) <= _LARGEST:
        raise ValueError(word)
    return value


def _short(knobs: Mapping[str, str], knob: Knob[Value]) -> str:
    return _cut(next(knobs[name] for name in (knob.name, *knob.aliases) if name in knobs))


def _cut(raw: str) -> str:
    text = " ".join(raw.split())
    return repr(text if len(text) <= 60 else text[:57] + "...")
