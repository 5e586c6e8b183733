"""Operators and functions of expressions: C's arithmetic, and the functions that Nuke's expressions name.

All take numbers or arrays of them, so that an expression may be computed for many pixels at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = "np.float64 | NDArray[np.float64]"
Function: TypeAlias = Callable[..., Numbers]

_NONE, _WHOLE = np.float64(0), np.float64(1)


@dataclass(frozen=True)
class Operation:
    """A function, and how many numbers it takes."""

    function: Function
    fewest: int
    most: int


def _number(truth: np.bool_ | NDArray[np.bool_]) -> Numbers:
    number: Numbers = np.multiply(truth, np.float64(1))
    return number


def _truth(test: Callable[[Numbers, Numbers], NDArray[np.bool_]]) -> Function:
    return lambda a, b: _number(test(a, b))


def _test(test: Callable[[Numbers], NDArray[np.bool_]]) -> Function:
    return lambda a: _number(test(a))


def choose(test: Numbers, yes: Numbers, no: Numbers) -> Numbers:
    """`test ? yes : no`."""
    return np.where(np.not_equal(test, 0), yes, no)


def opposite(a: Numbers) -> Numbers:
    """`!a`."""
    return _number(np.equal(a, 0))


def _clamp(a: Numbers, low: Numbers = _NONE, high: Numbers = _WHOLE) -> Numbers:
    clamped: Numbers = np.minimum(np.maximum(a, low), high)
    return clamped


def _lerp(a: Numbers, b: Numbers, along: Numbers) -> Numbers:
    return a + (b - a) * along


def _step(edge: Numbers, a: Numbers) -> Numbers:
    return _number(np.greater_equal(a, edge))


def _smoothstep(low: Numbers, high: Numbers, a: Numbers) -> Numbers:
    along = _clamp((a - low) / (high - low))
    return along * along * (3 - 2 * along)


def _equal(a: Numbers, *others: Numbers) -> Numbers:
    found = np.equal(a, others[0])
    for other in others[1:]:
        found = np.logical_or(found, np.equal(a, other))
    return _number(found)


BINARY: dict[str, Function] = {
    "||": _truth(np.logical_or),
    "&&": _truth(np.logical_and),
    "==": _truth(np.equal),
    "!=": _truth(np.not_equal),
    "<": _truth(np.less),
    "<=": _truth(np.less_equal),
    ">": _truth(np.greater),
    ">=": _truth(np.greater_equal),
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "%": np.fmod,
    "**": np.float_power,
}

FUNCTIONS: dict[str, Operation] = {
    **{name: Operation(getattr(np, name), 1, 1) for name in ("ceil", "floor", "rint", "trunc")},
    **{name: Operation(getattr(np, name), 1, 1) for name in ("exp", "log", "log10", "sqrt")},
    **{name: Operation(getattr(np, name), 1, 1) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: Operation(getattr(np, name), 1, 1) for name in ("degrees", "radians")},
    **{f"a{name}": Operation(getattr(np, f"arc{name}"), 1, 1) for name in ("sin", "cos", "tan")},
    "abs": Operation(np.absolute, 1, 1),
    "fabs": Operation(np.absolute, 1, 1),
    "int": Operation(np.trunc, 1, 1),
    "atan2": Operation(np.arctan2, 2, 2),
    "fmod": Operation(np.fmod, 2, 2),
    "hypot": Operation(np.hypot, 2, 2),
    "pow": Operation(np.float_power, 2, 2),
    "pow2": Operation(np.square, 1, 1),
    "min": Operation(lambda *all_of: reduce(np.minimum, all_of), 1, 16),
    "max": Operation(lambda *all_of: reduce(np.maximum, all_of), 1, 16),
    "clamp": Operation(_clamp, 1, 3),
    "lerp": Operation(_lerp, 3, 3),
    "mix": Operation(_lerp, 3, 3),
    "step": Operation(_step, 2, 2),
    **{name: Operation(_test(getattr(np, name)), 1, 1) for name in ("isnan", "isinf", "isfinite")},
    "sign": Operation(np.sign, 1, 1),
    "copysign": Operation(np.copysign, 2, 2),
    "equal": Operation(_equal, 2, 16),
    "smoothstep": Operation(_smoothstep, 3, 3),
}

CONSTANTS = {"pi": np.pi, "PI": np.pi, "true": 1.0, "false": 0.0, "on": 1.0, "off": 0.0, "yes": 1.0, "no": 0.0}
