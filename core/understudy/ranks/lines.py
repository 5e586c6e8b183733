"""A line between two ranks: JSON messages, each sealed with the run's secret, so that nobody else can speak on it.

Either side proves that it knows the secret before anything is said. Sealed, not hidden: who can listen to the network
can read what is said. Weights never travel here.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress

Message = Mapping[str, object]

GREETING = "understudy-ranks-1"
"""Said first, in the clear, so that a foreign service and another version are told apart."""
LONGEST_LINE = 4 * 2**20
"""Bytes: the facts of a few ten thousand pairs."""
LONGEST_GREETING = 200
"""Bytes."""
_NONCE_BYTES = 16
_BYTES_AT_ONCE = 65536


class LineClosed(Exception):
    """The other side is gone, silent for too long, or does not speak as it should; says which."""

    @property
    def is_silence(self) -> bool:
        return isinstance(self.__cause__, TimeoutError)


class WrongSecret(LineClosed):
    """The other side does not know this run's secret."""


class NotUnderstudy(LineClosed):
    """Whatever answers there is no rank of understudy."""


class Line:
    """Sends and receives sealed messages. Any thread may send; one receives."""

    def __init__(self, connection: socket.socket, session_key: bytes, *, own: str, other: str) -> None:
        """`own` and `other` name the two sides, so that neither can be played its own words."""
        self._socket = connection
        self._heard = bytearray()
        self._key = session_key
        self._own, self._other = own, other
        self._sent = self._received = 0
        self._lock = threading.Lock()

    def send(self, message: Message) -> None:
        """Raises LineClosed when the other side is gone or takes nothing for the silence allowed."""
        body = json.dumps(message).encode()
        with self._lock:
            self._sent += 1
            seal = _seal(self._key, f"{self._own} {self._sent} ".encode() + body)
            try:
                self._socket.sendall(seal.encode() + b" " + body + b"\n")
            except OSError as error:
                raise LineClosed(_reason(error)) from error

    def receive(self) -> Message:
        """The next message. Raises LineClosed when there will be none."""
        seal, _, body = self._hear_line().partition(b" ")
        self._received += 1
        expected = _seal(self._key, f"{self._other} {self._received} ".encode() + body)
        if not hmac.compare_digest(seal, expected.encode()):
            raise LineClosed("a message was not sealed with this run's secret")
        message = json.loads(body)
        if not isinstance(message, dict):
            raise LineClosed("a message was no object")
        return message

    def _hear_line(self) -> bytes:
        """The next line, without its end."""
        end = self._heard.find(b"\n")
        while end < 0:
            if len(self._heard) > LONGEST_LINE:
                raise LineClosed("a message is too long")
            content = _hear(self._socket, _BYTES_AT_ONCE)
            if b"\n" in content:
                end = len(self._heard) + content.index(b"\n")
            self._heard += content
        line = bytes(self._heard[:end])
        del self._heard[: end + 1]
        return line

    def close(self) -> None:
        """May be called from any thread, and twice; a receive under way ends with LineClosed."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def text(message: Message, name: str) -> str:
    """A word of a message. Raises LineClosed when it is missing or no text; so do the two below."""
    value = message.get(name)
    if not isinstance(value, str):
        raise LineClosed(f"a message has no text {name!r}")
    return value


def number(message: Message, name: str) -> float:
    value = message.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise LineClosed(f"a message has no number {name!r}")
    return value


def words(message: Message, name: str) -> dict[str, str]:
    value = message.get(name)
    if not isinstance(value, dict):
        raise LineClosed(f"a message has no table {name!r}")
    return {str(key): str(one) for key, one in value.items()}


def greet_as_desk(connection: socket.socket, secret: bytes, *, silence_seconds: float) -> Line:
    """Rank 0's side of a new connection. Raises WrongSecret or another LineClosed; the caller closes then."""
    connection.settimeout(silence_seconds)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    own_nonce = secrets.token_hex(_NONCE_BYTES)
    _say(connection, f"{GREETING} {own_nonce}")
    answer = _hear_greeting(connection).split()
    if len(answer) != 2 or len(answer[0]) != 2 * _NONCE_BYTES:
        raise NotUnderstudy("it does not answer the greeting")
    both = f"{own_nonce} {answer[0]}"
    if not hmac.compare_digest(answer[1].encode(), _seal(secret, f"member {both}".encode()).encode()):
        with suppress(LineClosed):
            _say(connection, "refused")
        raise WrongSecret("it does not know this run's secret")
    _say(connection, _seal(secret, f"desk {both}".encode()))
    return Line(connection, _session_key(secret, both), own="desk", other="member")


def greet_as_member(connection: socket.socket, secret: bytes, *, silence_seconds: float) -> Line:
    """A rank's side. Raises NotUnderstudy, WrongSecret or another LineClosed; the caller closes then."""
    connection.settimeout(silence_seconds)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    greeting = _hear_greeting(connection)
    name, _, desk_nonce = greeting.partition(" ")
    if name != GREETING:
        raise NotUnderstudy(f"it says {greeting[:40]!r}")
    own_nonce = secrets.token_hex(_NONCE_BYTES)
    both = f"{desk_nonce} {own_nonce}"
    _say(connection, f"{own_nonce} {_seal(secret, f'member {both}'.encode())}")
    answer = _hear_greeting(connection)
    if not hmac.compare_digest(answer.encode(), _seal(secret, f"desk {both}".encode()).encode()):
        raise WrongSecret("it has another secret")
    return Line(connection, _session_key(secret, both), own="member", other="desk")


def _session_key(secret: bytes, nonces: str) -> bytes:
    return hmac.digest(secret, f"session {nonces}".encode(), hashlib.sha256)


def _seal(key: bytes, content: bytes) -> str:
    return hmac.digest(key, content, hashlib.sha256).hex()


def _say(connection: socket.socket, text: str) -> None:
    try:
        connection.sendall(text.encode() + b"\n")
    except OSError as error:
        raise LineClosed(_reason(error)) from error


def _hear(connection: socket.socket, most_bytes: int) -> bytes:
    """What has come, at least a byte."""
    try:
        content = connection.recv(most_bytes)
    except OSError as error:
        raise LineClosed(_reason(error)) from error
    if not content:
        raise LineClosed("it closed the connection")
    return content


def _hear_greeting(connection: socket.socket) -> str:
    """One short line of the greeting, byte by byte: nothing of what follows may be taken with it."""
    heard = bytearray()
    while not heard.endswith(b"\n"):
        heard += _hear(connection, 1)
        if len(heard) > LONGEST_GREETING:
            raise NotUnderstudy(f"it says {heard[:40].decode(errors='replace')!r}")
    return heard.decode(errors="replace").rstrip("\r\n")


def _reason(error: OSError) -> str:
    return "silent for too long" if isinstance(error, TimeoutError) else (error.strerror or str(error))
