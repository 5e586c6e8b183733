"""Animation curves as scripts state them: `curve x1001 0.5 s0 x1040 1`.

After `x` stands a frame, after that the value there; a value without a frame of its own lies one frame on. A letter
gives the type of the keys that follow it: K holds, L is straight, H flat, R runs as Catmull and Rom have it, none or S
is smooth. After a value stand the slopes s (on both sides, or of the left where t gives that of the right), and the
lengths u and v of the two handles in thirds of the way to the next key. A letter i changes no value. Outside its keys
a curve holds its ends.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from understudy.script.values.fault import Moves, Unreadable, shortened

LARGEST = 1e15
"""Beyond it a value is a slip, and no longer exact as an integer."""
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")

_HELD, _SMOOTH = "K", ("", "S")
_LONGEST_HANDLE = 3.0
"""A longer one reaches past the next key, so that the curve turns back in time."""
_HALVINGS = 60


@dataclass(frozen=True, kw_only=True)
class Key:
    """One key of a curve."""

    frame: float
    value: float
    kind: str
    """Its type's letter; empty: smooth."""
    slopes: tuple[float | None, float | None] = (None, None)
    """Left and right, in units of the value per frame; None: by the type."""
    handles: tuple[float, float] = (1.0, 1.0)
    """Lengths, left and right, in thirds of the way to the next key."""


@dataclass(frozen=True)
class Curve:
    """A value over time."""

    keys: tuple[Key, ...]
    """At least one, in the order of their frames."""

    def at(self, frame: float | None) -> float:
        """The value at a frame; None: the one of every frame.

        Raises Moves where there is none such, and Unreadable where it is not known how the curve runs.
        """
        if frame is None:
            if not self._is_still:
                raise Moves(f"is animated ({len(self.keys)} keys) where one number is needed")
            return self.keys[0].value
        after = bisect_right(self._frames, frame)
        before = self.keys[max(0, after - 1)]
        is_outside = after in (0, len(self.keys))
        return before.value if is_outside or before.frame == frame else self._between(after - 1, frame)

    @cached_property
    def _frames(self) -> list[float]:
        return [key.frame for key in self.keys]

    @cached_property
    def _is_still(self) -> bool:
        slopes = {slope for key in self.keys for slope in key.slopes}
        return len(self.keys) == 1 or (len({key.value for key in self.keys}) == 1 and slopes <= {None, 0.0})

    def _between(self, place: int, frame: float) -> float:
        """A Bezier from the key at `place` to the next: its handles end a third of the way on, or where they state."""
        left, right = self.keys[place : place + 2]
        if left.kind == _HELD:
            return left.value
        length = right.frame - left.frame
        out, into = left.handles[1] / 3, right.handles[0] / 3
        along = (frame - left.frame) / length
        if (out, into) != (1 / 3, 1 / 3):
            along = _where((0.0, out, 1 - into, 1.0), along)
        rise, fall = self._slope(place, 1) * length * out, self._slope(place + 1, 0) * length * into
        return _bezier((left.value, left.value + rise, right.value - fall, right.value), along)

    def _slope(self, place: int, side: int) -> float:
        """Of the key at `place`, to its left (0) or right (1)."""
        key = self.keys[place]
        stated = key.slopes[side]
        if stated is not None:
            return stated
        if key.kind == "L":
            return self._chord(place - 1 + side)
        is_end = place in (0, len(self.keys) - 1)
        if key.kind == "H" or (is_end and key.kind in ("R", *_SMOOTH)):
            return 0.0
        if key.kind == "R":
            before, after = self.keys[place - 1], self.keys[place + 1]
            return (after.value - before.value) / (after.frame - before.frame)
        if key.kind in _SMOOTH:
            chords = self._chord(place - 1), self._chord(place)
            return sum(chords) / 2 if chords[0] * chords[1] > 0 else 0.0
        raise Unreadable(f"has a key of type {key.kind} at frame {key.frame:g}, and how it runs there is not known")

    def _chord(self, place: int) -> float:
        left, right = self.keys[place : place + 2]
        return (right.value - left.value) / (right.frame - left.frame)


def curve_of(words: Sequence[str]) -> Curve:
    """The curve that the words after `curve` state. Raises Unreadable."""
    reader = _Reader()
    for word in words:
        reader.take(word)
    if not reader.keys:
        raise Unreadable("is a curve without a key")
    return Curve(tuple(reader.keys))


class _Reader:
    """The keys so far, and what holds for the next."""

    def __init__(self) -> None:
        self.keys: list[Key] = []
        self._kind = ""
        self._frame: float | None = None

    def take(self, word: str) -> None:
        letter, rest = word[:1], word[1:]
        if NUMBER.fullmatch(word):
            self._add(number_of(word))
        elif letter == "x":
            self._frame = number_of(rest)
        elif letter in "stuv" and self.keys:
            self.keys[-1] = _changed(self.keys[-1], letter, number_of(rest))
        elif word.isalpha() and word.isupper() and len(word) == 1:
            self._kind = word
        elif word != "i":
            raise Unreadable(f"has {shortened(word)} in its curve, which is not understood")

    def _add(self, value: float) -> None:
        frame = self._next_frame() if self._frame is None else self._frame
        if self.keys and frame <= self.keys[-1].frame:
            raise Unreadable(f"has a key at frame {frame:g} after one at frame {self.keys[-1].frame:g}")
        self.keys.append(Key(frame=frame, value=value, kind=self._kind))
        self._frame = None

    def _next_frame(self) -> float:
        """Where the keys before are one frame apart; otherwise the step might be theirs, which nothing says."""
        if not self.keys:
            return 0.0  # of a lone key, which holds everywhere
        frames = [key.frame for key in self.keys[-2:]]
        if len(frames) == 2 and frames[1] - frames[0] != 1:
            raise Unreadable(f"has a key without a frame after the one at frame {frames[1]:g}")
        return frames[-1] + 1


def _changed(key: Key, letter: str, number: float) -> Key:
    if letter in "uv" and not 0 <= number <= _LONGEST_HANDLE:
        raise Unreadable(f"has a handle of length {number:g} at frame {key.frame:g}")
    if letter == "s":
        return replace(key, slopes=(number, number))
    if letter == "t":
        return replace(key, slopes=(key.slopes[0], number))
    return replace(key, handles=(number, key.handles[1]) if letter == "u" else (key.handles[0], number))


def number_of(word: str) -> float:
    """A finite number of a size that is meant. Raises Unreadable."""
    value = float(word) if NUMBER.fullmatch(word) else LARGEST * 2
    if abs(value) > LARGEST:
        raise Unreadable(f"holds {shortened(word)} where a number is needed")
    return value


def _bezier(points: tuple[float, float, float, float], along: float) -> float:
    back = 1 - along
    weights = (back**3, 3 * back**2 * along, 3 * back * along**2, along**3)
    return sum(weight * point for weight, point in zip(weights, points, strict=True))


def _where(times: tuple[float, float, float, float], wanted: float) -> float:
    """How far along the Bezier the time is `wanted`: it only grows, so that halving finds the place."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _bezier(times, middle) < wanted else (low, middle)
    return (low + high) / 2
