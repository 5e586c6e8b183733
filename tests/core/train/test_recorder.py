"""When a contact sheet is due."""

from __future__ import annotations

import math

import pytest

from understudy.train.recorder import SHEET_SECONDS, SHEET_STEPS, is_sheet_due


@pytest.mark.parametrize(
    ("interval", "step", "seconds_since_last", "is_due"),
    [
        (0, SHEET_STEPS, math.inf, True),
        (0, SHEET_STEPS - 1, math.inf, False),
        (0, 3 * SHEET_STEPS, SHEET_SECONDS, True),
        (0, 3 * SHEET_STEPS, SHEET_SECONDS - 0.1, False),
        (7, 14, 0.0, True),
        (7, SHEET_STEPS, math.inf, False),
    ],
)
def test_a_sheet_comes_by_steps_and_by_the_clock_or_as_often_as_asked_for(
    interval: int, step: int, seconds_since_last: float, is_due: bool
) -> None:
    assert is_sheet_due(interval, step, seconds_since_last) == is_due
