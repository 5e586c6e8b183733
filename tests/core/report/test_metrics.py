from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from understudy.errors import UnderstudyError
from understudy.report.metrics import MetricsLog, read_metrics, truncate_after


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.metrics.jsonl"


def write_steps(path: Path, first: int, last: int) -> None:
    with MetricsLog(path) as log:
        for step in range(first, last + 1):
            log.step(step, loss=1 / step, learning_rate=1e-3, scale=0.25, seconds=step / 10)


def test_every_kind_of_line_comes_back(path: Path) -> None:
    with MetricsLog(path) as log:
        log.step(1, loss=0.5, learning_rate=1e-3, scale=0.5, seconds=0.25, grad_norm=2.0)
        log.validation(1, psnr=31.5, input_psnr=20.0)
        log.event("resumed", step=1, host="render07")
        log.step(2, loss=math.nan, learning_rate=1e-4, scale=1, seconds=0.5)
    metrics = read_metrics(path)
    assert metrics.steps.tolist() == [1, 2]
    np.testing.assert_array_equal(metrics.losses, [0.5, math.nan])
    assert metrics.learning_rates.tolist() == [1e-3, 1e-4]
    assert metrics.scales.tolist() == [0.5, 1.0]
    assert metrics.seconds.tolist() == [0.25, 0.5]
    assert (metrics.validation_steps.tolist(), metrics.validation_psnrs.tolist()) == ([1], [31.5])
    assert metrics.events == ({"event": "resumed", "step": 1, "host": "render07"},)


def test_every_line_is_strict_json_and_out_at_once(path: Path) -> None:
    with MetricsLog(path) as log:
        log.step(1, loss=math.inf, learning_rate=1e-3, scale=1, seconds=0)
        assert json.loads(path.read_text(), parse_constant=pytest.fail)["loss"] is None


def test_a_half_written_last_line_is_left_out_and_overwritten(path: Path) -> None:
    write_steps(path, 1, 3)
    with path.open("a") as file:
        file.write('{"step": 4, "lo')
    assert read_metrics(path).steps.tolist() == [1, 2, 3]
    write_steps(path, 4, 5)
    assert read_metrics(path).steps.tolist() == [1, 2, 3, 4, 5]


def test_a_damaged_line_is_named(path: Path) -> None:
    path.write_text('{"step": 1}\nnonsense\n{"step": 3}\n')
    with pytest.raises(UnderstudyError, match=r"metrics\.jsonl: line 2 is damaged"):
        read_metrics(path)


def test_a_missing_file_is_named(path: Path) -> None:
    with pytest.raises(UnderstudyError, match=r"metrics\.jsonl: cannot be read"):
        read_metrics(path)


def test_resuming_forgets_what_came_after_the_checkpoint(path: Path) -> None:
    write_steps(path, 1, 10)
    with MetricsLog(path) as log:
        log.validation(7, psnr=30.0)
        log.validation(8, psnr=31.0)
        log.event("stopped", step=10)
    truncate_after(path, 7)
    metrics = read_metrics(path)
    assert metrics.steps.tolist() == list(range(1, 8))
    assert metrics.validation_steps.tolist() == [7]
    assert metrics.events == ()


def test_truncating_nothing_makes_no_file(path: Path) -> None:
    truncate_after(path, 7)
    assert not path.exists()


def test_a_hundred_thousand_lines_are_read(path: Path) -> None:
    lines = (
        f'{{"step": {i}, "loss": 0.5, "learning_rate": 0.001, "scale": 1, "seconds": {i}}}\n' for i in range(10**5)
    )
    path.write_text("".join(lines))
    assert len(read_metrics(path).steps) == 10**5


@pytest.mark.parametrize(
    "line",
    [
        '{"loss": 1.0}',
        '{"step": null, "loss": 1.0}',
        '{"step": 1.5, "loss": 1.0}',
        '{"step": 1e999, "loss": 1.0}',
        '{"step": 100000000000000000000, "validation_psnr": 30.0}',
        '{"event": "resumed", "validation_psnr": 30.0}',
        "[" * 100_000,
    ],
)
def test_a_line_that_says_no_step_is_damaged(path: Path, line: str) -> None:
    path.write_text(f"{line}\n")
    with pytest.raises(UnderstudyError, match=r"metrics\.jsonl: line 1 is damaged"):
        read_metrics(path)


def test_numbers_beyond_all_bounds_are_none(path: Path) -> None:
    path.write_text('{"step": 1, "loss": 1' + "0" * 400 + ', "seconds": 2}\n{"event": "resumed"}\n')
    metrics = read_metrics(path)
    assert np.isnan(metrics.losses).tolist() == [True]
    assert len(metrics.events) == 1
