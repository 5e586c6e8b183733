"""What is compared: programs that learn from painted frames, each behind a small adapter."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np
from benchmarks.quality.altered import ALTERATIONS
from benchmarks.shots.files import PairFiles
from benchmarks.shots.shot import Shot

from understudy.frames.image import FloatPixels
from understudy.frames.sequence import format_frames
from understudy.report.metrics import read_metrics
from understudy.report.run_record import read_record
from understudy.runs import RunFiles
from understudy.settings import Settings
from understudy.train.batch_plan import BatchPlan
from understudy.train.device import Machine, choose_machine
from understudy.train.infer import MOST_PIXELS, answer_for
from understudy.train.model_file import load_model
from understudy.train.network import Understudy
from understudy.train.tiles import tiling_for

Frames = Mapping[int, FloatPixels]
"""By number, H W C."""


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A model on its way."""

    step: int
    seconds: float
    """Of training until then, its start left out."""
    answers: Callable[[Frames], Frames]
    """H W Cin scene-linear -> H W Cout, of as many frames as are asked for; good until the next snapshot."""


@dataclass(frozen=True, kw_only=True)
class Means:
    """What a way may use."""

    threads: int | None = None
    """Of the CPU; None: as many as each program takes by itself."""
    peer_python: Path | None = None
    """Has what the peers require."""
    checkouts: Mapping[str, Path] = field(default_factory=dict)
    """Of peers, by the name of their option."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One training."""

    shot: Shot
    files: PairFiles
    seed: int
    seconds: float
    """Of training."""
    folder: Path
    """For what is written on the way."""
    means: Means = Means()
    steps: int | None = None
    """Of ours, in place of the clock: what a busy machine lets a run do in its time is not the run's own."""


class Trainer(Protocol):
    """A program with its settings."""

    @property
    def name(self) -> str: ...

    def lacking(self, means: Means, /) -> str | None:
        """What must be given before it can train, in one line."""

    def train(self, task: Task) -> Iterator[Snapshot]:
        """For so long, on the painted frames alone; snapshots in order of time, the last one at the end."""


@dataclass(frozen=True, kw_only=True)
class Ours:
    """Ours, through its command line."""

    name: str
    flags: tuple[str, ...] = ()
    altered: str = ""
    """What is undone in it, by its name in `altered`."""
    passes: int = 1
    """As of `apply`."""
    snapshots: int = 6

    def lacking(self, _means: Means, /) -> str | None:
        """Nothing: it is here."""
        return None

    def train(self, task: Task) -> Iterator[Snapshot]:
        """Run once; its checkpoints are the snapshots. A first, short run says how many steps a second there are."""
        steps, end = task.steps, _minutes(task.seconds)
        if steps is None:
            steps = int(self._run(task, _minutes(6.0), task.folder / "pace", 10**6).rate * task.seconds)
        else:
            end = ("--steps", str(steps))
        run = self._run(task, end, task.folder / "run", max(1, steps // self.snapshots))
        yield from run.snapshots(ALTERATIONS[self.altered] if self.altered else nullcontext, self.passes)

    def _run(self, task: Task, end: tuple[str, ...], data: Path, interval: int) -> _Run:
        words = [
            *("train", *task.files.words(), "--frames", format_frames(task.shot.painted), *end),
            *("--data-directory", str(data), "--run-name", "bench"),
            *("--seed", str(task.seed), "--checkpoint-interval", str(interval)),
            *("--max-checkpoints", "100", "--contact-sheet-interval", "1000000", *self.flags),
            *(("--threads", str(task.means.threads)) if task.means.threads else ()),
        ]
        program = ["benchmarks.quality.altered", self.altered] if self.altered else ["understudy.cli.main"]
        done = subprocess.run([sys.executable, "-m", *program, *words], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        return _Run(RunFiles(data, "bench"))


def _minutes(seconds: float) -> tuple[str, ...]:
    return "--steps", "1000000", "--minutes", str(seconds / 60)


class _Run:
    """One that has ended."""

    def __init__(self, files: RunFiles) -> None:
        self._files = files
        self._metrics = read_metrics(files.metrics)

    @property
    def rate(self) -> float:
        """Steps a second, of whole batches: the first steps of one that grows are not as long."""
        record = read_record(self._files.record)
        batch = BatchPlan(size=record.batch_size, first=record.first_steps)
        num_crops = batch.samples(int(self._metrics.steps[-1])).stop
        return float(num_crops / batch.size / self._metrics.seconds[-1])

    def snapshots(self, as_trained: Callable[[], AbstractContextManager[object]], passes: int) -> Iterator[Snapshot]:
        """`as_trained`: what the network of the files takes to be built. `passes`: answers whose mean is taken."""
        machine = choose_machine(Settings(precision="float32"), print)
        for step in self._files.checkpoint_steps():
            with as_trained():
                model = load_model(self._files.model(step)).model.to(machine.device).eval()
            seconds = float(np.interp(step, self._metrics.steps, self._metrics.seconds))
            yield Snapshot(step=step, seconds=seconds, answers=partial(_answers, model, machine, passes))


def _answers(model: Understudy, machine: Machine, passes: int, frames: Frames) -> Frames:
    tiling = tiling_for(model, MOST_PIXELS, passes)
    return {frame: answer_for(model, pixels, machine, tiling) for frame, pixels in frames.items()}
