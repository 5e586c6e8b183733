"""Slurm: the scripts it gets, and a real cluster that runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.core.cli.command import Command
from tests.core.train.shots import SmallShot
from tests.farm.backends.slurm_cluster import SlurmCluster, needs_slurm, slurm_cluster
from tests.farm.cli.test_submit import step_of, submit_words, wait_until
from tests.farm.golden_files import matches_golden
from tests.farm.jobs import EVERYTHING, RANKS, job_for

from understudy.report.run_record import read_record
from understudy.runs import find_run
from understudy_farm.backend import FarmBackend, FarmError, Site, names_on
from understudy_farm.backends.slurm import SlurmFarm
from understudy_farm.choices import Choices
from understudy_farm.folder import read_sent
from understudy_farm.following import state_of, tasks_of
from understudy_farm.testing import FarmContract, SentJob, python_step

GANG = Site(values={"array": "no", "sbatch": "--qos=night", "srun": ""})
ARRAY = Site(values={"array": "yes", "sbatch": "", "srun": ""})
ALL_BUT_MACHINES = replace(EVERYTHING, machines=())
FOR_EVER = 10**6


@pytest.mark.parametrize(
    ("name", "choices", "site"),
    [("gang", ALL_BUT_MACHINES, GANG), ("array", RANKS, ARRAY), ("one", Choices(), ARRAY)],
)
def test_the_scripts_are_as_they_were_looked_at(name: str, choices: Choices, site: Site) -> None:
    farm = SlurmFarm()
    payload = farm.payload(job_for(choices, farm.capabilities(site)), site)
    matches_golden(f"slurm/{name}", payload)


def test_a_choice_of_machines_is_refused() -> None:
    with pytest.raises(FarmError, match=r"^--machines: Slurm takes a list of nodes only to use all of them"):
        SlurmFarm().payload(job_for(EVERYTHING, SlurmFarm().capabilities(GANG)), GANG)


def test_without_slurm_the_command_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FarmError, match=r"^sbatch: no such program here; see whether Slurm's commands work here$"):
        SlurmFarm().send(job_for(RANKS, SlurmFarm().capabilities(GANG)), tmp_path, GANG)


def test_a_job_that_was_sent_half_is_taken_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    refuse = 'case "$*" in *apply*) echo "no partition" >&2; exit 1;; esac; echo 71'
    for name, then in (("sbatch", refuse), ("scancel", "true")):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/asked\n{then}\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(FarmError, match=r"^sbatch --parsable: no partition; "):
        SlurmFarm().send(job_for(ALL_BUT_MACHINES, SlurmFarm().capabilities(GANG)), tmp_path, GANG)
    assert (tmp_path / "asked").read_text().splitlines()[-1] == "scancel 71 71"


@pytest.fixture(scope="module")
def running_cluster() -> Iterator[SlurmCluster]:
    with slurm_cluster(3) as started:
        yield started


@pytest.fixture
def cluster(running_cluster: SlurmCluster, monkeypatch: pytest.MonkeyPatch) -> SlurmCluster:
    for name, value in running_cluster.environment.items():
        monkeypatch.setenv(name, value)
    return running_cluster


@needs_slurm
@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
class TestSlurmFarm(FarmContract):
    @pytest.fixture
    def farm(self) -> FarmBackend:
        return SlurmFarm()

    def test_partitions_are_listed(self, farm: FarmBackend, site: Site) -> None:
        assert names_on(farm, site).pools == ("farm",)

    def test_tasks_start_together_or_not_at_all(self, sent: Callable[..., SentJob], tmp_path: Path) -> None:
        """Each waits for the other's sign, which an array of one free node would never see."""
        meet = """
import pathlib, sys, time
folder = pathlib.Path(sys.argv[2])
(folder / f'here.{sys.argv[1]}').touch()
while len(list(folder.glob('here.*'))) < 3:
    time.sleep(0.1)
"""
        step = python_step("train", meet, str(tmp_path), num_tasks=3)
        job = sent(replace(step, at_once=True))
        job.wait_until_ended()
        assert job.states("train") == ["done"] * 3


@needs_slurm
@pytest.mark.slow
def test_three_ranks_train(command: Command, shot: SmallShot, cluster: SlurmCluster) -> None:
    del cluster
    assert command(*submit_words(shot, "--farm", "slurm", "--ranks", "3")).code == 0
    assert command("wait", shot.data).code == 0
    run = find_run(shot.data)
    assert read_record(run.record).state == "finished"
    assert all("rank" in run.log(rank).read_text() for rank in range(3))


@needs_slurm
@pytest.mark.slow
def test_a_node_that_dies_does_not_end_the_training(command: Command, shot: SmallShot, cluster: SlurmCluster) -> None:
    words = submit_words(shot, "--farm", "slurm", "--ranks", "3", "--silence-seconds", "2", steps=FOR_EVER)
    assert command(*words).code == 0
    run_directory = shot.data / "v001"
    wait_until(lambda: step_of(run_directory) > 5, run_directory)
    cluster.kill_node("n3")
    before = step_of(run_directory)
    wait_until(lambda: step_of(run_directory) > before + 20, run_directory)
    cluster.start_node("n3")
    assert command("cancel", run_directory).code == 0
    sent = read_sent(run_directory)
    wait_until(lambda: state_of(tasks_of(sent)) == "cancelled", run_directory)
    wait_until(lambda: cluster("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").count("\n") == 3, run_directory)


@needs_slurm
@pytest.mark.slow
def test_ranks_of_an_array_come_when_there_is_room(command: Command, shot: SmallShot, cluster: SlurmCluster) -> None:
    """Two of three nodes are taken: rank 0 begins with --min-ranks, and the last rank joins when it is let in."""
    blocker = cluster("sbatch", "--parsable", "--ntasks=2", "--output=/dev/null", "--wrap=sleep 600").strip()
    words = ("--farm", "slurm", "-O", "array=yes", "--ranks", "2", "--min-ranks", "1", "--silence-seconds", "2")
    assert command(*submit_words(shot, *words, steps=FOR_EVER)).code == 0
    run_directory = shot.data / "v001"
    wait_until(lambda: step_of(run_directory) > 5, run_directory)
    assert {task.state for task in tasks_of(read_sent(run_directory))} == {"running", "waiting"}
    cluster("scancel", blocker)
    wait_until(lambda: find_run(run_directory).log(1).exists(), run_directory)
    before = step_of(run_directory)
    wait_until(lambda: step_of(run_directory) > before + 20, run_directory)
    assert command("cancel", run_directory).code == 0
