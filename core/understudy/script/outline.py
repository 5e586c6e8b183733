"""A tree as text: what will be evaluated, node by node from the last to the files, each node once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TypeAlias

from understudy.errors import UnderstudyError
from understudy.script.evaluate import Evaluator
from understudy.script.graph import Node
from understudy.script.nodes import PASS_THROUGH
from understudy.script.nodes.base import NodeClass, Span
from understudy.script.values.fault import shortened

_STEP = "  "
_BRANCH = "- "
_MOST_ON_THE_WAY = 3
"""A node with more inputs shows none of them as the one that goes on below it."""
_MOST_LINES = 2000
_CALLBACKS = ("onCreate", "knobChanged", "updateUI", "beforeRender", "beforeFrameRender")
"""Knobs of any node that hold Python which may set others. What it has set before the script was saved is there."""


_Pictures: TypeAlias = Callable[[Evaluator, Node], Iterable[str]]
"""Says in some words each what is known of a node's picture."""


def outline(evaluator: Evaluator, sides: Sequence[tuple[str, Node]]) -> tuple[str, ...]:
    """The trees above some nodes, each under its title.

    The way through first inputs goes straight down; what joins it from the side is indented above, behind a dash. Dots
    are left out. Where some node cannot be evaluated it is shown as such, and nothing is said of pictures.
    """
    lines: list[str] = []
    seen: set[int] = set()
    pictures: _Pictures = _picture
    try:
        evaluator.check([root for _, root in sides])
    except UnderstudyError:
        pictures = _no_picture
    for title, root in sides:
        lines += [title, *_tree(evaluator, root, seen, pictures)]
    more = len(lines) - _MOST_LINES
    return (*lines[:_MOST_LINES], *([f"and {more} lines more"] if more > 0 else []))


def _tree(evaluator: Evaluator, root: Node, seen: set[int], pictures: _Pictures) -> Iterator[str]:
    waiting = [(root, _STEP)]
    while waiting:
        node, before = waiting.pop()
        known = _class_of(evaluator, node)
        above = _upstream(evaluator, node, known)
        if node.class_name == "Dot" and above:
            waiting.append((above[0], before))
            continue
        if node.index in seen:
            yield f"{before}{node.label}: as above"
            continue
        seen.add(node.index)
        yield f"{before}{node.label}{_said(evaluator, node, known, above, pictures)}"
        margin = before.replace(_BRANCH, _STEP)
        is_on_way = len(above) <= _MOST_ON_THE_WAY
        ways = [(further, margin + _BRANCH) for further in above]
        if is_on_way:
            ways[:1] = [(further, margin) for further in above[:1]]
        waiting += [*ways[:1], *reversed(ways[1:])] if is_on_way else reversed(ways)


def _class_of(evaluator: Evaluator, node: Node) -> NodeClass | None:
    with suppress(UnderstudyError):
        return evaluator.class_of(node)
    return None


def _upstream(evaluator: Evaluator, node: Node, known: NodeClass | None) -> list[Node]:
    """What it may ask; of a node that cannot be evaluated, what is connected."""
    with suppress(UnderstudyError):
        if known is not None:
            return list({above.index: above for above in known.upstream(evaluator, node)}.values())
    return [evaluator.script.nodes[place] for place in dict.fromkeys(node.inputs) if place is not None]


def _said(evaluator: Evaluator, node: Node, known: NodeClass | None, above: Sequence[Node], pictures: _Pictures) -> str:
    """What follows its name: its knobs, and what of the picture is another than its first input's."""
    if known is None:
        return ": cannot be evaluated"
    if known is PASS_THROUGH:
        return ": disabled"
    depth = None if known.makes_pixels else 1  # a node that makes no pixels changes frames alone
    changed = list(islice(pictures(evaluator, node), depth))
    if above:
        before = set(islice(pictures(evaluator, above[0]), depth))
        changed = [fact for fact in changed if fact not in before]
    facts = (", ".join(_knobs(evaluator, node, known)), ", ".join(changed), _assumption(evaluator, node))
    said = "; ".join(filter(None, facts))
    return f": {said}" if said else ""


def _assumption(evaluator: Evaluator, node: Node) -> str:
    with suppress(UnderstudyError):
        if assumed := evaluator.assumed(node):
            return f"not compared with Nuke: {assumed}"
    return ""


def _knobs(evaluator: Evaluator, node: Node, known: NodeClass) -> Iterator[str]:
    for knob in sorted((*known.knobs, *known.still), key=lambda knob: knob.name != "file"):
        name = next((name for name in knob.names if name in node.knobs), None)
        if name == "file":
            with suppress(UnderstudyError):
                yield evaluator.reading.paths.path_of(node, name)
        elif name is not None:
            text = " ".join(node.knobs[name].split())
            yield f"{knob.name} {text if len(text) <= 40 else shortened(text)}"
    if callbacks := [name for name in _CALLBACKS if node.knobs.get(name)]:
        yield f"Python of {', '.join(callbacks)} is not run"


def _no_picture(evaluator: Evaluator, node: Node) -> Iterable[str]:
    del evaluator, node
    return ()


def _picture(evaluator: Evaluator, node: Node) -> Iterator[str]:
    """What is known of it at the first of its frames; its range comes first."""
    first = 0
    with suppress(UnderstudyError):
        span: Span = evaluator.span(node)
        first = span.first
        yield f"frames {span}" if len(span) > 1 else f"frame {span.first}"
    with suppress(UnderstudyError):
        yield f"channels {' '.join(evaluator.channels(node))}"
    with suppress(UnderstudyError):
        info = evaluator.info(node, first)
        aspect = f" by {info.pixel_aspect:g}" if info.pixel_aspect != 1 else ""
        yield f"format {info.display_window.as_size()}{aspect}"
        if info.data_window != info.display_window:
            yield f"window {info.data_window}"
