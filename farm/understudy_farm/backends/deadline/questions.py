"""What Deadline is asked, by whichever way it is asked, and what a task is in its answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

MEND = "see in Deadline's Monitor whether the farm is well"

Kind = Literal["pool", "group", "limit", "worker"]
"""Things that Deadline knows by name."""
Again = Literal["requeue", "resumefailed", "resume"]
"""How a task is started again: one that runs or is done, one that failed, one that is suspended."""


@dataclass(frozen=True, kw_only=True)
class JobFiles:
    """One Deadline job before it is sent: two files of Key=Value lines, as deadlinecommand takes them."""

    job_info: Path
    plugin_info: Path


def files_of(folder: Path, step: str) -> JobFiles:
    return JobFiles(job_info=folder / f"{step}.job_info.job", plugin_info=folder / f"{step}.plugin_info.job")


@dataclass(frozen=True, kw_only=True)
class FarmTask:
    """A task as Deadline sees it."""

    number: int
    word: str
    """Queued, Suspended, Rendering, Completed, Failed, Pending, or what else Deadline says."""
    worker: str = ""
    num_errors: int = 0
    """How often it has failed so far."""


class Deadline(Protocol):
    """Every method raises FarmError when Deadline cannot be reached, refuses, or is not understood."""

    def submit(self, files: JobFiles) -> str:
        """The new job's id, 24 hexadecimal digits."""

    def delete(self, job_id: str) -> None: ...

    def fail(self, job_id: str) -> None:
        """End what runs, forget what waits, keep the job."""

    def start_again(self, job_id: str, how: Again, numbers: Sequence[int]) -> None: ...

    def tasks(self, job_id: str) -> tuple[FarmTask, ...]:
        """In the order of their numbers."""

    def reports(self, job_id: str, number: int) -> str:
        """What the task printed, each start that has ended, in their order."""

    def names(self, kind: Kind) -> tuple[str, ...]: ...

    def workers_in(self, kind: Literal["pool", "group"], names: Sequence[str]) -> tuple[str, ...]:
        """Workers that are in one of these pools, or groups."""
