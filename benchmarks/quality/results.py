"""What measure has written to scores.jsonl, as runs that can be asked how good they were at a time."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SHORT_BY = 0.05
"""A run whose last snapshot lies this part before a time still counts there."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """Of one way on one shot with one seed; numbers of one length, in order of time."""

    shot: str
    way: str
    seed: int
    seconds: tuple[float, ...]
    numbers: dict[str, tuple[float, ...]]
    """step and the fields of Scores."""

    def at(self, name: str, seconds: float) -> float:
        """Between snapshots straight over the logarithm of time; nan before the first and after the last."""
        if not self.seconds[0] <= seconds <= self.seconds[-1] * (1 + SHORT_BY):
            return math.nan
        return float(np.interp(math.log(seconds), np.log(self.seconds), self.numbers[name]))

    @property
    def is_of_matte(self) -> bool:
        return not math.isnan(self.numbers["matte_error"][-1])


def read_runs(path: Path) -> list[Run]:
    """By shot, way and seed in the order of the file; a run that was measured again counts by its last time."""
    if not path.is_file():
        raise SystemExit(f"{path} is absent: give the folder of measure --keep")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    snapshots: dict[tuple[str, str, int], list[dict[str, float]]] = {}
    for line in lines:
        found = snapshots.setdefault((line.pop("shot"), line.pop("way"), line.pop("seed")), [])
        if found and line["seconds"] <= found[-1]["seconds"]:
            found.clear()
        found.append(line)
    return [_run(*key, found) for key, found in snapshots.items()]


def _run(shot: str, way: str, seed: int, snapshots: Sequence[dict[str, float]]) -> Run:
    numbers = {name: tuple(snapshot[name] for snapshot in snapshots) for name in snapshots[0]}
    return Run(shot=shot, way=way, seed=seed, seconds=numbers.pop("seconds"), numbers=numbers)


def shots_and_ways(runs: Sequence[Run]) -> tuple[list[str], list[str]]:
    """In the order in which they come up."""
    return list(dict.fromkeys(run.shot for run in runs)), list(dict.fromkeys(run.way for run in runs))


def of(runs: Sequence[Run], *, shot: str, way: str | None = None) -> list[Run]:
    return [run for run in runs if run.shot == shot and way in (None, run.way)]
