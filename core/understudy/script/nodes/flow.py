"""Classes that only lead from one node to another: Dot, NoOp, PostageStamp, Switch, Group, Input, Output."""

from __future__ import annotations

from understudy.script.graph import Node
from understudy.script.knobs import float_knob, int_knob
from understudy.script.nodes.base import NodeClass, Tree, node_error

WHICH = float_knob("which", 0.0)
NUMBER = int_knob("number", 0)


class Dot(NodeClass):
    names = ("Dot", "NoOp", "PostageStamp")
    page = "other_nodes/dot.html"


class Output(NodeClass):
    names = ("Output",)
    page = "other_nodes/output.html"


class Switch(NodeClass):
    """Hands on the input that `which` names; nothing is known of the others."""

    names = ("Switch",)
    page = "merge_nodes/switch.html"
    knobs = (WHICH,)

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        chosen = int(WHICH.of(node))
        if not 0 <= chosen < len(node.inputs):
            raise node_error(node, f"knob which is {chosen}, but it has {len(node.inputs)} inputs; choose one of them")
        return (tree.input(node, chosen),)


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
    knobs = (NUMBER,)

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        if node.parent is None:
            raise node_error(node, "is an Input outside any group; replace it by the Read that it stands for")
        return (tree.input(tree.script.nodes[node.parent], NUMBER.of(node)),)
