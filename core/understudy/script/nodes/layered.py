"""Knobs that name layers, read with what is known of layers at the node."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.script.graph import Node
from understudy.script.knobs import Knob, knob_error
from understudy.script.layers import Four, Layers
from understudy.script.nodes.base import Tree
from understudy.script.values.fault import shortened

Words = tuple[str, ...]


def layers_at(tree: Tree, there: Sequence[str]) -> Layers:
    return Layers(stated=tree.script.layers, there=there)


def four_of(tree: Tree, node: Node, knob: Knob[Words], there: Sequence[str], *, is_made: bool = False) -> Four:
    """The channels in the knob's four places. Raises UnderstudyError naming it where they are not known."""
    words = knob.of(node, tree.moment(None))
    found = layers_at(tree, there).four(words, is_made=is_made)
    if found is None:
        raise knob_error(node, knob.name, f"is {shortened(' '.join(words))}, of which the channels are not known")
    return found


def refuse_unknown(tree: Tree, node: Node, knob: Knob[Words], there: Sequence[str]) -> None:
    """Raise UnderstudyError naming a knob that names a layer of which no channel is known."""
    unknown = layers_at(tree, there).unknown(knob.of(node, tree.moment(None)))
    if unknown:
        raise knob_error(node, knob.name, f"names {shortened(unknown[0])}, of which the channels are not known")
