"""OpenCue: the spec it gets, and a Cuebot that runs it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.core.cli.command import Command
from tests.core.train.shots import SmallShot
from tests.farm.cli.test_submit import step_of, submit_words, wait_until
from tests.farm.golden_files import matches_golden
from tests.farm.jobs import EVERYTHING, RANKS, job_for

from understudy.report.run_record import read_record
from understudy.runs import find_run
from understudy_farm.backend import FarmBackend, FarmError, Site, names_on
from understudy_farm.backends.opencue import OpenCueFarm, client
from understudy_farm.choices import Choices
from understudy_farm.folder import read_sent
from understudy_farm.following import tasks_of
from understudy_farm.spec import Resources
from understudy_farm.testing import SLEEP, FarmContract, SentJob, python_step

pytest.importorskip("outline", reason="needs pyoutline (opencue-pyoutline)")
pytest.importorskip("opencue", reason="needs pycue (opencue-pycue)")

from tests.farm.backends.opencue_cuebot import SHOW, Cuebot, Refused, running_cuebot

POSSIBLE = dataclasses.replace(EVERYTHING, secondary_pool="", machines=(), depends_on=())
ON_HOSTS = dataclasses.replace(RANKS, machines=EVERYTHING.machines, suspended=True)
FOR_EVER = 10**6


def site_of(**values: str) -> Site:
    return Site(values={**{option.name: option.default for option in OpenCueFarm().options}, "show": SHOW, **values})


STUDIO = site_of(facility="cloud", uid="1017", os="rocky9", service="nuke", gpu_memory="8g", shot="sh010")


@pytest.mark.parametrize(
    ("name", "choices", "site"),
    [("everything", POSSIBLE, STUDIO), ("hosts", ON_HOSTS, site_of()), ("one", Choices(), site_of())],
)
def test_the_spec_is_as_it_was_looked_at(name: str, choices: Choices, site: Site) -> None:
    farm = OpenCueFarm()
    matches_golden(f"opencue/{name}", farm.payload(job_for(choices, farm.capabilities(site)), site))


@pytest.mark.parametrize(
    ("choices", "options", "line"),
    [
        (dataclasses.replace(RANKS, secondary_pool="night"), {}, "--secondary-pool: OpenCue knows no second show"),
        (dataclasses.replace(RANKS, group="gpu", machines=("node01",)), {}, "--group with --machines: "),
        (dataclasses.replace(RANKS, group="a b"), {}, "--group a b: no tag of OpenCue"),
        (RANKS, {"show": ""}, "--pool: OpenCue wants a show"),
    ],
)
def test_what_opencue_cannot_be_told_is_refused(choices: Choices, options: dict[str, str], line: str) -> None:
    farm, site = OpenCueFarm(), site_of(**options)
    with pytest.raises(FarmError) as caught:
        farm.payload(job_for(choices, farm.capabilities(site)), site)
    assert str(caught.value).startswith(line)


def test_cuebot_takes_no_jobs_of_root() -> None:
    farm, site = OpenCueFarm(), site_of()
    with pytest.raises(FarmError, match="Cuebot takes no jobs of root"):
        farm.payload(dataclasses.replace(job_for(RANKS, farm.capabilities(site)), user="root"), site)


def test_the_submitters_environment_does_not_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    farm, site = OpenCueFarm(), site_of()
    job = job_for(RANKS, farm.capabilities(site))
    payload = farm.payload(job, site)
    for name in ("OL_OS", "FACILITY", "RENDER_TO", "SHOW", "SHOT", "USER"):
        monkeypatch.setenv(name, "elsewhere")
    assert farm.payload(job, site) == payload
    monkeypatch.setenv("OL_TAG_OVERRIDE", "elsewhere")
    with pytest.raises(FarmError, match=r"^OL_TAG_OVERRIDE: pyoutline would put it in place"):
        farm.payload(job, site)


def test_without_pyoutline_its_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(client, "import_module", missing)
    farm, site = OpenCueFarm(), site_of()
    with pytest.raises(FarmError, match=r"No module named 'outline'.*pip install opencue-pyoutline opencue-pycue"):
        farm.payload(job_for(RANKS, farm.capabilities(site)), site)


def not_sent(site: Site, tmp_path: Path) -> SentJob:
    step = python_step("train", SLEEP, str(tmp_path))
    job = job_for(RANKS, OpenCueFarm().capabilities(site), tmp_path / "v001")
    return SentJob(OpenCueFarm(), site, dataclasses.replace(job, name="contract", user="tester", steps=(step,)))


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[Cuebot, str]]:
    with running_cuebot(tmp_path / "shots") as started:
        yield started


@pytest.fixture
def cuebot(running: tuple[Cuebot, str]) -> Cuebot:
    return running[0]


class TestOpenCueFarm(FarmContract):
    @pytest.fixture
    def farm(self) -> FarmBackend:
        return OpenCueFarm()

    @pytest.fixture
    def site(self, farm: FarmBackend, running: tuple[Cuebot, str]) -> Site:
        del farm
        return site_of(hosts=running[1])

    def test_what_was_shown_is_what_was_sent(self, sent: Callable[..., SentJob], cuebot: Cuebot) -> None:
        job = sent(python_step("train", "print('hello')"))
        assert cuebot.specs == [job.farm.payload(job.job, job.site)["job.xml"]]

    def test_a_killed_frame_is_retried_as_often_as_was_asked(
        self, sent: Callable[..., SentJob], cuebot: Cuebot, tmp_path: Path
    ) -> None:
        """A spec alone would give one retry."""
        job = sent(python_step("train", SLEEP, str(tmp_path), num_tasks=1, retries=3))
        pid = tmp_path / "0.pid"
        for _ in range(4):
            job.wait_until(pid.exists)
            pid.unlink()
            cuebot.kill_frame("0000-train")
        job.wait_until(lambda: job.states("train") == ["failed"])
        assert "DEAD, exit 1, retry 3" in job.tasks()[0].note
        assert job.log("train", 0).count("RenderQ JobSpec") == 4

    def test_a_step_without_retries_is_started_once(self, sent: Callable[..., SentJob]) -> None:
        job = sent(
            python_step("train", "print('well')", num_tasks=1, retries=3),
            python_step("publish", "import sys; sys.exit('not published')", num_tasks=1, after=("train",)),
        )
        job.wait_until(lambda: job.states("publish") == ["failed"])
        assert job.log("publish", 0).splitlines().count("not published") == 1
        assert "is not started again by itself" in job.log("publish", 0)
        job.requeue("publish", 0)
        job.wait_until(lambda: job.log("publish", 0).splitlines().count("not published") == 2)

    def test_tasks_of_a_cancelled_job_come_back_in_a_job_of_theirs(
        self, sent: Callable[..., SentJob], tmp_path: Path
    ) -> None:
        job = sent(python_step("train", SLEEP, str(tmp_path)))
        job.wait_until(lambda: job.states("train") == ["running", "running"])
        job.cancel()
        job.requeue("train", 1)
        job.wait_until(lambda: job.states("train") == ["cancelled", "running"])
        assert len(job.receipt.ids["train"].split(",")) == 2
        job.cancel()
        assert job.states("train") == ["cancelled", "cancelled"]

    def test_a_comment_and_another_job_to_wait_for_travel(
        self, farm: FarmBackend, site: Site, sent: Callable[..., SentJob], cuebot: Cuebot, tmp_path: Path
    ) -> None:
        first = sent(python_step("train", SLEEP, str(tmp_path), num_tasks=1))
        after = dataclasses.replace(first.job.placement, depends_on=(first.receipt.ids["train"],))
        step = python_step("train", "print('well')", num_tasks=1)
        job = dataclasses.replace(
            first.job, name="second", run_directory=tmp_path / "second", placement=after, steps=(step,), comment="wires"
        )
        second = SentJob(farm, site, job)
        second.send()
        found = cuebot.job("second")
        assert [comment.message for comment in found.comments] == ["wires"]
        assert [other.id for other in found.waits_for] == list(after.depends_on)
        assert not found.is_paused
        assert second.states("train") == ["waiting"]
        first.cancel()
        second.wait_until_ended()

    def test_a_job_that_cannot_be_completed_is_taken_back(
        self, farm: FarmBackend, site: Site, sent: Callable[..., SentJob], cuebot: Cuebot, tmp_path: Path
    ) -> None:
        first = sent(python_step("train", SLEEP, str(tmp_path), num_tasks=1))
        place = dataclasses.replace(first.job.placement, depends_on=("no-such-id",))
        job = dataclasses.replace(first.job, name="second", run_directory=tmp_path / "second", placement=place)
        with pytest.raises(FarmError, match=r"^--depends-on no-such-id: OpenCue has no job of that id$"):
            SentJob(farm, site, job).send()
        assert cuebot.job("second").state != cuebot.job("contract").state

    def test_a_job_whose_answer_was_lost_is_taken_back(self, site: Site, cuebot: Cuebot, tmp_path: Path) -> None:
        cuebot.drops.add("LaunchSpecAndWait")
        with pytest.raises(FarmError, match=r"^opencue: Request deadline exceeded\. Deadline Exceeded; see whether"):
            not_sent(site, tmp_path).send()
        assert cuebot.calls[-1] == "Kill"
        assert all(frame.running is None for frame in cuebot.jobs[0].frames)

    def test_a_name_that_is_taken_is_refused(self, site: Site, cuebot: Cuebot, tmp_path: Path) -> None:
        not_sent(site, tmp_path).send()
        with pytest.raises(FarmError, match=r"a job testing-sh010_comp_v012-tester_contract is there already"):
            not_sent(site, tmp_path).send()
        assert "Kill" not in cuebot.calls

    def test_a_spec_that_cuebot_refuses_is_one_line(self, site: Site, cuebot: Cuebot, tmp_path: Path) -> None:
        def refuse(call: str) -> None:
            if call == "LaunchSpecAndWait":
                raise Refused("no\nfacility")

        cuebot.trouble = refuse
        line = r"^opencue: .*Failed to launch and add job: no facility; see whether Cuebot"
        with pytest.raises(FarmError, match=line):
            not_sent(site, tmp_path).send()

    def test_malformed_specs_are_refused(self, site: Site, tmp_path: Path) -> None:
        """The fake is as strict as Cuebot: else what it takes would prove nothing."""
        job = not_sent(site, tmp_path)
        text = job.farm.payload(job.job, site)["job.xml"]
        for before, after in [("<chunk>", "<chunks>"), ("<paused>", "<os>"), ("</spec>", ""), ("tester", "root")]:
            bad = text.replace(before, after).replace(before.replace("<", "</"), after.replace("<", "</"))
            (tmp_path / "job.xml").write_text(bad)
            with pytest.raises(FarmError, match="Failed to launch and add job"):
                job.farm.send(job.job, tmp_path, site)

    def test_a_task_sees_the_gpus_that_were_reserved_for_it(self, sent: Callable[..., SentJob]) -> None:
        see = "import os; print('GPUs', os.environ.get('CUDA_VISIBLE_DEVICES'))"
        step = python_step("train", see, num_tasks=1)
        job = sent(dataclasses.replace(step, resources=Resources(gpus=2)), dataclasses.replace(step, name="apply"))
        job.wait_until_ended()
        assert "GPUs 4,5" in job.log("train", 0)
        assert "GPUs None" in job.log("apply", 0)

    def test_logs_are_read_where_this_machine_sees_them(
        self, sent: Callable[..., SentJob], site: Site, tmp_path: Path
    ) -> None:
        job = sent(python_step("train", "print('well')", num_tasks=1))
        job.wait_until_ended()
        (tmp_path / "mount").symlink_to(tmp_path / "shots")
        for place, told in ((tmp_path / "mount", "well\n"), (tmp_path / "away", "cannot be seen from here; say where")):
            elsewhere = Site(values={**site.values, "log_root": f"{tmp_path / 'shots'}={place}"})
            assert told in job.farm.log(job.job, job.receipt, "train", 0, elsewhere)

    def test_a_job_that_opencue_forgot_is_unknown(self, sent: Callable[..., SentJob], cuebot: Cuebot) -> None:
        job = sent(python_step("train", "print('well')", num_tasks=1))
        job.wait_until_ended()
        cuebot.jobs.clear()
        assert [(task.state, task.note) for task in job.tasks()] == [("unknown", "OpenCue forgot it")]
        assert job.log("train", 0) == ""

    def test_a_cuebot_that_is_slow_is_waited_for_a_while(
        self, sent: Callable[..., SentJob], cuebot: Cuebot, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        job = sent(python_step("train", "print('well')", num_tasks=1))
        monkeypatch.setattr(client, "SECONDS_TO_ANSWER", 0.5)
        cuebot.trouble = lambda _: time.sleep(1.5)
        with pytest.raises(FarmError, match="deadline exceeded"):
            job.tasks()
        monkeypatch.undo()
        cuebot.trouble = lambda _: None


def test_shows_are_listed(running: tuple[Cuebot, str]) -> None:
    assert names_on(OpenCueFarm(), site_of(hosts=running[1])).pools == (SHOW,)


def test_an_unknown_show_is_named(running: tuple[Cuebot, str], tmp_path: Path) -> None:
    farm, site = OpenCueFarm(), site_of(hosts=running[1], show="elsewhere")
    job = job_for(RANKS, farm.capabilities(site))
    (tmp_path / "job.xml").write_text(farm.payload(job, site)["job.xml"])
    with pytest.raises(FarmError, match=r"^--pool elsewhere: OpenCue has no show of that name"):
        farm.send(job, tmp_path, site)


def test_a_cuebot_that_is_not_there_is_named(tmp_path: Path) -> None:
    farm, site = OpenCueFarm(), site_of(hosts="127.0.0.1:9")
    job = job_for(RANKS, farm.capabilities(site))
    (tmp_path / "job.xml").write_text(farm.payload(job, site)["job.xml"])
    with pytest.raises(FarmError, match=r"^opencue: No grpc connection .*; see whether Cuebot runs at 127\.0\.0\.1:9"):
        farm.send(job, tmp_path, site)


def test_links_lead_to_cueweb(running: tuple[Cuebot, str], tmp_path: Path) -> None:
    farm, site = OpenCueFarm(), site_of(hosts=running[1], cueweb="http://cueweb:3000/")
    job = job_for(dataclasses.replace(RANKS, suspended=True), farm.capabilities(site))
    (tmp_path / "job.xml").write_text(farm.payload(job, site)["job.xml"])
    receipt = farm.send(job, tmp_path, site)
    assert receipt.link == "http://cueweb:3000/jobs/testing-sh010_comp_v012-mia_copycat1_v003"
    assert {task.state for task in farm.status(job, receipt, site)} == {"waiting"}


@pytest.mark.slow
def test_a_rank_that_the_farm_kills_comes_back_and_the_model_is_applied(
    command: Command, shot: SmallShot, running: tuple[Cuebot, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cuebot, address = running
    monkeypatch.setenv("LOGNAME", "tester")
    result = shot.folder / "result" / "result.####.exr"
    words = ("--farm", "opencue", "-O", f"hosts={address}", "--pool", SHOW, "--ranks", "2", "--silence-seconds", "2")
    assert command(*submit_words(shot, *words, "--apply-output", str(result), steps=600)).code == 0
    run_directory = shot.data / "v001"
    wait_until(lambda: step_of(run_directory) > 2, run_directory)
    cuebot.kill_frame("0001-train")
    wait_until(lambda: "retry 1" in tasks_of(read_sent(run_directory))[1].note, run_directory)
    assert command("wait", shot.data).code == 0
    assert read_record(find_run(run_directory).record).state == "finished"
    assert {task.state for task in tasks_of(read_sent(run_directory))} == {"done"}
    assert len(list(result.parent.glob("*.exr"))) == 4
