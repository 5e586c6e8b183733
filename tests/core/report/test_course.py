"""When a run has settled, over-fits, or was good enough: from looks alone, and in words that are true."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from understudy.report.course import (
    Course,
    GoodEnough,
    OverFitting,
    Settled,
    course_of,
    good_enough,
    good_enough_line,
    over_fitting,
    over_fitting_line,
    settled,
    settled_line,
    spoken_time,
)
from understudy.report.metrics import MetricsLog, read_metrics

EVERY_SECONDS = 10


def course(psnrs: list[float], losses: list[float] | None = None, scales: list[float] | None = None) -> Course:
    """A look every EVERY_SECONDS, a hundred steps apart; the loss falls unless told otherwise."""
    count = len(psnrs)
    return Course(
        steps=100 * np.arange(1, count + 1),
        seconds=EVERY_SECONDS * np.arange(1.0, count + 1),
        psnrs=np.array(psnrs, np.float64),
        losses=np.array(losses if losses is not None else np.linspace(1, 0.1, count)),
        scales=np.array(scales if scales is not None else np.ones(count)),
    )


def rising_to(best: float, looks: int) -> list[float]:
    return [best - 10 / number for number in range(1, looks + 1)]


def test_a_run_has_settled_when_a_third_of_its_time_brought_next_to_nothing() -> None:
    found = settled(course([*rising_to(40, 12), *([39.2] * 6)]))
    assert found is not None
    assert (found.psnr, found.seconds) == (39.2, 60)
    assert found.gain_db == pytest.approx(39.2 - (40 - 10 / 12))


def test_a_run_that_falls_has_settled_too() -> None:
    found = settled(course([*rising_to(40, 12), *([38.0] * 6)]))
    assert found is not None
    assert found.gain_db == 0
    assert found.fall_db == pytest.approx(40 - 10 / 12 - 38)


@pytest.mark.parametrize(
    "psnrs",
    [
        [],
        [40.0],
        [40.0] * 8,  # not half a minute in the last third
        [*rising_to(40, 12), *np.linspace(39.2, 39.4, 6)],  # a tenth and more was gained
    ],
)
def test_a_run_has_not_settled_early_or_while_it_gains(psnrs: list[float]) -> None:
    assert settled(course(psnrs)) is None


def test_five_looks_are_needed() -> None:
    few = course([40.0] * 4)
    slow = Course(steps=few.steps, seconds=60 * few.seconds, psnrs=few.psnrs, losses=few.losses, scales=few.scales)
    assert settled(slow) is None


@pytest.mark.parametrize(("num_coarse", "is_settled"), [(10, True), (11, True), (12, False), (15, False)])
def test_what_one_resolution_brought_says_nothing_of_the_next(num_coarse: int, is_settled: bool) -> None:
    """Of 18 looks the last 6 are the last third; the one before them is what they are compared with."""
    scales = [0.5] * num_coarse + [1.0] * (18 - num_coarse)
    assert (settled(course([40.0] * 18, scales=scales)) is not None) == is_settled


FALLEN = [39.2] * 13 + [39.0]


def test_over_fitting_is_a_fall_while_the_loss_sinks() -> None:
    found = over_fitting(course([35, 40, *FALLEN]))
    assert found == OverFitting(psnr=39.0, fall_db=1.0, best_step=200)


@pytest.mark.parametrize(
    "seen",
    [
        course([]),
        course([40, *FALLEN[:7]]),  # too short a time
        course([40, *FALLEN[:-4], 39.6, 39, 39, 39]),  # one of them near the best
        course([40, *FALLEN], losses=[0.1] * (len(FALLEN) + 1)),  # the loss does not fall: nothing is learnt by heart
        course([40, *FALLEN], losses=[np.nan] * (len(FALLEN) + 1)),
        course([40, *FALLEN], scales=[0.5, *[1] * len(FALLEN)]),  # a finer resolution is another task
    ],
)
def test_what_is_no_over_fitting(seen: Course) -> None:
    assert over_fitting(seen) is None


def test_good_enough_is_from_where_it_stayed_near_its_best() -> None:
    assert good_enough(course([30, 39.8, 35, 39.6, 40, 39.9])) == GoodEnough(psnr=40, seconds=40)
    assert good_enough(course([40, 40, 40])) == GoodEnough(psnr=40, seconds=10)


@pytest.mark.parametrize("psnrs", [[], [40.0, 40.0], [30, 40, 30]])
def test_good_enough_is_not_said_of_few_looks_or_of_a_run_that_fell(psnrs: list[float]) -> None:
    assert good_enough(course(psnrs)) is None


def test_the_words_do_not_promise_that_nothing_will_come() -> None:
    found = Settled(psnr=41.23, fall_db=0.02, gain_db=0.05, seconds=240)
    early, late = settled_line(found, 0.82, "runs/a"), settled_line(found, 0.95, "runs/a")
    assert early.startswith("Settled for now: 41.2 dB, 0.05 dB gained in the last 4 min 0 s; the run is at 82 %")
    assert "may bring more" in early
    assert late.endswith("stopping now loses little (understudy stop runs/a)")


def test_the_words_tell_of_a_fall() -> None:
    found = Settled(psnr=41.23, fall_db=0.4, gain_db=0.0, seconds=30)
    assert settled_line(found, 0.95, "runs/a").startswith("Settled: 41.2 dB at best, now 0.4 less, 0.00 dB gained")


def test_the_words_of_over_fitting_name_what_is_kept() -> None:
    found = OverFitting(psnr=39.04, fall_db=0.96, best_step=3240)
    line = over_fitting_line(found, 3000)
    assert "39.0 dB" in line
    assert "1.0 dB below step 3240" in line
    assert "step 3000 (kept)" in line
    assert "no checkpoint yet" in over_fitting_line(found, 0)


def test_the_words_of_good_enough() -> None:
    line = good_enough_line(GoodEnough(psnr=41.3, seconds=80), 300)
    assert line == "Good enough (within 0.5 dB of 41.3 dB) after 1 min 20 s of 5 min 0 s"


def test_times_as_they_are_said() -> None:
    assert [spoken_time(seconds) for seconds in (0.4, 59, 80, 3725)] == ["0 s", "59 s", "1 min 20 s", "1 h 2 min"]


def test_a_course_is_read_from_the_metrics(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    with MetricsLog(path) as log:
        for step, loss in ((1, 9.0), (10, 3.0), (20, 1.0), (30, float("nan")), (40, 0.5)):
            log.step(step, loss=loss, learning_rate=1e-3, scale=0.5 if step < 30 else 1.0, seconds=step / 10)
            if step in (10, 20, 30):
                log.validation(step, psnr=20.0 + step, seconds=step / 10, on="squares")
        log.validation(41, psnr=float("nan"), on="squares")
    read = course_of(read_metrics(path))
    assert read.steps.tolist() == [10, 20, 30]
    assert read.seconds.tolist() == [1, 2, 3]
    assert read.psnrs.tolist() == [30, 40, 50]
    assert read.losses[:2].tolist() == [6, 1], "of the lines since the look before"
    assert np.isnan(read.losses[2])
    assert read.scales.tolist() == [0.5, 0.5, 1]


def test_a_history_without_steps_has_no_course(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    with MetricsLog(path) as log:
        log.validation(10, psnr=30.0)
    assert not len(course_of(read_metrics(path)).steps)
