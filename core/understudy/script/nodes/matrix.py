"""Matrix: weights from a table, which lies on the pixels as it is written: its first row above, its middle on each."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from understudy.errors import UnderstudyError
from understudy.frames.image import FloatPixels
from understudy.script.graph import Node
from understudy.script.knobs import Knob, Stated, bool_knob, knob_error
from understudy.script.nodes.base import Request, Tree
from understudy.script.nodes.filters import Around, FilterNode, Reach
from understudy.script.nodes.pixels import INPUT_MASK, OWN_MASK, RGB, PixelNode
from understudy.script.nodes.sums import Weights, as_shares, summed_under
from understudy.script.tokens import read_list
from understudy.script.values.fault import Unreadable
from understudy.script.values.moment import Moment

_Table: TypeAlias = "tuple[tuple[float, ...], ...]"
_MAX_SIDE = 65


def _table(stated: Stated) -> _Table:
    try:
        rows = [word.text for word in read_list(stated.raw, "", 0)]
    except UnderstudyError:
        raise Unreadable("holds unbalanced text") from None
    if len(rows) > _MAX_SIDE:
        raise Unreadable(f"has over {_MAX_SIDE} rows")
    return tuple(tuple(stated.moment.numbers(stated.node, stated.name, row)) for row in rows)


TABLE: Knob[_Table] = Knob(name="matrix", default=(), parse=_table)
NORMALIZE = bool_knob("normalize", False)


class Matrix(FilterNode):
    names = ("Matrix",)
    page = "filter_nodes/matrix.html"
    channels_knob = RGB
    channels_default_is_known = False
    knobs = (*PixelNode.knobs, TABLE)
    still = (RGB, OWN_MASK, INPUT_MASK, NORMALIZE)

    def reach(self, tree: Tree, node: Node, moment: Moment) -> Reach:
        height, width = self._weights(tree, node, moment).shape
        return Reach.of(width // 2, height // 2)

    def filtered(self, tree: Tree, node: Node, request: Request, around: Around) -> FloatPixels:
        return summed_under(around.whole(), self._weights(tree, node, tree.moment(request.frame)))

    def _weights(self, tree: Tree, node: Node, moment: Moment) -> Weights:
        table = TABLE.of(node, moment)
        height, widths = len(table), {len(row) for row in table}
        width = max(widths, default=0)
        if len(widths) != 1 or not (height % 2 and width % 2) or width > _MAX_SIDE:
            size = f"{width} x {height} numbers, or rows of several lengths"
            raise knob_error(node, TABLE.name, f"has {size}; make both sides odd, and {_MAX_SIDE} at most")
        weights = np.array(table, np.float64)
        if not NORMALIZE.of(node, tree.moment(None)):
            return weights
        if not weights.sum():
            raise knob_error(node, NORMALIZE.name, "divides by the sum of the numbers, which is 0; clear it")
        return as_shares(weights)
