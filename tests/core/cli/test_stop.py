"""`understudy stop`: a run that trains, one that does not, and none at all."""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.core.cli.command import Command, end_of, start
from tests.core.train.shots import SmallShot

from understudy.cli import stop
from understudy.errors import EXIT_DONE, EXIT_STOPPED, UnderstudyError
from understudy.runs import find_run


def stop_run(*words: str | Path) -> int:
    """The command without main(): it raises what main would print."""
    parser = argparse.ArgumentParser()
    stop.add_options(parser)
    return stop.run(parser.parse_args([str(word) for word in words]))


@pytest.fixture
def training(shot: SmallShot) -> Iterator[subprocess.Popen[str]]:
    """A run called `first` that has done ten steps and would go on for long."""
    process = start(*shot.train_words("--run-name", "first", "--checkpoint-interval", "100000", steps=10**6))
    with process:
        assert process.stdout is not None
        assert any("[Step:10/" in line for line in process.stdout)
        yield process
        process.kill()


def test_a_run_that_trains_is_stopped(
    shot: SmallShot, training: subprocess.Popen[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert stop_run(shot.data, "--wait") == EXIT_DONE
    said = capsys.readouterr().out.splitlines()
    assert said == ["Asked first to write a checkpoint and end.", "first is stopped."]
    ending = end_of(training)
    assert (ending.code, ending.faults) == (EXIT_STOPPED, [])
    assert "Stopped by stop file first.stop after step" in ending.out
    assert len(find_run(shot.data).checkpoint_steps()) == 1


def test_it_asks_one_run_of_several_and_does_not_wait(trained: SmallShot, capsys: pytest.CaptureFixture[str]) -> None:
    record = find_run(trained.data).record
    text = record.read_text().replace('"state": "finished"', '"state": "training"')
    record.with_name("second.run.json").write_text(text)
    assert stop_run(trained.data / "second.run.json") == EXIT_DONE
    assert capsys.readouterr().out == "Asked second to write a checkpoint and end.\n"
    assert {path.name for path in trained.data.glob("*stop*")} == {"second.stop"}


def test_a_run_that_has_ended_cannot_be_stopped(trained: SmallShot) -> None:
    with pytest.raises(UnderstudyError, match=r"first\.run\.json: this run is finished, not training"):
        stop_run(trained.data, "--wait")
    assert not list(trained.data.glob("*stop*"))


def test_no_run_at_all(tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match="holds no run"):
        stop_run(tmp_path)


def test_a_request_that_came_too_late_harms_nothing(command: Command, trained: SmallShot) -> None:
    (trained.data / "first.stop").write_text("understudy stop\n")
    assert command("resume", trained.data, "--steps", "6").code == EXIT_DONE
    assert not list(trained.data.glob("*stop*"))
