"""Who takes part: the rules of membership, without a socket or a clock of their own.

Ranks are *present* while their line to the desk is open, and *ready* once they wait for a generation. A generation is
a set of ranks that train together; every change of membership is a new one. Each method gives the letters to send.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from understudy.ranks.lines import Message

Letter = tuple[int, Message]
Facts = Mapping[str, str]

MOST_DIFFERENCES = 5
"""Named in a refusal; the rest are counted."""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """Ranks that train together until one comes or goes."""

    number: int
    """Counts from 1 since rank 0 was started; for messages."""
    members: tuple[int, ...]
    """Ranks, ascending; rank 0 is always one of them."""
    donor: int
    """The rank whose state is the newest: all go on from it."""
    donor_step: int
    """Steps done by that state."""
    nonce: str
    """Names this generation alone, whatever was restarted."""
    changes: tuple[str, ...]
    """What happened since the one before, a line each."""

    @property
    def size(self) -> int:
        return len(self.members)

    def index_of(self, rank: int) -> int:
        """Place of `rank` in the process group."""
        return self.members.index(rank)


@dataclass(frozen=True, kw_only=True)
class Go:
    """What the ranks of a generation agreed on at one point."""

    stop: str
    """Why all are to end after this step; empty to go on."""
    elapsed_seconds: float
    """Time spent training: the most that any rank counts."""
    regroup: bool
    """Somebody waits to join: all are to meet again after this step."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What rank 0 fixed for everybody, and what it holds that the others must hold too."""

    batch_size: int
    """Crops a step over all ranks."""
    facts: Facts
    """Of its decoded pairs."""


@dataclass(frozen=True, kw_only=True)
class Presence:
    """One rank whose line is open."""

    token: str
    """Drawn by its process: tells a reconnect from a second process."""
    where: str
    """Host, address and pid, for messages."""


@dataclass(frozen=True, kw_only=True)
class _Arrival:
    point: int
    stop: str
    elapsed_seconds: float


class Roster:
    """Not safe for threads: the desk holds a lock."""

    def __init__(
        self, *, world_size: int, min_ranks: int, facts: Facts, has_begun: bool, grace_seconds: float, now: float
    ) -> None:
        """`facts`: rank 0's settings and versions. `has_begun`: the run has trained before, so not all must come.

        `grace_seconds`: how long to wait, once enough ranks are there, for more that may be on their way.
        """
        self.world_size = world_size
        self.has_begun = has_begun
        self._min_ranks = min_ranks
        self._facts = facts
        self._grace_seconds = grace_seconds
        self._last_change = now
        self._terms: Terms | None = None
        self._present: dict[int, Presence] = {}
        self._ready: dict[int, int] = {}
        """Rank to steps done by its state; -1: it has none yet."""
        self._generation: Generation | None = None
        self._is_intact = self._is_meeting = False
        """Nobody of the generation is lost; all of it was told to meet again."""
        self._count = 0
        self.num_fruitless = 0
        """Generations since the last in which the ranks came to agree on anything."""
        self.trouble = ""
        """How a process group failed last."""
        self._changes: list[str] = []
        self._gone: dict[int, str] = {}
        self._arrivals: dict[int, _Arrival] = {}
        self._values: dict[str, str] = {}
        self._awaited: dict[str, list[int]] = {}

    @property
    def is_waiting(self) -> bool:
        """Rank 0 could train and does not: somebody is missing."""
        return 0 in self._ready

    @property
    def has_terms(self) -> bool:
        return self._terms is not None

    def missing(self) -> dict[int, str]:
        """Ranks that are not ready, and what is known of each."""
        return {rank: self._whereabouts(rank) for rank in range(self.world_size) if rank not in self._ready}

    def refusal(self, rank: int, world_size: int, facts: Facts) -> str:
        """Why that rank cannot take part at all; empty when it can."""
        if world_size != self.world_size:
            return f"it was told of {world_size} ranks, rank 0 of {self.world_size}; start all with the same world size"
        if not 0 <= rank < self.world_size:
            return f"there are only ranks 0 to {self.world_size - 1}"
        return _differences(facts, self._facts)

    def holder(self, rank: int, token: str) -> Presence | None:
        """The other process that is that rank; None when there is none."""
        present = self._present.get(rank)
        return present if present and present.token != token else None

    def admit(self, rank: int, presence: Presence, now: float) -> list[Letter]:
        """A rank is there, or back."""
        letters = self.lose(rank, "it connected anew", now) if rank in self._present else []
        self._present[rank] = presence
        self._last_change = now
        self._changes.append(f"rank {rank} on {presence.where} joined")
        return letters + ([(rank, _terms_letter(self._terms))] if self._terms else [])

    def lose(self, rank: int, reason: str, now: float) -> list[Letter]:
        """A rank is gone; those who trained with it must meet again."""
        presence = self._present.pop(rank, None)
        if presence is None:
            return []
        self._ready.pop(rank, None)
        self._last_change = now
        self._gone[rank] = f"{reason}, last seen on {presence.where}"
        self._changes.append(f"rank {rank} on {presence.where} left: {reason}")
        if self._generation is None or rank not in self._generation.members:
            return []
        return self._break(f"rank {rank} left: {reason}")

    def fix_terms(self, terms: Terms) -> list[Letter]:
        """Rank 0 has looked at everything: the others may prepare."""
        self._terms = terms
        return [(rank, _terms_letter(terms)) for rank in self._present if rank != 0]

    def pair_refusal(self, facts: Facts) -> str:
        """Why a rank with these facts of its pairs cannot take part; empty when it can."""
        return _differences(facts, self._terms.facts) if self._terms else ""

    def ready(self, rank: int, step: int, *, after: str, trouble: str, now: float) -> list[Letter]:
        """A rank waits for the next generation with a state of so many steps (-1: none yet).

        `after`: nonce of the last generation it was told of. `trouble`: how the process group failed it, if it did.
        """
        generation = self._generation
        if self._is_intact and generation and rank in generation.members and after != generation.nonce:
            return []  # said twice, and answered meanwhile
        self._ready[rank] = step
        self.has_begun = self.has_begun or step > 0
        self._last_change = now
        if trouble:
            self.trouble = f"rank {rank}: {trouble}"
        if self._is_intact and not self._is_meeting and generation and rank in generation.members:
            return self._break(f"rank {rank} lost its connections to the others")
        return []

    def arrive(self, rank: int, nonce: str, *, point: int, stop: str, elapsed_seconds: float) -> list[Letter]:
        """A member has come to a point where all decide together."""
        generation = self._generation
        if generation is None or not self._is_intact or nonce != generation.nonce or rank not in generation.members:
            return [(rank, _over_letter(nonce, "it ended meanwhile"))]
        self._arrivals[rank] = _Arrival(point=point, stop=stop, elapsed_seconds=elapsed_seconds)
        if len(self._arrivals) < generation.size:
            return []
        arrivals, self._arrivals = self._arrivals, {}
        if len({arrival.point for arrival in arrivals.values()}) > 1:
            where = ", ".join(f"rank {one} at {arrival.point}" for one, arrival in sorted(arrivals.items()))
            return self._break(f"the ranks lost step with each other ({where})")
        go = {
            "kind": "go",
            "nonce": nonce,
            "point": point,
            "stop": next((arrivals[one].stop for one in sorted(arrivals) if arrivals[one].stop), ""),
            "elapsed_seconds": max(arrival.elapsed_seconds for arrival in arrivals.values()),
            "regroup": bool(self._ready),
        }
        self._is_meeting = bool(self._ready)
        self.num_fruitless = 0
        return [(member, go) for member in generation.members]

    def put(self, key: str, value: str) -> list[Letter]:
        """A word for the others of the generation: gloo's addresses."""
        self._values[key] = value
        return [(rank, _value_letter(key, value)) for rank in self._awaited.pop(key, [])]

    def get(self, rank: int, key: str) -> list[Letter]:
        if key in self._values:
            return [(rank, _value_letter(key, self._values[key]))]
        self._awaited.setdefault(key, []).append(rank)
        return []

    def form(self, now: float) -> list[Letter]:
        """The next generation, when all who should be in it are ready."""
        if not self._may_form(now):
            return []
        donor = max(self._ready, key=lambda rank: (self._ready[rank], -rank))
        self._count += 1
        self._generation = Generation(
            number=self._count,
            members=tuple(sorted(self._ready)),
            donor=donor,
            donor_step=self._ready[donor],
            nonce=secrets.token_hex(16),
            changes=tuple(self._changes),
        )
        self._is_intact = self.has_begun = True
        self._is_meeting = False
        self.num_fruitless += 1
        self._ready, self._changes, self._arrivals, self._values, self._awaited = {}, [], {}, {}, {}
        letter = generation_letter(self._generation)
        return [(rank, letter) for rank in self._generation.members]

    def _may_form(self, now: float) -> bool:
        still_busy = set(self._generation.members if self._generation else ()) & set(self._present) - set(self._ready)
        if 0 not in self._ready or still_busy:
            return False
        if len(self._ready) == self.world_size:
            return True
        fewest = self._min_ranks or (1 if self.has_begun else self.world_size)
        grace = 0.0 if self._generation else self._grace_seconds  # those of a generation are all known to be here
        return len(self._ready) >= fewest and now - self._last_change >= grace

    def _break(self, reason: str) -> list[Letter]:
        if not self._is_intact or self._generation is None:
            return []
        self._is_intact = False
        self._arrivals = {}
        letter = _over_letter(self._generation.nonce, reason)
        return [(rank, letter) for rank in self._generation.members if rank in self._present]

    def _whereabouts(self, rank: int) -> str:
        if rank in self._present:
            return f"on {self._present[rank].where}, still preparing"
        return self._gone.get(rank, "host unknown")


def generation_letter(generation: Generation) -> Message:
    return {
        "kind": "generation",
        "number": generation.number,
        "members": list(generation.members),
        "donor": generation.donor,
        "donor_step": generation.donor_step,
        "nonce": generation.nonce,
        "changes": list(generation.changes),
    }


def _terms_letter(terms: Terms) -> Message:
    return {"kind": "terms", "batch_size": terms.batch_size}


def _over_letter(nonce: str, reason: str) -> Message:
    return {"kind": "over", "nonce": nonce, "reason": reason}


def _value_letter(key: str, value: str) -> Message:
    return {"kind": "value", "key": key, "value": value}


def _differences(theirs: Facts, ours: Facts) -> str:
    """What one rank has that rank 0 has otherwise, named; empty when nothing."""
    names = sorted(name for name in {*theirs, *ours} if theirs.get(name) != ours.get(name))
    if not names:
        return ""
    lines = [f"{name} is {theirs.get(name, 'absent')}, rank 0 has {ours.get(name, 'none')}" for name in names]
    more = f"; and {len(lines) - MOST_DIFFERENCES} more" if len(lines) > MOST_DIFFERENCES else ""
    return f"it differs from rank 0: {'; '.join(lines[:MOST_DIFFERENCES])}{more}"
