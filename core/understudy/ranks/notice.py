"""How rank 0 is found: what it publishes in the data directory, where it listens, and how the others look for it."""

from __future__ import annotations

import errno
import json
import os
import platform
import secrets
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.files import write_private
from understudy.plain import table_of
from understudy.ranks.lines import LineClosed, greet_as_member
from understudy.ranks.member import Endpoint
from understudy.ranks.place import HIGHEST_PORT, RankPlace

SECRET_VARIABLE = "UNDERSTUDY_SECRET"
SHORTEST_SECRET = 16
"""Characters."""
PROBE_SECONDS = 3.0


@dataclass(frozen=True, kw_only=True)
class Notice:
    """What rank 0 leaves in the data directory for the others; readable by its owner alone."""

    run_name: str
    secret: str
    address: str
    port: int
    """0: rank 0 could not begin, see `gave_up`."""
    written_by: str
    """Host and pid."""
    gave_up: str = ""
    """Why rank 0 could not begin; empty when it did."""


def notice_path(data_directory: Path, run_name: str) -> Path:
    """Every rank must know it before it knows the run: by the name it was given, if any."""
    return data_directory / f"{run_name or 'ranks'}.meeting.json"


def write_notice(path: Path, notice: Notice) -> None:
    """Publish, atomically. Raises UnderstudyError when the folder cannot be written."""
    write_private(path, json.dumps(asdict(notice), indent=2).encode() + b"\n")


def read_notice(path: Path) -> Notice | None:
    """What was published last, by this attempt or an earlier one; None when nothing can be read there."""
    try:
        notice = table_of(Notice, json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return None
    return notice if 0 <= notice.port <= HIGHEST_PORT else None


def secret_given(environment: Mapping[str, str]) -> str:
    """The run's secret from the environment; empty when there is none. Raises UnderstudyError when it is too short."""
    secret = environment.get(SECRET_VARIABLE, "")
    if secret and len(secret) < SHORTEST_SECRET:
        raise UnderstudyError(f"{SECRET_VARIABLE}: is too short; give at least {SHORTEST_SECRET} characters")
    return secret


def is_answered(notice: Notice) -> bool:
    """True when the rank 0 that wrote the notice is there and knows its secret."""
    try:
        with socket.create_connection((notice.address, notice.port), timeout=PROBE_SECONDS) as connection:
            greet_as_member(connection, notice.secret.encode(), silence_seconds=PROBE_SECONDS)
            return True
    except (OSError, LineClosed):
        return False


def listen(address: str, port: int) -> socket.socket:
    """Rank 0's socket, on that address alone. Raises UnderstudyError when it cannot be had."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name != "nt":  # there it would let two programs share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(256)
        return listener
    except OSError as error:
        listener.close()
        reason = {
            errno.EADDRINUSE: "the port is in use; free it, or give another one",
            errno.EACCES: "the port is reserved; give one above 1023",
            errno.EADDRNOTAVAIL: "that is no address of this machine; start rank 0 where it is one",
        }.get(error.errno or 0, str(error))
        raise UnderstudyError(f"rank 0 cannot listen on {address} port {port}: {reason}") from error


def publish(path: Path, *, run_name: str, secret: str, listener: socket.socket) -> Notice:
    """Say where the desk is. Raises UnderstudyError when the folder cannot be written."""
    address, port = listener.getsockname()[:2]
    notice = Notice(run_name=run_name, secret=secret, address=address, port=port, written_by=this_process())
    write_notice(path, notice)
    return notice


def publish_failure(path: Path, *, run_name: str, reason: str) -> None:
    """Let the others know that rank 0 could not begin, so that they need not wait."""
    notice = Notice(run_name=run_name, secret="", address="", port=0, written_by=this_process(), gave_up=reason)
    with suppress(UnderstudyError):
        write_notice(path, notice)


def withdraw(path: Path, notice: Notice) -> None:
    """The meeting is over; another's notice is left alone."""
    if read_notice(path) == notice:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def new_secret() -> str:
    return secrets.token_hex(32)


def this_process() -> str:
    return f"{platform.node()}, pid {os.getpid()}"


def desk_finder(place: RankPlace, path: Path, secret: str) -> Callable[[], Endpoint | str]:
    """How a rank learns where the desk is: from its place, the notice, or both. See Member.

    `secret`: given by the environment; empty: it is in the notice. What is returned raises UnderstudyError when rank 0
    gives up from now on; that an earlier one did is no reason not to wait for the next.
    """
    earlier = read_notice(path)
    fixed = f"{place.main_address} port {place.main_port}" if place.main_address and place.main_port else ""

    def find() -> Endpoint | str:
        if fixed and secret:
            return _endpoint(place.main_address, place.main_port, secret, told_by=place.given_by, is_fixed=True)
        notice = read_notice(path)
        if notice is None:
            return f"{path} is not there yet" + (f", and {SECRET_VARIABLE} is not set" if fixed else "")
        if notice.gave_up and notice != earlier:
            raise UnderstudyError(f"rank 0 ({notice.written_by}) could not begin: {notice.gave_up}")
        if notice.gave_up:
            return f"an earlier rank 0 ({notice.written_by}) could not begin: {notice.gave_up}"
        if fixed and notice.port != place.main_port:
            return f"{path} is of another attempt (port {notice.port}, by {notice.written_by})"
        address = place.main_address if fixed else notice.address
        told_by = f"{path.name} by {notice.written_by}"
        return _endpoint(address, notice.port, secret or notice.secret, told_by=told_by, is_fixed=bool(fixed))

    return find


def _endpoint(address: str, port: int, secret: str, *, told_by: str, is_fixed: bool) -> Endpoint:
    return Endpoint(address=address, port=port, secret=secret.encode(), told_by=told_by, is_fixed=is_fixed)
