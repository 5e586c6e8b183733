"""The addresses of this machine, and the one of them that a rank uses for all its traffic."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import psutil

from understudy.errors import UnderstudyError
from understudy.ranks.place import RankPlace, is_literal, without_brackets

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_LOCAL_NAMES = ("localhost", "localhost.localdomain", "localhost6", "ip6-localhost", "ip6-loopback")
_FAR_AWAY = ("198.51.100.1", "2001:db8::1")
"""Documentation addresses: whatever route leads there is the default route."""
_DISCARD_PORT = 9


class SocketAddress(NamedTuple):
    """An address and port as sockets take them."""

    family: socket.AddressFamily
    parts: tuple[str | int | bytes, ...]
    """(literal, port) or (literal, port, flow, zone)."""

    @property
    def literal(self) -> str:
        """The IP address without brackets, with its zone (fe80::1%eth0) where it has one."""
        address, zone = str(self.parts[0]), int(self.parts[3]) if len(self.parts) == 4 else 0
        return f"{address}%{socket.if_indextoname(zone)}" if zone and "%" not in address else address


def resolve(host: str, port: int) -> tuple[SocketAddress, ...]:
    """Every address of an IP literal or host name, best first. Raises UnderstudyError when the host is unknown."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no valid name"
        raise UnderstudyError(
            f"host {host} is unknown to this machine ({reason}); correct the name, or give its IP address"
        ) from error
    return tuple(SocketAddress(family, parts) for family, _, _, _, parts in found)


def addresses_here() -> dict[str, tuple[IpAddress, ...]]:
    """Interface name -> its IPv4 and IPv6 addresses; those of other kinds are left out."""
    return {
        name: tuple(
            ipaddress.ip_address(entry.address)
            for entry in entries
            if entry.family in (socket.AF_INET, socket.AF_INET6) and is_literal(entry.address)
        )
        for name, entries in psutil.net_if_addrs().items()
    }


def is_here(literal: str) -> bool:
    """Whether the IP literal is an address of this machine."""
    return bool(_own_forms(literal))


def interface_of(address: str) -> str:
    """The name of the interface that has the IP literal. Raises UnderstudyError when none has it."""
    for name, own in addresses_here().items():
        if any(_is_same(ipaddress.ip_address(address), one) for one in own):
            return name
    raise UnderstudyError(f"address {address} is not on this machine, which has {_listing()}")


def main_addresses(place: RankPlace) -> tuple[SocketAddress, ...]:
    """Where rank 0 may be reached, best first; empty when it publishes its address.

    Raises UnderstudyError when the host is unknown, or its name means loopback though there are other ranks.
    """
    if not place.main_address:
        return ()
    found = resolve(place.main_address, place.main_port)
    outside = tuple(one for one in found if not ipaddress.ip_address(one.literal).is_loopback)
    if outside or place.world_size == 1 or is_literal(place.main_address) or _means_loopback(place.main_address):
        return outside or found
    raise UnderstudyError(
        f"main address {place.main_address} resolves to {found[0].literal}, which no other machine can reach; "
        "give its network address, or correct /etc/hosts"
    )


def listen_address_for(place: RankPlace) -> str:
    """The IP literal on which rank 0 listens for the others: its main address, or else what its traffic uses.

    Raises UnderstudyError when the main address is not on this machine.
    """
    mains = main_addresses(place)
    if not mains:
        return local_address_for(place)
    own_mains = [form for main in mains for form in _own_forms(main.literal)]
    if own_mains:
        return own_mains[0]
    raise UnderstudyError(
        f"main address {place.main_address} is not on this machine, which has {_listing()}; "
        "rank 0 must run where the main address is"
    )


def local_address_for(place: RankPlace) -> str:
    """The IP literal, on this machine, that the rank shall use for all its traffic.

    The given address or interface; else, for rank 0, its main address; else the source of the route to rank 0.
    Raises UnderstudyError when there is no such address or rank 0 is on the wrong machine.
    """
    mains = main_addresses(place)
    listens_on = listen_address_for(place) if place.rank == 0 and mains else ""
    if place.local_address:
        return _given_address(place, mains)
    if not mains:
        return _default_address()
    return listens_on or _source_of_route(place, mains)


def _given_address(place: RankPlace, mains: Sequence[SocketAddress]) -> str:
    given = without_brackets(place.local_address)
    interfaces = addresses_here()
    own = _own_forms(given) if is_literal(given) else [str(address) for address in interfaces.get(given, ())]
    if not own and given not in interfaces:
        raise UnderstudyError(
            f"local address {given}, from {place.given_by}, is neither an address nor an interface of this machine, "
            f"which has {_listing()}; give one of these"
        )
    families = [_family(main.literal) for main in mains] or ["IPv4", "IPv6"]
    fitting = [address for address in own if _family(address) in families]
    if not fitting:
        what = " and ".join(sorted({_family(address) for address in own})) or "without any address"
        raise UnderstudyError(
            f"local address {given}, from {place.given_by}, is {what}, but main address {place.main_address} is "
            f"{families[0]}; give both of one family"
        )
    return min(fitting, key=lambda address: (families.index(_family(address)), _is_of_link(address)))


def _source_of_route(place: RankPlace, mains: Iterable[SocketAddress]) -> str:
    reason = ""
    for main in mains:
        source, reason = _route(main)
        if source:
            return source
    raise UnderstudyError(
        f"no route leads from this machine to main address {place.main_address} ({reason}); correct either"
    )


def _default_address() -> str:
    """The source of the default route, else any address that other machines may know, else loopback."""
    for literal in _FAR_AWAY:
        source, _ = _route(resolve(literal, _DISCARD_PORT)[0])
        if source and not ipaddress.ip_address(source).is_loopback:
            return source
    up = {name for name, state in psutil.net_if_stats().items() if state.isup}
    own = [str(address) for name, addresses in addresses_here().items() if name in up for address in addresses]
    outside = [address for address in own if not ipaddress.ip_address(address).is_loopback]
    return min(outside, key=lambda address: (_is_of_link(address), _family(address)), default="127.0.0.1")


def _route(target: SocketAddress) -> tuple[str, str]:
    """(The source address towards the target, why there is none). Sends nothing: datagram sockets only look."""
    address, port, *zone = target.parts
    with socket.socket(target.family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((address, port or _DISCARD_PORT, *zone))
        except OSError as error:
            return "", error.strerror or str(error)
        return SocketAddress(target.family, probe.getsockname()).literal, ""


def _own_forms(literal: str) -> list[str]:
    """The literal as this machine writes it, with its zone; more than one where several interfaces have it."""
    address = ipaddress.ip_address(literal)
    own = [str(one) for addresses in addresses_here().values() for one in addresses if _is_same(address, one)]
    return own or ([literal] if address.is_loopback and address.version == 4 else [])


def _is_same(address: IpAddress, own: IpAddress) -> bool:
    return address == own or str(address) == str(own).partition("%")[0]


def _means_loopback(host: str) -> bool:
    plain = host.lower().rstrip(".")
    return plain in _LOCAL_NAMES or plain.endswith(".localhost")


def _family(literal: str) -> str:
    return f"IPv{ipaddress.ip_address(literal).version}"


def _is_of_link(literal: str) -> bool:
    return ipaddress.ip_address(literal).is_link_local


def _listing() -> str:
    return ", ".join(f"{name} {' '.join(map(str, own))}" for name, own in addresses_here().items() if own)
