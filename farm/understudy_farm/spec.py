"""The job: plain data that says what runs where, the same for every farm."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.plain import table_of

SCHEMA = 1
"""Raised whenever an older version could misread what a newer one writes."""
NUMBER = "{number}"
"""Stands for the task's own number in words and variables of a step."""
MOST_TASKS = 1_000_000
"""Of one step: more were never planned."""


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What one task needs of its machine."""

    cores: int = 0
    """CPU cores; 0: the farm's own rule."""
    gpus: int = 0
    memory_gib: float = 0.0
    """0: the farm's own rule."""
    timeout_minutes: float = 0.0
    """Longest time of a task, counted anew for each start; 0: no limit."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """Tasks that differ by their number alone."""

    name: str
    """bake, train, apply or publish."""
    argv: tuple[str, ...]
    """The command of every task; `{number}` stands for the task's."""
    environment: tuple[tuple[str, str], ...] = ()
    """Variables of every task, with `{number}` likewise; nothing else of the submitter's environment travels."""
    num_tasks: int
    """Numbered from 0."""
    after: tuple[str, ...] = ()
    """Names of steps that must have succeeded before."""
    at_once: bool = False
    """The tasks belong together: a farm that can starts all of them at the same time."""
    retries: int
    """How often the farm may start a task that failed again, under the same number."""
    resources: Resources = Resources()
    limits: tuple[str, ...] = ()
    """Limits or licences that its tasks count against besides the job's."""

    def argv_of(self, number: int | str) -> tuple[str, ...]:
        """The command of one task, or with a farm's own token for its number."""
        return tuple(word.replace(NUMBER, str(number)) for word in self.argv)

    def environment_of(self, number: int | str) -> dict[str, str]:
        return {name: value.replace(NUMBER, str(number)) for name, value in self.environment}


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Where on a farm a job goes, by the words that farms share."""

    priority: int = 50
    """0 to 100, 100 first."""
    pool: str = ""
    """Deadline's pool, Slurm's partition, OpenCue's show; empty: the farm's default."""
    secondary_pool: str = ""
    group: str = ""
    """Deadline's group, Slurm's account, OpenCue's tag."""
    limits: tuple[str, ...] = ()
    """Deadline's limits, Slurm's licences, OpenCue's limits."""
    machines: tuple[str, ...] = ()
    """The only machines that may take tasks; empty: any."""
    depends_on: tuple[str, ...] = ()
    """Ids of jobs on the same farm that must have succeeded first."""
    is_suspended: bool = False
    """Sent, but started by hand."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One submission. Everything that a farm is told can be read here."""

    name: str
    batch: str
    """Groups jobs of one shot in the farm's monitor."""
    comment: str = ""
    department: str = ""
    user: str
    """The artist, not a service's account."""
    host: str
    """The machine that submitted."""
    run_directory: Path
    """Holds the run and this job, on storage that every task sees."""
    run_name: str
    placement: Placement = Placement()
    steps: tuple[Step, ...]
    """In an order in which each comes after those it waits for."""

    def step(self, name: str) -> Step:
        """Raises UnderstudyError naming the steps that there are."""
        for step in self.steps:
            if step.name == name:
                return step
        there = ", ".join(step.name for step in self.steps)
        raise UnderstudyError(f"{self.run_directory}: the job has no step {name!r}; it has {there}")

    def limits_of(self, step: Step) -> tuple[str, ...]:
        """All that the step's tasks count against, each once."""
        return tuple(dict.fromkeys((*self.placement.limits, *step.limits)))


def to_text(job: Job) -> str:
    """job.json: `from_text` gives an equal job back."""
    values = {"schema": SCHEMA, **dataclasses.asdict(job), "run_directory": str(job.run_directory)}
    steps = [{**step, "environment": dict(step["environment"])} for step in values["steps"]]
    return json.dumps({**values, "steps": steps}, indent=2, ensure_ascii=False) + "\n"


def from_text(text: str, path: Path) -> Job:
    """The job that `to_text` wrote. Raises UnderstudyError naming `path` when it is damaged or of another version."""
    try:
        data = json.loads(text)
        if not isinstance(data, dict):
            raise ValueError("it is no table")
        if data.pop("schema", None) != SCHEMA:
            raise ValueError("it was written by another version of understudy")
        job = table_of(Job, {**data, "steps": [_with_pairs(step) for step in _listed(data, "steps")]})
        if any(not 0 <= step.num_tasks <= MOST_TASKS for step in job.steps):
            raise ValueError(f"a step has fewer than 0 or more than {MOST_TASKS} tasks")
        return job
    except (ValueError, RecursionError) as error:
        raise UnderstudyError(f"{path}: is no job of this version ({error}); submit it again") from error


def _listed(data: Mapping[str, object], name: str) -> list[object]:
    value = data.get(name)
    if not isinstance(value, list):
        raise ValueError(f"field {name!r} is missing or no list")
    return value


def _with_pairs(step: object) -> object:
    """A step whose variables are pairs, which JSON holds as a table."""
    if not isinstance(step, Mapping) or not isinstance(step.get("environment"), Mapping):
        return step
    return {**step, "environment": [[name, value] for name, value in step["environment"].items()]}
