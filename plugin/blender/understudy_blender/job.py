"""What `understudy status --watch --json` says, and what follows from it: share done, pace, time left."""

from __future__ import annotations

import json
import re
from collections import deque
from dataclasses import dataclass

from .problems import Problem

ENDED = ("done", "failed", "cancelled")
_TRAINING = re.compile(r"(?P<state>[^,]*)(?:, step (?P<step>\d+) of (?P<total>\d+), loss (?P<loss>\S+))?")
_FRAME = re.compile(r"^Frame -?\d+ \((\d+) of (\d+)\)$", re.MULTILINE)
_SECONDS_OF_PACE = 60.0
_TASK = ("step", "number", "state", "host", "note")


@dataclass(frozen=True)
class Task:
    """A rank, or another part of the job, as the farm sees it."""

    step: str
    number: int
    state: str
    host: str
    note: str


@dataclass(frozen=True)
class Report:
    """One look at a job."""

    job: str
    farm: str
    state: str
    """Of the whole job: waiting, running, done, failed, cancelled, unknown."""
    training: str
    """Of the run: submitted, training, finished, stopped, failed."""
    step: int
    total_steps: int
    loss: float | None
    tasks: tuple[Task, ...]

    @property
    def share(self) -> float:
        """Of the steps, 0 to 1."""
        return min(1.0, self.step / self.total_steps) if self.total_steps else 0.0

    @property
    def ranks(self) -> str:
        ranks = [task for task in self.tasks if task.step == "train"]
        running = sum(task.state == "running" for task in ranks)
        return f"{running} of {len(ranks)} ranks running" if ranks else ""

    @property
    def failed(self) -> Task | None:
        return next((task for task in self.tasks if task.state == "failed"), None)


class Reports:
    """Reads reports that follow each other without a mark between them, as they come."""

    def __init__(self) -> None:
        self._place = 0

    def newest(self, printed: str) -> Report | None:
        """The last whole report in all that was `printed` so far, if it is a new one.

        Raises Problem when it is none of ours.
        """
        found = None
        while True:
            self._place += len(printed[self._place :]) - len(printed[self._place :].lstrip())
            try:
                found, self._place = json.JSONDecoder().raw_decode(printed, self._place)
            except ValueError:  # not whole yet
                return read(found) if found is not None else None


def read(data: object) -> Report:
    """Raises Problem when it is no report."""
    try:
        assert isinstance(data, dict)
        training = _TRAINING.fullmatch(str(data["training"]))
        assert training is not None
        return Report(
            job=str(data["job"]),
            farm=str(data["farm"]),
            state=str(data["state"]),
            training=training["state"],
            step=int(training["step"] or 0),
            total_steps=int(training["total"] or 0),
            loss=float(training["loss"]) if training["loss"] else None,
            tasks=tuple(Task(*(task[name] for name in _TASK)) for task in data["tasks"]),
        )
    except (AssertionError, KeyError, TypeError, ValueError) as error:
        told = f"understudy status says what this add-on cannot read ({error!r}); use both of one version"
        raise Problem(told) from error


class Pace:
    """Steps per second of the last minute, from what was seen when."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def see(self, step: int, seconds: float) -> None:
        """`seconds` on any clock. A step below the last one begins anew: the training was taken up again."""
        if self._seen and step < self._seen[-1][1]:
            self._seen.clear()
        if not self._seen or step > self._seen[-1][1]:
            self._seen.append((seconds, step))
        while len(self._seen) > 2 and seconds - self._seen[0][0] > _SECONDS_OF_PACE:
            self._seen.popleft()

    def seconds_left(self, total_steps: int, seconds: float) -> float | None:
        """None when nobody can know yet."""
        if len(self._seen) < 2:
            return None
        (began, first), (_, last) = self._seen[0], self._seen[-1]
        return max(0, total_steps - last) * (seconds - began) / (last - first)


def spoken(seconds: float) -> str:
    """A time for people: 40 s, 12 min, 3 h 05 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"


def lines(report: Report, seconds_left: float | None) -> list[str]:
    """What the panel says of a job."""
    said = [f"{report.job} on {report.farm}: {report.state}"]
    if report.step:
        said.append(f"Step {report.step} of {report.total_steps}")
    if report.loss is not None:
        said.append(f"Loss {report.loss:.3g}")
    if report.state == "running":
        said += [report.ranks] + ([] if seconds_left is None else [f"About {spoken(seconds_left)} left"])
    return said


def frames_done(printed: str) -> float:
    """Share of the frames that `apply` or a bake has done, 0 to 1, from its lines `Frame 1040 (1 of 24)`."""
    found = _FRAME.findall(printed)
    return int(found[-1][0]) / int(found[-1][1]) if found else 0.0
