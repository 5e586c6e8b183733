"""Classes that only lead from one node to another: Dot, Write, Switch, JoinViews, OneView, Group, Precomp, Input."""

from __future__ import annotations

from understudy.errors import listed
from understudy.script.graph import Node
from understudy.script.knobs import KnobMoves, bool_knob, float_knob, int_knob, knob_error, text_knob
from understudy.script.nodes.base import NodeClass, Span, Step, Tree, node_error
from understudy.script.values.moment import Moment

WHICH = float_knob("which", 0.0)
NUMBER = int_knob("number", 0)
READS_ITS_FILE = bool_knob("reading", False)
USE_OUTPUT, OUTPUT = bool_knob("useOutput", False), text_knob("output")
VIEW = text_knob("view")
VIEWS = text_knob("viewassoc")


class Dot(NodeClass):
    """Hands on its input."""

    names = ("Dot", "NoOp", "PostageStamp")
    page = "other_nodes/dot.html"


class Output(NodeClass):
    """Hands on its input: what the group around it shows."""

    names = ("Output",)
    page = "other_nodes/output.html"


class Write(NodeClass):
    """Hands on its input; what it would write is no part of it."""

    names = ("Write",)
    page = "image_nodes/write.html"
    fixed = (READS_ITS_FILE,)


class Switch(NodeClass):
    """Hands on the input that `which` names; where it changes with the frame, nothing is known of the others."""

    names = ("Switch",)
    page = "merge_nodes/switch.html"
    knobs = (WHICH,)

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        try:
            return (_chosen(tree, node, tree.moment(None)),)
        except KnobMoves:
            return tuple(tree.input(node, number) for number, place in enumerate(node.inputs) if place is not None)

    def steps(self, tree: Tree, node: Node, frame: int) -> tuple[Step, ...]:
        return (Step(node=_chosen(tree, node, tree.moment(frame)), frame=frame),)

    def frame_range(self, tree: Tree, node: Node) -> Span:
        """From the first frame of any input that may be shown to the last."""
        spans = [tree.span(above) for above in self.upstream(tree, node)]
        return Span(min(span.first for span in spans), max(span.last for span in spans))


def _chosen(tree: Tree, node: Node, moment: Moment) -> Node:
    chosen = int(WHICH.of(node, moment))
    if not 0 <= chosen < len(node.inputs):
        raise node_error(node, f"knob which is {chosen}, but it has {len(node.inputs)} inputs; choose one of them")
    return tree.input(node, chosen)


class JoinViews(NodeClass):
    """Hands on the input of the view that is asked for, by the order that `viewassoc` lists."""

    names = ("JoinViews",)
    page = "views_nodes/joinviews.html"
    still = (VIEWS,)

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        views, view = VIEWS.of(node, tree.moment(None)).split(), tree.reading.view
        if view not in views:
            what = f"{view!r} is asked for" if view else "none of them is asked for"
            raise node_error(node, f"joins the views {listed(views)}, and {what}; choose one of them with --view")
        return (tree.input(node, views.index(view)),)


class OneView(NodeClass):
    """Hands on its input where its view is the one that is asked for."""

    names = ("OneView",)
    page = "views_nodes/oneview.html"
    still = (VIEW,)

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        view = VIEW.of(node, moment)
        if view != tree.reading.view:
            raise knob_error(node, VIEW.name, f"is {view!r}, which can be evaluated with --view {view} alone")


class Group(NodeClass):
    """What its Output node shows. Gizmos and live groups are found beside the script and on $NUKE_PATH."""

    names: tuple[str, ...] = ("Group", "Gizmo", "LiveGroup", "VariableGroup")
    page = "other_nodes/group.html"

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        if node.fault:
            raise node_error(node, node.fault)
        outputs = [child for child in tree.script.children(node) if child.class_name == "Output"]
        return (outputs[0] if outputs else self.output(tree, node, list(tree.script.children(node))),)

    def output(self, tree: Tree, node: Node, within: list[Node]) -> Node:
        """What it shows of the nodes within, none of which is an Output."""
        del tree, within
        raise node_error(node, "has no Output node within; add one, or render it first")


class Precomp(Group):
    """What the Output node of its script shows, or else its Write node."""

    names = ("Precomp",)
    page = "other_nodes/precomp.html"
    still = (USE_OUTPUT, OUTPUT)
    fixed = (READS_ITS_FILE,)

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        name, moment = OUTPUT.of(node, tree.moment(None)), tree.moment(None)
        if node.fault or not (name and USE_OUTPUT.of(node, moment)):
            return super().upstream(tree, node)
        found = next((child for child in tree.script.children(node) if child.name == name), None)
        if found is None:
            raise knob_error(node, OUTPUT.name, f"is {name}, and its script has no such node")
        return (found,)

    def output(self, tree: Tree, node: Node, within: list[Node]) -> Node:
        del tree
        writes = [child for child in within if child.class_name == "Write"]
        if len(writes) == 1:
            return writes[0]
        there = f"{len(writes)} Write nodes ({listed([child.name for child in writes])})" if writes else "no Write node"
        raise node_error(node, f"has {there} and no Output node in its script; add an Output after the one that counts")


class Input(NodeClass):
    """Within a group: what is connected to the group's input of that number."""

    names = ("Input",)
    page = "other_nodes/input.html"
    still = (NUMBER,)

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        if node.parent is None:
            raise node_error(node, "is an Input outside any group; replace it by the Read that it stands for")
        return (tree.input(tree.script.nodes[node.parent], NUMBER.of(node, tree.moment(None))),)
