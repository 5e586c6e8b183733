from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest
from tests.core.records import lay_run, metrics_line
from tests.ui.answers.conftest import Answer

from understudy.report.curves import loss_curve
from understudy.report.metrics import MetricsLog, read_metrics, truncate_after
from understudy.runs import RunFiles
from understudy_ui.protocol import CurveShown


@pytest.fixture
def run(tmp_path: Path) -> RunFiles:
    return lay_run(tmp_path / "data", "run", num_lines=1000)


def curve_of(answer: Answer, run: RunFiles, **about: int | float) -> CurveShown:
    asked = {"num_points": 100, "smoothness": 0.6, "first": 0, "last": 0, **about}
    return cast(CurveShown, answer("curve", place=str(run.record), **asked))


def add(run: RunFiles, *lines: str) -> None:
    with run.metrics.open("a", encoding="utf-8") as file:
        file.writelines(lines)


def test_it_is_the_graphs_own_curve(answer: Answer, run: RunFiles) -> None:
    curve = curve_of(answer, run)
    drawn = loss_curve(read_metrics(run.metrics), 0.6, 100)
    assert len(curve["steps"]) == len(curve["smooth"]) == 100
    assert curve["lowest"] == drawn.lows.tolist()
    assert curve["highest"] == drawn.highs.tolist()
    assert curve["smooth"] == drawn.smooth.tolist()


def test_no_spike_is_lost(answer: Answer, run: RunFiles) -> None:
    add(run, json.dumps({"step": 1001, "loss": 77.0}) + "\n", *map(metrics_line, range(1002, 3000)))
    assert max(curve_of(answer, run, num_points=20)["highest"]) == 77.0


def test_a_part_of_it(answer: Answer, run: RunFiles) -> None:
    curve = curve_of(answer, run, first=500, last=520)
    assert curve["steps"] == [*range(500, 521)]
    assert curve["lowest"] == curve["highest"] == pytest.approx([1 / step for step in range(500, 521)])
    assert curve_of(answer, run, first=999)["steps"] == [999, 1000]
    assert curve_of(answer, run, first=5000)["steps"] == []


def test_validations_stages_and_events(answer: Answer, tmp_path: Path) -> None:
    run = lay_run(tmp_path / "data", "run", num_lines=0)
    with MetricsLog(run.metrics) as log:
        log.event("ranks", step=0, ranks="0 1", from_rank=0.0, why="")
        for step in range(1, 31):
            log.step(
                step, loss=1.0, learning_rate=1e-3, scale=0.25 if step < 11 else 0.5 if step < 21 else 1.0, seconds=step
            )
        log.validation(20, psnr=30.0)
        log.validation(30, psnr=float("nan"))
        log.event("ranks", step=25, ranks="0", from_rank=0.0, why="rank 1 on render02 left: silent for 5 s")
        log.event("resumed", step=28)
    curve = curve_of(answer, run)
    assert (curve["validation_steps"], curve["validation_psnrs"]) == ([20], [30.0])
    assert (curve["stages"], curve["stage_names"]) == ([1, 11, 21], ["1/4", "1/2", "full"])
    assert curve["events"] == [
        "step 0: ranks 0 1 train",
        "step 25: rank 1 on render02 left: silent for 5 s",
        "step 28: resumed",
    ]
    assert curve["event_steps"] == [0, 25, 28]


def test_it_grows_with_its_file_and_half_a_line_waits(answer: Answer, run: RunFiles) -> None:
    assert curve_of(answer, run)["steps"][-1] == 996  # middle of the last bin
    line = metrics_line(1001)
    add(run, line[:20])
    assert curve_of(answer, run, first=1001)["steps"] == []
    add(run, line[20:])
    assert curve_of(answer, run, first=1001)["steps"] == [1001]


def test_damaged_lines_are_passed_over_and_told_of(answer: Answer, run: RunFiles) -> None:
    add(run, "nonsense\n", "[1]\n", '{"step": "x", "loss": 1}\n', '{"loss": 1}\n', "\xff\n", metrics_line(1001))
    curve = curve_of(answer, run, first=1000)
    assert curve["steps"] == [1000, 1001]
    assert curve["events"][0] == "step 1000: line 1001 of the metrics is damaged and left out"
    assert len(curve["events"]) == 5


def test_losses_that_are_no_numbers_are_not_drawn(answer: Answer, run: RunFiles) -> None:
    add(run, '{"step": 1001, "loss": null, "scale": 1.0}\n', '{"step": 1002, "loss": NaN, "scale": 1.0}\n')
    assert curve_of(answer, run, first=1000)["steps"] == [1000]
    json.dumps(curve_of(answer, run), allow_nan=False)


def test_a_resumed_run_forgets_what_it_forgot(answer: Answer, run: RunFiles) -> None:
    curve_of(answer, run)
    truncate_after(run.metrics, 500)
    assert curve_of(answer, run, first=490)["steps"] == [*range(490, 501)]
    add(run, *(json.dumps({"step": step, "loss": 9.0}) + "\n" for step in range(501, 3001)))
    curve = curve_of(answer, run, first=501)
    assert (min(curve["lowest"]), max(curve["highest"])) == (9.0, 9.0)


def test_a_file_that_was_replaced_by_a_longer_one_is_read_anew(answer: Answer, run: RunFiles) -> None:
    curve_of(answer, run)
    run.metrics.write_text("".join(json.dumps({"step": step, "loss": 5.0}) + "\n" for step in range(1, 5001)))
    curve = curve_of(answer, run)
    assert (min(curve["lowest"]), max(curve["highest"])) == (5.0, 5.0)


def test_a_run_that_has_recorded_nothing(answer: Answer, run: RunFiles) -> None:
    run.metrics.unlink()
    assert curve_of(answer, run)["steps"] == []


def test_of_a_hundred_thousand_steps_only_the_new_ones_are_read(answer: Answer, tmp_path: Path) -> None:
    run = lay_run(tmp_path / "data", "run", num_lines=100000)
    highest = max(curve_of(answer, run)["highest"])
    with run.metrics.open("r+b") as file:
        file.write(b"no line that anybody could read")
    add(run, *map(metrics_line, range(100001, 100101)))
    curve = curve_of(answer, run, num_points=800)
    assert (len(curve["steps"]), max(curve["highest"])) == (800, highest)
    assert curve["events"] == [], "no damaged line is told of"
    assert curve_of(answer, run, first=100050)["steps"] == [*range(100050, 100101)]
