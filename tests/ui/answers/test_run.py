from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from tests.core.records import RECORD, lay_run
from tests.ui.answers.conftest import Answer
from tests.ui.answers.test_rows import in_state, submitted

from understudy.errors import UnderstudyError
from understudy.report.metrics import MetricsLog
from understudy.runs import RunFiles
from understudy_farm.backend import FarmError, TaskState, TaskStatus
from understudy_farm.folder import JobFolder, write_job
from understudy_ui.answers.actions import Actions
from understudy_ui.answers.asking import Asking
from understudy_ui.answers.rows import RunBook
from understudy_ui.answers.run import Farms
from understudy_ui.protocol import RunShown

Says = Callable[..., tuple[TaskStatus, ...]]


@pytest.fixture
def farm(monkeypatch: pytest.MonkeyPatch) -> Callable[[Says], None]:
    """Lets the farm of every job say something."""

    def say(says: Says) -> None:
        monkeypatch.setattr("understudy_ui.answers.run.tasks_of", says)
        monkeypatch.setattr("understudy_farm.following.tasks_of", says)

    return say


def run_of(answer: Answer, files: RunFiles) -> RunShown:
    return cast(RunShown, answer("run", place=str(files.record)))


def trains(*states: TaskState) -> tuple[TaskStatus, ...]:
    return tuple(
        TaskStatus(step="train", number=number, state=state, host=f"render0{number}")
        for number, state in enumerate(states)
    )


def test_a_run_alone_in_full(answer: Answer, tmp_path: Path) -> None:
    files = lay_run(tmp_path, "run")
    for step in (20, 30):
        files.model(step).touch()
        files.state(step).touch()
    files.model(40).touch()  # a checkpoint needs both
    with MetricsLog(files.metrics) as log:
        for step, psnr in ((10, 30.0), (20, 33.0), (30, 32.0), (40, 40.0)):
            log.validation(step, psnr=psnr)
    run = run_of(answer, files)
    assert (run["checkpoints"], run["best_step"], run["sheets"]) == ([10, 20, 30], 20, [10])
    assert (run["best_psnr"], run["is_settled"]) == (40.0, False)
    assert run["models"] == [str(files.model(step)) for step in (10, 20, 30)]
    assert [pair["frame"] for pair in run["pairs"]] == [1001, 1013]
    assert run["ranks"] == [{"number": 0, "state": "done", "host": "render07", "note": ""}]
    assert (run["tasks"], run["link"], run["command"]) == ([], "", RECORD.command)
    assert run["settings"]["crop_size"] == 96


def test_ranks_of_a_run_that_no_farm_has_are_those_that_left_a_log(answer: Answer, tmp_path: Path) -> None:
    files = lay_run(tmp_path, "run", in_state("training"))
    for rank in range(3):
        files.log(rank).touch()
    with MetricsLog(files.metrics) as log:
        log.event("ranks", step=11, ranks="0 1", from_rank=0.0, why="")
        log.event("ranks", step=12, ranks="0", from_rank=0.0, why="rank 1 on x left: silent")
    assert [rank["state"] for rank in run_of(answer, files)["ranks"]] == ["running", "lost", "joining"]


def test_ranks_and_tasks_as_the_farm_has_them(answer: Answer, tmp_path: Path, farm: Callable[[Says], None]) -> None:
    files, _ = submitted(tmp_path / "v001", in_state("training"))
    farm(lambda _: trains("running", "waiting", "failed"))
    run = run_of(answer, files)
    assert [(rank["number"], rank["state"], rank["host"]) for rank in run["ranks"]] == [
        (0, "running", "render00"),
        (1, "waiting", "render01"),
        (2, "failed", "render02"),
    ]
    assert run["row"]["state"] == "training"


def test_a_farm_knows_sooner_than_the_files_that_a_run_is_lost(
    answer: Answer, tmp_path: Path, farm: Callable[[Says], None]
) -> None:
    files, _ = submitted(tmp_path / "v001", in_state("training"))
    farm(lambda _: trains("failed", "cancelled", "cancelled"))
    assert run_of(answer, files)["row"]["state"] == "lost"


def test_a_farm_that_is_slow_or_away_keeps_nobody_waiting(
    answer: Answer, tmp_path: Path, farm: Callable[[Says], None]
) -> None:
    files, _ = submitted(tmp_path / "v001", in_state("training"))
    let_go = threading.Event()

    def slow(_: object) -> tuple[TaskStatus, ...]:
        let_go.wait(30)
        return trains("running", "running", "running")

    farm(slow)
    first = run_of(answer, files)
    assert {(rank["state"], rank["note"]) for rank in first["ranks"]} == {("unknown", "slurm has not answered yet")}
    let_go.set()
    assert {rank["state"] for rank in run_of(answer, files)["ranks"]} == {"running"}


def test_a_farm_that_fails_is_told_of_at_every_rank(
    answer: Answer, tmp_path: Path, farm: Callable[[Says], None]
) -> None:
    def fail(_: object) -> tuple[TaskStatus, ...]:
        raise FarmError("squeue: no such program here;\n see whether it works")

    farm(fail)
    files, _ = submitted(tmp_path / "v001", in_state("training"))
    assert {rank["note"] for rank in run_of(answer, files)["ranks"]} == {
        "squeue: no such program here; see whether it works"
    }


def test_a_run_that_is_gone_is_told_of(answer: Answer, tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match="look at the list of runs"):
        answer("run", place=str(tmp_path / "gone.run.json"))


def test_a_job_with_tasks_is_neither_renamed_nor_thrown_away(tmp_path: Path, farm: Callable[[Says], None]) -> None:
    files, _ = submitted(tmp_path / "v001", in_state("submitted"))
    acts = Actions(RunBook(), Farms())
    asking = Asking({"place": str(files.record), "name": "other"})
    farm(lambda _: trains("waiting", "waiting", "waiting"))
    for act in (acts.rename, acts.trash):
        with pytest.raises(UnderstudyError, match="still has tasks on slurm; cancel it first"):
            act(asking)
    farm(lambda _: trains("cancelled", "cancelled", "cancelled"))
    assert acts.rename(asking)["said"] == "run is called other now."


def test_a_farm_that_is_away_decides_only_where_the_run_does_not(tmp_path: Path, farm: Callable[[Says], None]) -> None:
    def fail(_: object) -> tuple[TaskStatus, ...]:
        raise FarmError("squeue: no such program here")

    farm(fail)
    acts = Actions(RunBook(), Farms())
    over, _ = submitted(tmp_path / "v001", in_state("finished"))
    alive, _ = submitted(tmp_path / "v002", in_state("training"))
    assert ".trash" in acts.trash(Asking({"place": str(over.record)}))["said"]
    with pytest.raises(FarmError):
        acts.trash(Asking({"place": str(alive.record)}))
    assert alive.record.exists()


def test_further_tasks_name_their_step(answer: Answer, tmp_path: Path, farm: Callable[[Says], None]) -> None:
    files, job = submitted(tmp_path / "v001", in_state("finished"))
    step = dataclasses.replace(job.step("train"), name="apply", num_tasks=2, after=("train",))
    write_job(JobFolder(files.directory), dataclasses.replace(job, steps=(*job.steps, step)), {})
    tasks = (*trains("done", "done", "done"), TaskStatus(step="apply", number=0, state="failed", note="exit code 2"))
    farm(lambda _: tasks)
    shown = run_of(answer, files)["tasks"]
    assert [(task["number"], task["state"], task["note"]) for task in shown] == [
        (0, "failed", "apply: exit code 2"),
        (1, "unknown", "apply"),
    ]
