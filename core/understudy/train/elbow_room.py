"""Cores that other programs keep busy are left to them.

A step's threads wait for each other at every layer. When one of them has to wait for its core as well, the others wait
for it, and turn round meanwhile: beside one busy program a step of all threads takes far longer than one of fewer.
"""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass

import psutil
import torch

from understudy.cores import cores_given, cores_seen
from understudy.train.device import Machine

SECONDS_BETWEEN_LOOKS = 5.0
LOOKS_THAT_AGREE = 2
"""Before a thread more or less is used: what comes and goes in seconds is left alone."""
LEFT_ALONE = 0.4
"""Cores that others may have kept busy, all together, before any is left to them."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Up to a moment; seconds."""

    clock: float
    busy: float
    """Of all cores that the process may run on, whoever kept them busy."""
    own: float
    """Of these, by the process, in all of its threads."""


class ElbowRoom:
    """The threads of a run that nobody told how many to use: as many as cores are left by others."""

    def __init__(self, machine: Machine) -> None:
        self._adapts = machine.leaves_cores
        self._last = usage()
        self._wanted = [cores_given()] * LOOKS_THAT_AGREE

    def look(self) -> None:
        """Between steps, by the thread that takes them."""
        if self._adapts and time.monotonic() - self._last.clock >= SECONDS_BETWEEN_LOOKS:
            self.take(usage())

    def take(self, now: Usage) -> None:
        """Change the number of threads, if that is what is wanted now and was when it was looked last."""
        cores = cores_given()
        not_ours = len(cores_seen()) - cores  # a container may run on more cores than it has the time of
        others = others_between(self._last, now) - not_ours
        self._last = now
        self._wanted = [*self._wanted[1:], threads_beside(cores, others)]
        threads = self._wanted[-1]
        if threads != torch.get_num_threads() and self._wanted == [threads] * LOOKS_THAT_AGREE:
            _LOG.info("others keep %.1f of %d cores busy: going on with %d threads", others, cores, threads)
            torch.set_num_threads(threads)


def threads_beside(cores: int, others: float) -> int:
    """How many to use of the `cores` that are given to the process, when others keep so many of them busy."""
    return max(1, cores - math.ceil(max(0.0, others - LEFT_ALONE)))


def others_between(before: Usage, now: Usage) -> float:
    """Cores that others kept busy, in the mean."""
    return max(0.0, (now.busy - before.busy) - (now.own - before.own)) / (now.clock - before.clock)


def usage() -> Usage:
    each = psutil.cpu_times(percpu=True)
    seen = cores_seen()
    if max(seen) < len(each):
        each = [each[core] for core in seen]
    busy = sum(core.user + core.system + getattr(core, "nice", 0.0) for core in each)
    return Usage(clock=time.monotonic(), busy=busy, own=time.process_time())
