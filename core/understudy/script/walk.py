"""One visit of everything above a node: the order in which to ask, and every fault at once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from understudy.errors import ProblemList, UnderstudyError
from understudy.script.graph import Node, Script
from understudy.script.knobs import KnobMoves
from understudy.script.nodes import BY_NAME, PASS_THROUGH
from understudy.script.nodes.base import NodeClass, Tree, node_error

_MAX_DEPTH = 150
"""Nodes that make pixels, one upon the other; each costs a few frames of Python's stack."""


@dataclass
class _Visit:
    """A node on the way from the root up, with what is still to be visited above it."""

    node: Node
    waiting: list[Node]
    render_at: Node
    """The nearest node downstream that can be evaluated: a Write after it replaces all above."""
    depth: int = 0


@dataclass
class Walk:
    """A visit without recursion."""

    tree: Tree
    class_of: Callable[[Node], NodeClass | None]
    """What evaluates a node at some frame at least; None for a class that nothing evaluates."""
    problems: ProblemList
    fine: set[int] = field(default_factory=set)
    """Places of nodes in which this walk, or one before it, has found no fault: a second look may take long."""
    _done: dict[int, int] = field(default_factory=dict)
    """Depth of each finished node, by its place."""

    def order(self, root: Node) -> list[Node]:
        """Every node above the root and itself, inputs before what they feed; faults go to `problems`."""
        order: list[Node] = []
        path = [self._visit(root, root)]
        on_path = {root.index}
        while path:
            visit = path[-1]
            if not visit.waiting:
                path.pop()
                on_path.discard(visit.node.index)
                self._finish(visit, path)
                order.append(visit.node)
                continue
            above = visit.waiting.pop()
            if above.index in on_path:
                self.problems.add(str(node_error(above, "feeds itself; break the cycle")))
            elif above.index in self._done:
                visit.depth = max(visit.depth, self._done[above.index])
            else:
                path.append(self._visit(above, visit.render_at))
                on_path.add(above.index)
        return order

    def _visit(self, node: Node, render_at: Node) -> _Visit:
        connected = [self.tree.script.nodes[place] for place in node.inputs if place is not None]
        try:
            known = self.class_of(node)
            if known is None or node.fault:
                self.problems.add(_unsupported(self.tree.script, node, render_at))
                return _Visit(node=node, waiting=connected, render_at=render_at)
            self._check(known, node)
            return _Visit(node=node, waiting=list(known.upstream(self.tree, node))[::-1], render_at=node)
        except UnderstudyError as fault:
            self.problems.add(str(fault))
            return _Visit(node=node, waiting=connected, render_at=render_at)

    def _check(self, known: NodeClass, node: Node) -> None:
        if node.index in self.fine:
            return
        with self.problems.collecting(), suppress(KnobMoves):
            known.check(self.tree, node, self.tree.moment(None))
            self.fine.add(node.index)

    def _finish(self, visit: _Visit, path: list[_Visit]) -> None:
        known = BY_NAME.get(visit.node.class_name, PASS_THROUGH)  # a disabled one is counted too: a bound is enough
        depth = visit.depth + known.makes_pixels
        self._done[visit.node.index] = depth
        if path:
            path[-1].depth = max(path[-1].depth, depth)
        if depth == _MAX_DEPTH + 1 and known.makes_pixels:
            self.problems.add(str(node_error(visit.node, f"has over {_MAX_DEPTH} nodes above it; render one of them")))


def _unsupported(script: Script, node: Node, render_at: Node) -> str:
    """`render_at` may lie in a file, where nobody can put a Write: then it comes after the group of that file."""
    while render_at.is_from_file and render_at.parent is not None:
        render_at = script.nodes[render_at.parent]
    place = "it" if render_at.index == node.index else render_at.path
    what = f"{node.fault}; or" if node.fault else "understudy cannot evaluate this class;"
    return f"{node.label}, line {node.line}: {what} render it first, e.g. with a Write after {place}"
