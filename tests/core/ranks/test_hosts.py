"""A list of machines, read from every one of them."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from understudy.errors import Problems, UnderstudyError
from understudy.ranks.hosts import places_here
from understudy.ranks.place import RankPlace

HERE = socket.gethostname()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hosts.toml"


def places(path: Path, text: str) -> tuple[RankPlace, ...]:
    path.write_text(text, encoding="utf-8")
    return places_here(path)


def refused(path: Path, text: str) -> list[str]:
    with pytest.raises(UnderstudyError) as caught:
        places(path, text)
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{path}: ") for line in lines), lines
    return lines


def test_ranks_are_numbered_through_the_list(path: Path) -> None:
    found = places(path, f'hosts = ["a.invalid:2", {{name = "{HERE}", ranks = 2, gpus = [3, 1]}}, "b.invalid"]')
    assert [(place.rank, place.gpu) for place in found] == [(2, 3), (3, 1)]
    for place in found:
        assert (place.world_size, place.ranks_here) == (5, 2)
        assert (place.main_address, place.main_port, place.local_address) == ("a.invalid", 0, "")
        assert place.given_by == f"the hosts file {path}"


def test_the_first_host_is_main(path: Path) -> None:
    (place,) = places(path, f'port = 30000\nhosts = ["{HERE}", "b.invalid"]')
    assert (place.rank, place.main_address, place.main_port, place.gpu) == (0, HERE, 30000, 0)
    entry = f'{{name = "{HERE}", local_address = "10.1.0.3"}}'
    (place,) = places(path, f'port = "auto"\nhosts = [{entry}, "b.invalid"]')
    assert (place.main_address, place.main_port, place.local_address) == ("10.1.0.3", 0, "10.1.0.3")
    (place,) = places(path, f'hosts = ["[fd77::1]", {{name = "{HERE}", local_address = "eth1"}}]')
    assert (place.rank, place.main_address, place.local_address) == (1, "fd77::1", "eth1")


@pytest.mark.parametrize(("listed", "num_ranks"), [("fd77::1", 1), ("[fd77::1]", 1), ("[fd77::1]:2", 2)])
def test_ipv6_literals(path: Path, listed: str, num_ranks: int) -> None:
    (place,) = places(path, f'hosts = ["{listed}", "{HERE}"]')
    assert (place.rank, place.main_address) == (num_ranks, "fd77::1")


def test_one_machine_alone_needs_no_network(path: Path) -> None:
    assert {place.main_address for place in places(path, f'hosts = ["{HERE}:2"]')} == {"127.0.0.1"}


@pytest.mark.parametrize("name", [HERE.upper(), HERE.split(".")[0], "127.0.0.1", "127.0.0.1:1", "localhost"])
def test_this_machine_is_found(path: Path, name: str) -> None:
    (place,) = places(path, f'hosts = ["a.invalid", "{name}"]')
    assert place.rank == 1


@pytest.mark.parametrize(
    ("listed", "own", "is_same"),
    [
        ("render01", "render01.studio.lan", True),
        ("Render01.studio.lan", "render01", True),
        ("render01.studio.lan", "render01.studio.lan", True),
        ("render01.studio.invalid", "render01.other.lan", False),
        ("render0.invalid", "render01", False),
        ("198.51.100.7", "198", False),
    ],
)
def test_short_and_full_names(
    path: Path, monkeypatch: pytest.MonkeyPatch, listed: str, own: str, is_same: bool
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: own)
    if is_same:
        assert len(places(path, f'hosts = ["{listed}", "b.invalid"]')) == 1
    else:
        (line,) = refused(path, f'hosts = ["{listed}", "b.invalid"]')
        assert f"this machine is not listed; looked for the host name {own}, and for hosts whose address" in line


def test_a_local_address_finds_the_machine_too(path: Path) -> None:
    (place,) = places(path, 'hosts = ["a.invalid", {name = "b.invalid", local_address = "127.0.0.1"}]')
    assert (place.rank, place.local_address) == (1, "127.0.0.1")


def test_a_machine_that_is_listed_twice(path: Path) -> None:
    (line,) = refused(path, 'hosts = ["127.0.0.1", "localhost"]')
    assert f"127.0.0.1 and localhost are all this machine, {HERE}" in line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hosts = [", "is no TOML ("),
        ("hosts = []", "lists no hosts"),
        ("port = 30000", "lists no hosts"),
        ('hosts = "render01"', "lists no hosts"),
        ('hosts = ["a"]\nnodes = 1', "nodes does not belong into a hosts file; it may hold port and hosts"),
        ('hosts = ["a"]\nsecret = "s"', "secret does not belong into a hosts file; set UNDERSTUDY_SECRET instead"),
        ('hosts = ["a"]\nport = 70000', "port 70000 is out of range"),
        ('hosts = ["a"]\nport = true', "port 'True' is no whole number"),
        ('hosts = ["a", "A"]', "host A is listed twice"),
        ('hosts = ["a", 7]', "host 2: 7 is no host"),
        ("hosts = [{ranks = 2}]", "host 1: {'ranks': 2} is no host"),
        (
            'hosts = [{name = "a", cpus = 2}]',
            "host 1: cpus is no key of a host; it may have name, ranks, ",
        ),
        ('hosts = [{name = "a", local_address = 7}]', "host 1: local_address 7 is no text"),
        ('hosts = ["a:0"]', "host 1: ranks 0 is out of range"),
        ('hosts = ["a:x"]', "host 1: ranks 'x' is no whole number"),
        ('hosts = ["a:30000"]', "host 1: ranks 30000 is out of range; give a whole number from 1 to 256"),
        ('hosts = [{name = "a", ranks = 0}]', "host 1: ranks 0 is out of range"),
        ('hosts = [{name = "a", ranks = 2.0}]', "host 1: ranks '2.0' is no whole number"),
        ('hosts = [{name = "a", gpus = []}]', "host 1: ranks 0 is out of range"),
        ('hosts = [{name = "a", gpus = [0, 0]}]', "gpus [0, 0] do not give each of its 2 ranks a device of its own"),
        ('hosts = [{name = "a", ranks = 3, gpus = [0, 1]}]', "do not give each of its 3 ranks a device"),
        ('hosts = [{name = "a", gpus = ["x"]}]', "host 1: gpus 'x' is no whole number"),
        ('hosts = ["a b"]', "host 1 'a b' is neither an IP address nor a host name"),
        ('hosts = [{name = "0.0.0.0"}]', "host 1: name 0.0.0.0 is not the address of one machine"),
    ],
)
def test_a_bad_file_says_what_is_wrong(path: Path, text: str, said: str) -> None:
    (line,) = refused(path, text)
    assert said in line


def test_everything_wrong_is_said_at_once(path: Path) -> None:
    path.write_text('b = 1\na = 1\nport = -1\nhosts = ["a:0", "b c"]')
    with pytest.raises(Problems) as caught:
        places_here(path)
    assert len(caught.value.lines) == 5


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match=r"no\.toml: cannot be read \(No such file"):
        places_here(tmp_path / "no.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UnderstudyError, match=r"bytes\.toml: is no TOML \("):
        places_here(tmp_path / "bytes.toml")
