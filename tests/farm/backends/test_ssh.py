"""Machines by ssh: what they are told, and a real sshd whose hosts train, with shared storage and without."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.core.cli.command import Command, start
from tests.core.train.shots import SmallShot
from tests.farm.backends.sshd import needs_sshd, sshd
from tests.farm.cli.test_submit import step_of, submit_words, wait_until
from tests.farm.golden_files import matches_golden
from tests.farm.jobs import ON_HOSTS, RANKS, job_for

from understudy.report.run_record import read_record
from understudy.runs import find_run
from understudy_farm.backend import FarmBackend, FarmError, Site
from understudy_farm.backends.ssh import SshFarm
from understudy_farm.choices import Choices
from understudy_farm.spec import Job
from understudy_farm.testing import FarmContract

FOR_EVER = 10**6


def _site(hosts: str, ssh: str = "ssh", sync_dir: str = "") -> Site:
    return Site(values={"hosts": hosts, "ssh": ssh, "sync_dir": sync_dir})


def _job(site: Site) -> Job:
    return job_for(RANKS, SshFarm().capabilities(site))


def test_the_commands_are_as_they_were_looked_at() -> None:
    site = _site("render01:2,render02,render03", "ssh -p 2222")
    matches_golden("ssh/shared", SshFarm().payload(job_for(ON_HOSTS, SshFarm().capabilities(site)), site))


def test_without_storage_rank_0_is_met_at_a_fixed_place_with_a_secret() -> None:
    site = _site("render01,render02:2", sync_dir="/scratch/understudy")
    text = SshFarm().payload(_job(site), site)["commands.json"]
    assert "COPYCAT_MAIN_ADDR=render01" in text
    assert "COPYCAT_MAIN_PORT=30000" in text
    assert "UNDERSTUDY_SECRET=$(cat farm/secret)" in text
    assert "cd /scratch/understudy/mnt/show/sh010/copycat/v003" in text


def test_without_storage_a_bake_is_refused() -> None:
    site = _site("render01", sync_dir="/scratch/understudy")
    job = job_for(Choices(bake="nuke"), SshFarm().capabilities(site))
    with pytest.raises(FarmError, match=r"^--bake: without shared storage its files would stay on one host"):
        SshFarm().payload(job, site)


@pytest.mark.parametrize(
    ("hosts", "says"),
    [
        ("", "ssh: no hosts; give -O hosts="),
        ("a,a", "-O hosts a,a: a is listed twice"),
        ("a:x", "-O hosts: ranks 'x' is no whole number"),
        ("nowhere.toml", "nowhere.toml: cannot be read"),
    ],
)
def test_a_wrong_list_of_hosts_is_named(command: Command, shot: SmallShot, hosts: str, says: str) -> None:
    assert says in command.refused(*submit_words(shot, "--farm", "ssh", "-O", f"hosts={hosts}"))
    assert not shot.data.exists()


def test_more_ranks_than_hosts_are_refused(command: Command, shot: SmallShot) -> None:
    words = submit_words(shot, "--farm", "ssh", "-O", "hosts=a:2,b", "--ranks", "4")
    assert "--ranks 4: the farm ssh has 3 workers" in command.refused(*words)


def test_a_machine_that_is_no_host_is_refused() -> None:
    site = _site("a,b")
    farm = SshFarm()
    with pytest.raises(FarmError, match="--machines render01: is not among the hosts"):
        farm.payload(job_for(ON_HOSTS, farm.capabilities(site)), site)


@pytest.fixture(scope="module")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with sshd(tmp_path_factory.mktemp("sshd")) as command:
        yield command


@needs_sshd
@pytest.mark.slow
class TestSshFarm(FarmContract):
    @pytest.fixture
    def farm(self) -> FarmBackend:
        return SshFarm()

    @pytest.fixture
    def site(self, ssh: str) -> Site:
        return _site("h1,h2,h3", ssh)


@needs_sshd
@pytest.mark.slow
def test_three_hosts_train(command: Command, shot: SmallShot, ssh: str) -> None:
    words = ("--farm", "ssh", "-O", "hosts=h1,h2,h3", "-O", f"ssh={ssh}", "--ranks", "3")
    ending = command(*submit_words(shot, *words))
    assert ending.code == 0, ending
    assert "train 2: done on h3" in ending.out
    assert read_record(find_run(shot.data).record).state == "finished"


@needs_sshd
@pytest.mark.slow
def test_hosts_without_shared_storage_train_and_apply(shot: SmallShot, ssh: str, tmp_path: Path) -> None:
    """The frames are gone from where they were submitted as soon as the hosts have them."""
    hosts = tmp_path / "hosts.toml"
    entries = [f'{{name = "{name}", local_address = "127.0.0.1"}}' for name in ("h1", "h2")]
    hosts.write_text(f"hosts = [{', '.join(entries)}]\n")
    options = ("-O", f"hosts={hosts}", "-O", f"ssh={ssh}", "-O", f"sync_dir={tmp_path}/far/{{host}}")
    result = shot.folder / "result" / "r.####.exr"
    more = ("--initial-weights", "denoise", "--apply-output", str(result))  # weights come with the code
    words = submit_words(shot, "--farm", "ssh", *options, *more, "--ranks", "2", steps=300)
    process = start(*words)
    far = (tmp_path / "far" / "h1").joinpath(*shot.data.parts[1:]) / "v001"
    wait_until(lambda: step_of(far) > 0, shot.data / "v001")
    for frame in shot.folder.glob("*.exr"):
        frame.unlink()
    out, faults = process.communicate(timeout=120)
    assert process.returncode == 0, (out, faults)
    run = find_run(shot.data)
    assert read_record(run.record).state == "finished"
    assert run.checkpoint_steps()
    assert sorted(path.name for path in result.parent.iterdir()) == [f"r.{frame}.exr" for frame in range(1001, 1005)]
    assert not (run.directory / "farm" / "secret").stat().st_mode & 0o077


@needs_sshd
@pytest.mark.slow
def test_a_launcher_that_is_killed_leaves_no_remote_process(shot: SmallShot, ssh: str) -> None:
    words = ("--farm", "ssh", "-O", "hosts=h1,h2,h3", "-O", f"ssh={ssh}", "--ranks", "3")
    process = start(*submit_words(shot, *words, steps=FOR_EVER))
    run_directory = shot.data / "v001"
    wait_until(lambda: run_directory.exists() and _ranks_of(run_directory), run_directory)
    wait_until(lambda: step_of(run_directory) > 0, run_directory)
    watcher = next(one for one in psutil.process_iter() if "understudy_farm.watcher" in _words(one, run_directory))
    assert len(_ranks_of(run_directory)) == 3
    os.kill(process.pid, signal.SIGKILL)
    watcher.kill()
    process.communicate()
    wait_until(lambda: not _ranks_of(run_directory), run_directory)


@needs_sshd
@pytest.mark.slow
def test_a_host_that_cannot_be_reached_is_named(command: Command, shot: SmallShot, ssh: str) -> None:
    words = ("--farm", "ssh", "-O", "hosts=h1,nowhere.invalid", "-O", f"ssh={ssh}", "--ranks", "2")
    ending = command(*submit_words(shot, *words))
    assert ending.code == 2
    assert "host nowhere.invalid: see whether `ssh HOST true` works" in "\n".join(ending.faults)


def _ranks_of(run_directory: Path) -> list[psutil.Process]:
    return [one for one in psutil.process_iter() if {"resume", "understudy.cli.main"} <= _words(one, run_directory)]


def _words(process: psutil.Process, run_directory: Path) -> set[str]:
    """Of the command line, if it is about that run and no shell or ssh around it."""
    try:
        words = process.cmdline()
    except psutil.Error:
        return set()
    return set(words) if str(run_directory) in words else set()
