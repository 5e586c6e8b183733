"""Learning rate and stages follow steps, or the clock when there is one."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest

from understudy.report.course import LAST_PART
from understudy.settings import Settings, total_steps
from understudy.train.schedule import (
    HELD_END,
    HELD_SHARE,
    STEADY_END,
    STEADY_START,
    WARM_UP_STEPS,
    Fall,
    Pace,
    Schedule,
)


def schedule(seconds: float = 0.0, multi_resolution: bool = True) -> Schedule:
    return Schedule(
        total_steps=1000, knob_learning_rate=1e-3, fall="held", multi_resolution=multi_resolution, seconds=seconds
    )


def test_stages_go_from_quarter_to_half_to_full() -> None:
    reductions = [schedule().plan(step, 0.0).reduction for step in range(1, 1001)]
    assert sorted(set(reductions), reverse=True) == [4, 2, 1]
    assert reductions == sorted(reductions, reverse=True)
    assert reductions.count(1) >= 500
    assert {schedule(multi_resolution=False).plan(step, 0.0).reduction for step in (1, 500, 1000)} == {1}


@pytest.mark.parametrize(("fall", "end"), [("held", 0.02), ("steady", 0.22)])
def test_learning_rate_warms_up_and_falls(fall: Fall, end: float) -> None:
    falling = dataclasses.replace(schedule(), fall=fall)
    rates = [falling.plan(step, 0.0).learning_rate for step in range(1, 1001)]
    assert rates[WARM_UP_STEPS:] == sorted(rates[WARM_UP_STEPS:], reverse=True)
    assert rates.index(max(rates)) == WARM_UP_STEPS - 1
    assert rates[-1] < end * max(rates)


def test_a_steady_fall_takes_the_same_share_in_every_part_and_a_held_rate_falls_in_a_line_at_the_end() -> None:
    steady = dataclasses.replace(schedule(), fall="steady")
    rates = [steady.learning_rate(progress, WARM_UP_STEPS) for progress in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert (rates[0], rates[-1]) == pytest.approx((1e-3 * STEADY_START, 1e-3 * STEADY_END))
    assert [after / before for before, after in pairwise(rates)] == pytest.approx([rates[1] / rates[0]] * 4)
    held = [
        schedule().learning_rate(progress, WARM_UP_STEPS) for progress in (0.0, HELD_SHARE, 1 - (1 - HELD_SHARE) / 2)
    ]
    assert held == pytest.approx([1e-3, 1e-3, 1e-3 * (1 + HELD_END) / 2])


@pytest.mark.parametrize("fall", ["held", "steady"])
def test_the_rate_is_low_when_it_is_said_that_stopping_loses_little(fall: Fall) -> None:
    falling = dataclasses.replace(schedule(), fall=fall)
    assert falling.learning_rate(LAST_PART, WARM_UP_STEPS) < 0.26 * falling.learning_rate(0.0, WARM_UP_STEPS)


def test_the_clock_ends_and_steers_a_run_by_minutes() -> None:
    by_clock = schedule(seconds=60.0)
    assert by_clock.plan(100, 59.9).learning_rate < 0.02e-3
    assert by_clock.plan(100, 1.0).reduction == 4
    assert by_clock.is_over(10, 60.0)
    assert not by_clock.is_over(10, 59.0)
    assert by_clock.is_over(1000, 5.0)


def test_between_meetings_the_clock_goes_on_as_fast_as_it_went_before_the_last() -> None:
    pace = Pace(step=10, elapsed_seconds=100.0)
    assert [pace.elapsed_at(step) for step in (10, 11, 20)] == [100.0] * 3, "nothing is known yet"
    pace.agree(14, 108.0)
    assert [pace.elapsed_at(step) for step in (14, 15, 20)] == [108.0, 110.0, 120.0]
    pace.agree(15, 109.0)
    assert [pace.elapsed_at(step) for step in (15, 16)] == [109.0, 110.0]


@pytest.mark.parametrize(
    ("epochs", "pairs", "batch", "expected"),
    [(30000, 4, 3, 40000), (334, 33, 1, 11022), (10000, 9, 4, 22500), (1, 3, 2, 2)],
)
def test_total_steps_are_those_that_copycat_shows(epochs: int, pairs: int, batch: int, expected: int) -> None:
    assert total_steps(Settings(epochs=epochs), pairs, batch) == expected
    assert total_steps(Settings(epochs=epochs, steps=7), pairs, batch) == 7
