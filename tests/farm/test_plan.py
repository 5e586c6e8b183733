"""Planning: the same choices give the same job, whose words and variables a TD can read."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from tests.farm.jobs import EVERYTHING, RANKS, SUBMISSION, job_for

from understudy.errors import UnderstudyError
from understudy.remap import PATH_RULES
from understudy_farm.backend import Capabilities
from understudy_farm.choices import Choices
from understudy_farm.plan import plan
from understudy_farm.spec import from_text, to_text

RESUME = ("/opt/understudy/bin/python", "-m", "understudy.cli.main", "resume", "/mnt/show/sh010/copycat/v003")


def test_every_rank_gets_copycats_variables_and_its_own_number() -> None:
    step = job_for(RANKS, Capabilities()).step("train")
    assert step.num_tasks == 3
    assert step.argv_of(2) == (*RESUME, "--progress", "plain", "--eviction", "leave")
    assert step.environment_of(2) == {
        "COPYCAT_MAIN_ADDR": "auto",
        "COPYCAT_MAIN_PORT": "auto",
        "COPYCAT_WORLD_SIZE": "3",
        "COPYCAT_RANK": "2",
    }


def test_where_tasks_share_their_variables_the_rank_is_a_word() -> None:
    step = job_for(RANKS, Capabilities(has_task_environment=False, progress="deadline")).step("train")
    assert step.argv_of(1) == (*RESUME, "--progress", "deadline", "--eviction", "leave", "--rank", "1")
    assert "COPYCAT_RANK" not in step.environment_of(1)


def test_one_rank_is_told_of_no_others() -> None:
    step = job_for(Choices(), Capabilities(can_gang=True)).step("train")
    assert step.environment_of(0) == {}
    assert not step.at_once


def test_ranks_start_at_once_where_the_farm_can() -> None:
    assert job_for(RANKS, Capabilities(can_gang=True)).step("train").at_once
    assert not job_for(RANKS, Capabilities()).step("train").at_once


def test_a_given_interval_address_and_rule_travel() -> None:
    choices = dataclasses.replace(RANKS, main_address="render01", main_port="30000", path_rules="linux=/a/,windows=A:/")
    job = plan(dataclasses.replace(SUBMISSION, sync_interval=16), choices, Capabilities())
    assert dict(job.step("train").environment) | {"COPYCAT_RANK": ""} == {
        "UNDERSTUDY_PATH_RULES": "linux=/a/,windows=A:/",
        "COPYCAT_MAIN_ADDR": "render01",
        "COPYCAT_MAIN_PORT": "30000",
        "COPYCAT_WORLD_SIZE": "3",
        "COPYCAT_SYNC_INTERVAL": "16",
        "COPYCAT_RANK": "",
    }


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        (Choices(python="/usr/bin/python3.12"), ("/usr/bin/python3.12", "-m", "understudy.cli.main", "resume")),
        (Choices(rez=("understudy", "torch-2.13")), ("rez", "env", "understudy", "torch-2.13", "--", "understudy")),
        (Choices(conda="ml"), ("conda", "run", "--no-capture-output", "--name", "ml", "understudy", "resume")),
    ],
)
def test_workers_find_understudy_as_they_are_told(choices: Choices, words: tuple[str, ...]) -> None:
    assert job_for(choices, Capabilities()).step("train").argv[: len(words)] == words


def test_what_follows_waits_for_what_it_needs() -> None:
    _, train, apply, publish = job_for(EVERYTHING, Capabilities()).steps
    assert (train.after, apply.after, publish.after) == (("bake",), ("train",), ("apply",))
    assert apply.num_tasks == 4
    assert apply.argv_of(3)[-2:] == ("--part", "3/4")
    assert publish.argv == ("publish_tool", "--shot", "sh010", "--note", "model made it")
    assert dict(publish.environment) == {
        "UNDERSTUDY_RUN": "/mnt/show/sh010/copycat/v003",
        "UNDERSTUDY_OUTPUT": "/mnt/show/sh010/paint/sh010_paint.####.exr",
        "UNDERSTUDY_INPUT": "/mnt/show/sh010/plate/sh010 plate.####.exr",
    }


def test_frames_are_answered_as_often_as_is_asked() -> None:
    choices = Choices(apply_output="/out/r.####.exr", apply_passes=4)
    assert job_for(choices, Capabilities()).step("apply").argv[-2:] == ("--passes", "4")
    once = dataclasses.replace(choices, apply_passes=1)
    assert "--passes" not in job_for(once, Capabilities()).step("apply").argv


def test_understudys_own_publish_is_started_as_the_workers_have_it() -> None:
    rules = "windows=P:/show/,linux=/mnt/show/"
    command = "understudy publish --to '/show/my models'"
    choices = Choices(publish=command, rez=("understudy", "torch"), path_rules=rules)
    publish = job_for(choices, Capabilities()).step("publish")
    words = ("rez", "env", "understudy", "torch", "--", "understudy", "publish", "--to", "/show/my models")
    assert publish.argv == words
    assert dict(publish.environment)[PATH_RULES] == rules


def test_a_bake_comes_first_with_limits_of_its_own_and_no_gpu() -> None:
    job = job_for(EVERYTHING, Capabilities())
    bake, train, *_ = job.steps
    words = ("nuke", "-F", "1001-1024", "-X", "UnderstudyInput,UnderstudyTarget", "/mnt/show/sh010/sh010 comp.nk")
    assert (bake.name, bake.argv, bake.after, bake.num_tasks) == ("bake", words, (), 1)
    assert dict(bake.environment) == {"UNDERSTUDY_RUN": "/mnt/show/sh010/copycat/v003"}
    assert (bake.resources.gpus, train.resources.gpus) == (0, 1)
    assert (bake.resources.cores, bake.retries) == (train.resources.cores, train.retries)
    assert job.limits_of(bake) == ("torch", "big", "nuke_r")
    assert job.limits_of(train) == ("torch", "big")


def test_a_bake_may_have_parts() -> None:
    step = job_for(Choices(bake="render {number} of 4", bake_tasks=4), Capabilities()).step("bake")
    assert step.num_tasks == 4
    assert step.argv_of(3) == ("render", "3", "of", "4")


def test_without_a_bake_nothing_is_waited_for() -> None:
    job = job_for(Choices(bake_limits=("nuke_r",)), Capabilities())
    assert [(step.name, step.after, job.limits_of(step)) for step in job.steps] == [("train", (), ())]


def test_a_job_comes_back_from_its_file() -> None:
    job = job_for(EVERYTHING, Capabilities())
    assert from_text(to_text(job), Path("job.json")) == job


@pytest.mark.parametrize("damage", ["", "[]", '{"schema": 2}', '{"schema": 1, "name": "x"}'])
def test_a_damaged_job_file_is_named(damage: str) -> None:
    with pytest.raises(UnderstudyError, match=r"^job\.json: is no job of this version"):
        from_text(damage, Path("job.json"))


def test_an_unknown_key_in_a_job_file_is_an_error() -> None:
    text = to_text(job_for(RANKS, Capabilities())).replace('"batch":', '"batches":')
    with pytest.raises(UnderstudyError, match="batches"):
        from_text(text, Path("job.json"))


@pytest.mark.parametrize(
    "damage",
    [
        {"name": 5},
        {"steps": {}},
        {"steps": [1]},
        {"placement": {"priority": "high"}},
        {"limits": "unheard of"},
        {"run_directory": None},
    ],
)
def test_a_job_of_other_kinds_of_values_is_refused(damage: dict[str, object]) -> None:
    data = json.loads(to_text(job_for(RANKS, Capabilities())))
    with pytest.raises(UnderstudyError, match=r"^job\.json: is no job of this version .*submit it again"):
        from_text(json.dumps({**data, **damage}), Path("job.json"))


@pytest.mark.parametrize("num_tasks", [-1, 10**30, "3"])
def test_a_job_with_tasks_without_number_is_refused(num_tasks: object) -> None:
    data = json.loads(to_text(job_for(RANKS, Capabilities())))
    data["steps"][0]["num_tasks"] = num_tasks
    with pytest.raises(UnderstudyError, match="tasks"):
        from_text(json.dumps(data), Path("job.json"))
