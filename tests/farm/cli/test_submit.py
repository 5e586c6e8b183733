"""`understudy submit` and the commands about jobs, on this machine."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.core.cli.command import Command, end_of, files_in, start
from tests.core.train.shots import SmallShot

from understudy.cli.main import main
from understudy.report.run_record import read_record
from understudy.runs import find_run
from understudy_farm.backend import ENDED
from understudy_farm.folder import JobFolder, read_sent
from understudy_farm.following import state_of, tasks_of
from understudy_farm.tasks import JobRecord, read_job_record
from understudy_farm.watcher import TASKS

DEADLINE_SECONDS = 120.0
FOR_EVER = 10**6


def submit_words(shot: SmallShot, *more: str, steps: int = 12) -> list[str]:
    return ["submit", *shot.train_words(*more, "--skip-check", steps=steps)[1:]]


@pytest.fixture
def started(shot: SmallShot) -> Iterator[Path]:
    """The run directory of two ranks that train for ever, beside the terminal; at step 1 or later."""
    words = submit_words(shot, "--ranks", "2", "--detach", "--silence-seconds", "2", steps=FOR_EVER)
    assert main(words) == 0
    run_directory = shot.data / "v001"
    wait_until(lambda: step_of(run_directory) > 0, run_directory)
    yield run_directory
    main(["cancel", str(run_directory)])


def wait_until(holds: object, run_directory: Path) -> None:
    """Until it returns True; a test fails instead of hanging."""
    assert callable(holds)
    give_up = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        if time.monotonic() > give_up:
            logs = [path.read_text() for path in JobFolder(run_directory).farm.glob("*.log")]
            raise AssertionError("too late:\n" + "\n".join(logs))
        time.sleep(0.2)


def step_of(run_directory: Path) -> int:
    return sum(lines.read_text().count("loss") for lines in run_directory.glob("*.metrics.jsonl"))


def _record(run_directory: Path) -> JobRecord:
    record = read_job_record(JobFolder(run_directory).farm / TASKS)
    assert record is not None
    return record


def _family(run_directory: Path) -> list[psutil.Process]:
    """Every process of the job that runs now."""
    record = _record(run_directory)
    names = [record.watcher, *(task.process for task in record.tasks if task.process)]
    heads = [process for name in names if (process := name.alive())]
    return [*heads, *(child for head in heads for child in head.children(recursive=True))]


@pytest.mark.slow
def test_a_job_trains_applies_and_publishes(command: Command, shot: SmallShot) -> None:
    result = shot.folder / "result" / "r.####.exr"
    words = ["--apply-output", str(result), "--apply-tasks", "2", "--publish", "sh -c 'echo $UNDERSTUDY_RUN is out'"]
    ending = command(*submit_words(shot, "--ranks", "2", *words))
    assert ending.code == 0, ending
    run = find_run(shot.data)
    assert run.directory == shot.data / "v001"
    assert read_record(run.record).state == "finished"
    assert [path.name for path in sorted(result.parent.iterdir())] == [f"r.{frame}.exr" for frame in range(1001, 1005)]
    assert "Model saved" in ending.out
    assert f"{run.directory} is out" in ending.out
    assert "train 1: done" in ending.out
    assert command("wait", shot.data).code == 0


@pytest.mark.slow
def test_a_training_that_is_stopped_early_is_applied(command: Command, shot: SmallShot) -> None:
    result = shot.folder / "result" / "r.####.exr"
    words = submit_words(shot, "--ranks", "2", "--detach", "--apply-output", str(result), steps=FOR_EVER)
    assert command(*words).code == 0
    run_directory = shot.data / "v001"
    wait_until(lambda: step_of(run_directory) > 0, run_directory)
    assert command("stop", run_directory).code == 0
    ending = command("wait", run_directory)
    assert ending.code == 0, ending
    assert {(task.step, task.state) for task in _record(run_directory).tasks} == {("train", "done"), ("apply", "done")}
    assert read_record(find_run(run_directory).record).state == "stopped"
    assert len(list(result.parent.iterdir())) == 4


@pytest.mark.slow
def test_a_job_is_followed_cancelled_and_requeued_from_another_shell(command: Command, started: Path) -> None:
    status = json.loads(command("status", started, "--json").out)
    assert (status["state"], [task["state"] for task in status["tasks"]]) == ("running", ["running", "running"])
    assert status["training"].startswith("training, step ")
    assert "Ranks: 0, 1 of 2 train" in command("logs", started, "--rank", "1").out
    assert str(started) in command("jobs").out
    family = _family(started)
    assert len(family) >= 3
    assert command("cancel", started).code == 0
    wait_until(lambda: not any(map(is_alive, family)), started)
    assert read_record(find_run(started).record).state == "stopped"
    assert state_of(tasks_of(read_sent(started))) == "cancelled"
    before = max(find_run(started).checkpoint_steps())
    assert command("requeue", started).code == 0
    wait_until(lambda: step_of(started) > before + 5, started)
    log = command("logs", started).out
    assert f"after step {before}" in log.split("start 1")[-1]


@pytest.mark.slow
def test_a_rank_that_is_requeued_comes_back_while_the_other_trains(command: Command, started: Path) -> None:
    assert command("requeue", started, "--rank", "1").code == 0
    wait_until(lambda: _record(started).tasks[1].note == "started again on request", started)
    wait_until(lambda: find_run(started).log().read_text().count("joined") >= 1, started)
    assert state_of(tasks_of(read_sent(started))) == "running"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_a_job_that_is_followed_ends_with_its_terminal(shot: SmallShot, number: signal.Signals) -> None:
    process = start(*submit_words(shot, "--ranks", "2", steps=FOR_EVER))
    run_directory = shot.data / "v001"
    wait_until(
        lambda: run_directory.exists() and _tasks_run(run_directory) and step_of(run_directory) > 0, run_directory
    )
    family = _family(run_directory)
    process.send_signal(number)
    process.communicate(timeout=DEADLINE_SECONDS)
    wait_until(lambda: not any(map(is_alive, family)), run_directory)
    assert find_run(run_directory).checkpoint_steps()


def is_alive(process: psutil.Process) -> bool:
    """A zombie has ended; nobody has asked how yet."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _tasks_run(run_directory: Path) -> bool:
    record = read_job_record(JobFolder(run_directory).farm / TASKS)
    return record is not None and any(task.state == "running" for task in record.tasks)


@pytest.mark.slow
def test_a_rank_that_fails_is_told_of_with_its_last_words(command: Command, shot: SmallShot) -> None:
    (shot.folder / "paint.1003.exr").write_bytes(b"no picture")
    ending = command(*submit_words(shot, "--ranks", "2"))
    assert ending.code == 2
    said = "\n".join(ending.faults)
    assert "failed" in said
    assert "paint.1003.exr" in said
    assert "the whole log: understudy logs" in said
    assert all(task.state in ENDED for task in tasks_of(read_sent(shot.data / "v001")))


def test_a_dry_run_shows_everything_and_leaves_nothing(command: Command, shot: SmallShot) -> None:
    before = files_in(shot.folder)
    ending = command("submit", *shot.train_words("--ranks", "2", "--dry-run")[1:])
    assert ending.code == 0
    assert '"COPYCAT_WORLD_SIZE": "2"' in ending.out
    assert "Nothing was sent" in ending.out
    assert files_in(shot.folder) == before


def test_a_farm_that_is_away_can_be_planned_for(
    command: Command, shot: SmallShot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(shot.folder))
    words = submit_words(shot, "--farm", "slurm")
    planned = command(*words, "--dry-run")
    assert planned.code == 0
    assert "sinfo: no such program here" in planned.out
    assert "=== train.sbatch" in planned.out
    assert "sinfo: no such program here" in command.refused(*words)
    assert not shot.data.exists()


def test_an_export_holds_what_would_be_sent(command: Command, shot: SmallShot, tmp_path: Path) -> None:
    words = submit_words(shot, "--export", str(tmp_path / "bundle"))
    assert command(*words).code == 0
    assert files_in(tmp_path / "bundle") == {"job.json", "commands.json"}
    assert read_record(find_run(shot.data).record).state == "submitted"
    command.refused(*words)
    assert [path.name for path in shot.data.iterdir()] == ["v001"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--farm", "qube"), "--farm qube: no such farm"),
        (("--ranks", "0"), "ranks: 0 is out of range"),
        (("-O", "colour=red"), "colour is no choice"),
        (("-O", "gpus"), "--farm-option gpus: is no NAME=VALUE"),
        (("--suspended",), "cannot hold a job back"),
        (("--apply-frames", "1001"), "nothing is applied without apply_output"),
        (("--apply-output", "still.exr"), "needs a frame number"),
        (("--publish", "'"), "is no command"),
        (("--path-rules", "P:/show"), "is no path rule"),
        (("--max-checkpoints", "10000000"), "free space"),
    ],
)
def test_what_cannot_be_sent_leaves_nothing(
    command: Command, shot: SmallShot, words: tuple[str, ...], says: str
) -> None:
    assert says in command.refused(*submit_words(shot, *words))
    assert not shot.data.exists()


def test_frames_are_looked_at_first(command: Command, shot: SmallShot) -> None:
    (shot.folder / "paint.1003.exr").write_bytes(b"no picture")
    assert "paint.1003.exr" in command.refused("submit", *shot.train_words()[1:])
    assert not shot.data.exists()


def test_an_unknown_job_is_named(command: Command, tmp_path: Path) -> None:
    assert "no job of that name or id" in command.refused("status", "sh010")
    assert "job.json: cannot be read" in command.refused("cancel", tmp_path)
    assert command("jobs").out == "No jobs yet; `understudy submit` sends one.\n"


def test_farms_are_listed_with_what_they_can_be_told(command: Command) -> None:
    listed = command("farms").out
    assert "local: this machine" in listed
    assert "    hosts: a hosts file" in listed
    assert {farm["name"] for farm in json.loads(command("farms", "--json").out)} >= {"local", "ssh", "slurm"}


def test_a_farm_is_asked_for_what_it_knows_by_name(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command("farms", "local").out.splitlines()[0] == "pools: none that it can name"
    assert json.loads(command("farms", "local", "--json").out) == {
        **{"pools": [], "groups": [], "limits": [], "machines": []}
    }
    monkeypatch.setenv("PATH", "/nowhere")
    assert "sinfo: no such program here" in command.refused("farms", "slurm")


def test_two_submissions_never_share_a_folder(shot: SmallShot) -> None:
    bundles = [str(shot.folder / f"bundle{number}") for number in range(3)]
    exports = [start(*submit_words(shot, "--export", bundle)) for bundle in bundles]
    assert [end_of(process).code for process in exports] == [0, 0, 0]
    assert sorted(path.name for path in shot.data.iterdir()) == ["v001", "v002", "v003"]
