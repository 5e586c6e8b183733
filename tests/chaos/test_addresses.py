"""Ranks on hosts with several addresses talk by the given one alone; and a run that is cancelled is gone everywhere."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from tests.chaos.farm import PORT, SECONDS_BETWEEN_LOOKS, Farm, write_shot
from tests.networks import Laboratory, TcpSocket, needs_namespaces

SECONDS_TO_END = 120
"""Whatever takes longer will never end."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def shot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shot")
    write_shot(folder)
    return folder


@pytest.fixture
def network() -> Iterator[Laboratory]:
    with Laboratory(3) as laboratory:
        yield laboratory


def add_network(network: Laboratory) -> None:
    """A second interface for every host, in a second network; the default route stays with the first."""
    for host in network.hosts:
        name = network.namespace(host)
        for command in (
            f"ip -n {network.router} link add second{host} type veth peer name peer{host}",
            f"ip -n {network.router} link set peer{host} netns {name} name eth1",
            f"ip -n {network.router} address add 10.78.{host}.254/24 dev second{host}",
            f"ip -n {network.router} address add fd78:{host}::fe/64 dev second{host}",
            f"ip -n {network.router} link set second{host} up",
            f"ip -n {name} address add 10.78.{host}.1/24 dev eth1",
            f"ip -n {name} address add fd78:{host}::1/64 dev eth1",
            f"ip -n {name} link set eth1 up",
            f"ip -n {name} route add 10.78.0.0/16 via 10.78.{host}.254",
            f"ip -6 -n {name} route add fd78::/16 via fd78:{host}::fe",
        ):
            subprocess.run(command.split(), check=True, capture_output=True)


def sockets_while_training(
    network: Laboratory, shot: Path, data: Path, addresses: Sequence[str]
) -> list[set[TcpSocket]]:
    """Every TCP socket that each host had in whatever state, as often as one can look."""
    seen: list[set[TcpSocket]] = [set() for _ in network.hosts]
    with closing(Farm(network, shot, data, name="run", flags=("--steps", "60"), addresses=addresses)) as farm:
        for rank in network.hosts:
            farm.start(rank)
        while farm.is_running(0):
            for host in network.hosts:
                seen[host].update(network.sockets(host))
            time.sleep(SECONDS_BETWEEN_LOOKS)
        assert farm.exit_codes() == {0: 0, 1: 0, 2: 0}, farm.said(0)
    return seen


def is_of_tensors(one: TcpSocket) -> bool:
    return one.state == "ESTAB" and PORT not in (one.local_port, one.peer_port)


@needs_namespaces
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_all_traffic_uses_the_given_addresses_alone(
    network: Laboratory, shot: Path, tmp_path: Path, family: str
) -> None:
    add_network(network)
    firsts = [getattr(network, family)(host) for host in network.hosts]
    given = [first.replace("10.77.", "10.78.").replace("fd77:", "fd78:") for first in firsts]
    for host, sockets in enumerate(sockets_while_training(network, shot, tmp_path, given)):
        assert {one.local_address for one in sockets} == {given[host]}
        assert {one.peer_address for one in sockets if one.state == "ESTAB"} <= {*given}
        assert {one.peer_address for one in sockets if is_of_tensors(one)} == {*given} - {given[host]}


@needs_namespaces
def test_an_address_that_no_route_prefers_is_used_but_for_connections_that_gloo_opens(
    network: Laboratory, shot: Path, tmp_path: Path
) -> None:
    given = [f"10.77.{host}.9" for host in network.hosts]
    for host, address in enumerate(given):
        command = f"ip -n {network.namespace(host)} address add {address}/24 dev eth0"
        subprocess.run(command.split(), check=True, capture_output=True)
    for host, sockets in enumerate(sockets_while_training(network, shot, tmp_path, given)):
        of_desk = {one for one in sockets if PORT in (one.local_port, one.peer_port)}
        listening = {one for one in sockets if one.state == "LISTEN"}
        assert {one.local_address for one in of_desk | listening} == {given[host]}


@needs_namespaces
@pytest.mark.parametrize(("cancel", "host"), [(Farm.kill, 1), (Farm.ask_to_end, 0)], ids=["killed", "asked"])
def test_cancelling_one_launcher_leaves_no_process_on_any_host(
    network: Laboratory, shot: Path, tmp_path: Path, cancel: Callable[[Farm, int], None], host: int
) -> None:
    hosts_file = tmp_path / "hosts.toml"
    entries = ", ".join(
        f'{{name = "render{one}", ranks = 2, local_address = "{network.ipv4(one)}"}}' for one in range(2)
    )
    hosts_file.write_text(f"port = {PORT}\nhosts = [{entries}]\n")
    with closing(Farm(network, shot, tmp_path, name="run", flags=("--steps", "1000000"))) as farm:
        for one in range(2):
            farm.launch(one, hosts_file)
        farm.wait_for(0, "[Step:10/")
        assert len(network.processes(0)) == len(network.processes(1)) == 3
        cancel(farm, host)
        deadline = time.monotonic() + SECONDS_TO_END
        while farm.leftovers():
            assert time.monotonic() < deadline, farm.said(0)[-2000:] + farm.said(1)[-2000:]
            time.sleep(SECONDS_BETWEEN_LOOKS)
        codes = farm.exit_codes()
        assert codes[1 - host] == 3
        assert codes[host] == (-9 if cancel is Farm.kill else 3)
        assert farm.files.checkpoint_steps()
