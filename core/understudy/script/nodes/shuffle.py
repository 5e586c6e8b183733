"""Shuffle, ShuffleCopy and Shuffle2: each channel of one or two layers from any channel of others, black or white."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from understudy.script.channels import exr_name
from understudy.script.graph import Node
from understudy.script.knobs import Knob, channel_words_knob, enum_knob, knob_error, text_knob
from understudy.script.layers import COLOURS
from understudy.script.nodes.base import Tree
from understudy.script.nodes.layered import Words, four_of
from understudy.script.nodes.routes import Route, Router
from understudy.script.values.fault import shortened
from understudy.script.values.moment import Moment

_WORDS = (*COLOURS, "black", "white", *(f"{colour}2" for colour in COLOURS))
"""What a row can be: a colour of the first layer, none, all, a colour of the second layer."""
_ROWS = _WORDS[:8]
"""The knobs of the rows are called as if they were what a row can be; the last four fill the second layer."""
_SECOND = _WORDS[6:]
IN, IN2 = channel_words_knob("in", "rgba"), channel_words_knob("in2", "none")
OUT, OUT2 = channel_words_knob("out", "rgba"), channel_words_knob("out2", "none")
ROWS = tuple(enum_knob(row, _WORDS, word) for row, word in zip(_ROWS, (*COLOURS, *_SECOND), strict=True))
COPY_IN2 = replace(IN2, default=("rgba",))
COPY_ROWS = tuple(
    enum_knob(row, _WORDS, word) for row, word in zip(_ROWS, (*_SECOND[:3], "alpha", *_SECOND), strict=True)
)
_CONSTANTS = {"black": 0.0, "white": 1.0}

FROM_INPUTS = (text_knob("fromInput1", "{0} B"), text_knob("fromInput2", "{0} B"))
MAPPINGS = text_knob("mappings")
_LAYERS = tuple(channel_words_knob(name, "none" if "2" in name else "rgba") for name in ("in1", "in2", "out1", "out2"))
_UNCHANGED = "4 " + " ".join(f"rgba.{colour} 0 {at} rgba.{colour} 0 {at}" for at, colour in enumerate(COLOURS))
_FROM_INPUT = re.compile(r"\{(\d)\}((?:\s+[AB])+)")
_MOST_MAPPINGS = 64


class Shuffle(Router):
    """Four channels each of two layers; both are taken from input 0."""

    names: tuple[str, ...] = ("Shuffle",)
    page = "channel_nodes/shuffle.html"
    sources: tuple[Knob[Words], Knob[Words]] = (IN, IN2)
    inputs: tuple[int, int] = (0, 0)
    """From which each of the sources is taken."""
    rows: tuple[Knob[str], ...] = ROWS
    still: tuple[Knob[object], ...] = (IN, IN2, OUT, OUT2, *ROWS)

    def routes(self, tree: Tree, node: Node) -> Mapping[str, Route]:
        moment = tree.moment(None)
        known = {word: Route(value=value) for word, value in _CONSTANTS.items()}
        for knob, number, words in zip(self.sources, self.inputs, (COLOURS, _SECOND), strict=True):
            found = four_of(tree, node, knob, tree.channels(tree.input(node, number)))
            known |= {word: Route(input=number, channel=name) for word, name in zip(words, found, strict=True)}
        routes: dict[str, Route] = {}
        for knob, rows in ((OUT, self.rows[:4]), (OUT2, self.rows[4:])):
            targets = four_of(tree, node, knob, tree.channels(tree.input(node, 0)), is_made=True)
            for target in dict.fromkeys(filter(None, targets)):
                routes[target] = known[rows[targets.index(target)].of(node, moment)]
        return routes


class ShuffleCopy(Shuffle):
    """The first layer is taken from input 1, the second from input 0."""

    names = ("ShuffleCopy",)
    page = "channel_nodes/shufflecopy.html"
    sources = (IN, COPY_IN2)
    inputs = (1, 0)
    rows = COPY_ROWS
    still = (IN, COPY_IN2, OUT, OUT2, *COPY_ROWS)


class Shuffle2(Router):
    """Single channels of two layers' inputs, each from where `mappings` says; without it nothing is changed."""

    names = ("Shuffle2",)
    page = "channel_nodes/shuffle.html"
    still = (*FROM_INPUTS, MAPPINGS)

    def routes(self, tree: Tree, node: Node) -> dict[str, Route]:
        moment, there = tree.moment(None), tree.channels(tree.input(node, 0))
        inputs = [_input_number(node, knob, moment) for knob in FROM_INPUTS]
        routes: dict[str, Route] = {}
        for source, group, target in _mappings(node, moment):
            number = inputs[group] if group in (0, 1) else 0
            if source in _CONSTANTS:
                routes[exr_name(target, there)] = Route(value=_CONSTANTS[source])
            else:
                channel = exr_name(source, tree.channels(tree.input(node, number)))
                routes[exr_name(target, there)] = Route(input=number, channel=channel)
        return routes


def _input_number(node: Node, knob: Knob[str], moment: Moment) -> int:
    """`{1} B A` is the second of B (input 0) and A (input 1)."""
    stated = _FROM_INPUT.fullmatch(knob.of(node, moment))
    letters = stated[2].split() if stated else []
    place = int(stated[1]) if stated and len(letters) > 1 else 0
    if place >= len(letters):
        raise knob_error(node, knob.name, f"is {shortened(knob.of(node, moment))} in place of A or B")
    return int(letters[place] == "A")


def _mappings(node: Node, moment: Moment) -> Iterator[tuple[str, int, str]]:
    """Source, its group (0 for in1, 1 for in2), target: `4 rgba.red 0 0 rgba.red 0 0 ...`, a count before all."""
    text = MAPPINGS.of(node, moment)
    if not MAPPINGS.is_stated(node):
        stated = [knob.name for knob in _LAYERS if knob.of(node, moment) != knob.default]
        if stated:
            raise knob_error(node, MAPPINGS.name, f"is left out, and what it is with {stated[0]} is not known")
        text = _UNCHANGED
    count, *words = text.split() or ["0"]
    parts = [words[at : at + 6] for at in range(0, len(words), 6)]
    if count != str(len(parts)) or len(parts) > _MOST_MAPPINGS or not all(map(_is_mapping, parts)):
        raise knob_error(node, MAPPINGS.name, f"is {shortened(text)}, which is not understood")
    for source, group, _, target, *_ in parts:
        yield source, int(group), target


def _is_mapping(words: list[str]) -> bool:
    if len(words) != 6 or not all(re.fullmatch(r"-?\d{1,3}", words[at]) for at in (1, 2, 4, 5)):
        return False
    is_source = words[0] in _CONSTANTS or "." in words[0]
    return is_source and "." in words[3] and int(words[1]) in (-1, 0, 1)
