"""The contract between understudy and a farm: what a back end is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from understudy.errors import UnderstudyError
from understudy.report.progress import ProgressStyle
from understudy_farm.spec import Job

TaskState = Literal["waiting", "running", "done", "failed", "cancelled", "unknown"]
ENDED: tuple[TaskState, ...] = ("done", "failed", "cancelled")


class FarmError(UnderstudyError):
    """The farm cannot be reached, refuses, or answers what nobody understands; says which farm and what to do."""


class FarmAway(FarmError):
    """Nobody answers: the farm's programs, service or network are not here. What needs no answer can go on."""


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a farm can do, as far as planning depends on it."""

    progress: ProgressStyle = "plain"
    """The lines by which its monitor shows progress."""
    has_task_environment: bool = True
    """A variable may differ from task to task; else the task's number travels as a word of the command."""
    can_gang: bool = False
    """Starts the tasks of a step at the same time, or none."""
    can_requeue_one: bool = True
    """One task of a step can be started again; else the whole step."""
    has_suspended: bool = False
    """A job may be sent without being started."""
    knows_workers: bool = False
    """`workers` counts machines; else that question is not asked."""
    has_queue: bool = True
    """A service keeps the job; else a process of this machine does."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """One thing that only this farm can be told, by preset, environment or --farm-option."""

    name: str
    doc: str
    default: str = ""


@dataclass(frozen=True, kw_only=True)
class Site:
    """The studio's own values of a farm's options: every option has one."""

    values: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.values[name]


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What a farm gave for a job: enough to find it again from any shell."""

    ids: Mapping[str, str]
    """Name of a step to the farm's id for it; to several, by commas, when tasks were sent anew."""
    link: str = ""
    """Where people look at the job: a URL, or a command to type."""


@dataclass(frozen=True, kw_only=True)
class TaskStatus:
    """One task as the farm sees it."""

    step: str
    number: int
    state: TaskState
    host: str = ""
    """Where it runs or ran last."""
    note: str = ""
    """The farm's own word for the state, an exit code, an error: for people."""


@dataclass(frozen=True, kw_only=True)
class Worker:
    """A machine of the farm that could take a task of the asked kind."""

    name: str


@dataclass(frozen=True, kw_only=True)
class FarmNames:
    """What a live farm knows by name, for people to choose from; empty where it cannot say."""

    pools: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()


@runtime_checkable
class KnowsNames(Protocol):
    """A back end that can list them; it need not."""

    def names(self, site: Site) -> FarmNames:
        """Raises FarmError when the farm does not answer."""


class FarmBackend(Protocol):
    """A farm. It translates and asks; what is to run was decided before. Every method raises FarmError."""

    name: str
    doc: str
    """One line for `understudy farms`."""
    options: tuple[Option, ...]

    def capabilities(self, site: Site) -> Capabilities: ...

    def payload(self, job: Job, site: Site) -> Mapping[str, str]:
        """File name to text: exactly what the farm will be sent. Pure: same job, same bytes."""

    def workers(self, job: Job, site: Site) -> tuple[Worker, ...]:
        """Those that could take a task now or later. Asked only of a farm that knows them.

        Raises FarmError naming a pool, group, limit or machine that the farm does not know.
        """

    def send(self, job: Job, folder: Path, site: Site) -> Receipt:
        """Submit the payload, which lies in `folder`: all of it or nothing.

        What was sent before a failure is cancelled; if that fails too, the message names it.
        """

    def status(self, job: Job, receipt: Receipt, site: Site) -> tuple[TaskStatus, ...]:
        """One for each task of each step, in their order."""

    def log(self, job: Job, receipt: Receipt, step: str, number: int, site: Site) -> str:
        """What the task has printed so far, all of its starts; empty when it has not started."""

    def cancel(self, job: Job, receipt: Receipt, site: Site) -> None:
        """End what runs and forget what waits. Comes back when the farm has taken it in; may be called twice."""

    def requeue(self, job: Job, receipt: Receipt, step: str, numbers: tuple[int, ...], site: Site) -> Receipt:
        """Start these tasks again under their numbers; those that run are ended first. The receipt from now on."""


def names_on(farm: FarmBackend, site: Site) -> FarmNames:
    """Nothing of a back end that cannot list them. Raises FarmError when the farm does not answer."""
    return farm.names(site) if isinstance(farm, KnowsNames) else FarmNames()


def site_of(farm: FarmBackend, stated: Mapping[str, str]) -> Site:
    """The values stated; options that a job of an earlier version does not state have their defaults."""
    return Site(values={**{option.name: option.default for option in farm.options}, **stated})
