"""A hosts file: one TOML list of machines, from which every machine finds its own ranks."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import tomli

from understudy.errors import ProblemList, UnderstudyError
from understudy.ranks.addresses import is_here, resolve
from understudy.ranks.place import (
    MOST_RANKS_ON_A_HOST,
    RankPlace,
    address_of,
    is_literal,
    number_of,
    port_of,
    without_brackets,
)

LOOPBACK = "127.0.0.1"

_KEYS = ("port", "hosts")
_HOST_KEYS = ("name", "ranks", "local_address", "gpus")


@dataclass(frozen=True, kw_only=True)
class HostEntry:
    """One machine of the list."""

    name: str
    """Host name, or IP literal without brackets."""
    gpus: tuple[int, ...]
    """CUDA device of each of its ranks; its length is the number of ranks."""
    local_address: str = ""
    """Address or interface that its ranks shall use; empty: the one that routes choose."""


def places_here(path: Path) -> tuple[RankPlace, ...]:
    """The places of all ranks on this machine, ascending; ranks are numbered through the list.

    Raises UnderstudyError when the file is damaged, or this machine is not in it exactly once.
    """
    entries, port = read_hosts(path)
    here = _entry_of_this_machine(path, entries)
    world_size = sum(len(entry.gpus) for entry in entries)
    first_rank = sum(len(entry.gpus) for entry in entries[: entries.index(here)])
    return tuple(
        RankPlace(
            rank=first_rank + number,
            world_size=world_size,
            main_address=_main_address(entries),
            main_port=port,
            local_address=here.local_address,
            gpu=gpu,
            ranks_here=len(here.gpus),
            given_by=f"the hosts file {path}",
        )
        for number, gpu in enumerate(here.gpus)
    )


def places_alone(num_ranks: int) -> tuple[RankPlace, ...]:
    """The places of `num_ranks` ranks on this machine and no other."""
    return tuple(
        RankPlace(
            rank=rank,
            world_size=num_ranks,
            main_address=LOOPBACK,
            main_port=0,
            local_address=LOOPBACK,
            gpu=rank,
            ranks_here=num_ranks,
            given_by="--ranks",
        )
        for rank in range(num_ranks)
    )


def read_hosts(path: Path) -> tuple[tuple[HostEntry, ...], int]:
    """(The machines in order, the main port or 0). Raises UnderstudyError, or Problems, naming the file."""
    content = _read_toml(path)
    problems = ProblemList()
    for key in sorted(content.keys() - set(_KEYS)):
        meant = "set UNDERSTUDY_SECRET instead" if key == "secret" else f"it may hold {' and '.join(_KEYS)}"
        problems.add(f"{path}: {key} does not belong into a hosts file; {meant}")
    port = 0
    with problems.collecting():
        port = port_of(f"{path}: port", str(content.get("port", 0)))
    listed = content.get("hosts")
    if not isinstance(listed, list) or not listed:
        problems.add(f'{path}: lists no hosts; write hosts = ["first", "second"]')
    entries: list[HostEntry] = []
    for number, item in enumerate(listed if isinstance(listed, list) else (), 1):
        with problems.collecting():
            entries.append(_entry(f"{path}: host {number}", item))
    for name in _duplicates(entries):
        problems.add(f"{path}: host {name} is listed twice; give it once, with a number of ranks")
    problems.raise_if_any()
    return tuple(entries), port


def entries_of(label: str, text: str) -> tuple[HostEntry, ...]:
    """The machines in `first:2,second`. Raises UnderstudyError that begins with `label`."""
    entries = tuple(_entry_of_text(label, word.strip()) for word in text.split(",") if word.strip())
    twice = next(_duplicates(entries), "")
    if twice or not entries:
        raise UnderstudyError(f"{label} {text}: " + (f"{twice} is listed twice" if twice else "lists no hosts"))
    return entries


def _read_toml(path: Path) -> Mapping[str, object]:
    try:
        content: dict[str, object] = tomli.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnderstudyError(f"{path}: cannot be read ({error.strerror}); give a hosts file") from error
    except ValueError as error:
        raise UnderstudyError(f"{path}: is no TOML ({error}); correct it") from error
    return content


def _entry(label: str, item: object) -> HostEntry:
    if isinstance(item, str):
        return _entry_of_text(label, item)
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        raise UnderstudyError(f'{label}: {item!r} is no host; write "name", "name:ranks" or {{name = "name", ...}}')
    unknown = item.keys() - set(_HOST_KEYS)
    if unknown:
        raise UnderstudyError(f"{label}: {min(unknown)} is no key of a host; it may have {', '.join(_HOST_KEYS)}")
    local_address = item.get("local_address", "")
    if not isinstance(local_address, str):
        raise UnderstudyError(f"{label}: local_address {local_address!r} is no text; give an address or interface")
    return HostEntry(
        name=address_of(f"{label}: name", item["name"]), gpus=_gpus(label, item), local_address=local_address
    )


def _entry_of_text(label: str, text: str) -> HostEntry:
    name, colon, ranks = text.rpartition(":")
    if not colon or is_literal(without_brackets(text)):
        name, ranks = text, "1"
    return HostEntry(name=address_of(label, name), gpus=tuple(range(_num_ranks(label, ranks))))


def _gpus(label: str, item: Mapping[str, object]) -> tuple[int, ...]:
    gpus = item.get("gpus")
    ranks = _num_ranks(label, str(item.get("ranks", len(gpus) if isinstance(gpus, list) else 1)))
    if gpus is None:
        return tuple(range(ranks))
    if not isinstance(gpus, list) or len(gpus) != ranks or len(set(map(str, gpus))) != ranks:
        raise UnderstudyError(f"{label}: gpus {gpus!r} do not give each of its {ranks} ranks a device of its own")
    return tuple(number_of(f"{label}: gpus", str(gpu)) for gpu in gpus)


def _num_ranks(label: str, text: str) -> int:
    return number_of(f"{label}: ranks", text, low=1, high=MOST_RANKS_ON_A_HOST)


def _duplicates(entries: Sequence[HostEntry]) -> Iterator[str]:
    seen: set[str] = set()
    for entry in entries:
        if entry.name.lower() in seen:
            yield entry.name
        seen.add(entry.name.lower())


def _main_address(entries: Sequence[HostEntry]) -> str:
    """One machine alone needs no network, and its own name means loopback on many."""
    first = entries[0]
    is_address = is_literal(without_brackets(first.local_address))
    if is_address:
        return without_brackets(first.local_address)
    return LOOPBACK if len(entries) == 1 and not first.local_address else first.name


def _entry_of_this_machine(path: Path, entries: Sequence[HostEntry]) -> HostEntry:
    own_name = socket.gethostname()
    found = [entry for entry in entries if _is_same_host(entry.name, own_name)]
    found = found or [entry for entry in entries if _has_address_here(entry)]
    if len(found) == 1:
        return found[0]
    if found:
        names = " and ".join(entry.name for entry in found)
        raise UnderstudyError(f"{path}: {names} are all this machine, {own_name}; list it once")
    raise UnderstudyError(
        f"{path}: this machine is not listed; looked for the host name {own_name}, and for hosts whose address is "
        "one of its own; add it, or start elsewhere"
    )


def _is_same_host(name: str, own_name: str) -> bool:
    """Without regard to case, and to the domain where only one of them has it."""
    listed, own = name.lower().rstrip("."), own_name.lower().rstrip(".")
    is_short = "." not in listed or "." not in own
    return listed == own or (is_short and not is_literal(name) and listed.split(".")[0] == own.split(".")[0])


def _has_address_here(entry: HostEntry) -> bool:
    local_address = without_brackets(entry.local_address)
    if is_literal(local_address):
        return is_here(local_address)
    try:
        return any(is_here(address.literal) for address in resolve(entry.name, 0))
    except UnderstudyError:  # a name that only other machines know
        return False
