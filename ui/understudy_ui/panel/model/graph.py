"""The arithmetic of a graph: what span is shown, where its ticks are, which point is nearest."""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass
from typing import List, Sequence, Tuple

FEWEST_STEPS = 10
"""Shown at the deepest zoom."""
SMALLEST_LOSS = 1e-12
"""What a logarithmic axis takes zero for."""


@dataclass(frozen=True)
class Span:
    """From `low` to `high`; logarithmic spans are asked in losses, too, and count decades inside."""

    low: float
    high: float
    is_log: bool = False

    def fraction(self, value: float) -> float:
        """0 at `low`, 1 at `high`."""
        return self.fractions([value])[0]

    def fractions(self, values: Sequence[float]) -> List[float]:
        """Of thousands at once: a graph is drawn many times a second."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        scale = 1.0 / ((high - low) or 1.0)
        if self.is_log:
            log10 = math.log10
            return [(log10(max(value, SMALLEST_LOSS)) - low) * scale for value in values]
        return [(value - low) * scale for value in values]

    def at(self, fraction: float) -> float:
        low, high = self._scaled(self.low), self._scaled(self.high)
        value = low + fraction * (high - low)
        return float(10**value) if self.is_log else value

    def _scaled(self, value: float) -> float:
        return math.log10(max(value, SMALLEST_LOSS)) if self.is_log else value


def loss_span(values: Sequence[float], is_log: bool) -> Span:
    """Room for all of them. A linear axis begins at 0 and leaves the first spike out: the eye wants the end."""
    finite = sorted(value for value in values if math.isfinite(value) and (value > 0 or not is_log))
    if not finite:
        return Span(1e-4, 1.0, is_log)
    if is_log:
        low, high = math.log10(max(finite[0], SMALLEST_LOSS)), math.log10(max(finite[-1], SMALLEST_LOSS))
        room = max(0.05, (high - low) * 0.05)
        return Span(10 ** (low - room), 10 ** (high + room), True)
    usual = finite[min(len(finite) - 1, int(len(finite) * 0.97))]
    return Span(0.0, (usual or finite[-1] or 1.0) * 1.15)


def ticks(span: Span, most: int) -> List[float]:
    """Round numbers in the span: of a few decades some from each, of many the decades."""
    if span.is_log:
        return _log_ticks(span, most)
    rough = (span.high - span.low) / max(1, most)
    if rough <= 0:
        return [span.low]
    power = 10 ** math.floor(math.log10(rough))
    stride = next(power * step for step in (1, 2, 5, 10) if power * step >= rough * 0.999)
    first = math.ceil(span.low / stride - 1e-9)
    return [count * stride for count in range(first, math.floor(span.high / stride + 1e-9) + 1)]


def _log_ticks(span: Span, most: int) -> List[float]:
    first, last = math.floor(math.log10(span.low)), math.ceil(math.log10(span.high))
    if span.high < span.low * 4:
        return ticks(Span(span.low, span.high), most)
    for steps in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        found = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        inside = [value for value in found if span.low <= value <= span.high]
        if len(inside) <= most:
            return inside
    stride = -(-len(inside) // max(1, most))
    return inside[::stride]


def zoomed(first: float, last: float, at: float, factor: float, whole: Tuple[float, float]) -> Tuple[int, int]:
    """The steps on view after a turn of the wheel at step `at`; 0, 0 when all are on view again."""
    length = max(FEWEST_STEPS, (last - first) * factor)
    if length >= whole[1] - whole[0]:
        return 0, 0
    share = (at - first) / ((last - first) or 1.0)
    return _inside(at - share * length, length, whole)


def panned(first: float, last: float, by: float, whole: Tuple[float, float]) -> Tuple[int, int]:
    return _inside(first + by, last - first, whole)


def _inside(first: float, length: float, whole: Tuple[float, float]) -> Tuple[int, int]:
    first = min(max(first, whole[0]), whole[1] - length)
    return max(1, round(first)), round(first + length)


def nearest(steps: Sequence[int], step: float) -> int:
    """Index of the step that is nearest; there is one at least."""
    place = bisect.bisect_left(steps, step)
    around = [index for index in (place - 1, place) if 0 <= index < len(steps)]
    return min(around, key=lambda index: abs(steps[index] - step))
