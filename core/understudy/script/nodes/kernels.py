"""Nuke's filters: how much a pixel counts by its distance from where it is read.

Nuke's help states each cubic by its sharpness, Mitchell and Netravali's paper has the others by their B and C: Parzen
is the B-spline, Notch the pair with nothing left at the highest frequency. The numbers of Lanczos4, Lanczos6 and Sinc4
are their widths in pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.graph import Node
from understudy.script.knobs import enum_knob
from understudy.script.values.moment import Moment


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """One filter where no pixel is made smaller; made wider where they are."""

    radius: float
    """Pixels; 0: the pixel below the place is taken as it is."""
    weight: Callable[[FloatPixels], FloatPixels]
    """Of distances from 0 in pixels; 0 from the radius on."""


def _cubic(b: float, c: float) -> Kernel:
    """The family of Mitchell and Netravali: one polynomial up to a pixel away, another up to two."""
    near = ((12 - 9 * b - 6 * c) / 6, (-18 + 12 * b + 6 * c) / 6, 0.0, (6 - 2 * b) / 6)
    far = ((-b - 6 * c) / 6, (6 * b + 30 * c) / 6, (-12 * b - 48 * c) / 6, (8 * b + 24 * c) / 6)

    def weight(distance: FloatPixels) -> FloatPixels:
        beyond = np.where(distance < 2, _polynomial(far, distance), np.float32(0))
        weights: FloatPixels = np.where(distance < 1, _polynomial(near, distance), beyond)
        return weights

    if b or c:
        return Kernel(radius=2.0, weight=weight)
    return Kernel(radius=1.0, weight=lambda distance: _polynomial(near, np.minimum(distance, np.float32(1))))


def _polynomial(factors: Sequence[float], t: FloatPixels) -> FloatPixels:
    """The factor of the highest power first."""
    total: FloatPixels = np.full_like(t, factors[0])
    for factor in factors[1:]:
        total *= t
        total += np.float32(factor)
    return total


def _sinc(radius: float, *, window: bool) -> Kernel:
    def weight(distance: FloatPixels) -> FloatPixels:
        t = distance.astype(np.float64)
        values = np.sinc(t) * np.sinc(t / radius) if window else np.sinc(t)
        # a sine of pi is not quite 0, and whole numbers must leave every other pixel out
        weights: FloatPixels = np.where(t >= radius, 0, np.where(t == np.rint(t), t == 0, values)).astype(np.float32)
        return weights

    return Kernel(radius=radius, weight=weight)


IMPULSE = Kernel(radius=0.0, weight=np.ones_like)
KERNELS = {
    "Impulse": IMPULSE,
    "Cubic": _cubic(0, 0),
    "Keys": _cubic(0, 1 / 2),
    "Simon": _cubic(0, 3 / 4),
    "Rifman": _cubic(0, 1),
    "Mitchell": _cubic(1 / 3, 1 / 3),
    "Parzen": _cubic(1, 0),
    "Notch": _cubic(3 / 2, -1 / 4),
    "Lanczos4": _sinc(2, window=True),
    "Lanczos6": _sinc(3, window=True),
    "Sinc4": _sinc(2, window=False),
}
"""In the order of Nuke's menu."""

FILTER = enum_knob("filter", tuple(KERNELS), "Cubic")


def kernel_of(node: Node, moment: Moment) -> Kernel:
    return KERNELS[FILTER.of(node, moment)]
