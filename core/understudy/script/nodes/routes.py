"""Nodes that move channels about: Copy, Shuffle, Shuffle2. Each states where a channel comes from."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.frames.window import Window
from understudy.script.channels import exr_name, nuke_name
from understudy.script.graph import Node
from understudy.script.knobs import Knob, channels_knob, enum_knob, float_knob, knob_error, text_knob
from understudy.script.nodes.base import Info, NodeClass, Request, Tree, node_error
from understudy.script.values.fault import shortened
from understudy.script.values.moment import Moment

BOXES = ("union", "intersection", "A", "B")
BBOX = enum_knob("bbox", BOXES, "union")
COPIED_LAYERS = channels_knob("channels", "none")
COPIES = tuple(
    (text_knob(f"from{number}", first), text_knob(f"to{number}", first))
    for number, first in enumerate(("rgba.alpha", "none", "none", "none"))
)
IN, IN2 = text_knob("in", "rgba"), text_knob("in2", "none")
OUT, OUT2 = text_knob("out", "rgba"), text_knob("out2", "none")
_COLOURS = ("red", "green", "blue", "alpha")
SHUFFLED = tuple(text_knob(colour, colour) for colour in _COLOURS)
FROM_INPUTS = (text_knob("fromInput1", "{0} B"), text_knob("fromInput2", "{0} B"))
MAPPINGS = text_knob("mappings")
_WHOLE = float_knob("mix", 1.0)
_MAIN = ("rgb", "rgba")
_CONSTANTS = {"black": 0.0, "white": 1.0}
_MOST_MAPPINGS = 64


@dataclass(frozen=True, kw_only=True)
class Route:
    """Where a channel comes from."""

    input: int = 0
    channel: str = ""
    """As OpenEXR names it; empty: `value` everywhere."""
    value: float = 0.0


class Router(NodeClass, ABC):
    """Gives some channels from elsewhere, and hands on the others of input 0."""

    makes_pixels = True

    @abstractmethod
    def routes(self, tree: Tree, node: Node) -> Mapping[str, Route]:
        """By the name of the channel that is given."""

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        beside = tree.script.input_of(node, 1)
        return (tree.input(node, 0), *([beside] if beside else []))

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*tree.channels(tree.input(node, 0)), *self.routes(tree, node))))

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        routes, region = self.routes(tree, node), request.region
        ways = [routes.get(channel, Route(channel=channel)) for channel in request.channels]
        out = np.empty((region.height, region.width, len(ways)), np.float32)  # H W C
        for number in {way.input for way in ways}:
            asked = tuple(dict.fromkeys(way.channel for way in ways if way.input == number and way.channel))
            pixels = tree.pixels(tree.input(node, number), replace(request, channels=asked))
            for place, way in enumerate(ways):
                if way.input == number:
                    out[..., place] = pixels[..., asked.index(way.channel)] if way.channel else way.value
        return out


class Copy(Router):
    """Channels of input 1 over those of input 0."""

    names = ("Copy",)
    page = "channel_nodes/copy.html"
    still = (BBOX, COPIED_LAYERS, *(knob for pair in COPIES for knob in pair))
    fixed = (_WHOLE,)

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        if tree.script.input_of(node, 2) is not None:
            raise node_error(node, "has a mask, which is not evaluated; disconnect it, or render the node first")

    def routes(self, tree: Tree, node: Node) -> dict[str, Route]:
        moment = tree.moment(None)
        there, beside = tree.channels(tree.input(node, 0)), tree.channels(tree.input(node, 1))
        layers = COPIED_LAYERS.of(node, moment).of(beside)
        routes = {exr_name(channel, there): Route(input=1, channel=channel) for channel in layers}
        for source, target in COPIES:
            taken, given = source.of(node, moment), target.of(node, moment)
            if taken != "none" and given != "none":
                routes[exr_name(given, there)] = Route(input=1, channel=exr_name(taken, beside))
        return routes

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        below, beside = (tree.info(tree.input(node, number), frame) for number in (0, 1))
        box = BBOX.of(node, tree.moment(frame))
        return replace(below, data_window=joined(box, beside.data_window, below.data_window))


class Shuffle(Router):
    """Four channels of one layer, each from any of input 0, or black or white."""

    names = ("Shuffle",)
    page = "channel_nodes/shuffle.html"
    still = (IN, OUT, *SHUFFLED)
    fixed = (IN2, OUT2)

    def routes(self, tree: Tree, node: Node) -> dict[str, Route]:
        return dict(_shuffled(node, tree.moment(None), tree.channels(tree.input(node, 0))))


class Shuffle2(Router):
    """Single channels of two layers' inputs, each from where `mappings` says."""

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


def joined(box: str, a: Window, b: Window) -> Window:
    """The data window of two pictures in one, by the knob bbox; where nothing is left it is empty."""
    if box == "union":
        return a.union(b)
    if box == "intersection":
        shared = a.intersect(b)
        return Window(b.x0, b.y0, b.x0, b.y0) if shared.is_empty else shared
    return a if box == "A" else b


def _shuffled(node: Node, moment: Moment, there: tuple[str, ...]) -> Iterator[tuple[str, Route]]:
    taken = _members(node, IN, moment, there)
    for word, target in _members(node, OUT, moment, there).items():
        knob = SHUFFLED[_COLOURS.index(word)]
        source = knob.of(node, moment)
        if source in _CONSTANTS:
            yield target, Route(value=_CONSTANTS[source])
        elif source in taken:
            yield target, Route(channel=taken[source])
        else:
            raise knob_error(node, knob.name, f"is {shortened(source)}, and {IN.name} has {', '.join(taken)} only")


def _members(node: Node, knob: Knob[str], moment: Moment, there: tuple[str, ...]) -> dict[str, str]:
    """The channels of the layer that the knob names, as OpenEXR calls them, by the words red, green, blue, alpha."""
    layer = knob.of(node, moment)
    if layer == "depth":
        return {"red": exr_name("depth.Z", there)}
    known = [name for name in map(nuke_name, there) if name.startswith(f"{layer}.")]
    are_colours = f"{layer}.red" in known and all(name.rpartition(".")[2] in _COLOURS for name in known)
    is_new = knob is OUT and not known and re.fullmatch(r"\w+", layer) and layer not in ("none", "all", *_COLOURS)
    if not (layer in _MAIN or are_colours or is_new):
        raise knob_error(node, knob.name, f"is {shortened(layer)}, of which red, green, blue, alpha are not known")
    words = _COLOURS[:3] if layer == "rgb" else _COLOURS
    return {word: exr_name(f"{'rgba' if layer == 'rgb' else layer}.{word}", there) for word in words}


def _input_number(node: Node, knob: Knob[str], moment: Moment) -> int:
    """`{0} B` is input 0, `{1} A` input 1."""
    letter = knob.of(node, moment).split()[-1:]
    if letter not in (["A"], ["B"]):
        raise knob_error(node, knob.name, f"is {shortened(knob.of(node, moment))} in place of A or B")
    return int(letter == ["A"])


def _mappings(node: Node, moment: Moment) -> Iterator[tuple[str, int, str]]:
    """Source, its group (0 for in1, 1 for in2), target: `4 rgba.red 0 0 rgba.red 0 0 ...`, a count before all."""
    text = MAPPINGS.of(node, moment)
    count, *words = text.split() or ["0"]
    if not words and not MAPPINGS.is_stated(node):
        raise knob_error(node, MAPPINGS.name, "is left out, and what it is then is not known")
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
