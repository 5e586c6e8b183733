"""What expressions ask of a node's picture: `input.width`, `Read1.format.w`, `input0.bbox.r`, `input.first_frame`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import local
from typing import Protocol

from understudy.errors import UnderstudyError
from understudy.frames.window import Window
from understudy.script.graph import Node
from understudy.script.values.fault import Moves, Unreadable

_FORMATS = ("format", "actual_format", "full_size_format")
_BOX = "bbox"
_SIZES = {"width": "w", "height": "h", "pixel_aspect": "pixel_aspect"}
_RANGE = ("first_frame", "last_frame")
_SIDES = ("x", "y", "r", "t", "w", "h")


@dataclass(frozen=True)
class Fact:
    """One number of a node's picture."""

    of: str
    """format, bbox, first_frame or last_frame."""
    part: str = ""
    """A side, y up from the format's lower left corner, w, h, or pixel_aspect."""

    def of_format(self, window: Window, pixel_aspect: float) -> float:
        """The number of a format that lies at 0, 0."""
        if self.part == "pixel_aspect":
            return pixel_aspect
        return self.of_box(window, window)

    def of_box(self, window: Window, display: Window) -> float:
        """The number of a window within a format, display coordinates."""
        sides = {
            "x": window.x0 - display.x0,
            "y": display.y1 - window.y1,
            "r": window.x1 - display.x0,
            "t": display.y1 - window.y0,
            "w": window.width,
            "h": window.height,
        }
        return float(sides[self.part])


def fact_of(word: str, rest: Sequence[str], has_knob: bool) -> Fact | None:
    """The fact that a word after a node's name means, with the words behind it; None where it means none.

    `has_knob`: the node has a knob of that name, which has numbers.
    """
    if has_knob:
        return None
    if word in _SIZES and not rest:
        return Fact("format", _SIZES[word])
    if word in _RANGE and not rest:
        return Fact(word)
    if len(rest) != 1 or (word not in _FORMATS and word != _BOX):
        return None
    is_known = rest[0] in _SIDES or (rest[0] == "pixel_aspect" and word != _BOX)
    return Fact(_BOX if word == _BOX else "format", rest[0]) if is_known else None


class Seen(Protocol):
    """What is known of a picture before a pixel of it is computed."""

    @property
    def data_window(self) -> Window: ...

    @property
    def display_window(self) -> Window: ...

    @property
    def pixel_aspect(self) -> float: ...


class Range(Protocol):
    """The frames that a node has."""

    @property
    def first(self) -> int: ...

    @property
    def last(self) -> int: ...


class Evaluated(Protocol):
    """Whoever evaluates the script."""

    def span(self, node: Node) -> Range: ...

    def picture(self, node: Node, frame: int) -> Seen: ...


class Pictures:
    """Looks at pictures for knobs, which pictures may need in their turn."""

    def __init__(self, evaluated: Evaluated) -> None:
        self._evaluated = evaluated
        self._open = local()

    def number(self, node: Node, fact: Fact, frame: float | None) -> float:
        """Raises Unreadable, and Moves where the frame is None and the fact is not one of all frames."""
        with self._looking(node, fact, frame):
            try:
                return self._number(node, fact, frame)
            except UnderstudyError:
                raise Unreadable(f"asks for the {fact.of} of {node.path}, which cannot be evaluated") from None

    def _number(self, node: Node, fact: Fact, frame: float | None) -> float:
        if fact.of in _RANGE:
            span = self._evaluated.span(node)
            return float(span.first if fact.of == _RANGE[0] else span.last)
        if frame is None:
            raise Moves(f"asks for the {fact.of} of {node.path}, which may change with the frame")
        if frame != int(frame):
            raise Unreadable(f"asks for the {fact.of} of {node.path} at {frame:g}, which is between frames")
        seen = self._evaluated.picture(node, int(frame))
        if fact.of == _BOX:
            return fact.of_box(seen.data_window, seen.display_window)
        return fact.of_format(seen.display_window, seen.pixel_aspect)

    @contextmanager
    def _looking(self, node: Node, fact: Fact, frame: float | None) -> Iterator[None]:
        """Raises Unreadable for a picture that hangs on what is asked of it."""
        on_way: set[object] = self._open.__dict__.setdefault("on_way", set())
        key = (node.index, fact.of, frame)
        if key in on_way:
            raise Unreadable(f"depends on itself through the {fact.of} of {node.path}")
        on_way.add(key)
        try:
            yield
        finally:
            on_way.discard(key)
