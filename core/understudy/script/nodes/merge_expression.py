"""MergeExpression: Expression over two pictures. `Ar` is the red of A (input 1), `Bmatte.a` a channel of B (input 0).

Names without such a letter are of B, as Nuke's own tools use them.
"""

from __future__ import annotations

from understudy.script.nodes.expression import Expression


class MergeExpression(Expression):
    """Channels that it does not give, and what the mask keeps, are those of B."""

    names = ("MergeExpression",)
    page = "merge_nodes/mergeexpression.html"
    num_inputs = 2
    letters = (("A", 1), ("B", 0), ("", 0))
