"""What happens to ranks on a farm, and how long the others take to go on."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.chaos.farm import Farm

ALL_TRAIN = "Ranks: 0, 1, 2 of 3 train"
SOME_TRAIN = "Ranks: "
STEP = "[Step:"
HEADING = ", rank 0 of "
"""In the first line of the log of a rank 0 that is ready to train."""
NOTICED = ("is gone", "waits for rank 0")
"""What rank 0 says of others, and others of rank 0."""


@dataclass(frozen=True, kw_only=True)
class Disturbance:
    """One rank is away for a while."""

    name: str
    rank: int
    absence_seconds: float
    take_away: Callable[[Farm, int], None]
    bring_back: Callable[[Farm, int], None]


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """What the ranks that stayed made of it."""

    pause_seconds: float
    """From when the loss was noticed to the next step; without rank 0, from when another rank 0 was ready."""
    return_seconds: float
    """From when the rank could come back to the next step of all together; starting a process is part of it."""


def killed(rank: int, absence_seconds: float) -> Disturbance:
    """With signal 9, and started again by the farm."""
    return Disturbance(
        name=f"kill -9 rank {rank}",
        rank=rank,
        absence_seconds=absence_seconds,
        take_away=Farm.kill,
        bring_back=Farm.start,
    )


def frozen(rank: int, absence_seconds: float) -> Disturbance:
    return Disturbance(
        name=f"freeze rank {rank}",
        rank=rank,
        absence_seconds=absence_seconds,
        take_away=Farm.freeze,
        bring_back=Farm.thaw,
    )


def unplugged(rank: int, absence_seconds: float) -> Disturbance:
    return Disturbance(
        name=f"link of rank {rank}",
        rank=rank,
        absence_seconds=absence_seconds,
        take_away=Farm.plug_out,
        bring_back=Farm.plug_in,
    )


def suffer(farm: Farm, disturbance: Disturbance) -> Recovery:
    """Let it happen to a run that all three ranks train, and wait until they do again.

    Raises AssertionError when they never do.
    """
    begin = time.time()
    disturbance.take_away(farm, disturbance.rank)
    time.sleep(disturbance.absence_seconds)
    returned = time.time()
    disturbance.bring_back(farm, disturbance.rank)
    all_train = farm.wait_for(0, ALL_TRAIN, after=returned)
    next_step = farm.wait_for(0, STEP, after=all_train.seconds)
    return Recovery(
        pause_seconds=_pause(farm, disturbance, begin, returned),
        return_seconds=next_step.seconds - returned,
    )


def join_late(farm: Farm, rank: int) -> Recovery:
    """Start a rank that was not there at the beginning, and wait until it takes part."""
    begin = time.time()
    farm.start(rank)
    all_train = farm.wait_for(0, ALL_TRAIN, after=begin)
    next_step = farm.wait_for(0, STEP, after=all_train.seconds)
    steps = [line for line in farm.log(0) if STEP in line.text and line.seconds < all_train.seconds]
    return Recovery(pause_seconds=next_step.seconds - steps[-1].seconds, return_seconds=next_step.seconds - begin)


def _pause(farm: Farm, disturbance: Disturbance, begin: float, returned: float) -> float:
    is_rank_0_new = disturbance.rank == 0 and disturbance.take_away == Farm.kill
    survivor = 1 if is_rank_0_new else 0
    noticed = farm.wait_for(0, HEADING, after=returned) if is_rank_0_new else farm.wait_for(0, *NOTICED, after=begin)
    regrouped = farm.wait_for(survivor, SOME_TRAIN, after=noticed.seconds)
    return farm.wait_for(survivor, STEP, after=regrouped.seconds).seconds - noticed.seconds
