from __future__ import annotations

import dataclasses
import os
import platform
import time
from pathlib import Path
from typing import cast

import pytest
from tests.core.records import RECORD, lay_run, metrics_line
from tests.farm.jobs import RANKS, job_for
from tests.ui.answers.conftest import Answer

from understudy.report.run_record import RunRecord, RunState, write_record
from understudy.runs import RunFiles
from understudy_farm.backend import Capabilities, Receipt, TaskState
from understudy_farm.folder import Sent, write_job, write_sent
from understudy_farm.spec import Job
from understudy_farm.tasks import JobRecord, ProcessName, TaskRecord, name_of, write_job_record
from understudy_farm.watcher import TASKS
from understudy_ui.answers.condition import SECONDS_OF_SILENCE
from understudy_ui.protocol import RunRow

DEAD = ProcessName(pid=2**22 + 1, started=1.0, host=platform.node())


def in_state(state: RunState, started: str = RECORD.started, **settings: object) -> RunRecord:
    return dataclasses.replace(RECORD, state=state, started=started, settings={**RECORD.settings, **settings})


def submitted(folder: Path, record: RunRecord, *, farm: str = "slurm") -> tuple[RunFiles, Job]:
    """A run that a farm has."""
    files = lay_run(folder, "run", record)
    job = dataclasses.replace(job_for(RANKS, Capabilities(), files.directory), run_name="run")
    sent = Sent(job=job, farm=farm, options={}, receipt=Receipt(ids={"train": "7"}))
    write_job(sent.folder, job, {})
    write_sent(sent)
    return files, job


def watched(folder: Path, record: RunRecord, watcher: ProcessName, *states: TaskState) -> RunFiles:
    files, _ = submitted(folder, record, farm="local")
    tasks = tuple(TaskRecord(step="train", number=number, state=state) for number, state in enumerate(states))
    write_job_record(files.directory / "farm" / TASKS, JobRecord(watcher=watcher, tasks=tasks))
    return files


def silent_for(files: RunFiles, seconds: float) -> None:
    for path in files.directory.iterdir():
        os.utime(path, (time.time() - seconds,) * 2)


def rows_of(answer: Answer, folder: Path) -> list[RunRow]:
    return cast("list[RunRow]", answer("runs", folder=str(folder)))


def test_plain_runs_and_versions_the_newest_first(answer: Answer, tmp_path: Path) -> None:
    lay_run(tmp_path, "plain", in_state("finished", "2026-11-21T12:00:00+01:00"))
    lay_run(tmp_path / "v001", "run", in_state("stopped", "2026-11-21T11:30:00+00:00"))
    submitted(tmp_path / "v002", in_state("submitted", "2026-11-22T12:00:00+01:00"))
    lay_run(tmp_path / "vacation", "none")
    lay_run(tmp_path / ".trash" / "v003", "none")
    rows = rows_of(answer, tmp_path)
    assert [(row["version"], row["name"], row["state"]) for row in rows] == [
        ("v002", "run", "submitted"),
        ("v001", "run", "stopped"),
        ("", "plain", "finished"),
    ]
    assert [row["farm"] for row in rows] == ["slurm", "", ""]
    last = rows[-1]
    assert (last["step"], last["total_steps"], last["minutes"], last["loss"], last["fault"]) == (10, 100, 0.0, 0.1, "")
    assert last["place"] == str(tmp_path / "plain.run.json")


def test_no_folder_has_no_runs(answer: Answer, tmp_path: Path) -> None:
    assert rows_of(answer, tmp_path / "none") == []


def test_a_broken_run_is_one_row(answer: Answer, tmp_path: Path) -> None:
    lay_run(tmp_path, "whole")
    damaged, newer, empty = (lay_run(tmp_path / f"v00{number}", "run") for number in (1, 2, 3))
    damaged.record.write_text("{")
    newer.record.write_text('{"schema": 99}')
    empty.metrics.write_bytes(b"\xff\xfe\n\n{}\nnonsense\n")
    submitted(tmp_path / "v004", in_state("finished"))[0].directory.joinpath("farm/sent.json").write_text("[]")
    rows = {row["version"]: row for row in rows_of(answer, tmp_path)}
    assert rows[""]["fault"] == ""
    assert "is damaged" in rows["v001"]["fault"]
    assert "newer understudy" in rows["v002"]["fault"]
    assert (rows["v003"]["fault"], rows["v003"]["step"], rows["v003"]["loss"]) == ("", 0, None)
    assert "sent.json: is damaged" in rows["v004"]["fault"]
    assert all("\n" not in row["fault"] for row in rows.values())


def test_what_has_changed_is_seen_at_once(answer: Answer, tmp_path: Path) -> None:
    files = lay_run(tmp_path, "run", in_state("training"))
    assert rows_of(answer, tmp_path)[0]["step"] == 10
    with files.metrics.open("a") as file:
        file.write(metrics_line(11) + '{"step": 12, "lo')
    row = rows_of(answer, tmp_path)[0]
    assert row["step"] == 11
    assert row["seconds_left"] == pytest.approx(89 * 0.5)
    write_record(files.record, in_state("finished"))
    row = rows_of(answer, tmp_path)[0]
    assert (row["state"], row["seconds_left"]) == ("finished", None)
    lay_run(tmp_path / "v001", "run")
    assert len(rows_of(answer, tmp_path)) == 2
    files.record.unlink()
    assert len(rows_of(answer, tmp_path)) == 1


def test_by_the_clock_the_rest_is_what_is_left_of_it(answer: Answer, tmp_path: Path) -> None:
    lay_run(tmp_path, "run", dataclasses.replace(in_state("training", minutes=0.2), total_steps=10**6))
    row = rows_of(answer, tmp_path)[0]
    assert row["seconds_left"] == pytest.approx(0.2 * 60 - 5)
    assert row["minutes"] == pytest.approx(0.2)


def test_a_run_that_falls_silent_is_lost(answer: Answer, tmp_path: Path) -> None:
    files = lay_run(tmp_path, "run", in_state("training"))
    silent_for(files, SECONDS_OF_SILENCE - 60)
    assert rows_of(answer, tmp_path)[0]["state"] == "training"
    silent_for(files, SECONDS_OF_SILENCE + 60)
    assert rows_of(answer, tmp_path)[0]["state"] == "lost"
    files.log().write_text("still here\n")
    assert rows_of(answer, tmp_path)[0]["state"] == "training"


def test_long_steps_and_waiting_for_ranks_are_no_silence(answer: Answer, tmp_path: Path) -> None:
    slow = lay_run(tmp_path / "v001", "run", in_state("training"))
    slow.metrics.write_text("".join(map(metrics_line, range(1, 10002, 1000))))  # 500 s between lines
    waits = lay_run(tmp_path / "v002", "run", in_state("training", min_ranks=2, hold_minutes=60.0))
    for files in (slow, waits):
        silent_for(files, 2000)
    assert {row["state"] for row in rows_of(answer, tmp_path)} == {"training"}


@pytest.mark.parametrize(
    ("state", "watcher", "tasks", "shown"),
    [
        ("training", None, ("running", "running"), "training"),
        ("training", DEAD, ("running", "running"), "lost"),
        ("training", None, ("failed", "cancelled"), "lost"),
        ("training", None, ("cancelled", "cancelled"), "stopped"),
        ("submitted", None, ("waiting", "waiting"), "submitted"),
        ("submitted", DEAD, ("waiting", "waiting"), "failed"),
        ("submitted", DEAD, ("failed", "cancelled"), "failed"),
        ("submitted", DEAD, ("cancelled", "cancelled"), "stopped"),
        ("stopped", DEAD, ("done", "done"), "stopped"),
    ],
)
def test_a_job_of_this_machine_is_known_by_its_watcher(
    answer: Answer,
    tmp_path: Path,
    state: RunState,
    watcher: ProcessName | None,
    tasks: tuple[TaskState, ...],
    shown: str,
) -> None:
    files = watched(tmp_path / "v001", in_state(state), watcher or name_of(os.getpid()), *tasks)
    silent_for(files, 10 * SECONDS_OF_SILENCE)
    assert rows_of(answer, tmp_path)[0]["state"] == shown


def test_a_job_that_another_machine_watches_goes_by_its_files(answer: Answer, tmp_path: Path) -> None:
    elsewhere = dataclasses.replace(DEAD, host="another")
    files = watched(tmp_path / "v001", in_state("training"), elsewhere, "running")
    assert rows_of(answer, tmp_path)[0]["state"] == "training"
    silent_for(files, 2 * SECONDS_OF_SILENCE)
    assert rows_of(answer, tmp_path)[0]["state"] == "lost"


def test_runs_that_are_over_are_not_read_again(answer: Answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1, 301):
        lay_run(tmp_path / f"v{number:03}", "run")
    rows = rows_of(answer, tmp_path)
    monkeypatch.setattr("io.open", None)
    assert len(rows) == 300
    assert rows_of(answer, tmp_path) == rows


def test_numbers_that_json_lacks_are_not_told(answer: Answer, tmp_path: Path) -> None:
    files = lay_run(tmp_path, "run", in_state("training", minutes=float("inf"), seed=float("nan")))
    files.metrics.write_text('{"step": 1, "loss": 1e999, "seconds": -1e999}\n' * 2)
    row = rows_of(answer, tmp_path)[0]
    assert (row["loss"], row["seconds_left"], row["fault"]) == (None, None, "")
