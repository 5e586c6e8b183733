"""The network for tests does what it says: addresses, rates, cables, silent ports, tables, and nothing left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE

import psutil
import pytest
from tests.networks import Laboratory, TcpSocket, needs_namespaces, pids_in, remove_abandoned

PORT = 30500
PATIENCE_SECONDS = 60
"""Whatever takes longer will never come."""

ECHO = """
import socket, sys, threading
def echo(peer):
    while data := peer.recv(1 << 16):
        peer.sendall(data)
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
with socket.create_server((sys.argv[1], int(sys.argv[2])), family=family) as server:
    print("ready", flush=True)
    while True:
        threading.Thread(target=echo, args=server.accept()[:1], daemon=True).start()
"""
TALK = """
import socket, sys
try:
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=float(sys.argv[3])) as peer:
        print("connected", flush=True)
        peer.settimeout(60)
        for line in sys.stdin:
            peer.sendall(line.encode())
            print(peer.recv(1 << 16).decode(), end="", flush=True)
except OSError as error:
    print(type(error).__name__)
"""
SEND = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as peer:
    peer.sendall(bytes(int(sys.argv[3])))
"""
MEASURE = """
import socket, sys, time
from concurrent.futures import ThreadPoolExecutor
def received(peer):
    return sum(map(len, iter(lambda: peer.recv(1 << 16), b"")))
with socket.create_server((sys.argv[1], int(sys.argv[2]))) as server, ThreadPoolExecutor() as pool:
    print("ready", flush=True)
    peers = [server.accept()[0]]
    began = time.monotonic()
    peers += [server.accept()[0] for _ in range(int(sys.argv[3]) - 1)]
    num_bytes = sum(pool.map(received, peers))
    print(num_bytes * 8e-6 / (time.monotonic() - began))
"""

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def network() -> Iterator[Laboratory]:
    with Laboratory(3) as laboratory:
        yield laboratory


def start(network: Laboratory, host: int, program: str, *words: object) -> subprocess.Popen[str]:
    return network.run(host, [sys.executable, "-c", program, *map(str, words)], stdin=PIPE, stdout=PIPE)


def listen(network: Laboratory, host: int, address: str, port: int = PORT, program: str = ECHO) -> None:
    assert line_of(start(network, host, program, address, port)) == "ready"


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def say(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def attempt(network: Laboratory, host: int, address: str, port: int = PORT) -> str:
    """What becomes of a connection from there."""
    return line_of(start(network, host, TALK, address, port, 2))


@needs_namespaces
def test_hosts_reach_each_other_and_nobody_else_by_both_families(network: Laboratory) -> None:
    for host in network.hosts:
        for address in (network.ipv4(host), network.ipv6(host)):
            listen(network, host, address)
    for one in network.hosts:
        for other in network.hosts:
            assert attempt(network, one, network.ipv4(other)) == "connected"
            assert attempt(network, one, network.ipv6(other)) == "connected"
    assert attempt(network, 0, "127.0.0.1") == "ConnectionRefusedError"
    assert attempt(network, 0, "10.77.9.1") == "TimeoutError"


@needs_namespaces
def test_the_socket_table_of_a_host_tells_who_talks_to_whom(network: Laboratory) -> None:
    listen(network, 0, network.ipv6(0))
    listen(network, 0, "0.0.0.0", PORT + 1)
    talk = start(network, 2, TALK, network.ipv6(0), PORT, 60)
    assert line_of(talk) == "connected"
    (ours,) = network.sockets(2)
    assert (ours.state, ours.local_address) == ("ESTAB", "fd77:2::1")
    assert (ours.peer_address, ours.peer_port) == ("fd77::1", PORT)
    there = set(network.sockets(0))
    listener = TcpSocket(state="LISTEN", local_address="fd77::1", local_port=PORT, peer_address="::", peer_port=0)
    anywhere = TcpSocket(
        state="LISTEN", local_address="0.0.0.0", local_port=PORT + 1, peer_address="0.0.0.0", peer_port=0
    )
    talking = TcpSocket(
        state="ESTAB",
        local_address="fd77::1",
        local_port=PORT,
        peer_address="fd77:2::1",
        peer_port=ours.local_port,
    )
    assert there == {listener, anywhere, talking}
    assert network.sockets(1) == ()
    assert network.processes(2) == (talk.pid,)
    assert len(network.processes(0)) == 2


def rate_mbit(network: Laboratory, *senders: int) -> float:
    """What host 1 receives from others that send at once: Mbit/s of payload."""
    measure = start(network, 1, MEASURE, network.ipv4(1), PORT, len(senders))
    assert line_of(measure) == "ready"
    for sender in senders:
        start(network, sender, SEND, network.ipv4(1), PORT, 8_000_000 // len(senders))
    return float(line_of(measure))


@needs_namespaces
def test_a_limited_network_carries_what_it_should(network: Laboratory) -> None:
    network.limit(1000)
    network.limit(50)
    assert rate_mbit(network, 0) == pytest.approx(50, rel=0.15)
    assert rate_mbit(network, 0, 2) == pytest.approx(50, rel=0.15)
    network.limit(None)
    assert rate_mbit(network, 0) > 60


@needs_namespaces
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_a_cable_that_is_out_loses_packets_and_a_talk_goes_on_when_it_is_back(network: Laboratory, family: str) -> None:
    address = getattr(network, family)(1)
    listen(network, 1, address)
    talk = start(network, 0, TALK, address, PORT, 60)
    assert line_of(talk) == "connected"
    network.link(1, up=False)
    say(talk, "lost on the way")
    assert attempt(network, 0, address) == "TimeoutError"
    assert {found.state for found in network.sockets(0)} >= {"ESTAB"}
    network.link(1, up=True)
    assert line_of(talk) == "lost on the way"
    assert attempt(network, 2, address) == "connected"


@needs_namespaces
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_a_blocked_port_is_silent_and_another_one_open(network: Laboratory, family: str) -> None:
    address = getattr(network, family)(1)
    for port in (PORT, PORT + 1):
        listen(network, 1, address, port)
    network.block_port(PORT)
    assert attempt(network, 0, address, PORT) == "TimeoutError"
    assert attempt(network, 0, address, PORT + 1) == "connected"
    assert attempt(network, 0, address, PORT + 2) == "ConnectionRefusedError"
    network.open_port(PORT)
    assert attempt(network, 0, address, PORT) == "connected"


def leave_things_running(network: Laboratory) -> list[int]:
    """A frozen process, one that ignores being asked to end, and a grandchild."""
    frozen = network.run(0, ["sleep", "1000"])
    stubborn = network.run(1, ["sh", "-c", "trap '' TERM INT HUP; sleep 1000 & echo begun; wait"], stdout=PIPE)
    assert line_of(stubborn) == "begun"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while frozen.pid not in network.processes(0):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    frozen.send_signal(signal.SIGSTOP)
    pids = [*network.processes(0), *network.processes(1)]
    assert len(pids) == 3
    return pids


def is_alive(pid: int) -> bool:
    """A dead process may stay in the table until its parent, or whoever took it over, looks at it."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def namespaces() -> set[str]:
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in listed.splitlines()}


@needs_namespaces
def test_a_failing_test_leaves_nothing_behind() -> None:
    pids: list[int] = []
    names: set[str] = set()

    def fail() -> None:
        with Laboratory(2) as network:
            names.update([network.router, *map(network.namespace, network.hosts)])
            pids.extend(leave_things_running(network))
            network.run(0, ["sleep", "1000"])  # perhaps not in its namespace yet
            assert namespaces() >= names
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not namespaces() & names
    assert not any(map(is_alive, pids))
    assert not {"host0", "host1", "peer0", "peer1", "eth0@host0"} & set(psutil.net_if_stats())


@needs_namespaces
def test_what_a_killed_test_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from tests.networks import Laboratory\n"
        "network = Laboratory(2).__enter__()\n"
        "sleeper = network.run(1, ['sh', '-c', 'echo begun; sleep 1000'], stdout=-1)\n"
        "sleeper.stdout.readline()\n"
        "print(network.namespace(1), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).parents[1]
    with (tmp_path / "name").open("w") as said:
        subprocess.run([sys.executable, "-c", program], cwd=root, stdout=said, check=False)
    name = (tmp_path / "name").read_text().strip()
    assert name in namespaces()
    pids = pids_in(name)
    assert pids
    remove_abandoned()
    assert name not in namespaces()
    assert not any(map(is_alive, pids))
