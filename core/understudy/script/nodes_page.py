"""docs/nodes.md, made of the node classes themselves: python -m understudy.script.nodes_page > docs/nodes.md"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator, Sequence, Set

from understudy.script.knobs import Knob
from understudy.script.nodes import NODE_CLASSES
from understudy.script.nodes.base import PAGES, NodeClass
from understudy.script.nodes.pixels import Masked

_BEGINNING = """\
# Nodes that are evaluated

Made by `python -m understudy.script.nodes_page` from the node classes of understudy; a test holds it to them.

For each class of nodes there are three kinds of knobs: those that may change from frame to frame, by keys, expressions
or links; those with one value for all frames; and those that are understood at their default alone. A knob of the last
kind with another value, a value that cannot be computed, and a class that is not here, are told by node, class, knob
and line before anything is computed, with where a Write would help. Knobs that are not named here are passed over. Any
node may be disabled, also now and then. Names link to the page of Nuke's reference guide that the class follows.

Where that page gives no formula and none is known, a class may follow a reading of it that has not been compared with
Nuke. Below that stands as *Not compared with Nuke*, and `check` and every run name each node that needs it.
"""

_MASK_KNOBS = (*Masked.knobs, *Masked.still, *Masked.fixed)


def page(classes: Sequence[NodeClass] = NODE_CLASSES) -> str:
    """The page's Markdown, of the classes in the order of their names within the menus of Nuke."""
    menus: dict[str, list[NodeClass]] = {}
    for known in sorted(classes, key=lambda known: known.names[0].lower()):
        menus.setdefault(known.page.partition("/")[0], []).append(known)
    names = sorted((name for known in classes for name in known.names), key=str.lower)
    parts = [_BEGINNING, f"In short: {', '.join(names)}.\n", "\n".join(_mask_lines()) + "\n"]
    for menu in sorted(menus):
        parts.append(f"## {menu.removesuffix('_nodes').replace('_', ' ').capitalize()}\n")
        parts += ["\n".join(_lines(known)) + "\n" for known in menus[menu]]
    return "\n".join(parts)


def _mask_lines() -> Iterator[str]:
    yield "## Mask and mix\n"
    yield "What the tables below call [mask](#mask-and-mix) are those of these knobs that the class has.\n"
    yield from _table(Masked())


def _lines(known: NodeClass) -> Iterator[str]:
    names = ", ".join(known.names)
    yield f"### {names}\n"
    told = inspect.cleandoc(type(known).__dict__.get("__doc__") or "")
    yield " ".join(filter(None, (f"[{known.names[0]}]({PAGES}{known.page}).", told)))
    if known.assumed:
        yield f"\n*Not compared with Nuke*: {known.assumed}."
    rows = list(_table(known, set(_MASK_KNOBS)))
    if rows:
        yield ""
        yield from rows


def _table(known: NodeClass, elsewhere: Set[Knob[object]] = frozenset()) -> Iterator[str]:
    every = (*known.knobs, *known.still, *known.fixed)
    if every:
        yield "| knobs | |\n| --- | --- |"
    rows = (
        ("may change with the frame", _names(_without(known.knobs, elsewhere))),
        ("one value for all frames", _names(_without(known.still, elsewhere))),
        ("at its default alone", _with_defaults(_without(known.fixed, elsewhere))),
    )
    for title, knobs in rows:
        if knobs:
            yield f"| {title} | {knobs} |"
    if not elsewhere.isdisjoint(every):
        yield "| [mask](#mask-and-mix) | as all that have one |"


def _without(knobs: Iterable[Knob[object]], elsewhere: Set[Knob[object]]) -> list[Knob[object]]:
    return [knob for knob in knobs if knob not in elsewhere]


def _names(knobs: Iterable[Knob[object]]) -> str:
    return ", ".join(_name(knob) for knob in knobs)


def _with_defaults(knobs: Iterable[Knob[object]]) -> str:
    return ", ".join(f"{_name(knob)} {_default(knob)}".rstrip() for knob in knobs)


def _name(knob: Knob[object]) -> str:
    return " or ".join(f"`{name}`" for name in knob.names)


def _default(knob: Knob[object]) -> str:
    """As people write it; nothing of an empty text."""
    if isinstance(knob.default, bool):
        return "on" if knob.default else "off"
    return knob.default_text or " ".join(f"{number:g}" for number in knob.default_numbers)


if __name__ == "__main__":
    sys.stdout.write(page())
