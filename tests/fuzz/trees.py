"""Damage to JSON that leaves it JSON: keys and values missing, too many, of another kind, or out of all bounds."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.fuzz.damage import TEXT_DAMAGES, damaged

JUNK: tuple[object, ...] = (
    *(None, True, False, -1, 0, 1, 0.5, 2**31, 2**63, -(2**64), 10**30, 1e308, -0.0, 5e-324),
    *(float("nan"), float("inf"), float("-inf")),
    *("", "large", "R", "é\0", "\ud800", "a\nb", "\x1b[2J\x85", "%d %s {0}", "/", "~", "..", "NaN", "-1-x", "x" * 3000),
    *("1-2000000", "1001-1", "9" * 400, "#", "plate.####.exr", "2026-13-45T99:00", "🎬", "\u2028"),
    *([], ["R"], [""], [1], [None], {}, [[]], {"": 1}, {"kind": "script"}, list(range(300))),
)
_DEEP = 100_000
_MOST_RAW = 3
RAW: dict[str, tuple[str, ...]] = {
    "@numbers@": ("1e999", "-1e999", "1" * 5000, "-0", "1.5e-400"),
    "@nested@": ("[" * _DEEP + "]" * _DEEP, '{"a":' * _DEEP + "1" + "}" * _DEEP, "[[[[" * 200 + "]]]]" * 200),
    "@twice@": ('{"a": 1, "a": []}',),
    "@stacks@": tuple(
        '{"OTIO_SCHEMA": "Stack.1", "children": [' * depth + "]}" * depth for depth in (100, 400, 3000, 50000)
    ),
}
"""What no writer of JSON gives, but a reader may be given; by what stands for it in a tree."""


@dataclass(frozen=True)
class Spot:
    """A value's place in a tree."""

    holder: dict[str, object] | list[object]
    key: str | int

    @property
    def value(self) -> object:
        return self.holder[self.key]  # type: ignore[index]

    def put(self, value: object) -> None:
        self.holder[self.key] = value  # type: ignore[index]

    def remove(self) -> None:
        del self.holder[self.key]  # type: ignore[arg-type]


Deed = Callable[[Spot, Sequence[Spot], random.Random], None]


def damaged_json(content: bytes, chance: random.Random, deeds: Sequence[Deed] = ()) -> bytes:
    """As bytes, or as a tree: by the deeds given half of the time, else by those that fit any."""
    if chance.random() < 0.3:
        return damaged(content, chance, TEXT_DAMAGES)
    return text_of(damaged_tree(json.loads(content), chance, deeds), chance).encode("utf-8", "surrogatepass")


def damaged_tree(tree: object, chance: random.Random, deeds: Sequence[Deed] = ()) -> object:
    """The tree itself, changed, or something else in its place."""
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        found = spots_of(tree)
        if not found or chance.random() < 0.03:
            return chance.choice((*JUNK, [tree], {"a": tree}))
        some = deeds if deeds and chance.random() < 0.5 else DEEDS
        chance.choice(some)(chance.choice(found), found, chance)
    return tree


def text_of(tree: object, chance: random.Random) -> str:
    text = json.dumps(tree, ensure_ascii=chance.random() < 0.5, indent=chance.choice((None, 1)))
    for mark, texts in RAW.items():
        for _ in range(_MOST_RAW):
            text = text.replace(f'"{mark}"', chance.choice(texts), 1)
    return text


def spots_of(tree: object) -> list[Spot]:
    """Of all values in it, from the top."""
    found: list[Spot] = []
    waiting = [tree]
    for holder in waiting:  # it grows
        if isinstance(holder, dict):
            found += [Spot(holder, key) for key in holder]
            waiting += holder.values()
        elif isinstance(holder, list):
            found += [Spot(holder, place) for place in range(len(holder))]
            waiting += holder
    return found


def leave_out(spot: Spot, _all: Sequence[Spot], _chance: random.Random) -> None:
    spot.remove()


def put_junk(spot: Spot, _all: Sequence[Spot], chance: random.Random) -> None:
    spot.put(copy.deepcopy(chance.choice(JUNK)))


def put_raw(spot: Spot, _all: Sequence[Spot], chance: random.Random) -> None:
    spot.put(chance.choice(("@numbers@", "@nested@", "@twice@")))


def add(spot: Spot, _all: Sequence[Spot], chance: random.Random) -> None:
    more = copy.deepcopy(chance.choice(JUNK))
    if isinstance(spot.holder, dict):
        spot.holder[chance.choice(("unheard_of", "", "schema", "__class__", str(spot.key) + "_", "\ud800"))] = more
    else:
        spot.holder.append(more)


def rename(spot: Spot, _all: Sequence[Spot], chance: random.Random) -> None:
    if isinstance(spot.holder, dict):
        spot.holder[chance.choice((f"{spot.key}s", str(spot.key).upper(), ""))] = spot.value
        spot.remove()


def put_another(spot: Spot, others: Sequence[Spot], chance: random.Random) -> None:
    """What stands elsewhere in the tree."""
    spot.put(copy.deepcopy(chance.choice(others).value))


def repeat(spot: Spot, _all: Sequence[Spot], chance: random.Random) -> None:
    if isinstance(spot.holder, list):
        spot.holder.extend([copy.deepcopy(spot.value) for _ in range(chance.choice((1, 3, 100)))])


def wrap(spot: Spot, _all: Sequence[Spot], chance: random.Random) -> None:
    value = spot.value
    spot.put(chance.choice(([value], {"a": value}, str(value), [value, value])))


def count_on(spot: Spot, _all: Sequence[Spot], chance: random.Random) -> None:
    """A number becomes another one: a neighbour, its opposite, or a giant."""
    value = spot.value
    if isinstance(value, int | float) and not isinstance(value, bool):
        spot.put(chance.choice((value + 1, value - 1, -value, value * 1000, float(value) + 0.5, 10**18, str(value))))
    else:
        put_junk(spot, (), chance)


DEEDS: tuple[Deed, ...] = (
    *(leave_out, put_junk, put_junk, put_junk, put_raw, add, rename, put_another, repeat, wrap, count_on, count_on),
)
