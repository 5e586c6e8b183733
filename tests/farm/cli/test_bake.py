"""A submission whose pairs are made by a step before the training: a real command, on this machine."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from tests.core.cli.command import Command, end_of, files_in, start, write_script
from tests.core.train.shots import SmallShot
from tests.farm.cli.test_submit import submit_words

from understudy.report.run_record import read_record
from understudy.runs import find_run
from understudy_farm.folder import JobFolder


@pytest.fixture
def store(shot: SmallShot) -> Path:
    """Where the shot's frames are, until a bake brings them."""
    store = shot.folder / "store"
    store.mkdir()
    for frame in shot.folder.glob("*.exr"):
        frame.rename(store / frame.name)
    return store


def bake_words(shot: SmallShot, command: str, *more: str) -> list[str]:
    return submit_words(shot, "--frames", "1001,1003", "--bake", f"sh -c {shlex.quote(command)}", *more)


@pytest.mark.slow
def test_a_bake_that_fails_is_told_of_and_started_again_for_its_ranks(
    command: Command, shot: SmallShot, store: Path
) -> None:
    licence = shot.folder / "licence"
    words = bake_words(shot, f"test -e {licence} || {{ echo no licence; exit 1; }}; cp {store}/* {shot.folder}")
    ending = end_of(start(*words, "--ranks", "2"))  # its end is the end of the terminal, too
    run_directory = shot.data / "v001"
    assert ending.code == 2
    assert "2 pairs, frames 1001,1003: rank 0 looks at them when the bake has made their files" in ending.out
    assert ending.faults[0] == "understudy: bake 0: failed" + ending.faults[0].partition("failed")[2]
    assert "understudy: no licence" in ending.faults
    assert f"understudy: the whole log: understudy logs {run_directory} --step bake --task 0" in ending.faults
    status = json.loads(command("status", run_directory, "--json").out)
    assert (status["state"], status["training"]) == ("failed", "submitted")
    assert {task["note"] for task in status["tasks"] if task["step"] == "train"} == {"bake did not succeed"}
    licence.touch()
    assert command("requeue", shot.data).out.endswith(": bake 0 will start again\n")
    ending = command("wait", shot.data)
    assert ending.code == 0, ending
    record = read_record(find_run(shot.data).record)
    assert (record.state, [pair.frame for pair in record.pairs]) == ("finished", [1001, 1003])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "says"),
    [("rm plate.1003.exr", "input frames 1003 are missing"), ("echo x > paint.1001.exr", "paint.1001.exr: ")],
)
def test_pairs_that_are_unfit_when_they_are_baked_end_the_training_before_it_begins(
    command: Command, shot: SmallShot, store: Path, spoil: str, says: str
) -> None:
    ending = command(*bake_words(shot, f"cp {store}/* {shot.folder}; cd {shot.folder}; {spoil}"))
    assert ending.code == 2
    assert says in "\n".join(ending.faults)
    assert ending.faults[0].startswith("understudy: train 0: failed")
    assert "exit code 2" in ending.faults[0]
    log = JobFolder(shot.data / "v001").task_log("train", 0).read_text()
    assert log.count("--- train 0") == 1
    assert read_record(find_run(shot.data).record).state == "submitted"


@pytest.mark.usefixtures("store")
def test_a_dry_run_shows_the_bake_and_looks_for_no_frame(command: Command, shot: SmallShot) -> None:
    before = files_in(shot.folder)
    ending = command(*bake_words(shot, "render {number}", "--bake-tasks", "3", "--dry-run"))
    assert ending.code == 0, ending
    job = json.loads(ending.out.partition("=== job.json\n")[2].partition("\n===")[0])
    assert [(step["name"], step["num_tasks"], step["after"]) for step in job["steps"]] == [
        ("bake", 3, []),
        ("train", 1, ["bake"]),
    ]
    assert "rank 0 looks at them" in ending.out
    assert files_in(shot.folder) == before


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--bake-tasks", "2"), "bake_tasks: 2 tasks would all do the same; say {number} in bake"),
        (("--bake", "render '"), 'bake: "render \'" is no command'),
        (("--bake-limits", "nuke_r"), "--bake-limits: the farm local has no such thing"),
        (("--validation-frames", "1002"), "validation frames 1002 have no pair"),
        (("--frames", ""), "paint.####.exr: no file matches this target pattern; correct the path or the number of #"),
        (("--bake", ""), "no file matches this input pattern"),
    ],
)
def test_what_can_be_known_before_the_bake_is_said(
    command: Command, shot: SmallShot, words: tuple[str, ...], says: str
) -> None:
    ending = command(*bake_words(shot, "render", *words))
    assert ending.code == 2
    assert says in "\n".join(ending.faults)
    assert not shot.data.exists()


@pytest.mark.parametrize(
    ("upstream", "says"),
    [
        ("", ""),
        ("Denoise2 {\n name Denoise1\n}\n", "Denoise1 (Denoise2), line 18: understudy cannot evaluate this class"),
    ],
)
def test_a_script_is_looked_through_before_the_bake(command: Command, tmp_path: Path, upstream: str, says: str) -> None:
    """Its Reads name the frames; none is there."""
    script = write_script(tmp_path, upstream=upstream)
    words = ["submit", "--bake", "render", "--dry-run", "-X", "CopyCat1", str(script)]
    if says:
        assert says in command.refused(*words)
    else:
        assert "1 pairs, frames 1001: rank 0 looks at them" in command(*words).out
