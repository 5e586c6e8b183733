"""Roto and RotoPaint on which nothing is drawn. Shapes and strokes are not evaluated: those are to be rendered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from understudy.errors import UnderstudyError
from understudy.frames.window import Window
from understudy.script.graph import Node
from understudy.script.knobs import bool_knob, channel_words_knob, channels_knob, text_knob, word_knob
from understudy.script.nodes.base import Info, NodeClass, Tree, node_error
from understudy.script.nodes.layered import layers_at
from understudy.script.tokens import read_list
from understudy.script.values.moment import Moment

CURVES = text_knob("curves")
OUTPUT = channel_words_knob("output", "rgba")
CLIP_TO = word_knob("cliptype", ("none", "bbox", "format", "union"), "format")

_OF_A_LAYER = ("f", "t", "a")
"""Flags, transform and attributes; what else a layer has is drawn, or is a layer."""
_OLD_TREE = "AnimTree:"
_OLD_KIND = re.compile(r"\bNodeType:\s*(\d+)")
_OLD_LAYER = "1"


class Roto(NodeClass):
    """Hands on its input, clipped to the format as the knob says; channels that it would draw on are there at least."""

    names = ("Roto", "RotoPaint")
    page = "draw_nodes/rotopaint.html"
    still = (CURVES, OUTPUT)
    knobs = (CLIP_TO,)
    fixed = (bool_knob("replace", False), channels_knob("premult", "none"))
    makes_pixels = True

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        if not _is_empty(CURVES.of(node, moment)):
            raise node_error(
                node, "has shapes or strokes, which are not evaluated; render it first, or bake the script"
            )

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        return (tree.input(node, 0),)

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        there = tree.channels(tree.input(node, 0))
        return tuple(dict.fromkeys((*there, *layers_at(tree, there).named(OUTPUT.of(node, tree.moment(None))))))

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        above = super().info(tree, node, frame)
        if CLIP_TO.of(node, tree.moment(frame)) != "format":
            return above
        shared = above.data_window.intersect(above.display_window)
        window = Window(shared.x0, shared.y0, shared.x0, shared.y0) if shared.is_empty else shared
        return replace(above, data_window=window)


def _is_empty(curves: str) -> bool:
    """Whether the tree of shapes holds layers alone; one that is not understood counts as drawn on."""
    if not curves:
        return True
    if curves.startswith(_OLD_TREE):
        return set(_OLD_KIND.findall(curves)) == {_OLD_LAYER}
    tree = _words(curves)
    tree = _words(tree[0]) if len(tree) == 1 else tree
    roots = [words[1:] for words in map(_words, tree) if words[:1] == ["n"]]
    waiting = list(roots[0]) if len(roots) == 1 else ["?"]
    while waiting:
        head, *inside = [*_words(waiting.pop()), ""]
        if head != "layer":
            return False
        waiting += _children(inside[1:-1])
    return True


def _children(inside: list[str]) -> Iterator[str]:
    """What stands in a layer after its name."""
    return (element for element in inside if _words(element)[:1] not in [[word] for word in _OF_A_LAYER])


def _words(text: str) -> list[str]:
    """None of a text that is no list."""
    with suppress(UnderstudyError):
        return [word.text for word in read_list(text, "", 0)]
    return []
