"""The formulas of Merge's operations, as its page states them: A over B, a and b their alphas.

Of color-burn and color-dodge it says that B is darkened or brightened towards A. They are those of Photoshop and of
W3C's Compositing and Blending between 0 and 1; beyond, Natron goes on with them, and it has Nuke's words for both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.frames.image import FloatPixels


@dataclass(frozen=True)
class Pair:
    """Colours of both inputs, H W C, and their alphas, H W 1."""

    A: FloatPixels
    B: FloatPixels
    a: FloatPixels
    b: FloatPixels


Blend = Callable[[Pair], FloatPixels]
"""H W C of the pair's colours."""


def _where(test: NDArray[np.bool_], yes: FloatPixels | np.float32, no: FloatPixels) -> FloatPixels:
    chosen: FloatPixels = np.where(test, yes, no)
    return chosen


def _screen(of: Pair) -> FloatPixels:
    """A + B - AB of values that light may have in a screen, else the larger."""
    is_plain = (of.A >= 0) & (of.A <= 1) & (of.B >= 0) & (of.B <= 1)
    return _where(is_plain, of.A + of.B - of.A * of.B, np.maximum(of.A, of.B))


def multiply(of: Pair) -> FloatPixels:
    """AB, but A where both are negative: two of them make no light."""
    return _where((of.A < 0) & (of.B < 0), of.A, of.A * of.B)


def divide(of: Pair) -> FloatPixels:
    """A / B, but 0 where both are negative, and where nothing is there to divide by: around pictures that is so."""
    return _where(((of.A < 0) & (of.B < 0)) | (of.B == 0), np.float32(0), of.A / of.B)


def _color_burn(of: Pair) -> FloatPixels:
    """What B lacks of 1, divided by A; A itself where that is black or less."""
    return _where(of.A <= 0, of.A, 1 - np.minimum(1, (1 - of.B) / of.A))


def _color_dodge(of: Pair) -> FloatPixels:
    """B divided by what A lacks of 1, at most 1; A itself where that is 1 or more."""
    return _where(of.A >= 1, of.A, np.minimum(1, of.B / (1 - of.A)))


def _geometric(of: Pair) -> FloatPixels:
    """2AB / (A + B), and 0 where both are black."""
    total = of.A + of.B
    return _where(total == 0, np.float32(0), 2 * of.A * of.B / total)


def _soft_light(of: Pair) -> FloatPixels:
    both = of.A * of.B
    return _where(both < 1, of.B * (2 * of.A + of.B * (1 - both)), 2 * both)


BLENDS: dict[str, Blend] = {
    "atop": lambda of: of.A * of.b + of.B * (1 - of.a),
    "average": lambda of: (of.A + of.B) * np.float32(0.5),
    "color-burn": _color_burn,
    "color-dodge": _color_dodge,
    "conjoint-over": lambda of: _where(of.a >= of.b, of.A, of.A + of.B * (1 - of.a / of.b)),
    "copy": lambda of: of.A,
    "difference": lambda of: np.abs(of.A - of.B),
    "disjoint-over": lambda of: _where((of.a + of.b < 1) | (of.b == 0), of.A + of.B, of.A + of.B * (1 - of.a) / of.b),
    "divide": divide,
    "exclusion": lambda of: of.A + of.B - 2 * of.A * of.B,
    "from": lambda of: of.B - of.A,
    "geometric": _geometric,
    "hard-light": lambda of: _where(of.A < 0.5, multiply(of), _screen(of)),
    "hypot": lambda of: np.hypot(of.A, of.B),
    "in": lambda of: of.A * of.b,
    "mask": lambda of: of.B * of.a,
    "matte": lambda of: of.A * of.a + of.B * (1 - of.a),
    "max": lambda of: np.maximum(of.A, of.B),
    "min": lambda of: np.minimum(of.A, of.B),
    "minus": lambda of: of.A - of.B,
    "multiply": multiply,
    "out": lambda of: of.A * (1 - of.b),
    "over": lambda of: of.A + of.B * (1 - of.a),
    "overlay": lambda of: _where(of.B < 0.5, multiply(of), _screen(of)),
    "plus": lambda of: of.A + of.B,
    "screen": _screen,
    "soft-light": _soft_light,
    "stencil": lambda of: of.B * (1 - of.a),
    "under": lambda of: of.A * (1 - of.b) + of.B,
    "xor": lambda of: of.A * (1 - of.b) + of.B * (1 - of.a),
}
"""By name, in the order in which Nuke counts them."""
