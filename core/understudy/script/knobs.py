"""Knobs read as what they are: each is declared once with its name and default, and refuses what it cannot be."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from understudy.errors import UnderstudyError
from understudy.script.channels import ChannelSet, channel_set
from understudy.script.graph import Node
from understudy.script.values.fault import Moves, Unreadable, shortened
from understudy.script.values.moment import Moment, folded
from understudy.script.values.written import linked_words, words_of

Value = TypeVar("Value", covariant=True)

Colour = tuple[float, float, float, float]
"""Values for red, green, blue, alpha."""
Triple = tuple[float, float, float]
"""Values for red, green, blue."""
Matrix = tuple[Triple, Triple, Triple]
"""Rows."""
Pair = tuple[float, float]
"""Of the two directions: x and y, or width and height."""
Box = tuple[float, float, float, float]
"""x, y, r, t in pixels from the format's lower left corner, y up."""


@dataclass(frozen=True, kw_only=True)
class Stated:
    """What a script says of a knob, and when it is asked for."""

    raw: str
    node: Node
    name: str
    moment: Moment

    def number(self) -> float:
        """Of a knob that has one only. Raises Unreadable."""
        return self.moment.number(self.node, self.name, self.raw)

    def numbers(self) -> list[float]:
        """Of a knob that has several. Raises Unreadable."""
        return self.moment.numbers(self.node, self.name, self.raw)

    def text(self) -> str:
        """Of a knob that has words; what a link to another leads to. Raises Unreadable."""
        return self.moment.text(self.node, self.name, self.raw).strip()

    def channel_words(self) -> list[str]:
        """Of a knob that selects channels: layers and channels, each with a `-` where it is switched off.

        Raises Unreadable.
        """
        text = self.text()
        if linked_words(text):
            raise Unreadable(f"is a link to {shortened(text)}, which names no channels")
        words = [word for word in re.split(r"[\s{}]+", text) if word]
        strange = [word for word in words if not re.fullmatch(r"-?[\w.]+", word)]
        if strange:
            raise Unreadable(f"holds {shortened(strange[0])}, which is not a channel or layer")
        return words


@dataclass(frozen=True, kw_only=True)
class Knob(Generic[Value]):
    """One knob of a node class."""

    name: str
    default: Value
    """What Nuke leaves out of the script."""
    parse: Callable[[Stated], Value]
    """Raises Unreadable."""
    aliases: tuple[str, ...] = ()
    """Names by which other versions wrote it."""
    parts: tuple[str, ...] = ()
    """What links call its numbers; none where it has one."""
    choices: tuple[str, ...] = ()
    """All words of an enumeration, in their order."""
    default_text: str = ""
    """The default as a script would write it, of a knob that has words."""

    def of(self, node: Node, moment: Moment) -> Value:
        """The node's value at the moment.

        Raises UnderstudyError naming node and knob if it is not one that this knob can have, KnobMoves where it
        changes from frame to frame and is asked for all.
        """
        for name in self.names:
            if name in node.knobs:
                return self._parsed(Stated(raw=node.knobs[name], node=node, name=name, moment=moment))
        return self.default

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)

    @property
    def default_numbers(self) -> tuple[float, ...]:
        """The default as links see it; empty where it is no number."""
        values = self.default if isinstance(self.default, tuple) else (self.default,)
        return tuple(float(value) for value in values if isinstance(value, int | float))

    def is_stated(self, node: Node) -> bool:
        return any(name in node.knobs for name in self.names)

    def refuse_change(self, node: Node, moment: Moment) -> None:
        """Raise UnderstudyError if the node has anything but the default, which is all that can be evaluated."""
        if self.of(node, moment) != self.default:
            raw = next(node.knobs[name] for name in self.names if name in node.knobs)
            raise knob_error(node, self.name, f"set to {shortened(raw)} cannot be evaluated")

    def _parsed(self, stated: Stated) -> Value:
        try:
            return self.parse(stated)
        except Moves as fault:
            raise KnobMoves(_message(stated.node, stated.name, str(fault))) from None
        except Unreadable as fault:
            raise knob_error(stated.node, stated.name, str(fault)) from None


class KnobMoves(UnderstudyError):
    """A knob changes from frame to frame where it must not."""


def knob_error(node: Node, knob: str, what: str) -> UnderstudyError:
    """One line: node, class, knob, what is wrong, and the way out that always works."""
    return UnderstudyError(_message(node, knob, what))


def _message(node: Node, knob: str, what: str) -> str:
    return f"{node.label}, line {node.line}: knob {knob} {what}; bake it, or render the node first"


def bool_knob(name: str, default: bool) -> Knob[bool]:
    return Knob(name=name, default=default, parse=_bool)


def int_knob(name: str, default: int, *aliases: str) -> Knob[int]:
    return Knob(name=name, default=default, parse=_int, aliases=aliases)


def float_knob(name: str, default: float) -> Knob[float]:
    return Knob(name=name, default=default, parse=_number)


def colour_knob(name: str, default: float) -> Knob[Colour]:
    return Knob(name=name, default=(default,) * 4, parse=_colour, parts=("r", "g", "b", "a"))


def rgb_knob(name: str, default: float) -> Knob[Triple]:
    return Knob(name=name, default=(default,) * 3, parse=_triple, parts=("r", "g", "b"))


def matrix_knob(name: str) -> Knob[Matrix]:
    """Three rows of three numbers; left out, it changes nothing."""
    return Knob(name=name, default=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), parse=_matrix)


def grid_knob(name: str, size: int) -> Knob[tuple[tuple[float, ...], ...]]:
    """So many rows of as many numbers; left out, it changes nothing."""
    same = tuple(tuple(float(row == column) for column in range(size)) for row in range(size))
    return Knob(name=name, default=same, parse=lambda stated: _grid(stated, size))


def box_knob(name: str, default: Box) -> Knob[Box]:
    return Knob(name=name, default=default, parse=_box, parts=("x", "y", "r", "t"))


def pair_knob(name: str, default: Pair, parts: tuple[str, str] = ("x", "y")) -> Knob[Pair]:
    """One number stands for both."""
    return Knob(name=name, default=default, parse=_pair, parts=parts)


def text_knob(name: str, default: str = "") -> Knob[str]:
    return Knob(name=name, default=default, parse=Stated.text, default_text=default)


def enum_knob(name: str, choices: Sequence[str], default: str) -> Knob[str]:
    """A word of `choices`, written out, with _ for spaces, or as its number from 0."""
    every = tuple(choices)
    return Knob(
        name=name,
        default=default,
        parse=lambda stated: _enum(stated, every),
        choices=every,
        default_text=default,
    )


def word_knob(name: str, choices: Sequence[str], default: str) -> Knob[str]:
    """A word of `choices`, which are not all that there are: a number says nothing here."""
    return Knob(name=name, default=default, parse=lambda stated: _word(stated, choices), default_text=default)


def channels_knob(name: str, default: str, *aliases: str) -> Knob[ChannelSet]:
    return Knob(name=name, default=channel_set([default]), parse=_channels, aliases=aliases, default_text=default)


def channel_knob(name: str, default: str) -> Knob[str]:
    """One channel by Nuke's full name; empty where there is none, or it is switched off."""
    return Knob(name=name, default=default, parse=_channel, default_text=default)


def channel_words_knob(name: str, default: str, *aliases: str) -> Knob[tuple[str, ...]]:
    """Channels in an order that matters, or a layer: the words as they stand, none where nothing is selected."""
    return Knob(
        name=name,
        default=(default,),
        parse=lambda stated: tuple(stated.channel_words()),
        aliases=aliases,
        default_text=default,
    )


def _bool(stated: Stated) -> bool:
    return stated.number() != 0


def _int(stated: Stated) -> int:
    value = stated.number()
    if value != int(value):
        raise Unreadable(f"is {value:g}, not a whole number")
    return int(value)


def _number(stated: Stated) -> float:
    return stated.number()


def _colour(stated: Stated) -> Colour:
    red, green, blue, alpha = _one_or(4, stated)
    return red, green, blue, alpha


def _triple(stated: Stated) -> Triple:
    red, green, blue = _one_or(3, stated)
    return red, green, blue


def _matrix(stated: Stated) -> Matrix:
    (a, b, c), (d, e, f), (g, h, i) = _grid(stated, 3)
    return (a, b, c), (d, e, f), (g, h, i)


def _grid(stated: Stated, size: int) -> tuple[tuple[float, ...], ...]:
    rows = words_of(stated.raw)
    if len(rows) != size:
        raise Unreadable(f"has {len(rows)} rows in place of {size}")
    grid = tuple(tuple(replace(stated, raw=row).numbers()) for row in rows)
    for row in grid:
        if len(row) != size:
            raise Unreadable(f"has a row of {len(row)} values in place of {size}")
    return grid


def _pair(stated: Stated) -> Pair:
    first, second = _one_or(2, stated)
    return first, second


def _one_or(count: int, stated: Stated) -> list[float]:
    """So many numbers; one stands for all."""
    values = stated.numbers()
    if len(values) not in (1, count):
        raise Unreadable(f"has {len(values)} values in place of 1 or {count}")
    return values if len(values) == count else values * count


def _box(stated: Stated) -> Box:
    values = stated.numbers()
    if len(values) != 4:
        raise Unreadable(f"has {len(values)} values in place of x y r t")
    return (values[0], values[1], values[2], values[3])


def _enum(stated: Stated, choices: Sequence[str]) -> str:
    word = stated.text()
    known = {folded(choice): choice for choice in choices}
    if folded(word) in known:
        return known[folded(word)]
    if not word.startswith("{"):
        number = int(word) if word.isdigit() and len(word) < 4 else len(choices)
    else:
        number = int(stated.number())
    if 0 <= number < len(choices):
        return choices[number]
    raise Unreadable(f"is {shortened(word)}, which is none of {', '.join(choices)}")


def _word(stated: Stated, choices: Sequence[str]) -> str:
    word = stated.text()
    if word not in choices:
        raise Unreadable(f"is {shortened(word)}, which is none of {', '.join(choices)}")
    return word


def _channels(stated: Stated) -> ChannelSet:
    return channel_set(stated.channel_words())


def _channel(stated: Stated) -> str:
    words = stated.channel_words()
    if len(words) != 1:
        raise Unreadable(f"names {len(words)} channels in place of 1")
    is_none = words[0].startswith("-") or words[0] == "0" or words[0].rpartition(".")[2] == "none"
    return "" if is_none else words[0]
