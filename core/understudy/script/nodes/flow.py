"""Classes that only lead from one node to another: Dot, NoOp, PostageStamp, Switch, Group, Input, Output."""

from __future__ import annotations

from understudy.script.graph import Node
from understudy.script.knobs import KnobMoves, float_knob, int_knob
from understudy.script.nodes.base import NodeClass, Span, Step, Tree, node_error
from understudy.script.values.moment import Moment

WHICH = float_knob("which", 0.0)
NUMBER = int_knob("number", 0)


class Dot(NodeClass):
    names = ("Dot", "NoOp", "PostageStamp")
    page = "other_nodes/dot.html"


class Output(NodeClass):
    names = ("Output",)
    page = "other_nodes/output.html"


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


class Group(NodeClass):
    """What its Output node shows. A gizmo or live group whose nodes stand in the script is one."""

    names = ("Group", "Gizmo", "LiveGroup", "VariableGroup")
    page = "other_nodes/group.html"

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        outputs = [child for child in tree.script.children(node) if child.class_name == "Output"]
        if not outputs:
            raise node_error(node, "has no Output node within; add one, or render it first")
        return (outputs[0],)


class Input(NodeClass):
    """Within a group: what is connected to the group's input of that number."""

    names = ("Input",)
    page = "other_nodes/input.html"
    still = (NUMBER,)

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        if node.parent is None:
            raise node_error(node, "is an Input outside any group; replace it by the Read that it stands for")
        return (tree.input(tree.script.nodes[node.parent], NUMBER.of(node, tree.moment(None))),)
