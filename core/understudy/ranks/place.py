"""A rank's place among the others, and the reading of the words that describe it."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass

from understudy.errors import UnderstudyError

AUTO = "auto"
LAUNCHED = "UNDERSTUDY_LAUNCHED"
"""Environment variable of processes that a launcher started: they end with it (launch.end_with_parent)."""
HIGHEST_PORT = 65535
HIGHEST_NUMBER = 99999
MOST_RANKS_ON_A_HOST = 256
"""A larger number is a port in the wrong place."""
LOWEST_FREE_PORT = 1024
"""Ports below belong to the administrator."""

_HOST_NAME = re.compile(r"(?!-)[\w-]{1,63}(?<!-)(\.(?!-)[\w-]{1,63}(?<!-))*\.?")
_LONGEST_HOST_NAME = 253


@dataclass(frozen=True, kw_only=True)
class RankPlace:
    """Which rank a process is, of how many, and where rank 0 is met."""

    rank: int
    """0 to world_size - 1; rank 0 leads and alone writes the run's files."""
    world_size: int
    """Number of ranks, at least 1."""
    main_address: str
    """Where rank 0 listens: an IP literal without brackets or a host name; empty: rank 0 publishes it."""
    main_port: int
    """1 to 65535; 0: rank 0 binds a free port and publishes it."""
    local_address: str = ""
    """As given: an address or an interface of this machine. addresses.local_address_for makes an IP literal of it."""
    gpu: int | None = None
    """Number of the CUDA device of this rank; None: nobody said."""
    ranks_here: int = 1
    """Ranks that share this machine's cores, as far as is known."""
    given_by: str
    """Who said so, in words for messages: the COPYCAT_* variables."""


def without_brackets(address: str) -> str:
    """fd77::1 for [fd77::1]; anything else as it is."""
    return address[1:-1] if address.startswith("[") and address.endswith("]") else address


def is_literal(address: str) -> bool:
    """Whether it is an IPv4 or IPv6 address in figures, without brackets; fe80::1%eth0 is one."""
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return False
    return True


def address_of(name: str, text: str) -> str:
    """The address or host name in `text`, without brackets. Raises UnderstudyError that begins with `name`."""
    address = without_brackets(text)
    if is_literal(address):
        if ipaddress.ip_address(address).is_unspecified or ipaddress.ip_address(address).is_multicast:
            raise UnderstudyError(f"{name} {text} is not the address of one machine; give that of rank 0")
        return address
    before, _, after = text.rpartition(":")
    if before and after.isdecimal() and (":" not in before or before.endswith("]")):
        raise UnderstudyError(f"{name} {text} holds a port; give the address {before} alone and the port {after} apart")
    is_number = address.rstrip(".").rpartition(".")[2].isdecimal()
    if is_number or len(address) > _LONGEST_HOST_NAME or not _HOST_NAME.fullmatch(address):
        raise UnderstudyError(f"{name} {text!r} is neither an IP address nor a host name; correct it")
    return address


def port_of(name: str, text: str) -> int:
    """The port in `text`, 0 for `auto`. Raises UnderstudyError that begins with `name`."""
    port = 0 if text.lower() == AUTO else number_of(name, text, high=HIGHEST_PORT)
    if 0 < port < LOWEST_FREE_PORT and not _is_administrator():
        raise UnderstudyError(
            f"{name} {text} is a privileged port, which only root may open; give one from {LOWEST_FREE_PORT} up"
        )
    return port


def number_of(name: str, text: str, *, low: int = 0, high: int = HIGHEST_NUMBER) -> int:
    """The whole number in `text`, `low` to `high`. Raises UnderstudyError that begins with `name`."""
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", text):
        raise UnderstudyError(f"{name} {text!r} is no whole number; give one from {low} to {high}")
    if not low <= int(text) <= high:
        raise UnderstudyError(f"{name} {text} is out of range; give a whole number from {low} to {high}")
    return int(text)


def _is_administrator() -> bool:
    return not hasattr(os, "geteuid") or os.geteuid() == 0
