"""A desk and its members in one process, over real sockets, with a wire to each member."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from tests.core.ranks.wires import LOOPBACK, Wire

from understudy.errors import EXIT_DONE
from understudy.ranks.desk import Desk, Patience
from understudy.ranks.member import Endpoint, GenerationOver, Member
from understudy.ranks.roster import Facts, Generation, Go, Roster

Answer = TypeVar("Answer")

SECRET = b"a secret of this run"
FACTS = {"--crop-size": "32", "--seed": "0"}
NONE: Facts = {}
BATCH_SIZE = 2
DEADLINE = 20.0
"""Seconds; whatever takes longer will never come."""


def patience(*, join: float = DEADLINE, hold: float = DEADLINE, silence: float = 5.0) -> Patience:
    return Patience(join_seconds=join, hold_seconds=hold, silence_seconds=silence)


def nobody() -> str:
    return ""


class Table:
    """Rank 0's desk and whoever comes; `told` is what rank 0 says."""

    def __init__(self, limits: Patience, *, world_size: int, min_ranks: int, successor: Callable[[], str]) -> None:
        self.patience = limits
        self.told: list[str] = []
        self.members: list[Member] = []
        self.wires: dict[int, Wire] = {}
        """Of the rank's newest process."""
        self._all_wires: list[Wire] = []
        self._world_size = world_size
        self._pool = ThreadPoolExecutor(16)
        listener = socket.create_server((LOOPBACK, 0))
        self.port = int(listener.getsockname()[1])
        self.desk = Desk(
            listener,
            run_name="shot",
            secret=SECRET,
            roster=Roster(
                world_size=world_size,
                min_ranks=min_ranks,
                facts=FACTS,
                has_begun=False,
                grace_seconds=2 * limits.silence_seconds,
                now=time.monotonic(),
            ),
            patience=limits,
            successor=successor,
            tell=self.told.append,
        )

    def seat(
        self, rank: int, *, facts: Facts | None = None, world_size: int = 0, secret: bytes = SECRET, pairs: Facts = NONE
    ) -> Member:
        """A new process of that rank; its words are appended to `told` as the desk's are."""
        wire = self.wires[rank] = Wire(self.port)
        self._all_wires.append(wire)
        member = Member(
            rank=rank,
            world_size=world_size or self._world_size,
            local_address=LOOPBACK,
            facts=FACTS if facts is None else facts,
            find_desk=lambda: endpoint(wire.port, secret=secret),
            patience=self.patience,
            tell=self.told.append,
        )
        member.hold_pairs(pairs)
        self.members.append(member)
        return member

    def seat_all(self) -> list[Member]:
        """Every rank, let in, and told rank 0's terms."""
        members = [self.seat(rank) for rank in range(self._world_size)]
        self.let_in(members)
        return members

    def let_in(self, members: Sequence[Member]) -> None:
        """Rank 0, the first of them, fixes the terms."""
        self.of_all(members, Member.join)
        members[0].fix_terms(BATCH_SIZE)
        self.of_all(members, Member.batch_size)

    def later(self, act: Callable[..., Answer], *arguments: object) -> Future[Answer]:
        return self._pool.submit(act, *arguments)

    def of_all(self, members: Sequence[Member], act: Callable[[Member], Answer]) -> list[Answer]:
        """What `act` gives for each, all at once."""
        return [future.result(DEADLINE) for future in [self.later(act, member) for member in members]]

    def generation(self, members: Sequence[Member], step: int = 0) -> Generation:
        """The generation in which all of them are; the same for each."""
        generations = self.of_all(members, lambda member: ready(member, step))
        assert len(set(generations)) == 1, generations
        return generations[0]

    def reunite(self, members: Sequence[Member], step: int = 0) -> Generation:
        """The first generation in which all are again; meanwhile those that are there go on."""

        def train(member: Member) -> Generation:
            point = step
            while True:
                try:
                    generation = ready(member, point)
                    if generation.size == len(members):
                        return generation
                    point = train_alone(member, generation.donor_step)
                except GenerationOver:
                    continue

        generations = self.of_all(members, train)
        assert len(set(generations)) == 1, generations
        return generations[0]

    def meet(self, members: Sequence[Member], point: int) -> Go:
        """All arrive, and are told the same."""

        def arrive(member: Member) -> Go:
            member.arrive(point, stop="", elapsed_seconds=1.0)
            return member.agreed(point)

        gos = self.of_all(members, arrive)
        assert len(set(gos)) == 1, gos
        return gos[0]

    def hears(self, words: str) -> str:
        """The line in which `words` are told, once it is."""
        wait_until(lambda: any(words in line for line in self.told), self.told)
        return next(line for line in self.told if words in line)

    def close(self) -> None:
        for wire in self._all_wires:
            wire.release()
        self.desk.end(EXIT_DONE, "the test is over")  # frees whoever waits still
        self._pool.shutdown()
        for member in self.members:
            member.leave("the test is over")
        self.desk.close()
        for wire in self._all_wires:
            wire.close()


@contextmanager
def laid_table(
    limits: Patience | None = None, *, world_size: int = 3, min_ranks: int = 0, successor: Callable[[], str] = nobody
) -> Iterator[Table]:
    table = Table(limits or patience(), world_size=world_size, min_ranks=min_ranks, successor=successor)
    try:
        yield table
    finally:
        table.close()
    wait_until(lambda: not line_threads(), line_threads())


def endpoint(port: int, *, secret: bytes = SECRET, is_fixed: bool = True) -> Endpoint:
    return Endpoint(address=LOOPBACK, port=port, secret=secret, told_by="the test", is_fixed=is_fixed)


def ready(member: Member, step: int = 0, trouble: str = "") -> Generation:
    return member.next_generation(step, trouble, nobody)


def train_alone(member: Member, point: int, end: int = sys.maxsize) -> int:
    """Go from point to point with the others of the generation until all are to meet again; the point then."""
    while point < end:
        member.arrive(point + 1, stop="", elapsed_seconds=0.0)
        go = member.agreed(point + 1)
        point += 1
        if go.regroup:
            break
    return point


def line_threads() -> list[str]:
    """Names of threads that desks and members have left behind."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith(("desk", "member"))]


def wait_until(is_so: Callable[[], bool], about: object = "") -> None:
    begin = time.monotonic()
    while not is_so():
        assert time.monotonic() - begin < DEADLINE, about
        time.sleep(0.01)
