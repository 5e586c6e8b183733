"""Which address of the machine a rank uses: on this machine as it is, and in network namespaces of two networks."""

from __future__ import annotations

import ipaddress
import os
import shutil
import socket
import subprocess
import sys
from dataclasses import replace

import pytest

from understudy.errors import UnderstudyError
from understudy.ranks import addresses
from understudy.ranks.addresses import (
    addresses_here,
    interface_of,
    is_here,
    listen_address_for,
    local_address_for,
    resolve,
)
from understudy.ranks.place import RankPlace

PLACE = RankPlace(rank=1, world_size=2, main_address="127.0.0.1", main_port=30000, given_by="the COPYCAT_* variables")
LOOPBACK = next(name for name, own in addresses_here().items() if ipaddress.ip_address("127.0.0.1") in own)


def refused(place: RankPlace) -> str:
    with pytest.raises(UnderstudyError) as caught:
        local_address_for(place)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_literals_and_names_are_resolved() -> None:
    assert [(one.family, one.literal) for one in resolve("127.0.0.1", 7)] == [(socket.AF_INET, "127.0.0.1")]
    assert resolve("::1", 7)[0].parts[:2] == ("::1", 7)
    assert {one.literal for one in resolve("localhost", 7)} <= {"127.0.0.1", "::1"}


@pytest.mark.parametrize("host", ["no.such.host.invalid", "a" * 70])
def test_an_unknown_host_is_named(host: str) -> None:
    assert f"host {host} is unknown to this machine (" in refused(replace(PLACE, main_address=host))


def test_interfaces_and_their_addresses() -> None:
    assert interface_of("127.0.0.1") == LOOPBACK
    assert is_here("127.0.0.1")
    assert is_here("127.5.5.5")
    assert not is_here("198.51.100.7")
    with pytest.raises(UnderstudyError, match=r"198\.51\.100\.7 is not on this machine, which has .*127\.0\.0\.1"):
        interface_of("198.51.100.7")


def test_rank_0_uses_its_main_address() -> None:
    assert local_address_for(replace(PLACE, rank=0)) == "127.0.0.1"
    assert local_address_for(replace(PLACE, rank=0, main_address="localhost")) in ("127.0.0.1", "::1")
    line = refused(replace(PLACE, rank=0, main_address="198.51.100.7"))
    assert line.startswith("main address 198.51.100.7 is not on this machine, which has ")
    assert line.endswith("; rank 0 must run where the main address is")
    assert refused(replace(PLACE, rank=0, main_address="198.51.100.7", local_address=LOOPBACK)) == line


def test_the_route_to_rank_0_chooses() -> None:
    assert local_address_for(PLACE) == "127.0.0.1"
    assert local_address_for(replace(PLACE, main_port=0)) == "127.0.0.1"


def test_a_given_address_or_interface_is_used() -> None:
    assert local_address_for(replace(PLACE, local_address="127.0.0.1")) == "127.0.0.1"
    assert local_address_for(replace(PLACE, local_address=LOOPBACK)) == "127.0.0.1"
    assert local_address_for(replace(PLACE, local_address=LOOPBACK, main_address="", main_port=0)) == "127.0.0.1"


@pytest.mark.parametrize("given", ["198.51.100.7", "eth99", "fd77::7", "[fd77::7]", "0.0.0.0"])
def test_a_given_address_must_be_here(given: str) -> None:
    line = refused(replace(PLACE, local_address=given))
    shown = given.strip("[]")
    assert line.startswith(
        f"local address {shown}, from the COPYCAT_* variables, is neither an address nor an interface of this machine, "
        "which has "
    )
    assert f"{LOOPBACK} 127.0.0.1" in line


def test_families_must_agree() -> None:
    line = refused(replace(PLACE, local_address="127.0.0.1", main_address="fd77::1"))
    assert "is IPv4, but main address fd77::1 is IPv6; give both of one family" in line


@pytest.mark.parametrize(
    ("main", "chosen"), [("", "10.78.0.1"), ("10.78.0.9", "10.78.0.1"), ("fd78::9", "fd78::1"), ("fe80::9", "fd78::1")]
)
def test_the_best_address_of_an_interface_is_used(monkeypatch: pytest.MonkeyPatch, main: str, chosen: str) -> None:
    own = ("fe80::1%a0", "fd78::1", "169.254.0.1", "10.78.0.1")  # systems list them in any order
    monkeypatch.setattr(addresses, "addresses_here", lambda: {"a0": tuple(map(ipaddress.ip_address, own))})
    assert local_address_for(replace(PLACE, main_address=main, local_address="a0")) == chosen


@pytest.fixture
def hosts_say_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """An /etc/hosts as many distributions write it."""
    real = socket.getaddrinfo

    def asked(host: str, port: int, **words: int) -> object:
        return real("127.0.1.1" if host == "render01" else host, port, **words)

    monkeypatch.setattr(socket, "getaddrinfo", asked)


@pytest.mark.usefixtures("hosts_say_loopback")
@pytest.mark.parametrize("rank", [0, 1])
def test_a_host_name_that_means_loopback_is_named(rank: int) -> None:
    line = refused(replace(PLACE, rank=rank, main_address="render01"))
    assert line.startswith("main address render01 resolves to 127.0.1.1, which no other machine can reach; ")
    alone = replace(PLACE, rank=0, world_size=1, main_address="render01")
    assert local_address_for(alone) == "127.0.1.1"


NETWORK = """set -e
ip link set lo up
ip link add a0 type veth peer name b0
ip addr add 10.78.0.1/24 dev a0
ip addr add fd78::1/64 dev a0 nodad
ip addr add 10.79.0.1/24 dev b0
ip link set a0 up
ip link set b0 up
exec "$@"
"""
PROGRAM = """
import sys
from understudy.errors import UnderstudyError
from understudy.ranks.addresses import interface_of, listen_address_for, local_address_for
from understudy.ranks.place import RankPlace

def local(main, given="", rank=1, ask=local_address_for):
    place = RankPlace(rank=rank, world_size=2, main_address=main, main_port=0, local_address=given, given_by="test")
    try:
        return ask(place)
    except UnderstudyError as error:
        return str(error)

"""

in_network = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("ip"),
    reason="making a network namespace needs root, unshare and ip",
)


def said_in_network(expression: str, more: str = "") -> str:
    """What the expression says on a machine with two networks and no default route, after the shell lines `more`."""
    script = NETWORK.replace("exec", f"{more}\nexec")
    program = f"{PROGRAM}sys.stdout.write({expression})"
    command = ["unshare", "-n", "sh", "-c", script, "sh", sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@in_network
@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("local('10.78.0.9')", "10.78.0.1"),
        ("local('10.79.0.9')", "10.79.0.1"),
        ("local('fd78::9')", "fd78::1"),
        ("local('10.79.0.9', 'a0')", "10.78.0.1"),
        ("local('fd78::9', 'a0')", "fd78::1"),
        ("local('fd78::9', '[fd78::1]')", "fd78::1"),
        ("local('', 'a0')", "10.78.0.1"),
        ("local('', 'fd78::1')", "fd78::1"),
        ("local('10.79.0.1', rank=0)", "10.79.0.1"),
        ("local('10.79.0.1', 'a0', rank=0)", "10.78.0.1"),
        ("local('10.79.0.1', 'a0', rank=0, ask=listen_address_for)", "10.79.0.1"),
        ("local('fd78::1', rank=0)", "fd78::1"),
        ("interface_of('10.79.0.1') + interface_of('fd78::1')", "b0a0"),
        ("local('fd78::9', '10.78.0.1')", "local address 10.78.0.1, from test, is IPv4, but main address fd78::9 is "),
        ("local('10.9.9.9')", "no route leads from this machine to main address 10.9.9.9 (Network is unreachable)"),
    ],
)
def test_on_a_machine_with_two_networks(expression: str, said: str) -> None:
    found = said_in_network(expression)
    assert found == said or (" " in said and found.startswith(said))


@in_network
def test_the_default_route_chooses_where_rank_0_is_unknown() -> None:
    for device, address in (("a0", "10.78.0.1"), ("b0", "10.79.0.1")):
        assert said_in_network("local('')", f"ip route add default dev {device}") == address
    assert said_in_network("local('')", "ip link set a0 down\nip link set b0 down\nip addr flush dev b0") == "127.0.0.1"


@in_network
def test_without_a_default_route_any_address_but_loopback_serves() -> None:
    for ask in ("local('')", "local('', rank=0, ask=listen_address_for)"):
        assert said_in_network(ask, "ip addr flush dev b0") == "10.78.0.1"
    assert said_in_network("local('')", "ip addr flush dev b0\nip addr del 10.78.0.1/24 dev a0") == "fd78::1"


@in_network
def test_an_address_of_the_link_keeps_its_zone() -> None:
    more = "ip addr add fe80::78/64 dev a0 nodad"
    assert said_in_network("local('fe80::9%a0', 'fe80::78')", more) == "fe80::78%a0"
    assert said_in_network("local('fe80::78%a0', rank=0)", more) == "fe80::78%a0"
    assert said_in_network("local('fe80::9%a0')", f"{more}\nip addr del fd78::1/64 dev a0").endswith("%a0")


def test_rank_0_listens_on_its_main_address_or_as_its_traffic_goes() -> None:
    assert listen_address_for(replace(PLACE, rank=0)) == "127.0.0.1"
    assert listen_address_for(replace(PLACE, rank=0, main_address="", local_address="127.0.0.1")) == "127.0.0.1"
