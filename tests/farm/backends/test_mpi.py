"""Machines by mpirun: what they are told, and a real Open MPI whose hosts are those of a real sshd."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from tests.core.cli.command import Command
from tests.core.train.shots import SmallShot
from tests.farm.backends.sshd import needs_sshd, sshd
from tests.farm.cli.test_submit import submit_words
from tests.farm.golden_files import matches_golden
from tests.farm.jobs import ON_HOSTS, RANKS, job_for

from understudy.errors import UnderstudyError
from understudy.report.run_record import read_record
from understudy.runs import find_run
from understudy_farm.backend import FarmBackend, FarmError, Site
from understudy_farm.backends.mpi import MpiFarm
from understudy_farm.testing import SLEEP, FarmContract, SentJob, python_step

SAVES_AT_THE_END = """
import pathlib, psutil, signal, sys, time
def end(*_):
    time.sleep(2)
    print('saved', flush=True)
    sys.exit(3)
signal.signal(signal.SIGTERM, end)
print('cores', psutil.Process().cpu_affinity(), flush=True)
time.sleep(600)
"""

needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="mpirun takes Debian's openmpi-bin")


def _site(hosts: str, mpirun: str = "mpirun --bind-to none") -> Site:
    return Site(values={"hosts": hosts, "mpirun": mpirun})


def test_the_commands_are_as_they_were_looked_at() -> None:
    site = _site("render01:2,render02,render03", "mpirun --mca plm_rsh_agent 'ssh -p 2222'")
    matches_golden("mpi/hosts", MpiFarm().payload(job_for(ON_HOSTS, MpiFarm().capabilities(site)), site))


def test_hosts_are_needed() -> None:
    with pytest.raises(FarmError, match=r"^mpi: no hosts; give -O hosts=a:2,b"):
        MpiFarm().payload(job_for(RANKS, MpiFarm().capabilities(_site(""))), _site(""))


def test_more_ranks_than_hosts_are_refused(command: Command, shot: SmallShot) -> None:
    words = submit_words(shot, "--farm", "mpi", "-O", "hosts=a:2,b", "--ranks", "4")
    assert "--ranks 4: the farm mpi has 3 workers" in command.refused(*words)


def test_without_mpirun_every_host_is_told_of() -> None:
    site = _site("h1,h2", "nowhere/mpirun --quiet")
    with pytest.raises(UnderstudyError) as caught:
        MpiFarm().habits(job_for(RANKS, MpiFarm().capabilities(site)), site).prepare()
    assert str(caught.value).splitlines() == [
        f"nowhere/mpirun: no such program here; host {host}: see whether "
        f"`nowhere/mpirun --quiet -n 1 --host {host} true` works from here"
        for host in ("h1", "h2")
    ]


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What Open MPI starts its daemons with."""
    folder = tmp_path_factory.mktemp("mpi")
    with sshd(folder) as ssh:
        script = folder / "agent"
        script.write_text(f'#!/bin/sh\nexec {ssh} "$@"\n')
        script.chmod(0o755)
        yield script


@pytest.fixture
def mpirun(agent: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    return f"mpirun --bind-to none --oversubscribe --mca plm_rsh_agent {agent}"


@needs_mpi
@needs_sshd
@pytest.mark.slow
class TestMpiFarm(FarmContract):
    @pytest.fixture
    def farm(self) -> FarmBackend:
        return MpiFarm()

    @pytest.fixture
    def site(self, mpirun: str) -> Site:
        return _site("h1:3", mpirun)

    def test_a_task_ends_with_its_mpirun_and_is_started_again(
        self, sent: Callable[..., SentJob], tmp_path: Path
    ) -> None:
        job = sent(python_step("train", SLEEP, str(tmp_path), num_tasks=1, retries=1))
        pid = tmp_path / "0.pid"
        job.wait_until(lambda: pid.exists() and pid.read_text() != "")
        first = int(pid.read_text())
        _mpirun_of(tmp_path).kill()
        job.wait_until(lambda: not psutil.pid_exists(first))
        job.wait_until(lambda: int(pid.read_text() or first) != first)

    def test_a_task_has_every_core_and_time_for_a_checkpoint(self, sent: Callable[..., SentJob]) -> None:
        job = sent(python_step("train", SAVES_AT_THE_END, num_tasks=1))
        job.wait_until(lambda: f"cores {psutil.Process().cpu_affinity()}" in job.log("train", 0))
        job.cancel()
        assert job.states("train") == ["cancelled"]
        assert "saved" in job.log("train", 0)


@needs_mpi
@needs_sshd
@pytest.mark.slow
def test_two_hosts_train(command: Command, shot: SmallShot, mpirun: str) -> None:
    words = ("--farm", "mpi", "-O", "hosts=h1,h2", "-O", f"mpirun={mpirun}", "--ranks", "2")
    ending = command(*submit_words(shot, *words))
    assert ending.code == 0, ending
    assert "train 1: done on h2" in ending.out
    assert read_record(find_run(shot.data).record).state == "finished"


@needs_mpi
@needs_sshd
@pytest.mark.slow
def test_a_host_that_cannot_be_reached_is_named(command: Command, shot: SmallShot, mpirun: str) -> None:
    words = ("--farm", "mpi", "-O", "hosts=h1,nowhere.invalid", "-O", f"mpirun={mpirun}", "--ranks", "2")
    ending = command(*submit_words(shot, *words))
    assert ending.code == 2
    said = "\n".join(ending.faults)
    assert "host nowhere.invalid: see whether `mpirun" in said
    assert "host h1:" not in said


def _mpirun_of(folder: Path) -> psutil.Process:
    """The one on this side whose command is about that folder; it is no shell around it."""
    return next(
        one
        for one in psutil.process_iter()
        if one.name().startswith("mpirun") and any(str(folder) in word for word in one.cmdline())
    )
