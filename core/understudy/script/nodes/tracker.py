"""Tracker4 and Tracker3: they only track, or transform the picture as well.

To stabilize Nuke writes the motion of the tracks with its sign changed and the way of their centre, to match-move the
motion as it is and the centre that they have at the reference frame. So either is what a Transform does with the same
knobs. What is written for jitter, and what smooth and live link leave in the script, is not known.
"""

from __future__ import annotations

from understudy.script.graph import Node
from understudy.script.knobs import Knob, bool_knob, float_knob, knob_error, word_knob
from understudy.script.nodes.base import NodeClass, Tree
from understudy.script.nodes.transform import BLACK_OUTSIDE, ROTATE, SCALE, TRANSLATE, Transform
from understudy.script.values.moment import Moment

SMOOTH = tuple(float_knob(f"smooth{what}", 0.0) for what in "TRS")
LIVE_LINK = bool_knob("livelink_transform", False)


class Tracker4(Transform):
    """Hands on its input where it only tracks; Transforms that are linked to its curves follow them."""

    names = ("Tracker4",)
    page = "transform_nodes/tracker.html"
    does: Knob[str] = word_knob(
        "transform", ("none", "stabilize", "stabilize 1-pt", "match-move", "match-move 1-pt"), "none"
    )
    still = (does, BLACK_OUTSIDE)
    fixed = (*Transform.fixed, *SMOOTH, LIVE_LINK)

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        """Where it only tracks, what its other knobs say does not matter."""
        if self._only_tracks(tree, node):
            return
        super().check(tree, node, moment)
        if not any(knob.is_stated(node) for knob in (TRANSLATE, ROTATE, SCALE)):
            does = self.does.of(node, moment)
            raise knob_error(node, TRANSLATE.name, f"is left out, and so are rotate and scale, though it is to {does}")

    def hands_on(self, tree: Tree, node: Node, frame: int) -> bool:
        return self._only_tracks(tree, node) or super().hands_on(tree, node, frame)

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        return NodeClass.channels(self, tree, node) if self._only_tracks(tree, node) else super().channels(tree, node)

    def _only_tracks(self, tree: Tree, node: Node) -> bool:
        return self.does.of(node, tree.moment(None)) == "none"


class Tracker3(Tracker4):
    """Of Nuke 6. As Tracker4, which has followed it, but how it writes what stabilizes is not known."""

    names = ("Tracker3",)
    does = word_knob("transform", ("none", "match-move"), "none")
    still = (does, BLACK_OUTSIDE)
