"""The bundle: as it was looked at, valid by Open Job Description's own tools, and refused where it has no place."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest
from tests.farm.golden_files import matches_golden
from tests.farm.jobs import EVERYTHING, RANKS, SUBMISSION, job_for

from understudy.errors import Problems
from understudy_farm.backend import FarmError, Site
from understudy_farm.backends.deadline_cloud import DeadlineCloudFarm
from understudy_farm.backends.deadline_cloud.client import check_template
from understudy_farm.choices import Choices
from understudy_farm.folder import write_payload
from understudy_farm.plan import plan
from understudy_farm.spec import Job
from understudy_farm.testing import python_step

FARM = DeadlineCloudFarm()
PLAIN = Site(values={option.name: option.default for option in FARM.options})
PACKAGES = Site(values={**PLAIN.values, "rez_packages": "understudy torch", "max_worker_count": "8"})
NO_PLACE = ("secondary_pool", "group", "machines", "depends_on")
WITH_PLACE = dataclasses.replace(EVERYTHING, **{name: getattr(Choices(), name) for name in NO_PLACE}, suspended=True)


def _job(choices: Choices) -> Job:
    return job_for(choices, FARM.capabilities(PLAIN))


@pytest.mark.parametrize(
    ("name", "choices", "site"),
    [("ranks", RANKS, PLAIN), ("everything", WITH_PLACE, PACKAGES), ("one", Choices(), PLAIN)],
)
def test_the_bundle_is_as_it_was_looked_at_and_passes_openjd_check(
    name: str, choices: Choices, site: Site, tmp_path: Path
) -> None:
    payload = FARM.payload(_job(choices), site)
    matches_golden(f"deadline_cloud/{name}", payload)
    pytest.importorskip("openjd.cli")
    write_payload(tmp_path, payload)
    words = [sys.executable, "-m", "openjd", "check", str(tmp_path / "template.json")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    check_template(tmp_path)


def test_every_rank_is_a_step_with_variables_of_its_own() -> None:
    steps = json.loads(FARM.payload(_job(RANKS), PLAIN)["template.json"])["steps"]
    assert [step["name"] for step in steps] == ["Train-0", "Train-1", "Train-2"]
    environments = [step["stepEnvironments"][0] for step in steps]
    assert len({environment["name"] for environment in environments}) == 3
    assert [environment["variables"]["COPYCAT_RANK"] for environment in environments] == ["0", "1", "2"]


def test_every_choice_without_a_place_is_refused_in_a_line() -> None:
    with pytest.raises(Problems) as told:
        FARM.payload(_job(EVERYTHING), PLAIN)
    flags = [line.partition(":")[0] for line in str(told.value).splitlines()]
    assert flags == ["--secondary-pool", "--group", "--machines", "--depends-on"]


def test_fewer_workers_than_ranks_are_refused() -> None:
    with pytest.raises(Problems, match=r"^-O max_worker_count=2: 3 ranks train at the same time"):
        FARM.payload(_job(RANKS), Site(values={**PLAIN.values, "max_worker_count": "2"}))


def test_words_that_open_job_description_would_replace_are_refused() -> None:
    job = plan(SUBMISSION, Choices(publish="tell '{{Param.Shot}}'"), FARM.capabilities(PLAIN))
    with pytest.raises(FarmError, match=r"^'\{\{Param\.Shot\}\}': Open Job Description takes"):
        FARM.payload(job, PLAIN)


def test_a_template_that_is_none_is_not_sent(tmp_path: Path) -> None:
    pytest.importorskip("openjd.model")
    write_payload(tmp_path, {"template.json": '{"specificationVersion": "jobtemplate-2023-09", "name": "x"}'})
    with pytest.raises(FarmError, match=r"template\.json: is no Open Job Description template: .*steps"):
        check_template(tmp_path)


def test_a_worker_that_mounts_the_storage_elsewhere_is_told_its_own_paths(tmp_path: Path) -> None:
    sessions = pytest.importorskip("openjd.sessions")
    from tests.farm.backends.deadline_cloud.sessions import Lines, TaskRun, read_template

    step = python_step("train", "import sys; print('at', sys.argv[2])", str(SUBMISSION.run_directory), num_tasks=1)
    payload = FARM.payload(dataclasses.replace(_job(RANKS), steps=(step,)), PLAIN)
    template = read_template(payload["template.json"], {"RunDirectory": str(SUBMISSION.run_directory)})
    rule = sessions.PathMappingRule(
        source_path_format=sessions.PathFormat.POSIX,
        source_path=PurePosixPath("/mnt/show"),
        destination_path=tmp_path,
    )
    with Lines() as lines:
        state = TaskRun(template, template.step("Train-0"), {}, "elsewhere", rules=(rule,)).run(lambda: None)
    assert state == sessions.ActionState.SUCCESS
    assert f"at {tmp_path}/sh010/copycat/v003" in [text for _, text in lines.of["elsewhere"]]
