"""What understudy prints, read back: reports, pace, the words of the panel, and faults."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from understudy_blender import command, job, lookout, problems
from understudy_blender.child import Child
from understudy_blender.problems import Problem
from understudy_farm.following import RunProgress


def report(step: int, state: str = "running") -> dict[str, object]:
    progress = RunProgress(state="training", step=step, total_steps=300, loss=0.01234 if step else None)
    tasks = [{"step": "train", "number": number, "state": state, "host": "render01", "note": ""} for number in range(2)]
    return {"job": "shot", "farm": "slurm", "state": state, "training": str(progress), "tasks": tasks}


def test_reports_are_read_as_they_come() -> None:
    printed = "\n".join(json.dumps(report(step), indent=2) for step in (0, 10, 20)) + "\n"
    reports, seen = job.Reports(), []
    for length in range(len(printed) + 1):
        found = reports.newest(printed[:length])
        if found:
            seen.append((found.training, found.step, found.total_steps, found.loss))
    assert seen == [("training", 0, 0, None), ("training", 10, 300, 0.01234), ("training", 20, 300, 0.01234)]
    assert job.Reports().newest(printed) == job.read(report(20))


def test_what_is_no_report_is_a_problem() -> None:
    with pytest.raises(Problem, match="use both of one version"):
        job.read({"job": "shot"})


def test_the_panel_says_how_far_it_is() -> None:
    found = job.read(report(120))
    assert found.share == 0.4
    assert job.lines(found, 100.0) == [
        *("shot on slurm: running", "Step 120 of 300", "Loss 0.0123", "2 of 2 ranks running", "About 2 min left")
    ]
    assert job.lines(job.read(report(0, "waiting")), None) == ["shot on slurm: waiting"]


def test_the_time_left_follows_the_last_minute() -> None:
    pace = job.Pace()
    assert pace.seconds_left(300, 0.0) is None
    for second in range(200):
        pace.see(second if second < 100 else 100 + (second - 100) * 2, float(second))
    assert pace.seconds_left(398, 199.0) == pytest.approx(50, abs=2)
    pace.see(100, 200.0)
    assert pace.seconds_left(398, 200.0) is None


@pytest.mark.parametrize(("seconds", "said"), [(40.4, "40 s"), (720, "12 min"), (11100, "3 h 05 min")])
def test_times_are_spoken(seconds: float, said: str) -> None:
    assert job.spoken(seconds) == said


def test_frames_that_are_done_are_counted() -> None:
    assert job.frames_done("Applying\nFrame 1001 (1 of 4)\nFrame 1002 (2 of 4)\n") == 0.5
    assert job.frames_done("") == 0.0


def test_faults_become_lines_that_say_what_to_do() -> None:
    two = problems.of_errors(2, "noise\nunderstudy: a.exr: missing\nunderstudy: b.exr: missing\n")
    assert two.lines == ("a.exr: missing", "b.exr: missing")
    crash = problems.of_errors(1, "Traceback\n...\nValueError: odd\n")
    assert "exit code 1 (ValueError: odd)" in crash.lines[0]
    assert crash.details.startswith("Traceback")
    wrong = problems.of_errors(1, "/usr/bin/python3: No module named understudy\n")
    assert "set another in Edit > Preferences" in wrong.lines[0]


def test_long_lines_are_broken_to_the_panel_s_width() -> None:
    parts = problems.wrapped("/a/very/long/path/without/any/space/to/break/it/at: is gone", 170)
    assert len(parts) > 1
    assert max(map(len, parts)) <= 26


def test_understudy_is_found_by_preference_then_variable_then_path(tmp_path: Path) -> None:
    tool, python = str(tmp_path / "understudy"), str(tmp_path / "python3.11")
    for program in (tool, python):
        Path(program).write_text("#!/bin/sh\n")
        Path(program).chmod(0o755)
    here = {"PATH": str(tmp_path)}
    assert command.found("", here) == (tool,)
    assert command.found("", {**here, "UNDERSTUDY_PYTHON": python}) == (python, "-m", "understudy.cli.main")
    assert command.found(tool, {"UNDERSTUDY_PYTHON": python}) == (tool,)
    for preference, named in (("", "understudy"), ("/nowhere/understudy", "/nowhere/understudy")):
        with pytest.raises(Problem, match=f"{named}: was not found; set the path"):
            command.found(preference, {"PATH": ""})


def test_a_child_gets_nothing_that_blender_set_for_itself() -> None:
    here = {"PYTHONHOME": "x", "PYTHONPATH": "x", "OCIO": "x", "UNDERSTUDY_PYTHON": "y"}
    assert command.environment_of_child(here) == {"UNDERSTUDY_PYTHON": "y", "PYTHONUTF8": "1"}
    kept = command.environment_of_child({**here, "UNDERSTUDY_KEEP": "OCIO,PYTHONPATH"})
    assert set(kept) - {"UNDERSTUDY_KEEP"} == {"OCIO", "PYTHONPATH", "PYTHONUTF8", "UNDERSTUDY_PYTHON"}


def test_a_child_that_cannot_start_is_a_problem() -> None:
    with pytest.raises(Problem, match=r"/nowhere/understudy: cannot be started \(No such file"):
        Child(["/nowhere/understudy"], {})


def test_a_look_at_a_run_directory_finds_the_newest_sheet_and_its_end(tmp_path: Path) -> None:
    run = tmp_path / "v001"
    run.mkdir()
    for name in ("T.100.png", "T.200.png", "T.graph.png"):
        (run / name).touch()
    look = lookout.Lookout(str(run))
    _until(lambda: look.sheet == str(run / "T.200.png"))
    run.rename(tmp_path / "away")
    look.end()
    look.join(5)
    assert look.is_gone


def _until(is_true: object, seconds: float = 5.0) -> None:
    assert callable(is_true)
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.02)
