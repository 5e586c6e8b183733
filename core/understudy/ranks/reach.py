"""Whether a port of one machine can be reached from another, by plain sockets, and in plain words when it cannot."""

from __future__ import annotations

import ipaddress
import secrets
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from understudy.errors import UnderstudyError
from understudy.ranks.addresses import resolve
from understudy.ranks.member import Endpoint
from understudy.ranks.place import RankPlace

Outcome = Literal["reached", "refused", "no answer", "no way", "another program"]

ANSWER_SECONDS = 3.0
"""What takes longer was lost: a lost first packet is sent again after one second."""
SECONDS_BETWEEN_TRIES = 0.5
NUM_ROUND_TRIPS = 15
_TOKEN_BYTES = 16


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """What came of knocking at another rank's door."""

    outcome: Outcome
    round_trip_seconds: float = 0.0
    """There and back, the median of a few; 0 when it was not reached."""


@dataclass(frozen=True, kw_only=True)
class DoorPlace:
    """Where a door is, and how to know that it is that one."""

    address: str
    """IP literal."""
    port: int
    token: str
    """Said by the door to whoever knocks."""


class Door:
    """A port that echoes, opened where gloo would open one, until closed."""

    def __init__(self, address: str, port: int) -> None:
        """`port` 0: any free one, as gloo takes. Raises UnderstudyError when it cannot be had."""
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        try:
            self._listener = socket.create_server((address, port), family=family, backlog=256)
        except OSError as error:
            where = f"{address} port {port or 'of any number'}"
            raise UnderstudyError(
                f"cannot listen on {where} ({error.strerror or error}); give another --probe-port or --local-addr"
            ) from error
        self.place = DoorPlace(
            address=address, port=self._listener.getsockname()[1], token=secrets.token_hex(_TOKEN_BYTES)
        )
        threading.Thread(target=self._serve, name="door", daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):  # wakes the thread that accepts
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._echo, args=(connection,), name="door echo", daemon=True).start()

    def _echo(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(ANSWER_SECONDS)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(self.place.token.encode())
            while said := connection.recv(1):
                connection.sendall(said)


def knock(door: DoorPlace, *, source: str) -> Attempt:
    """Go to another rank's door from the own address `source`, and measure the round trip."""
    try:
        with _connection(door.address, door.port, source) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if _exactly(connection, len(door.token)) != door.token.encode():
                return Attempt(outcome="another program")
            trips = [_round_trip(connection) for _ in range(NUM_ROUND_TRIPS)]
            return Attempt(outcome="reached", round_trip_seconds=statistics.median(trips))
    except OSError as error:
        return Attempt(outcome=_outcome_of(error))


def try_port(address: str, port: int, *, source: str) -> Outcome:
    """Whether something listens there. `address`: literal or host name."""
    try:
        with _connection(address, port, source):
            return "reached"
    except OSError as error:
        return _outcome_of(error)


def await_rank_0(
    place: RankPlace,
    find_desk: Callable[[], Endpoint | str],
    *,
    local_address: str,
    seconds: float,
    tell: Callable[[str], None],
) -> None:
    """Return when rank 0's port can be reached; until then tell, whenever it changes, what is in the way.

    Raises UnderstudyError saying that when `seconds` are over.
    """
    until = time.monotonic() + seconds
    said = ""
    while obstacle := _obstacle(place, find_desk(), local_address):
        if time.monotonic() >= until:
            raise UnderstudyError(f"rank {place.rank} did not find rank 0: {obstacle}")
        if obstacle != said:
            said = obstacle
            tell(f"rank {place.rank} looks for rank 0: {obstacle}")
        time.sleep(SECONDS_BETWEEN_TRIES)


def in_words(outcome: Outcome, *, address: str, port: int, source: str) -> str:
    """Why `source` did not reach that port, and what to do."""
    if is_loopback(address):
        return (
            f"{address} is loopback, which means every machine itself ({outcome} at port {port}); where the ranks are "
            "on several machines, give an address of the network"
        )
    if is_loopback(source):
        return f"the local address {source} is loopback, from which {address} cannot be reached; give another"
    return {
        "no answer": (
            f"{address} port {port} does not answer {source} at all: a firewall drops what is sent there, or that "
            f"machine is off; open TCP port {port} of {address} for {source}"
        ),
        "refused": (
            f"{address} port {port} refuses {source}: nothing listens there, or a firewall rejects it; "
            f"look whether the rank runs, and open TCP port {port} of {address} for {source}"
        ),
        "no way": f"no way leads from {source} to {address}, or a firewall says so; correct the addresses or routes",
        "another program": f"{address} port {port} is answered by another program; look for a proxy or a second host",
        "reached": f"{address} port {port} was reached",
    }[outcome]


def is_loopback(host: str) -> bool:
    """Whether the literal or name means the machine that asks. Raises UnderstudyError when the host is unknown."""
    return all(ipaddress.ip_address(found.literal).is_loopback for found in resolve(host, 0))


def _obstacle(place: RankPlace, endpoint: Endpoint | str, local_address: str) -> str:
    """What keeps this rank from rank 0; empty when nothing does."""
    unknown = endpoint if isinstance(endpoint, str) else ""
    if unknown and not (place.main_address and place.main_port):
        return unknown
    address, port = place.main_address, place.main_port
    if isinstance(endpoint, Endpoint):
        address, port = endpoint.address, endpoint.port
    outcome = try_port(address, port, source=local_address)
    if outcome != "reached":
        return in_words(outcome, address=address, port=port, source=local_address)
    return f"{address} port {port} answers, but {unknown}" if unknown else ""


@contextmanager
def _connection(address: str, port: int, source: str) -> Iterator[socket.socket]:
    with socket.create_connection((address, port), timeout=ANSWER_SECONDS, source_address=(source, 0)) as connection:
        yield connection


def _outcome_of(error: OSError) -> Outcome:
    if isinstance(error, TimeoutError):
        return "no answer"
    return "refused" if isinstance(error, ConnectionError) else "no way"


def _round_trip(connection: socket.socket) -> float:
    begin = time.perf_counter()
    connection.sendall(b".")
    _exactly(connection, 1)
    return time.perf_counter() - begin


def _exactly(connection: socket.socket, num_bytes: int) -> bytes:
    """Raises ConnectionError when the other side closes before."""
    heard = b""
    while len(heard) < num_bytes:
        more = connection.recv(num_bytes - len(heard))
        if not more:
            raise ConnectionResetError
        heard += more
    return heard
