"""How many cores this process may use, which may be fewer than the machine has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUPS = Path("/proc/self/cgroup")
"""Lines of NUMBER:CONTROLLERS:PATH."""


def cores_given() -> int:
    """As many as the scheduler lets it run on, or a container's limit has time for; at least one.

    Threads for which there is no time hold each other up: in a container with the time of one core a run of two threads
    did a tenth of the steps that one of one did.
    """
    return max(1, min([len(cores_seen()), *map(int, _limits())]))


def cores_seen() -> tuple[int, ...]:
    """The numbers of those that it may run on, whoever else does."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def _limits() -> Iterator[float]:
    """Seconds of CPU per second, of each of the process's groups that has a limit and those above it."""
    with suppress(OSError):
        for line in OWN_CGROUPS.read_text(encoding="utf-8").splitlines():
            controllers, _, path = line.partition(":")[2].partition(":")
            # seen from within a container its own group is the uppermost, whatever its path is outside
            for group in (PurePosixPath(path), *PurePosixPath(path).parents):
                with suppress(OSError, ValueError):
                    yield _limit(controllers, str(group).lstrip("/"))


def _limit(controllers: str, group: str) -> float:
    """Raises OSError or ValueError when it has none."""
    if not controllers:  # version 2
        quota, period = (CGROUPS / group / "cpu.max").read_text(encoding="ascii").split()
    elif "cpu" in controllers.split(","):
        files = (CGROUPS / "cpu" / group / f"cpu.cfs_{name}_us" for name in ("quota", "period"))
        quota, period = (file.read_text(encoding="ascii").strip() for file in files)
    else:
        raise ValueError(controllers)
    if quota in ("max", "-1"):
        raise ValueError(quota)
    return int(quota) / int(period)
