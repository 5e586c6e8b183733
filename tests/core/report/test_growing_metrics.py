from __future__ import annotations

from pathlib import Path

import pytest
from tests.core.records import metrics_line

from understudy.errors import UnderstudyError
from understudy.report.growing_metrics import DamagedLine, GrowingMetrics
from understudy.report.metrics import newest_step, read_metrics


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "run.metrics.jsonl"
    path.write_text("".join(map(metrics_line, range(1, 21))))
    return path


def test_each_look_reads_on_and_what_was_given_stays(path: Path) -> None:
    growing = GrowingMetrics(path)
    first, _ = growing.look()
    with path.open("a") as file:
        file.write(metrics_line(21) + metrics_line(22)[:10])
    second, _ = growing.look()
    assert (len(first.steps), len(second.steps)) == (20, 21)
    assert second.losses.tolist() == read_metrics(path).losses.tolist()


def test_damaged_lines_are_named_and_survived(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\xff\n[]\n" + metrics_line(21).encode())
    metrics, damaged = GrowingMetrics(path).look()
    assert metrics.steps[-1] == 21
    assert damaged == (DamagedLine(number=21, step=20), DamagedLine(number=22, step=20))


@pytest.mark.parametrize("first", [1, 101])
def test_a_file_that_shrank_or_was_replaced_is_read_anew(path: Path, first: int) -> None:
    growing = GrowingMetrics(path)
    growing.look()
    path.write_text("".join(map(metrics_line, range(first, first + (10 if first == 1 else 100)))))
    assert growing.look()[0].steps.tolist() == read_metrics(path).steps.tolist()


def test_no_file_is_no_history_and_no_fault(path: Path) -> None:
    growing = GrowingMetrics(path)
    growing.look()
    path.unlink()
    assert len(growing.look()[0].steps) == 0
    path.mkdir()
    with pytest.raises(UnderstudyError, match="cannot be read"):
        growing.look()


def test_the_newest_step_and_its_pace_come_from_the_end_of_the_file(path: Path) -> None:
    with path.open("a") as file:
        file.write('{"event": "resumed", "step": 20}\n{"step": 20, "validation_psnr": 30.0}\nnonsense\n{"step": 21, "l')
    newest = newest_step(path)
    assert newest is not None
    assert (newest.step, newest.loss, newest.seconds) == (20, 0.05, 10.0)
    assert newest.seconds_a_line / newest.steps_a_line == pytest.approx(0.5)
    path.write_text("nonsense\n")
    assert newest_step(path) is None
