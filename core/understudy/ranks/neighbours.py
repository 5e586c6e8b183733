"""Which ranks reach which: every rank opens a door, knocks at all others', and learns what all have found."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial

from understudy.ranks.addresses import interface_of
from understudy.ranks.member import Member
from understudy.ranks.reach import Attempt, Door, DoorPlace, Outcome, in_words, is_loopback, knock
from understudy.ranks.roster import Generation

MOST_KNOCKS_AT_ONCE = 16


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """A rank as the others see it."""

    rank: int
    host: str
    interface: str
    door: DoorPlace


@dataclass(frozen=True, kw_only=True)
class Neighbourhood:
    """All ranks, and what came of every connection between two of them."""

    neighbours: tuple[Neighbour, ...]
    """By rank, ascending."""
    attempts: Mapping[tuple[int, int], Attempt]
    """(from rank, to rank) to what came of it."""

    def table(self) -> list[str]:
        """Lines for people: who is where, and who reaches whom in how many milliseconds."""
        rows = [
            ["rank", "host", "address", "interface", *(f"to rank {one.rank}" for one in self.neighbours)],
            *([*_about(one), *self._row(one)] for one in self.neighbours),
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]

    def about(self, rank: int) -> list[str]:
        """Lines for people: what concerns that rank."""
        own = next(one for one in self.neighbours if one.rank == rank)
        lines = [f"rank {rank} on {own.host} uses {own.door.address} on {own.interface}"]
        for other in self.neighbours:
            if other is not own:
                there, back = _brief(self.attempts[rank, other.rank]), _brief(self.attempts[other.rank, rank])
                lines.append(f"to rank {other.rank} ({other.door.address}): {there}; from there: {back}")
        return lines

    def problems(self) -> list[str]:
        """A line for each door that some could not reach; none when every rank reaches every other."""
        lines = []
        for target in self.neighbours:
            failed: dict[Outcome, list[Neighbour]] = {}
            for source in self.neighbours:
                attempt = self.attempts.get((source.rank, target.rank))
                if attempt and attempt.outcome != "reached":
                    failed.setdefault(attempt.outcome, []).append(source)
            lines += [_problem(outcome, target, sources) for outcome, sources in failed.items()]
        return lines

    def _row(self, one: Neighbour) -> list[str]:
        return ["-" if one is other else _brief(self.attempts[one.rank, other.rank]) for other in self.neighbours]


def explore(member: Member, generation: Generation, rank: int, local_address: str, probe_port: int) -> Neighbourhood:
    """Knock at every other rank's door; the same on every rank of `generation`.

    `probe_port`: of the own door; 0: any free one. Raises GenerationOver when a rank leaves meanwhile, UnderstudyError
    when the port cannot be had.
    """
    with closing(Door(local_address, probe_port)) as door:
        own = Neighbour(rank=rank, host=platform.node(), interface=interface_of(local_address), door=door.place)
        member.put(f"neighbour/{rank}", json.dumps(asdict(own)))
        neighbours = tuple(_neighbour_of(member.get(f"neighbour/{one}")) for one in generation.members)
        doors = {one.rank: one.door for one in neighbours if one.rank != rank}
        with ThreadPoolExecutor(MOST_KNOCKS_AT_ONCE) as pool:
            found = dict(zip(doors, pool.map(partial(knock, source=local_address), doors.values()), strict=True))
        member.put(f"attempts/{rank}", json.dumps({other: asdict(attempt) for other, attempt in found.items()}))
        attempts = {
            (one, int(other)): Attempt(**attempt)
            for one in generation.members  # whose doors stay open until all have told
            for other, attempt in json.loads(member.get(f"attempts/{one}")).items()
        }
    return Neighbourhood(neighbours=neighbours, attempts=attempts)


def _neighbour_of(text: str) -> Neighbour:
    facts = json.loads(text)
    return Neighbour(**{**facts, "door": DoorPlace(**facts["door"])})


def _about(one: Neighbour) -> list[str]:
    return [str(one.rank), one.host, one.door.address, one.interface]


def _brief(attempt: Attempt) -> str:
    return f"{1000 * attempt.round_trip_seconds:.2f} ms" if attempt.outcome == "reached" else attempt.outcome


def _problem(outcome: Outcome, target: Neighbour, sources: Sequence[Neighbour]) -> str:
    ranks = " and ".join(str(one.rank) for one in sources)
    addresses = " and ".join(dict.fromkeys(one.door.address for one in sources))
    door = target.door
    why = in_words(outcome, address=door.address, port=door.port, source=addresses)
    is_of_port = outcome in ("no answer", "refused") and not is_loopback(door.address)
    advice = "; training itself takes any free port there" if is_of_port else ""
    return f"rank {target.rank} is not reached by rank {ranks}: {why}{advice}"
