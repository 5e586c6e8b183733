"""Expression: arithmetic for each pixel, over its channels and place, and over knobs.

An expression left empty changes nothing. Pixels are counted from the format's lower left corner, from 0. What a name
means is asked in this order: a variable of the node, a channel or place (`r`, `x`), a knob of the node, the format
(`width`), another channel (`red`, `forward.u`), the frame, a knob elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from understudy.errors import ProblemList, UnderstudyError
from understudy.frames.image import FloatPixels
from understudy.frames.window import Window
from understudy.script.channels import ChannelSet, exr_name, nuke_name
from understudy.script.graph import Node
from understudy.script.knobs import Knob, channels_knob, knob_error, text_knob
from understudy.script.nodes.base import Info, Request, Tree
from understudy.script.nodes.overlay import Planes, planes
from understudy.script.nodes.pixels import INPUT_MASK, OWN_MASK, UNPREMULT, PixelNode, filled
from understudy.script.user_knobs import with_unwritten
from understudy.script.values.fault import Moves, Unreadable, shortened
from understudy.script.values.formula import Formula, Name, formula_of
from understudy.script.values.functions import Numbers
from understudy.script.values.moment import Moment

ROWS = tuple(
    (channels_knob(f"channel{number}", colour), text_knob(f"expr{number}"))
    for number, colour in enumerate(("red", "green", "blue", "alpha"))
)
VARIABLES = tuple((text_knob(f"temp_name{number}"), text_knob(f"temp_expr{number}")) for number in range(4))

_COLOURS = {"r": "red", "g": "green", "b": "blue", "a": "alpha"}
_PLACE = ("x", "y")
_FORMAT = ("width", "height", "pixel_aspect")
_NOT_KNOWN = ("cx", "cy", "aspect")
"""Words of Nuke's whose exact values are not documented."""


class Plane(NamedTuple):
    """One channel of one input."""

    input: int
    channel: str
    """As OpenEXR names it."""


Given = dict[str | Plane, Numbers]
"""What words and channels are for some pixels: a number each, or as many as there are pixels."""


class Expression(PixelNode):
    names: tuple[str, ...] = ("Expression",)
    page = "color_nodes/expression.html"
    letters: tuple[tuple[str, int], ...] = (("", 0),)
    """What the name of a channel begins with, and the input that is meant."""
    still = (OWN_MASK, INPUT_MASK, *(knob for pair in (*ROWS, *VARIABLES) for knob in pair))
    fixed = (*PixelNode.fixed, UNPREMULT)

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        _rows(node, moment), _variables(node, moment)
        if moment.frame is not None:
            self._scope(tree, node, moment).check()

    def chosen(self, node: Node, moment: Moment) -> ChannelSet:
        chosen = ChannelSet()
        for row in _rows(node, moment):
            chosen = chosen | row.channels
        return chosen

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        """Those of the input, and those that are made."""
        there, rows = super().channels(tree, node), _rows(node, tree.moment(None))
        self._scope(tree, node, tree.moment(None)).check()
        made = tuple(dict.fromkeys((*there, *(name for row in rows for name in _new_channels(node, row, there)))))
        _refuse_two_of_one(node, rows, made)
        return made

    def looked_at(self, tree: Tree, node: Node) -> tuple[str, ...]:
        return tuple(plane.channel for plane in self._scope(tree, node, tree.moment(None)).planes() if not plane.input)

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        """What depends on a pixel's place is taken to fill the format, as is what makes something of black."""
        above, scope = super().info(tree, node, frame), self._scope(tree, node, tree.moment(frame))
        for number in sorted({number for _, number in self.letters} - {0}):
            window = tree.info(tree.input(node, number), frame).data_window
            above = replace(above, data_window=above.data_window.union(window))
        if scope.asks_for_place():
            return filled(above)
        black: Given = dict.fromkeys(scope.planes(), np.float64(0))
        with np.errstate(all="ignore"):
            values = scope.values({**_format_of(above), **black})
        return filled(above) if np.nan_to_num(values).any() else above

    def content(self, tree: Tree, node: Node, frame: int) -> tuple[object, ...]:
        return (*super().content(tree, node, frame), *self._scope(tree, node, tree.moment(frame)).numbers())

    def changed(self, tree: Tree, node: Node, request: Request, pixels: FloatPixels) -> FloatPixels:
        scope = self._scope(tree, node, tree.moment(request.frame))
        info = tree.info(tree.input(node, 0), request.frame)
        seen, named = Given(), scope.planes()
        pictures = {0: Planes(pixels=pixels, channels=request.channels)}
        for number in {plane.input for plane in named} - {0}:
            asked = [plane.channel for plane in named if plane.input == number]
            pictures[number] = planes(tree, tree.input(node, number), request, asked)
        for plane in named:
            seen[plane] = pictures[plane.input].of([plane.channel])[..., 0].astype(np.float64)
        values = scope.values({**_format_of(info), **_places(request.region, info.display_window), **seen})
        out: FloatPixels = pixels.copy()
        for row, value in zip(scope.rows, values, strict=True):
            for channel in row.channels.of(request.channels):
                out[..., request.channels.index(channel)] = value
        return out

    def _scope(self, tree: Tree, node: Node, moment: Moment) -> _Scope:
        return _Scope(
            node=node,
            moment=moment,
            there={letter: (number, tree.channels(tree.input(node, number))) for letter, number in self.letters},
            own=with_unwritten(node).knobs if node.user_knobs else node.knobs,
            variables=_variables(node, moment),
            rows=_rows(node, moment),
        )


@dataclass(frozen=True, kw_only=True)
class _Line:
    """An expression, and the knob that holds it."""

    knob: Knob[str]
    formula: Formula
    name: str = ""
    """Of the variable that it gives."""
    channels: ChannelSet = ChannelSet()
    """That it gives."""

    def fault(self, node: Node, what: Unreadable) -> UnderstudyError:
        return knob_error(node, self.knob.name, str(what))


@dataclass(frozen=True, kw_only=True)
class _Scope:
    """The lines of a node, and what the names in them mean at a moment."""

    node: Node
    moment: Moment
    there: Mapping[str, tuple[int, tuple[str, ...]]]
    """By what the names of their channels begin with: the inputs and the channels that they have."""
    own: Mapping[str, str]
    """The node's knobs."""
    variables: tuple[_Line, ...]
    rows: tuple[_Line, ...]

    def check(self) -> None:
        """Raise Problems naming each knob with a name that means nothing, or has no number at the moment."""
        problems = ProblemList()
        for line, name in self._names():
            with problems.collecting(), suppress(Moves):
                try:
                    self._number_of(name)
                except Moves:
                    raise
                except Unreadable as fault:
                    raise line.fault(self.node, fault) from None
        problems.raise_if_any()

    def planes(self) -> tuple[Plane, ...]:
        """The channels that are named."""
        return tuple(dict.fromkeys(filter(None, (self._plane(name) for _, name in self._names()))))

    def asks_for_place(self) -> bool:
        return any(self._given(name) in _PLACE for _, name in self._names())

    def numbers(self) -> tuple[float | None, ...]:
        """Of all names that are knobs; with a frame of its own one may be any."""
        names = [name for _, name in self._names()]
        return (*map(self._number_of, names), self.moment.frame if any(name.has_frame for name in names) else None)

    def values(self, given: Given) -> list[Numbers]:
        """What each row comes to, where channels, places and the format are `given`. Raises UnderstudyError."""
        known: dict[str, Numbers] = {}

        def look(name: Name, frame: float | None) -> Numbers:
            word = self._variable(name)
            if word:
                return known[word]
            found = self._given(name) or self._plane(name)
            return given[found] if found else np.float64(self._number(name, frame))

        for line in (*self.variables, *self.rows):
            try:
                known[line.name or line.knob.name] = line.formula.compute(look)
            except Unreadable as fault:
                raise line.fault(self.node, fault) from None
        return [known[row.knob.name] for row in self.rows]

    def _names(self) -> Iterator[tuple[_Line, Name]]:
        for line in (*self.variables, *self.rows):
            for step in line.formula.steps:
                if isinstance(step, Name):
                    yield line, step

    def _variable(self, name: Name) -> str:
        return name.words[0] if any(name.words == (line.name,) for line in self.variables) else ""

    def _given(self, name: Name) -> str:
        """The word, where it is one for a place or the format."""
        word = name.words[0] if len(name.words) == 1 and not self._variable(name) else ""
        is_given = word in _PLACE or (word in _FORMAT and word not in self.own)
        return word if is_given else ""

    def _plane(self, name: Name) -> Plane | None:
        """The channel that is meant; None: none is."""
        if self._variable(name) or len(name.words) > 2 or (len(name.words) == 2 and name.words[0] in self.own):
            return None
        for letter, (number, there) in self.there.items():
            if name.words[0].startswith(letter):
                words = (name.words[0].removeprefix(letter), *name.words[1:])
                channel = self._channel(words, letter, there)
                if channel:
                    return Plane(number, channel)
        return None

    def _channel(self, words: tuple[str, ...], letter: str, there: tuple[str, ...]) -> str:
        """As OpenEXR calls it; empty: none is meant. `A.red` is the main layer's, as `Ar` is."""
        if len(words) == 1 or not words[0]:
            word = words[-1]
            is_spelled_out = word in _COLOURS.values() and (len(words) == 2 or not letter) and word not in self.own
            colour = _COLOURS.get(word, word if is_spelled_out else "")
            return exr_name(f"rgba.{colour}", there) if colour else ""
        wanted = nuke_name(".".join(words))
        return next((channel for channel in there if nuke_name(channel) == wanted), "")

    def _number_of(self, name: Name) -> float | None:
        """At the moment; None where the name is no knob's."""
        if self._variable(name) or self._given(name) or self._plane(name):
            if name.has_frame:
                raise Unreadable(f"asks for {name.words[0]} of another pixel, which is not evaluated")
            return None
        return self._number(name, self.moment.frame)

    def _number(self, name: Name, frame: float | None) -> float:
        text, is_own = ".".join(name.words), name.words[0] in self.own
        if text in _NOT_KNOWN and not is_own:
            raise Unreadable(f"holds {text}, whose exact value is not known")
        moment = self.moment if frame is None else replace(self.moment, frame=frame)
        return moment.number(self.node, "expression", f"this.{text}" if is_own else text)


def _rows(node: Node, moment: Moment) -> tuple[_Line, ...]:
    stated = [(channels.of(node, moment), knob) for channels, knob in ROWS if knob.of(node, moment)]
    return tuple(
        _Line(knob=knob, channels=channels, formula=_formula(node, knob, moment))
        for channels, knob in stated
        if channels != ChannelSet()
    )


def _variables(node: Node, moment: Moment) -> tuple[_Line, ...]:
    found: list[_Line] = []
    for name, knob in VARIABLES:
        if not name.of(node, moment):
            continue
        line = _Line(knob=knob, name=name.of(node, moment), formula=_formula(node, knob, moment))
        later = {other.of(node, moment) for other, _ in VARIABLES} - {known.name for known in found}
        early = [step for step in line.formula.steps if isinstance(step, Name) and ".".join(step.words) in later]
        if early:
            raise knob_error(node, knob.name, f"uses {early[0].words[0]}, which is computed after it")
        found.append(line)
    return tuple(found)


def _formula(node: Node, knob: Knob[str], moment: Moment) -> Formula:
    try:
        return _read(knob.of(node, moment) or "0")
    except Unreadable as fault:
        raise knob_error(node, knob.name, str(fault)) from None


@lru_cache(maxsize=4096)
def _read(text: str) -> Formula:
    """With numbers as single as those of pixels, so that `r == 0.1` is true of a pixel of 0.1."""
    formula = formula_of(text)
    steps = (np.float64(np.float32(step)) if isinstance(step, np.float64) else step for step in formula.steps)
    return replace(formula, steps=tuple(steps))


def _new_channels(node: Node, row: _Line, there: tuple[str, ...]) -> Iterator[str]:
    """Channels that the row gives and the input lacks."""
    if not row.channels.of(there):
        unknown = row.channels.layers - {"depth"}
        if unknown:
            raise knob_error(node, row.knob.name, f"gives the layer {shortened(min(unknown))}, which the input lacks")
    names = sorted({*row.channels.names, *(["depth.Z"] if "depth" in row.channels.layers else [])})
    yield from (exr_name(name, there) for name in names)


def _refuse_two_of_one(node: Node, rows: tuple[_Line, ...], channels: tuple[str, ...]) -> None:
    given: dict[str, str] = {}
    for row in rows:
        for channel in row.channels.of(channels):
            if given.setdefault(channel, row.knob.name) != row.knob.name:
                raise knob_error(node, row.knob.name, f"gives {channel}, as {given[channel]} does; leave one of them")


def _format_of(info: Info) -> Given:
    window = info.display_window
    numbers = (window.width, window.height, info.pixel_aspect)
    return {word: np.float64(number) for word, number in zip(_FORMAT, numbers, strict=True)}


def _places(region: Window, display: Window) -> Given:
    """x as 1 W, y as H 1, from the format's lower left corner."""
    x = np.arange(region.x0, region.x1, dtype=np.float64)[None, :] - display.x0
    y = display.y1 - 1 - np.arange(region.y0, region.y1, dtype=np.float64)[:, None]
    return dict(zip(_PLACE, (x, y), strict=True))
