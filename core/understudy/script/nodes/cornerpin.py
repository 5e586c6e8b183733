"""CornerPin2D: four points of the picture placed on four others, by the example of Nuke's developer kit.

With fewer points there is less freedom: three leave a parallelogram one, two move, turn and scale, one moves. Pixels
count as squares. The extra matrix comes after the points, and `invert` turns both around.
"""

from __future__ import annotations

from dataclasses import replace

from understudy.script.graph import Node
from understudy.script.knobs import Knob, Pair, bool_knob, grid_knob, knob_error, pair_knob
from understudy.script.nodes.base import Tree
from understudy.script.nodes.homography import Homography, moved
from understudy.script.nodes.placing import SMALLEST_AREA, Placement, Placing
from understudy.script.nodes.transform import BLACK_OUTSIDE, MOTION_BLUR, y_up
from understudy.script.values.moment import Moment

FROM = tuple(pair_knob(f"from{number}", (0.0, 0.0)) for number in range(1, 5))
TO = tuple(pair_knob(f"to{number}", (0.0, 0.0)) for number in range(1, 5))
ENABLE = tuple(bool_knob(f"enable{number}", True) for number in range(1, 5))
INVERT = bool_knob("invert", False)
EXTRA = grid_knob("transform_matrix", 4)


class CornerPin2D(Placing):
    names = ("CornerPin2D",)
    page = "transform_nodes/cornerpin2d.html"
    knobs = (*Placing.knobs, *FROM, *TO, *ENABLE, INVERT, EXTRA)
    still = (BLACK_OUTSIDE,)
    fixed = (MOTION_BLUR,)
    black_outside = BLACK_OUTSIDE

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        _matrix(node, moment)

    def placed(self, tree: Tree, node: Node, frame: int, above: Placement) -> Placement:
        to_nuke = y_up(above.display_window)
        own = to_nuke.then(_matrix(node, tree.moment(frame))).then(to_nuke.inverse())
        return replace(above, forward=above.forward.then(own))


def _matrix(node: Node, moment: Moment) -> Homography:
    """In pixels from the format's lower left corner, y up."""
    chosen = [number for number, enable in enumerate(ENABLE) if enable.of(node, moment)]
    matrix = Homography()
    if len(chosen) == 1:
        (x, y), (to_x, to_y) = (_point(node, moment, side[chosen[0]]) for side in (FROM, TO))
        matrix = moved(to_x - x, to_y - y)
    elif chosen:
        matrix = _from_square(node, moment, FROM, chosen).inverse().then(_from_square(node, moment, TO, chosen))
    matrix = matrix.then(_extra(node, moment))
    return matrix.inverse() if INVERT.of(node, moment) else matrix


def _point(node: Node, moment: Moment, knob: Knob[Pair]) -> Pair:
    if not knob.is_stated(node):
        raise knob_error(node, knob.name, "is left out; set it")
    return knob.of(node, moment)


def _from_square(node: Node, moment: Moment, side: tuple[Knob[Pair], ...], chosen: list[int]) -> Homography:
    """From the corners 0 0, 1 0, 1 1 and 0 1 to the points in their order; of three the fourth does not matter."""
    points = [complex(*_point(node, moment, side[number])) for number in chosen]
    if len(points) == 2:
        points.append(points[0] + 1j * (points[1] - points[0]))
    square = _onto(points)
    if square is None or not abs(square.determinant) > SMALLEST_AREA:
        names = ", ".join(side[number].name for number in chosen)
        raise knob_error(node, side[chosen[0]].name, f"lies so that {names} leave no picture; move them apart")
    return square


def _onto(points: list[complex]) -> Homography | None:
    """Heckbert's map of the unit square onto four points; None where three of them lie on one line."""
    first, second, third = points[:3]
    fourth = points[3] if len(points) == 4 else first - second + third
    excess = first - second + third - fourth if len(points) == 4 else 0
    right, left = second - third, fourth - third
    wx, wy = 0.0, 0.0
    if excess:
        area = _cross(right, left)
        if not area:
            return None
        wx, wy = _cross(excess, left) / area, _cross(right, excess) / area
    x_way = second - first + wx * second
    y_way = fourth - first + wy * fourth if excess else third - second
    return Homography(
        xx=x_way.real, xy=y_way.real, x0=first.real, yx=x_way.imag, yy=y_way.imag, y0=first.imag, wx=wx, wy=wy
    )


def _cross(one: complex, other: complex) -> float:
    return one.real * other.imag - one.imag * other.real


def _extra(node: Node, moment: Moment) -> Homography:
    """What the matrix does to the plane."""
    across, up, _, w = EXTRA.of(node, moment)
    matrix = Homography(
        xx=across[0], xy=across[1], x0=across[3], yx=up[0], yy=up[1], y0=up[3], wx=w[0], wy=w[1], w0=w[3]
    )
    if not abs(matrix.determinant) > SMALLEST_AREA:
        raise knob_error(node, EXTRA.name, "leaves no picture; set it")
    return matrix
