"""Spans, ticks and zoom."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy_ui.panel.model.graph import Span, loss_span, nearest, panned, ticks, zoomed


@given(st.floats(1e-9, 1e3), st.floats(1.01, 1e6), st.booleans(), st.integers(2, 12))
def test_ticks_lie_inside_and_are_few(low: float, factor: float, is_log: bool, most: int) -> None:
    span = Span(low, low * factor, is_log)
    found = ticks(span, most)
    assert all(span.low * 0.999 <= tick <= span.high * 1.001 for tick in found)
    assert len(found) <= most + 2
    assert found == sorted(set(found))


def test_ticks_are_round() -> None:
    assert ticks(Span(0, 2000), 5) == [0, 500, 1000, 1500, 2000]
    assert ticks(Span(1e-4, 1e-2, True), 3) == pytest.approx([1e-4, 1e-3, 1e-2])
    assert ticks(Span(0.65e-3, 3.6e-3, True), 12) == pytest.approx([7e-4, 1e-3, 1.5e-3, 2e-3, 3e-3])
    assert ticks(Span(0.9e-3, 3.1e-3, True), 5) == pytest.approx([1e-3, 1.5e-3, 2e-3, 2.5e-3, 3e-3])


@given(st.floats(0, 1), st.booleans())
def test_a_span_goes_both_ways(share: float, is_log: bool) -> None:
    span = Span(1e-3, 10.0, is_log)
    assert span.fraction(span.at(share)) == pytest.approx(share, abs=1e-9)


def test_losses_that_are_none_leave_an_axis() -> None:
    assert loss_span([], True) == Span(1e-4, 1.0, True)
    assert loss_span([math.nan, math.inf, 0.0], True) == Span(1e-4, 1.0, True)


def test_a_linear_axis_is_not_spoilt_by_a_first_spike() -> None:
    assert loss_span([1000.0] + [0.1] * 99, False).high < 1


def test_zoom_keeps_what_is_under_the_mouse_and_ends_with_everything() -> None:
    first, last = zoomed(0, 1000, 500, 0.5, (0, 1000))
    assert (first, last) == (250, 750)
    assert zoomed(first, last, 500, 4, (0, 1000)) == (0, 0)
    assert panned(250, 750, 900, (0, 1000)) == (500, 1000)


def test_nearest() -> None:
    assert [nearest([10, 20, 40], step) for step in (0, 14, 16, 31, 99)] == [0, 0, 1, 2, 2]
