"""Who trains with this process: nobody, or the other ranks of the run. The loop and the session see both alike."""

from __future__ import annotations

import base64
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from typing import Protocol

from torch._C._distributed_c10d import Store

from understudy.ranks.meeting import Meeting
from understudy.ranks.member import GenerationOver, Member, StoppedWaiting
from understudy.ranks.roster import Generation, Go
from understudy.settings import Eviction
from understudy.stopping import StopRequests, exit_code_after
from understudy.train.group import Group, GroupBroken
from understudy.train.handover import hand_over
from understudy.train.run import Run
from understudy.train.sharing import Alone, Sharing
from understudy.train.state import TrainingState
from understudy.train.sync_plan import SyncPlan, plan_for_link, sharing_for

_LOG = logging.getLogger("understudy")

GROUP_TIMEOUT = timedelta(seconds=30)
"""For a transfer to move at all between ranks that are all there. That a rank is gone is noticed by the desk."""
STEPS_OF_PATIENCE = 10
"""For a transfer to stand still, in times between meeting points: steps grow up to fourfold with the resolution."""


class Regroup(Exception):
    """All agreed to meet again."""


Parted = (Regroup, GenerationOver, GroupBroken)
"""What ends a generation; the ranks that are left meet again."""


class Evicted(Exception):
    """This rank is to leave; says why."""


class Company(Protocol):
    """With whom a run is trained."""

    is_left_to_others: bool
    """This rank was evicted: the run goes on without it."""

    def assembled(self, run: Run, state: TrainingState) -> AbstractContextManager[Sharing]:
        """Meet, bring `state` to the newest of all, and share the steps while the block runs.

        Raises RanksMissing when too few are left, Evicted, and one of Parted when someone left meanwhile.
        """

    def take_generation(self) -> Generation | None:
        """The generation that was formed, once; None when nothing was."""

    def arrive(self, step: int) -> None:
        """Say that this rank begins `step`, after which all decide together. Raises Evicted or one of Parted."""

    def agreed(self, step: int) -> Go:
        """What all decided for the end of `step`. Raises one of Parted."""

    def part(self, parted: Exception) -> None:
        """The generation is over."""

    def conclude(self, reason: str) -> None:
        """All is trained and written, or stopped for `reason`; returns when rank 0 says so. Raises one of Parted."""


class Clock:
    """Seconds spent training; waiting for ranks does not count."""

    def __init__(self) -> None:
        self._begin = time.monotonic()

    def start_at(self, seconds: float) -> None:
        self._begin = time.monotonic() - seconds

    def seconds(self) -> float:
        return time.monotonic() - self._begin


class Nobody:
    """A company of one."""

    is_left_to_others = False

    def __init__(self, stop: StopRequests) -> None:
        self._stop = stop
        self._clock = Clock()

    @contextmanager
    def assembled(self, run: Run, state: TrainingState) -> Iterator[Sharing]:
        self._clock.start_at(state.elapsed_seconds)
        yield Alone(state.model, bfloat16=run.machine.bfloat16)

    def take_generation(self) -> None:
        return None

    def arrive(self, step: int) -> None:
        """There is nobody to tell."""

    def agreed(self, step: int) -> Go:  # noqa: ARG002
        return Go(stop=self._stop.reason(), elapsed_seconds=self._clock.seconds(), regroup=False)

    def part(self, parted: Exception) -> None:
        raise parted

    def conclude(self, reason: str) -> None:
        """There is nobody to wait for."""


class Ranks:
    """The ranks of a run, met at rank 0's desk, joined anew in every generation."""

    def __init__(
        self,
        meeting: Meeting,
        stop: StopRequests,
        *,
        eviction: Eviction,
        silence_seconds: float,
        tell: Callable[[str], None],
    ) -> None:
        self._silence_seconds = silence_seconds
        self._meeting = meeting
        self._member = meeting.member
        self._rank = meeting.place.rank
        self._stop = stop
        self._eviction = eviction
        self._has_state = meeting.leads
        """Others came with nothing but first weights."""
        self.is_left_to_others = False
        self._tell = tell
        self._clock = Clock()
        self._news: Generation | None = None
        self._trouble = ""
        self._agreed: tuple[int, Go] | None = None
        self._group: Group | None = None
        self._last_meeting: float | None = None
        """When the ranks of this generation last met; None: not yet."""
        self._measured: tuple[frozenset[int], SyncPlan | None] = (frozenset(), None)
        """The members between which the links were last measured, and what was chosen for them."""

    @contextmanager
    def assembled(self, run: Run, state: TrainingState) -> Iterator[Sharing]:
        generation = self._next_generation(state)
        index = generation.index_of(self._rank)
        group = Group(
            DeskStore(self._member),
            index=index,
            size=generation.size,
            local_address=self._meeting.local_address,
            device=run.machine.device,
            timeout=GROUP_TIMEOUT,
        )
        self._group, self._last_meeting = group, None
        try:
            self._member.when_over(group.interrupt)
            group.prove(self._member.secret, generation.nonce)
            hand_over(state, group, donor_index=generation.index_of(generation.donor))
            self._has_state = True
            plan = self._plan(run, state, group, generation)
            self._news = generation
            self._clock.start_at(state.elapsed_seconds)
            sharing = sharing_for(plan, run, state, group, meet=self.agreed)
            try:
                yield sharing
            finally:
                sharing.close()
        finally:
            group.close()

    def take_generation(self) -> Generation | None:
        news, self._news = self._news, None
        return news

    def arrive(self, step: int) -> None:
        reason = self._stop.reason()
        if reason and self._eviction == "leave" and self._stop.is_signal:
            self.is_left_to_others = True
            raise Evicted(reason)
        self._member.arrive(step, stop=reason, elapsed_seconds=self._clock.seconds())
        self._agreed = None

    def agreed(self, step: int) -> Go:
        if self._agreed is None or self._agreed[0] != step:
            self._agreed = (step, self._member.agreed(step))
            self._adapt_patience()
        return self._agreed[1]

    def part(self, parted: Exception) -> None:
        _LOG.info("meeting the other ranks again: %s", parted)
        self._trouble = str(parted) if isinstance(parted, GroupBroken) else ""

    def conclude(self, reason: str) -> None:
        if self._meeting.leads:
            code = exit_code_after(reason, self._eviction)
            self._meeting.end(code, f"stopped by {reason}" if reason else "finished")
        else:
            self._member.await_end()

    def _adapt_patience(self) -> None:
        """All are here now: from now on a transfer stands still only for as long as another still computes."""
        now = time.monotonic()
        if self._group and self._last_meeting is not None:
            seconds = max(self._silence_seconds, STEPS_OF_PATIENCE * (now - self._last_meeting))
            self._group.allow(min(GROUP_TIMEOUT, timedelta(seconds=seconds)))
        self._last_meeting = now

    def _next_generation(self, state: TrainingState) -> Generation:
        step, trouble = state.step if self._has_state else -1, self._trouble
        self._trouble = ""
        try:
            generation = self._member.next_generation(step, trouble, stop_waiting=self._stop.reason)
        except StoppedWaiting as stopped:
            self.is_left_to_others = True
            raise Evicted(str(stopped)) from stopped
        who = ", ".join(map(str, generation.members))
        origin = f" from step {generation.donor_step} of rank {generation.donor}" if generation.donor_step > 0 else ""
        why = f" ({'; '.join(generation.changes)})" if generation.number > 1 and generation.changes else ""
        self._tell(f"Ranks: {who} of {self._meeting.place.world_size} train{origin}{why}")
        return generation

    def _plan(self, run: Run, state: TrainingState, group: Group, generation: Generation) -> SyncPlan:
        """What was chosen when all of these were measured, if rank 0 remembers; else chosen anew, and said."""
        measured, known = self._measured
        is_known = measured.issuperset(generation.members)
        plan = plan_for_link(run, state, group, known if is_known else None)
        if plan != known:
            self._tell(f"Sync: {plan.describe()}")
        if not is_known:
            self._measured = (frozenset(generation.members), plan)
        return plan


class DeskStore(Store):
    """What gloo and NCCL need to find each other, carried by the desk: sealed, and with an end in sight."""

    def __init__(self, member: Member) -> None:
        super().__init__()
        self._member = member

    def set(self, key: str, value: str | bytes) -> None:
        content = value.encode() if isinstance(value, str) else bytes(value)
        self._member.put(key, base64.b64encode(content).decode())

    def get(self, key: str) -> bytes:
        return base64.b64decode(self._member.get(key))

    def wait(self, keys: list[str], timeout: timedelta | None = None) -> None:  # noqa: ARG002  # the desk ends it
        for key in keys:
            self.get(key)

    def check(self, keys: list[str]) -> bool:
        return all(self._member.has(key) for key in keys)

    def has_extended_api(self) -> bool:
        return False

    def clone(self) -> DeskStore:
        return DeskStore(self._member)
