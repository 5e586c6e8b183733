"""netcheck between hosts with networks of their own: what it measures is so, and what is in the way it names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE

import pytest
from tests.networks import Laboratory, needs_namespaces

PORT = 30600
PROBE_PORT = 30601
PATIENCE_SECONDS = 120
"""Whatever takes longer will never come."""
BUSY = 0.4
"""What a busy machine may take from a link's rate, so that 50, 100 and 200 are still told apart."""
SECRET = "a secret that only these tests use"

pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True)
class Ending:
    """How one rank's check ended."""

    code: int
    out: str
    faults: list[str]
    """Lines of stderr."""


@pytest.fixture
def network() -> Iterator[Laboratory]:
    with Laboratory(2) as laboratory:
        yield laboratory


def start(
    network: Laboratory, rank: int, data: Path, *words: str, main: str = "", port: int = PORT, world_size: int = 0
) -> subprocess.Popen[str]:
    """The rank of that number, on the host of that number; `main` empty: host 0's IPv4 address."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("COPYCAT_")}
    place = {
        "COPYCAT_MAIN_ADDR": main or network.ipv4(0),
        "COPYCAT_MAIN_PORT": str(port or "auto"),
        "COPYCAT_RANK": str(rank),
        "COPYCAT_WORLD_SIZE": str(world_size or len(network.hosts)),
        "UNDERSTUDY_SECRET": SECRET,
    }
    command: list[str | Path] = [
        *(sys.executable, "-m", "understudy.cli.main", "netcheck", "--data-directory", data, "--threads", "1"),
        *("--device", "cpu", "--model-size", "small", "--crop-size", "32", "--batch-size", "3", *words),
    ]
    return network.run(rank, command, environment={**others, **place}, stdout=PIPE, stderr=PIPE)


def end_of(process: subprocess.Popen[str]) -> Ending:
    out, faults = process.communicate(timeout=PATIENCE_SECONDS)
    assert "Traceback" not in faults, faults
    return Ending(process.returncode, out, faults.splitlines())


def check(network: Laboratory, data: Path, *words: str, main: str = "", port: int = PORT) -> list[Ending]:
    """All ranks together."""
    ranks = [start(network, rank, data, *words, main=main, port=port) for rank in network.hosts]
    return [end_of(rank) for rank in ranks]


def rates_mbit(ending: Ending) -> list[float]:
    """As measured in 32 and in 16 bits."""
    return [float(rate) for rate in re.findall(r"([\d.]+) Mbit/s", ending.out)]


@needs_namespaces
@pytest.mark.parametrize("rate_mbit", [50, 200])
def test_it_measures_the_rate_of_the_link(network: Laboratory, tmp_path: Path, rate_mbit: int) -> None:
    network.limit(rate_mbit)
    leader, follower = check(network, tmp_path)
    assert (leader.code, follower.code) == (0, 0), (leader, follower)
    for ending in (leader, follower):
        assert rates_mbit(ending) == [pytest.approx(rate_mbit, rel=BUSY)] * 2
        assert "Sync that train would choose: " in ending.out


@needs_namespaces
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_three_ranks_learn_who_is_where_and_who_reaches_whom(tmp_path: Path, family: str) -> None:
    with Laboratory(3) as network:
        network.limit(100)
        addresses = [getattr(network, family)(host) for host in network.hosts]
        leader, *followers = check(network, tmp_path, main=addresses[0])
    assert [leader.code, *(one.code for one in followers)] == [0, 0, 0]
    assert rates_mbit(leader) == [pytest.approx(100, rel=BUSY)] * 2
    rows = [line.split() for line in leader.out.splitlines()]
    for rank, address in enumerate(addresses):
        row = next(row for row in rows if row[:1] == [str(rank)] and address in row)
        assert "eth0" in row
        assert (row.count("ms"), row.count("-")) == (2, 1)
    for rank, follower in enumerate(followers, 1):
        assert f"uses {addresses[rank]} on eth0" in follower.out
        assert len(re.findall(r"to rank \d .*: [\d.]+ ms; from there: [\d.]+ ms", follower.out)) == 2


@needs_namespaces
def test_an_endpoint_in_the_data_directory_serves_as_well(network: Laboratory, tmp_path: Path) -> None:
    for ending in check(network, tmp_path, main="auto", port=0):
        assert ending.code == 0, ending
    assert not list(tmp_path.iterdir())


@needs_namespaces
def test_a_blocked_main_port_is_named_by_both_sides(network: Laboratory, tmp_path: Path) -> None:
    network.block_port(PORT)
    leader, follower = check(network, tmp_path, "--minutes-to-wait", "0.1")
    assert (leader.code, follower.code) == (2, 2)
    (missing,) = leader.faults
    assert "ranks [1] of 2" in missing
    assert f"TCP port {PORT}" in missing
    (blocked,) = follower.faults
    assert f"{network.ipv4(0)} port {PORT} does not answer {network.ipv4(1)} at all: a firewall" in blocked
    assert f"open TCP port {PORT} of {network.ipv4(0)}" in blocked


@needs_namespaces
def test_what_is_in_the_way_is_said_at_once_and_waiting_goes_on(network: Laboratory, tmp_path: Path) -> None:
    network.block_port(PORT)
    leader, follower = (start(network, rank, tmp_path) for rank in network.hosts)
    assert follower.stdout is not None
    assert f"port {PORT} does not answer" in follower.stdout.readline()
    network.open_port(PORT)
    assert [end_of(leader).code, end_of(follower).code] == [0, 0]


@needs_namespaces
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_a_blocked_port_between_ranks_is_named(network: Laboratory, tmp_path: Path, family: str) -> None:
    network.block_port(PROBE_PORT)
    addresses = [getattr(network, family)(host) for host in network.hosts]
    endings = check(network, tmp_path, "--probe-port", str(PROBE_PORT), main=addresses[0])
    for ending in endings:
        assert ending.code == 2
        assert len(ending.faults) == 2
        for rank, line in enumerate(ending.faults):
            assert f"rank {rank} is not reached by rank {1 - rank}" in line
            assert f"{addresses[rank]} port {PROBE_PORT} does not answer {addresses[1 - rank]} at all" in line
        assert rates_mbit(ending) == []
    assert endings[0].out.count("no answer") == 2


@needs_namespaces
def test_a_machine_without_rank_0_refuses(network: Laboratory, tmp_path: Path) -> None:
    ending = end_of(start(network, 1, tmp_path, "--minutes-to-wait", "0.01"))
    assert ending.code == 2
    (line,) = ending.faults
    assert f"{network.ipv4(0)} port {PORT} refuses {network.ipv4(1)}: nothing listens there" in line


@needs_namespaces
def test_loopback_as_main_address_is_explained_by_both_sides(network: Laboratory, tmp_path: Path) -> None:
    leader, follower = check(network, tmp_path, "--minutes-to-wait", "0.05", main="127.0.0.1")
    assert (leader.code, follower.code) == (2, 2)
    assert "127.0.0.1 is loopback, where ranks on other machines cannot come" in leader.faults[0]
    assert "127.0.0.1 is loopback, which means every machine itself" in follower.faults[0]


@needs_namespaces
def test_loopback_as_local_address_is_explained(network: Laboratory, tmp_path: Path) -> None:
    leader = start(network, 0, tmp_path, "--minutes-to-wait", "0.05")
    follower = start(network, 1, tmp_path, "--minutes-to-wait", "0.05", "--local-addr", "127.0.0.1")
    assert end_of(leader).code == 2
    ending = end_of(follower)
    assert ending.code == 2
    assert "the local address 127.0.0.1 is loopback" in ending.faults[0]


@contextmanager
def host_table(namespace: str, line: str) -> Iterator[None]:
    """What `ip netns exec` shows as /etc/hosts on that host."""
    folder = Path("/etc/netns") / namespace
    folder.mkdir(parents=True)
    try:
        (folder / "hosts").write_text(f"127.0.0.1 localhost\n{line}\n")
        yield
    finally:
        shutil.rmtree(folder)


@needs_namespaces
def test_a_host_name_that_means_loopback_is_named(network: Laboratory, tmp_path: Path) -> None:
    with host_table(network.namespace(0), "127.0.1.1 render01"):
        ending = end_of(start(network, 0, tmp_path, main="render01"))
    assert ending.code == 2
    (line,) = ending.faults
    assert "render01 resolves to 127.0.1.1" in line


@needs_namespaces
def test_a_rank_that_is_killed_does_not_leave_the_others_waiting(network: Laboratory, tmp_path: Path) -> None:
    network.limit(2)
    leader, follower = (start(network, rank, tmp_path) for rank in network.hosts)
    assert follower.stdout is not None
    while "from there" not in follower.stdout.readline():
        assert follower.poll() is None
    follower.kill()
    ending = end_of(leader)
    assert ending.code == 2
    assert "rank 1 left" in ending.faults[-1]  # gloo may have complained before


def on_this_machine(data: Path, *words: str) -> Ending:
    command = [sys.executable, "-m", "understudy.cli.main", "netcheck", "--data-directory", data, *words]
    others = {name: value for name, value in os.environ.items() if not name.startswith("COPYCAT_")}
    return end_of(subprocess.Popen(list(map(str, command)), env=others, stdout=PIPE, stderr=PIPE, text=True))


def test_a_probe_port_that_is_taken_is_named(tmp_path: Path) -> None:
    ending = on_this_machine(tmp_path, "--ranks", "2", "--probe-port", str(PROBE_PORT))
    assert ending.code == 2
    assert any("cannot listen on 127.0.0.1 port" in line for line in ending.faults)


def test_ranks_of_one_machine_are_checked_too(tmp_path: Path) -> None:
    ending = on_this_machine(tmp_path, "--ranks", "2", "--threads", "1", "--model-size", "small", "--crop-size", "32")
    assert ending.code == 0, ending
    assert "Nothing is in the way." in ending.out


def test_one_rank_has_nobody_to_check(tmp_path: Path) -> None:
    ending = on_this_machine(tmp_path)
    assert ending.code == 2
    assert "one rank only" in ending.faults[0]
