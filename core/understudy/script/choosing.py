"""Which node of a script is meant by a name, or by none."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.errors import UnderstudyError, listed
from understudy.script.graph import Node, Script


def the_node(script: Script, candidates: Sequence[Node], name: str, *, kind: str, flag: str, without: str) -> Node:
    """The one of `candidates` called `name` (its name or full path), or the only one.

    Raises UnderstudyError listing them. `kind` is what messages call them, `flag` what chooses one, `without` what to
    do where there is none.
    """
    found = [node for node in candidates if name in (node.path, node.name)] if name else candidates
    exact = [node for node in found if node.path == name] or found
    if len(exact) == 1:
        return exact[0]
    there = listed([node.path for node in candidates])
    if not candidates:
        raise UnderstudyError(f"{script.path}: has no {kind} node; {without}")
    if not name:
        raise UnderstudyError(f"{script.path}: has {len(candidates)} {kind} nodes; choose one with {flag}: {there}")
    if exact:
        raise UnderstudyError(f"{script.path}: has {len(exact)} {kind} nodes called {name}; rename them")
    other = next((node for node in script.nodes if name in (node.path, node.name)), None)
    what = f"{name} is a {other.class_name}, no {kind} node" if other else f"has no node {name}"
    raise UnderstudyError(f"{script.path}: {what}; its {kind} nodes are {there}")
