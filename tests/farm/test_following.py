"""What is told of a job: from a farm that falls silent, forgets, or keeps tasks waiting for nothing."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest
from tests.core.train.shots import SmallShot
from tests.farm.jobs import EVERYTHING, job_for

from understudy.cli.main import main
from understudy.errors import UnderstudyError
from understudy.report.run_record import read_record, write_record
from understudy.runs import find_run
from understudy_farm import following
from understudy_farm.backend import Capabilities, FarmError, Option, Receipt, Site, TaskState, TaskStatus
from understudy_farm.folder import JobFolder, Sent, read_job, write_job, write_sent
from understudy_farm.following import looks, raise_if_failed, requeue, state_of, tasks_of
from understudy_farm.history import find_job, note
from understudy_farm.spec import Job

Answer = dict[str, TaskState] | FarmError


class TellingFarm:
    """Says of every step's tasks what the test dictates, one answer for each look; the last one for ever."""

    options: tuple[Option, ...] = ()

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.looks = 0
        self.started_again: list[tuple[str, tuple[int, ...]]] = []

    def log(self, *_: object) -> str:
        return "no licence\n"

    def requeue(self, _job: Job, receipt: Receipt, step: str, numbers: tuple[int, ...], _site: Site) -> Receipt:
        self.started_again.append((step, numbers))
        return receipt

    def capabilities(self, *_: object) -> Capabilities:
        return Capabilities(can_requeue_one=False)

    def status(self, job: Job, *_: object) -> tuple[TaskStatus, ...]:
        answer = self.answers[min(self.looks, len(self.answers) - 1)]
        self.looks += 1
        if isinstance(answer, FarmError):
            raise answer
        return tuple(
            TaskStatus(step=step.name, number=number, state=answer[step.name])
            for step in job.steps
            for number in range(step.num_tasks)
        )


@pytest.fixture
def sent(tmp_path: Path) -> Sent:
    """A bake, three ranks, four parts to apply, a hook."""
    job = job_for(EVERYTHING, Capabilities(), tmp_path / "v001")
    return Sent(job=job, farm="telling", options={}, receipt=Receipt(ids={}))


@pytest.fixture
def farm(monkeypatch: pytest.MonkeyPatch) -> TellingFarm:
    farm = TellingFarm()
    monkeypatch.setattr(following, "farm_named", lambda *_: farm)
    monkeypatch.setattr(following, "SECONDS_BETWEEN_LOOKS", 0.0)
    return farm


def says(
    train: TaskState, apply: TaskState = "waiting", publish: TaskState = "waiting", *, bake: TaskState = "done"
) -> dict[str, TaskState]:
    return {"bake": bake, "train": train, "apply": apply, "publish": publish}


def states(tasks: tuple[TaskStatus, ...]) -> dict[str, TaskState]:
    return {task.step: task.state for task in tasks}


def quiet(line: str) -> None:
    raise AssertionError(line)


def test_nobody_waits_for_what_will_never_start(sent: Sent, farm: TellingFarm) -> None:
    farm.answers = [says("failed")]
    tasks = tasks_of(sent)
    assert states(tasks) == says("failed", "cancelled", "cancelled")
    assert [task.note for task in tasks if task.step in ("apply", "publish")] == ["train did not succeed"] * 4 + [
        "apply did not succeed"
    ]
    assert state_of(tasks) == "failed"


def test_ranks_are_not_waited_for_when_their_bake_failed(sent: Sent, farm: TellingFarm) -> None:
    farm.answers = [says("waiting", bake="failed")]
    tasks = tasks_of(sent)
    assert states(tasks) == says("cancelled", "cancelled", "cancelled", bake="failed")
    assert {task.note for task in tasks if task.step == "train"} == {"bake did not succeed"}
    assert state_of(tasks) == "failed"
    with pytest.raises(
        UnderstudyError, match=r"(?s)^bake 0: failed\nno licence\nthe whole log: .* --step bake --task 0$"
    ):
        raise_if_failed(sent, tasks)


@pytest.mark.parametrize(
    ("bake", "train", "again"),
    [("failed", "waiting", ("bake", (0,))), ("cancelled", "failed", ("bake", (0,)))]
    + [(bake, "failed", ("train", (0, 1, 2))) for bake in ("done", "unknown", "waiting")],
)
def test_a_bake_that_did_not_succeed_is_started_again_for_its_ranks(
    sent: Sent, farm: TellingFarm, bake: TaskState, train: TaskState, again: tuple[str, tuple[int, ...]]
) -> None:
    write_job(sent.folder, sent.job, {})
    farm.answers = [says(train, bake=bake)]
    assert requeue(sent, "train", None) == again
    assert farm.started_again == [again]


@pytest.mark.parametrize("train", ["waiting", "running", "done", "unknown"])
def test_what_may_start_still_waits(sent: Sent, farm: TellingFarm, train: TaskState) -> None:
    farm.answers = [says(train)]
    assert states(tasks_of(sent)) == says(train)


def test_ranks_and_bake_that_the_farm_forgot_are_told_of_by_the_run(farm: TellingFarm, shot: SmallShot) -> None:
    words = shot.train_words("--bake", "true", "--farm", "local", "--export", str(shot.folder / "bundle"))
    assert main(["submit", *words[1:]]) == 0
    sent = Sent(job=read_job(JobFolder(shot.data / "v001")), farm="telling", options={}, receipt=Receipt(ids={}))
    farm.answers = [says("unknown", bake="unknown")]
    assert [state_of(tasks) for tasks in looks(sent, quiet)] == ["unknown"]
    record = find_run(shot.data).record
    write_record(record, dataclasses.replace(read_record(record), state="training"))
    assert [task.state for task in tasks_of(sent)] == ["done", "unknown"]
    write_record(record, dataclasses.replace(read_record(record), state="finished"))
    assert [state_of(tasks) for tasks in looks(sent, quiet)] == ["done"]


def test_what_is_forgotten_meanwhile_stays_as_it_was(sent: Sent, farm: TellingFarm) -> None:
    farm.answers = [says("running"), says("done", "running"), says("unknown", "done", "running")]
    farm.answers += [says("unknown", "unknown", "done")]
    seen = [states(tasks) for tasks in looks(sent, quiet)]
    assert seen[-1] == says("done", "done", "done")
    assert len(seen) == 4


def test_a_farm_may_be_silent_for_a_while(sent: Sent, farm: TellingFarm, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = FarmError("farm: does not answer")
    farm.answers = [says("running"), gone, gone, says("done", "done", "done")]
    warned: list[str] = []
    *_, last = looks(sent, warned.append)
    assert warned == ["farm: does not answer; asking again"]
    assert state_of(last) == "done"
    farm.answers, farm.looks = [says("running"), gone], 0
    monkeypatch.setattr(following, "SECONDS_OF_SILENCE", 0.2)
    with pytest.raises(FarmError, match="does not answer"):
        list(looks(sent, lambda _: None))


def test_a_farm_that_never_answers_is_told_at_once(sent: Sent, farm: TellingFarm) -> None:
    farm.answers = [FarmError("farm: does not answer")]
    with pytest.raises(FarmError, match="does not answer"):
        list(looks(sent, quiet))
    assert farm.looks == 1


@pytest.mark.parametrize(
    ("step", "number", "says"),
    [
        ("train", 1, "all tasks of a step again or none"),
        ("train", 3, "step train has no task 3"),
        ("render", None, "no step 'render'; it has bake, train, apply, publish"),
    ],
)
def test_a_requeue_that_cannot_be_done_is_refused(
    sent: Sent, farm: TellingFarm, step: str, number: int | None, says: str
) -> None:
    farm.answers = [dict.fromkeys(("bake", "train", "apply", "publish"), "done")]
    with pytest.raises(UnderstudyError, match=says):
        requeue(sent, step, number)


def test_a_job_is_found_by_every_id_that_a_farm_gave_it(shot: SmallShot) -> None:
    words = shot.train_words("--skip-check", "--farm", "local", "--export", str(shot.folder / "bundle"))
    assert main(["submit", *words[1:]]) == 0
    job = read_job(JobFolder(shot.data / "v001"))
    sent = Sent(job=job, farm="telling", options={}, receipt=Receipt(ids={"train": "41,57", "apply": "42"}))
    write_sent(sent)
    note(sent, os.environ)
    assert [find_job(text, os.environ).job for text in ("41", "57", "42", job.name)] == [job] * 4
    with pytest.raises(UnderstudyError, match="41,57: no job of that name or id"):
        find_job("41,57", os.environ)
