"""What a node class is to the evaluator: what it needs from upstream, when, and which pixels it makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from understudy.errors import ProblemList, UnderstudyError
from understudy.frames.colour import DEFAULT_COLOUR, ColourRules
from understudy.frames.image import FloatPixels
from understudy.frames.window import Window
from understudy.script.graph import Node, Script
from understudy.script.knobs import Knob, KnobMoves
from understudy.script.paths import PathRules
from understudy.script.values.moment import Moment


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of a node."""

    frame: int
    channels: tuple[str, ...]
    """As OpenEXR names them. The answer has exactly these, black where the node has no such channel."""
    region: Window
    """The pixels that are wanted, display coordinates. The answer has exactly these, black outside the data window."""


@dataclass(frozen=True, kw_only=True)
class Info:
    """What is known of a node's picture before a pixel of it is computed."""

    data_window: Window
    """Display coordinates; black outside."""
    display_window: Window
    """The format."""
    pixel_aspect: float = 1.0
    """Width over height of one pixel."""
    metadata: Mapping[str, int | float | str] = field(default_factory=dict)
    """Header fields of the nearest file."""
    is_black_outside: bool = False
    """Whether a node has put black around it, also for nodes that repeat the edges of a plate."""

    @property
    def repeats_edges(self) -> bool:
        """Whether it is a plate, whose edges go on for nodes that are not to put black outside.

        What fills less than its format is none, as Nuke detects plates by default.
        """
        return not self.is_black_outside and self.data_window.contains(self.display_window)


@dataclass(frozen=True)
class Span:
    """A frame range, both ends included."""

    first: int
    last: int

    def __len__(self) -> int:
        return max(0, self.last - self.first + 1)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.first, self.last + 1))

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"

    def shifted(self, frames: int) -> Span:
        return Span(self.first + frames, self.last + frames)

    def intersect(self, other: Span) -> Span:
        return Span(max(self.first, other.first), min(self.last, other.last))

    def nearest(self, frame: int) -> int:
        return min(max(frame, self.first), self.last)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One stretch of the way up: this node at this frame."""

    node: Node
    frame: int


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """A file that a frame comes from."""

    path: Path
    frame: int
    """Its number in its sequence."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How the files of one script are found and read."""

    paths: PathRules
    colour: ColourRules = DEFAULT_COLOUR
    view: str = ""
    """Of files with several; empty: the file's first, or left."""
    files_are_to_come: bool = False
    """They will be made later: each that should be there is taken to be."""


class Tree(Protocol):
    """The evaluator as node classes see it."""

    @property
    def script(self) -> Script:
        """The graph."""

    def input(self, node: Node, number: int) -> Node:
        """The node connected there; raises UnderstudyError naming node and input if there is none."""

    def span(self, node: Node) -> Span:
        """The frames that the node says it has."""

    def channels(self, node: Node) -> tuple[str, ...]:
        """The channels that the node gives, as OpenEXR names them."""

    def info(self, node: Node, frame: int) -> Info:
        """Windows and metadata of the node's picture."""

    def pixels(self, node: Node, request: Request) -> FloatPixels:
        """H W C over the region, of the channels asked for. Shared with others who ask: not to be changed."""

    def source(self, node: Node, frame: int) -> tuple[NodeClass, Step]:
        """What makes the node's pixels at the frame: nodes that only lead on, and disabled ones, are passed over."""

    def moment(self, frame: int | None) -> Moment:
        """When to ask for the values of knobs; None: at all frames."""

    @property
    def reading(self) -> Reading:
        """How files are found and read."""


PAGES = "https://learn.foundry.com/nuke/content/reference_guide/"
"""Where the `page` of every node class lies."""


class NodeClass:
    """A class that passes its first input through; every other class says what it does otherwise.

    Attributes of the class are its documentation: `names` in scripts, the `page` of Nuke's reference guide that it
    follows, its `knobs`, which may change from frame to frame, the knobs that are `still` and must not, the knobs in
    `fixed` that are understood at their default only, and what is `assumed` where no formula is known.
    """

    names: tuple[str, ...] = ()
    page: str = ""
    knobs: tuple[Knob[object], ...] = ()
    still: tuple[Knob[object], ...] = ()
    fixed: tuple[Knob[object], ...] = ()
    makes_pixels: bool = False
    """Whether `pixels` does more than hand on those of the first step."""
    knows_all_channels: bool = True
    """Whether `channels` names all that any frame has, so that `pixels` need not be asked for others."""
    assumed: str = ""
    """How its page is read where that leaves a choice, in some ten words; Nuke's pixels may be others."""
    is_endless: bool = False
    """Whether it is not black outside `info`'s data window: `pixels` is asked for any region then."""

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        """The nodes that it may ask at any frame. Raises UnderstudyError where one is missing."""
        return (tree.input(node, 0),)

    def steps(self, tree: Tree, node: Node, frame: int) -> tuple[Step, ...]:
        """The nodes and frames that it asks for one frame of its own; the first decides where the frame comes from."""
        return tuple(Step(node=asked, frame=frame) for asked in self.upstream(tree, node))

    def hands_on(self, tree: Tree, node: Node, frame: int) -> bool:
        """Whether the frame is the very picture of its first step, so that nothing of it need be kept here."""
        del tree, node, frame
        return not self.makes_pixels

    def files(self, tree: Tree, node: Node, frame: int) -> tuple[SourceFile, ...]:
        """The files that it opens itself for that frame. Raises UnderstudyError naming one that is missing."""
        del tree, node, frame
        return ()

    def frame_range(self, tree: Tree, node: Node) -> Span:
        return tree.span(self.upstream(tree, node)[0])

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        """The union of what its inputs have, in their order."""
        asked = self.upstream(tree, node)
        return tuple(dict.fromkeys(channel for above in asked for channel in tree.channels(above)))

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        """That of the first step."""
        step = self.steps(tree, node, frame)[0]
        return tree.info(step.node, step.frame)

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        """H W C over the region, which lies within `info`'s data window, of channels that `channels` names."""
        step = self.steps(tree, node, request.frame)[0]
        return tree.pixels(step.node, replace(request, frame=step.frame))

    def content(self, tree: Tree, node: Node, frame: int) -> tuple[object, ...]:
        """All that decides the pixels of a frame, besides what its steps give."""
        moment = tree.moment(frame)
        connected = tuple(place is not None for place in node.inputs)
        return (self.names[:1], connected, *(knob.of(node, moment) for knob in (*self.knobs, *self.still)))

    def assumes(self, tree: Tree, node: Node) -> bool:
        """Whether pixels of the node follow what is `assumed`."""
        del tree, node
        return bool(self.assumed)

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        """Raise Problems naming every knob with a value that cannot be read or evaluated.

        Knobs that change are passed over where the moment is no frame.
        """
        del tree
        problems = ProblemList()
        for knob in self.knobs:
            with problems.collecting(), suppress(KnobMoves):
                knob.of(node, moment)
        for knob in self.still:
            with problems.collecting():
                knob.of(node, replace(moment, frame=None))
        for knob in self.fixed:
            with problems.collecting():
                knob.refuse_change(node, moment)
        problems.raise_if_any()


def node_error(node: Node, what: str) -> UnderstudyError:
    """One line that begins with the node."""
    return UnderstudyError(f"{node.label}, line {node.line}: {what}")
