"""A network for tests: hosts as network namespaces around a router, with rates, cables and ports that can be changed.

Every host has the interface `eth0` in a network of its own, as in `10.77.0.1/24` and `fd77::1/64` for host 0,
`10.77.1.1/24` and `fd77:1::1/64` for host 1; the router between them is 10.77.<host>.254. Linux and root only.
"""

from __future__ import annotations

import functools
import ipaddress
import itertools
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

import psutil
import pytest

TOOLS = ("ip", "tc", "ss")
PREFIX = "understudy"
"""Names of namespaces: understudy-<process>-<laboratory>-<host or router>."""
SECONDS_TO_DIE = 20
PACKET_BYTES = 64 * 1024
"""What the kernel hands to an interface at once."""
SECONDS_OF_BURST = 0.004
"""A tick of the slowest common kernel clock: what has to fit between two looks of the rate limiter."""

Test = TypeVar("Test", bound=Callable[..., None])
_laboratories = itertools.count()


@dataclass(frozen=True, kw_only=True)
class TcpSocket:
    """A line of a host's socket table."""

    state: str
    """As `ss` calls it: LISTEN, ESTAB, SYN-SENT, FIN-WAIT-1, TIME-WAIT ..."""
    local_address: str
    """A literal without brackets; `*` for a listener on all addresses of both families."""
    local_port: int
    peer_address: str
    peer_port: int
    """0 for a listener."""


class Laboratory:
    """N hosts. Leaving the `with` block kills whatever still runs on them and takes the network down."""

    def __init__(self, num_hosts: int) -> None:
        self.hosts = range(num_hosts)
        self._name = f"{PREFIX}-{os.getpid()}-{next(_laboratories)}"
        self._started: list[subprocess.Popen[str]] = []
        self._clean_up = ExitStack()

    def __enter__(self) -> Laboratory:
        remove_abandoned()
        with ExitStack() as on_failure:
            on_failure.callback(self._end)
            self._build()
            on_failure.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def namespace(self, host: int) -> str:
        """The name by which `ip netns` calls the host."""
        return f"{self._name}-host{host}"

    @property
    def router(self) -> str:
        """The name of the router's namespace."""
        return f"{self._name}-router"

    def ipv4(self, host: int) -> str:
        return f"10.77.{host}.1"

    def ipv6(self, host: int) -> str:
        return str(ipaddress.ip_address(f"fd77:{host}::1"))

    def run(
        self,
        host: int,
        words: Sequence[str | Path],
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        stdin: int | IO[str] | None = None,
        stdout: int | IO[str] | None = None,
        stderr: int | IO[str] | None = None,
    ) -> subprocess.Popen[str]:
        """Start a command on the host; the process is the command's own. `environment` replaces ours."""
        process = subprocess.Popen(
            ["ip", "netns", "exec", self.namespace(host), *map(str, words)],
            env=environment,
            cwd=folder,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            text=True,
        )
        self._started.append(process)
        return process

    def limit(self, rate_mbit: float | None) -> None:
        """Let no host send or receive more than that many Mbit/s, all headers counted; None: as fast as it goes."""
        for host in self.hosts:
            _limit(self.namespace(host), "eth0", rate_mbit)
            _limit(self.router, f"host{host}", rate_mbit)

    def link(self, host: int, up: bool) -> None:
        """Plug the host's cable in or out, at the router: the host keeps its addresses, packets to it get lost."""
        _do(*f"ip -n {self.router} link set host{host} {'up' if up else 'down'}".split())

    def block_port(self, port: int) -> None:
        """Lose every TCP packet to that port between hosts, as a firewall does that does not answer."""
        for family in ("-4", "-6"):
            _do(*f"ip {family} -n {self.router} rule add ipproto tcp dport {port} blackhole".split())

    def open_port(self, port: int) -> None:
        """Undo `block_port`."""
        for family in ("-4", "-6"):
            _do(*f"ip {family} -n {self.router} rule del ipproto tcp dport {port} blackhole".split())

    def sockets(self, host: int) -> tuple[TcpSocket, ...]:
        """All TCP sockets of the host, in whatever state."""
        table = _do("ip", "netns", "exec", self.namespace(host), "ss", "-Htan")
        return tuple(_socket_of(line) for line in table.splitlines())

    def processes(self, host: int) -> tuple[int, ...]:
        """Ids of the processes that are alive on the host."""
        return pids_in(self.namespace(host))

    def _build(self) -> None:
        self._add_namespace(self.router)
        router = f"ip -n {self.router}"
        # a route that stays when a cable is out: packets get lost on the way, nobody answers that there is none
        _do(*f"{router} route add blackhole 10.77.0.0/16".split())
        _do(*f"{router} -6 route add blackhole fd77::/16".split())
        for host in self.hosts:
            namespace = self.namespace(host)
            self._add_namespace(namespace)
            _do(*f"{router} link add host{host} type veth peer name peer{host}".split())
            _do(*f"{router} link set peer{host} netns {namespace} name eth0".split())
            _join(self.router, f"host{host}", f"10.77.{host}.254/24", f"fd77:{host}::fe/64")
            _join(namespace, "eth0", f"{self.ipv4(host)}/24", f"{self.ipv6(host)}/64")
            _do(*f"ip -n {namespace} route add default via 10.77.{host}.254".split())
            _do(*f"ip -6 -n {namespace} route add default via fd77:{host}::fe".split())

    def _add_namespace(self, name: str) -> None:
        _do("ip", "netns", "add", name)
        self._clean_up.callback(_remove_namespace, name)
        switches = {
            "ipv4/ip_forward": 1,
            "ipv6/conf/all/forwarding": 1,
            "ipv6/conf/all/keep_addr_on_down": 1,
            "ipv6/conf/all/accept_dad": 0,  # no second of doubt about an address that only we can have
            "ipv6/conf/default/accept_dad": 0,
        }
        orders = "\n".join(f"echo {value} > /proc/sys/net/{switch}" for switch, value in switches.items())
        _do("ip", "netns", "exec", name, "sh", "-ec", orders)
        _do(*f"ip -n {name} link set lo up".split())

    def _end(self) -> None:
        for process in self._started:
            process.kill()  # one that has only just begun is not in its namespace yet
            process.wait(SECONDS_TO_DIE)
        self._clean_up.close()
        for process in self._started:
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    with suppress(BrokenPipeError):
                        pipe.close()


def needs_namespaces(test: Test) -> Test:
    """Skip where there can be no Laboratory, with the reason; in CI too, for it takes root and the kernel's leave."""
    reason = why_none()
    marked: Test = pytest.mark.namespaces(pytest.mark.skipif(bool(reason), reason=reason)(test))
    return marked


@functools.cache
def why_none() -> str:
    """Why there can be no Laboratory here; empty when there can."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "network namespaces need root on Linux"
    absent = [tool for tool in TOOLS if shutil.which(tool) is None]
    if absent:
        return f"network namespaces need {', '.join(absent)} (iproute2)"
    name = f"{PREFIX}-{os.getpid()}-probe"
    probe = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
    return f"no network namespace can be made here: {probe.stderr.strip()}" if probe.returncode else ""


def pids_in(namespace: str) -> tuple[int, ...]:
    return tuple(int(pid) for pid in _do("ip", "netns", "pids", namespace).split())


def remove_abandoned() -> None:
    """Remove what test processes that were killed left behind."""
    for line in _do("ip", "netns", "list").splitlines():
        name = line.split()[0]
        prefix, _, rest = name.partition("-")
        pid = rest.partition("-")[0]
        if prefix == PREFIX and pid.isdigit() and not psutil.pid_exists(int(pid)):
            with suppress(AssertionError):  # another test process may be at it
                _remove_namespace(name)


def _remove_namespace(name: str) -> None:
    """Kill again and again: a process may start another just before it dies."""
    deadline = time.monotonic() + SECONDS_TO_DIE
    while pids := pids_in(name):
        assert time.monotonic() < deadline, f"{name}: processes {pids} cannot be killed"
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    _do("ip", "netns", "delete", name)


def _limit(namespace: str, interface: str, rate_mbit: float | None) -> None:
    tc = ["tc", "-n", namespace, "qdisc"]
    if rate_mbit is None:  # there may be no limit already
        subprocess.run([*tc, *f"del dev {interface} root".split()], capture_output=True, check=False)
    else:
        burst = max(PACKET_BYTES, int(rate_mbit * 1e6 / 8 * SECONDS_OF_BURST))
        _do(*tc, *f"replace dev {interface} root tbf rate {rate_mbit}mbit burst {burst}b latency 200ms".split())


def _join(namespace: str, interface: str, *addresses: str) -> None:
    for address in addresses:
        _do(*f"ip -n {namespace} address add {address} dev {interface}".split())
    _do(*f"ip -n {namespace} link set {interface} up".split())


def _socket_of(line: str) -> TcpSocket:
    state, _, _, local, peer = line.split()[:5]
    local_address, local_port = _address_and_port(local)
    peer_address, peer_port = _address_and_port(peer)
    return TcpSocket(
        state=state,
        local_address=local_address,
        local_port=local_port,
        peer_address=peer_address,
        peer_port=peer_port,
    )


def _address_and_port(text: str) -> tuple[str, int]:
    address, _, port = text.rpartition(":")
    return address.strip("[]"), 0 if port == "*" else int(port)


def _do(*words: str) -> str:
    """Run a command that must succeed; gives what it prints."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr.strip()}"
    return done.stdout
