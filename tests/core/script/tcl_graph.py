"""A script's graph as the real Tcl interpreter builds it, to compare our stack machine with.

Node classes are no Tcl commands, so that Tcl's own `unknown` hands their words over; nothing else of Tcl is replaced.
"""

from __future__ import annotations

import tkinter
from dataclasses import dataclass, field
from functools import cache

from understudy.script.graph import GROUP_CLASSES, NO_INPUT_CLASSES, OFF_STACK_CLASSES, Script

EMPTY = "0"
_RUN = "_text {set cut_paste_input 0; eval $_text}"
"""A function of Tcl: what a text sets is gone after it."""


@dataclass
class TclGraph:
    """What one run of a script left behind."""

    root: dict[str, str] = field(default_factory=dict)
    nodes: list[dict[str, object]] = field(default_factory=list)
    """Class, knobs, user knobs, places of inputs, place of the group around."""


def graph_from_tcl(text: str) -> TclGraph:
    """Run the script's text in Tcl. Raises tkinter.TclError for a script that Tcl cannot read."""
    return _interpreter().run(text)


def graph_of(script: Script) -> TclGraph:
    """Our graph in the same terms."""
    nodes: list[dict[str, object]] = [
        {
            "class": node.class_name,
            "knobs": dict(node.knobs),
            "user": list(node.user_knobs),
            "inputs": list(node.inputs),
            "parent": node.parent,
        }
        for node in script.nodes
    ]
    return TclGraph(root=dict(script.root), nodes=nodes)


def list_from_tcl(text: str) -> list[str] | None:
    """The elements that Tcl finds in a list; None where it refuses."""
    try:
        return [str(word) for word in _plain_tcl().splitlist(text)]
    except tkinter.TclError:
        return None


def commands_from_tcl(text: str) -> list[list[str]] | None:
    """The words of each command that Tcl would run; None where it refuses the text."""
    tcl, seen = _noting_tcl()
    seen.clear()
    try:
        tcl.call("apply", _RUN, text)
    except tkinter.TclError:
        return None
    return list(seen)


@cache
def _plain_tcl() -> tkinter.Tk:
    return tkinter.Tcl()


@cache
def _noting_tcl() -> tuple[tkinter.Tk, list[list[str]]]:
    """An interpreter without a command but Tcl's own, and where it notes what it is to run."""
    tcl = tkinter.Tcl()
    seen: list[list[str]] = []

    def note(*words: str) -> str:
        seen.append([str(word) for word in words])
        return ""

    tcl.createcommand("_note", note)
    tcl.eval("proc unknown {args} { return [_note {*}$args] }")
    return tcl, seen


@cache
def _interpreter() -> _Interpreter:
    return _Interpreter()


class _Interpreter:
    """One for all scripts: an interpreter with commands of ours is never freed again, and takes a quarter MiB."""

    def __init__(self) -> None:
        self._tcl = tkinter.Tcl()
        self._begin()
        for name in ("push", "stack", "end_group", "clone"):
            self._tcl.createcommand(name, getattr(self, f"_{name}"))
        self._tcl.createcommand("_node", self._node)
        for ignored in ("version", "define_window_layout_xml", "add_layer"):
            self._tcl.createcommand(ignored, lambda *_: "")
        self._tcl.eval("proc unknown {args} { return [_node {*}$args] }")

    def _begin(self) -> None:
        self._graph = TclGraph()
        self._stacks: list[list[str]] = [[]]
        self._groups: list[int] = []

    def run(self, text: str) -> TclGraph:
        self._begin()
        self._tcl.call("apply", _RUN, text)
        assert len(self._stacks) == 1, "a group is left open"
        return self._graph

    def _push(self, value: str) -> str:
        self._stacks[-1].append(value)
        return ""

    def _stack(self, depth: str) -> str:
        stack = self._stacks[-1]
        return stack[-1 - int(depth)] if int(depth) < len(stack) else EMPTY

    def _end_group(self) -> str:
        self._stacks.pop()
        self._groups.pop()
        return ""

    def _clone(self, handle: str, *rest: str) -> str:
        original = self._graph.nodes[int(handle) - 1]
        knobs, user_knobs = self._body(rest[-1])
        known, known_user = original["knobs"], original["user"]
        assert isinstance(known, dict)
        assert isinstance(known_user, list)
        shared = {name: value for name, value in known.items() if name != "inputs"}
        self._add(str(original["class"]), {**shared, **knobs}, known_user + user_knobs)
        return ""

    def _node(self, class_name: str, body: str) -> str:
        self._add(class_name, *self._body(body))
        return ""

    def _body(self, body: str) -> tuple[dict[str, str], list[str]]:
        words = [str(word) for word in self._tcl.splitlist(body)]
        pairs = list(zip(words[::2], words[1::2], strict=True))
        return (
            {name: value for name, value in pairs if name != "addUserKnob"},
            [value for name, value in pairs if name == "addUserKnob"],
        )

    def _add(self, class_name: str, knobs: dict[str, str], user_knobs: list[str]) -> None:
        if class_name == "Root":
            self._graph.root.update(knobs)
            return
        default = "0" if class_name in NO_INPUT_CLASSES else "1"
        wanted = sum(map(int, knobs.get("inputs", default).split("+")))
        stack = self._stacks[-1]
        popped = [stack.pop() if stack else EMPTY for _ in range(wanted)]
        self._graph.nodes.append(
            {
                "class": class_name,
                "knobs": knobs,
                "user": user_knobs,
                "inputs": [None if handle == EMPTY else int(handle) - 1 for handle in popped],
                "parent": self._groups[-1] if self._groups else None,
            }
        )
        if class_name not in OFF_STACK_CLASSES:
            stack.append(str(len(self._graph.nodes)))
        if class_name in GROUP_CLASSES:
            self._stacks.append([])
            self._groups.append(len(self._graph.nodes) - 1)
