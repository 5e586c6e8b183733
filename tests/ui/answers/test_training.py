from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import cast

import pytest
from tests.core.cli.command import Command, write_script
from tests.core.records import RECORD, lay_run
from tests.core.train.shots import SmallShot
from tests.ui.answers.conftest import Answer
from tests.ui.answers.panel import Panel

from understudy.errors import UnderstudyError
from understudy_ui.answers.asking import Asking, GivenUp
from understudy_ui.answers.training import check
from understudy_ui.protocol import CheckShown, EstimateShown, Json, PreviewShown, SourceShown, TrainingNode


def words_of(shot: SmallShot, *more: str) -> list[Json]:
    return [*shot.train_words("--run-name", "one", *more)[1:]]


def test_the_nodes_of_a_script(answer: Answer, shot: SmallShot) -> None:
    ours = "Group {\n name Understudy1\n addUserKnob {20 understudy}\n}\nend_group\n"
    script = write_script(shot.folder, more="CopyCat {\n inputs 2\n name CopyCat2\n}\n" + ours)
    found = cast("list[TrainingNode]", answer("nodes", script=str(script)))
    assert [(node["name"], node["kind"]) for node in found] == [
        ("CopyCat1", "CopyCat"),
        ("CopyCat2", "CopyCat"),
        ("Understudy1", "Understudy"),
    ]


def test_the_source_of_two_sequences(answer: Answer, shot: SmallShot) -> None:
    found = cast(SourceShown, answer("source", words=words_of(shot, "--validation-frames", "1003")))
    assert [(pair["frame"], pair["use"]) for pair in found["pairs"]] == [(1001, "train"), (1003, "validation")]
    assert found["pairs"][0]["input"]["path"] == str(shot.folder / "plate.1001.exr")
    assert (found["frames_of_input"], found["input_pattern"]) == ([1001, 1002, 1003, 1004], shot.plate)
    assert (found["title"], found["data_directory"]) == (shot.folder.name, str(shot.data))
    assert found["knobs"] == {}


def test_the_source_of_a_node_tells_its_knobs(answer: Answer, shot: SmallShot) -> None:
    script = write_script(shot.folder)
    found = cast(SourceShown, answer("source", words=["-X", "CopyCat1", str(script)]))
    assert found["title"] == "CopyCat1"
    knobs = found["knobs"]
    assert (knobs["crop_size"], knobs["model_size"], knobs["epochs"], knobs["batch_size"]) == (32, "small", 2, 2)
    assert knobs["data_directory"] == found["data_directory"] == str(shot.folder / "data")
    assert (found["frames_of_input"], found["input_pattern"]) == ([], "")
    assert [pair["frame"] for pair in found["pairs"]] == [1001]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--input", "x.####.exr"], "--target is missing"),
        (["--crop-size", "lots"], "argument --crop-size"),
        (["--help"], "leave it out"),
        ("plate.exr", "is no list of words"),
        (None, "is no list of words"),
    ],
)
def test_words_that_name_nothing_are_told_of_in_a_line(answer: Answer, words: Json, said: str) -> None:
    with pytest.raises(UnderstudyError, match=said):
        answer("source", words=words)


def test_a_check_names_the_frame_of_every_problem(answer: Answer, shot: SmallShot) -> None:
    assert answer("check", words=words_of(shot)) == {"problems": [], "remarks": []}
    (shot.folder / "paint.1003.exr").write_bytes(b"broken")
    problems = cast(CheckShown, answer("check", words=words_of(shot)))["problems"]
    assert [problem["frame"] for problem in problems] == [1003]
    assert "paint.1003.exr" in problems[0]["line"]
    missing = cast(CheckShown, answer("check", words=words_of(shot, "--frames", "1001,1007")))["problems"]
    assert {problem["frame"] for problem in missing} == {None}
    assert "1007" in missing[0]["line"]


def test_a_check_tells_how_far_it_is_and_can_be_given_up(shot: SmallShot) -> None:
    told: list[str] = []
    check(Asking({"words": words_of(shot)}, told.append))
    assert told[-1] == "2 of 2 frames"
    asking = Asking({"words": words_of(shot)})
    asking.give_up()
    with pytest.raises(GivenUp):
        check(asking)


@pytest.mark.parametrize("farm", ["local", "slurm", "deadline", "opencue", "deadline-cloud"])
def test_a_preview_is_what_the_command_line_would_send(
    answer: Answer, command: Command, shot: SmallShot, farm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000, raising=False)
    monkeypatch.setattr("understudy_farm.submission.getpass.getuser", lambda: "mia")
    words = words_of(shot, "--farm", farm, "--ranks", "2", "--comment", "two  words")
    words += ["--pool", "queue-1"] if farm != "local" else []
    said = command("submit", *map(str, words), "--dry-run", "--json")
    assert said.code == 0, said
    found = cast(PreviewShown, answer("preview", words=words))
    assert found["files"] == json.loads(said.out)
    assert next(iter(found["files"])) == "job.json"
    assert found["run_directory"] == str(shot.data / "v001")
    assert [line for line in found["remarks"] if not line.endswith("nobody looked for workers")] == []
    assert found["command"].endswith("--comment 'two  words'" + (" --pool queue-1" if farm != "local" else ""))
    assert not shot.data.exists()


def test_an_estimate_without_an_earlier_run_knows_no_time(answer: Answer, shot: SmallShot) -> None:
    found = cast(EstimateShown, answer("estimate", words=words_of(shot)))
    assert (found["num_pairs"], found["total_steps"], found["seconds"], found["certainty"]) == (2, 12, None, "exactly")
    assert found["memory_gib"] == pytest.approx(2 * 2 * 96 * 64 * 3 * 2 / 2**30)
    assert found["disk_mib"] == 6 * 12 + 256


def test_a_bake_is_shown_and_estimated_before_there_is_a_frame(answer: Answer, shot: SmallShot) -> None:
    for frame in shot.folder.glob("*.exr"):
        frame.unlink()
    words = words_of(shot, "--frames", "1001,1003", "--bake", "render 'the comp.nk'")
    files = cast(PreviewShown, answer("preview", words=words))["files"]
    steps = json.loads(files["job.json"])["steps"]
    assert [(step["name"], step["after"]) for step in steps] == [("bake", []), ("train", ["bake"])]
    assert json.loads(files["commands.json"])["tasks"][0]["argv"] == ["render", "the comp.nk"]
    found = cast(EstimateShown, answer("estimate", words=words))
    assert (found["num_pairs"], found["total_steps"], found["memory_gib"]) == (2, 12, None)


def test_an_estimate_follows_the_newest_run_of_its_kind(answer: Answer, shot: SmallShot) -> None:
    alike = {**RECORD.settings, "model_size": "small", "crop_size": 32, "batch_size": 2, "device": "cpu"}
    for number, settings in enumerate([alike, {**alike, "device": "gpu"}, {**alike, "crop_size": 64}], 1):
        record = dataclasses.replace(RECORD, settings=settings, started=f"2026-11-2{number}T12:00:00+01:00")
        lay_run(shot.data / f"v00{number}", "earlier", record, num_lines=20)
    words = words_of(shot)
    assert cast(EstimateShown, answer("estimate", words=words))["seconds"] == pytest.approx(12 * 0.5)
    two_ranks = cast(EstimateShown, answer("estimate", words=[*words, "--ranks", "2"]))
    assert two_ranks["seconds"] is None
    by_clock = cast(EstimateShown, answer("estimate", words=[*words, "--minutes", "0.05"]))
    assert by_clock["total_steps"] == 0
    assert by_clock["seconds"] == pytest.approx(3.0)


def test_steps_that_hang_on_the_machines_batch_are_not_said_for_sure(answer: Answer, shot: SmallShot) -> None:
    def steps(*more: str) -> tuple[int, str]:
        words = [*words_of(shot, *more), "--steps", "0", "--epochs", "30"]  # 2 pairs: 60 crops
        found = cast(EstimateShown, answer("estimate", words=words))
        return found["total_steps"], found["certainty"]

    assert steps() == (30, "exactly")
    assert steps("--ranks", "3", "--scale-batch") == (10, "exactly")
    assert steps("--batch-size", "0") == (60, "at most")
    assert steps("--batch-size", "0", "--ranks", "3") == (20, "at most")
    settings = {**RECORD.settings, "model_size": "small", "crop_size": 32, "batch_size": 0, "device": "cpu"}
    lay_run(shot.data / "v001", "earlier", dataclasses.replace(RECORD, settings=settings, batch_size=4), num_lines=20)
    assert steps("--batch-size", "0") == (15, "about")
    words = [*words_of(shot), "--batch-size", "0"]
    assert cast(EstimateShown, answer("estimate", words=words))["certainty"] == "exactly"


def test_names_of_a_farm_that_cannot_list_them_are_none(answer: Answer, shot: SmallShot) -> None:
    assert answer("farm names", words=words_of(shot)) == {name: [] for name in ("pool", "group", "limits", "machines")}


def test_a_submission_that_is_refused_leaves_nothing(panel: Panel, shot: SmallShot) -> None:
    faults = panel.faults("submit", words=words_of(shot, "--pool", "gpu", "--suspended"))
    assert faults == ["--suspended: the farm local cannot hold a job back; leave it out"]
    assert not shot.data.exists()
    (shot.folder / "paint.1003.exr").write_bytes(b"broken")
    number = panel.ask("submit", words=words_of(shot))
    assert "paint.1003.exr" in str(panel.outcome(number)["faults"])
    assert panel.told(number) == ["Looking at 2 pairs"]
    assert not Path(shot.data).exists()
