"""The evaluator: requests go up the tree, pictures come down, and what cannot be done is said before anything is."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

from understudy.errors import ProblemList, UnderstudyError
from understudy.frames.image import Image
from understudy.frames.window import Window
from understudy.script.graph import Node, Script
from understudy.script.knobs import bool_knob
from understudy.script.nodes import BY_NAME, PASS_THROUGH
from understudy.script.nodes.base import NodeClass, Reading, Request, SourceFile, Span, Step, Tree, node_error
from understudy.script.nodes.read import format_window

DISABLE = bool_knob("disable", False)

_MAX_DEPTH = 150
"""Nodes that make pixels, one upon the other; each costs a few frames of Python's stack."""
_CACHE_BYTES = 256 << 20
_DEFAULT_FORMAT = Window(0, 0, 2048, 1556)
"""A root that states no format has Nuke's 2K."""


class Evaluator:
    """Pulls pictures through the graph of one script. May be used from several threads at once."""

    def __init__(self, script: Script, reading: Reading) -> None:
        self._script = script
        self._reading = reading
        self._spans: dict[int, Span] = {}
        self._channels: dict[int, tuple[str, ...]] = {}
        self._cache = _ImageCache()

    @property
    def script(self) -> Script:
        return self._script

    @property
    def reading(self) -> Reading:
        return self._reading

    def check(self, roots: Sequence[Node]) -> None:
        """Look at every node above `roots`.

        Raises Problems with a line for each node that cannot be evaluated, naming the knob if that is the reason.
        """
        problems = ProblemList()
        for root in roots:
            _Walk(self, root, problems).order()
        problems.raise_if_any()

    def files(self, root: Node, frame: int) -> tuple[SourceFile, ...]:
        """The files behind one frame of `root`, the nearest first. Raises Problems naming all that are missing."""
        problems = ProblemList()
        found: list[SourceFile] = []
        waiting = [Step(node=root, frame=frame)]
        while waiting:
            step = waiting.pop()
            known = class_of(step.node)
            with problems.collecting():
                found += known.files(self, step.node, step.frame)
                waiting += reversed(known.steps(self, step.node, step.frame))
        problems.raise_if_any()
        return tuple(found)

    def pull(self, node: Node, request: Request) -> Image:
        """The node's picture at the frame, with exactly the channels asked for; `check` must have passed its tree."""
        while not (known := class_of(node)).makes_pixels:
            step = known.steps(self, node, request.frame)[0]
            node, request = step.node, Request(frame=step.frame, channels=request.channels)
        cached = self._cache.get((node.index, request))
        if cached is None:
            cached = known.pull(self, node, request)
            self._cache.put((node.index, request), cached)
        return cached

    def span(self, node: Node) -> Span:
        if node.index not in self._spans:
            for above in self._order(node):
                if above.index not in self._spans:
                    self._spans[above.index] = class_of(above).frame_range(self, above)
        return self._spans[node.index]

    def channels(self, node: Node) -> tuple[str, ...]:
        if node.index not in self._channels:
            for above in self._order(node):
                if above.index not in self._channels:
                    self._channels[above.index] = class_of(above).channels(self, above)
        return self._channels[node.index]

    def input(self, node: Node, number: int) -> Node:
        connected = self._script.input_of(node, number)
        if connected is None:
            raise node_error(node, f"nothing is connected to its input {number}; connect it or delete the node")
        return connected

    def root_format(self) -> Window:
        return format_window(self._script.root.get("format", "")) or _DEFAULT_FORMAT

    def _order(self, root: Node) -> list[Node]:
        problems = ProblemList()
        order = _Walk(self, root, problems).order()
        problems.raise_if_any()
        return order


def class_of(node: Node) -> NodeClass:
    """What evaluates the node. Raises UnderstudyError for a class that nothing evaluates."""
    if DISABLE.of(node):
        return PASS_THROUGH
    if node.class_name not in BY_NAME:
        raise node_error(node, "understudy cannot evaluate this class; render it first")
    return BY_NAME[node.class_name]


@dataclass
class _Visit:
    """A node on the way from the root up, with what is still to be visited above it."""

    node: Node
    waiting: list[Node]
    render_at: Node
    """The nearest node downstream that can be evaluated: a Write after it replaces all above."""
    depth: int = 0


@dataclass
class _Walk:
    """One visit of everything above a root, without recursion."""

    tree: Tree
    root: Node
    problems: ProblemList
    _done: dict[int, int] = field(default_factory=dict)
    """Depth of each finished node, by its place."""

    def order(self) -> list[Node]:
        """Every node above the root and itself, inputs before what they feed; faults go to `problems`."""
        order: list[Node] = []
        path = [self._visit(self.root, self.root)]
        on_path = {self.root.index}
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
            if not DISABLE.of(node) and node.class_name not in BY_NAME:
                self.problems.add(_unsupported(node, render_at))
                return _Visit(node=node, waiting=connected, render_at=render_at)
            known = class_of(node)
            with self.problems.collecting():
                known.check(self.tree, node)
            return _Visit(node=node, waiting=list(known.upstream(self.tree, node))[::-1], render_at=node)
        except UnderstudyError as fault:
            self.problems.add(str(fault))
            return _Visit(node=node, waiting=connected, render_at=render_at)

    def _finish(self, visit: _Visit, path: list[_Visit]) -> None:
        known = BY_NAME.get(visit.node.class_name, PASS_THROUGH)  # a disabled one is counted too: a bound is enough
        depth = visit.depth + known.makes_pixels
        self._done[visit.node.index] = depth
        if path:
            path[-1].depth = max(path[-1].depth, depth)
        if depth == _MAX_DEPTH + 1 and known.makes_pixels:
            self.problems.add(str(node_error(visit.node, f"has over {_MAX_DEPTH} nodes above it; render one of them")))


def _unsupported(node: Node, render_at: Node) -> str:
    place = "it" if render_at.index == node.index else render_at.path
    return (
        f"{node.label}, line {node.line}: understudy cannot evaluate this class; "
        f"render it first, e.g. with a Write after {place}"
    )


class _ImageCache:
    """The pictures last made, up to a number of bytes."""

    def __init__(self) -> None:
        self._images: OrderedDict[tuple[int, Request], Image] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: tuple[int, Request]) -> Image | None:
        with self._lock:
            if key in self._images:
                self._images.move_to_end(key)
            return self._images.get(key)

    def put(self, key: tuple[int, Request], image: Image) -> None:
        with self._lock:
            if key in self._images:
                return
            self._images[key] = image
            self._bytes += image.pixels.nbytes
            while self._bytes > _CACHE_BYTES:
                self._bytes -= self._images.popitem(last=False)[1].pixels.nbytes
