"""What is compared: programs that learn from painted frames, each behind a small adapter."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np
from benchmarks.shots.files import PairFiles
from benchmarks.shots.shot import Shot

from understudy.frames.image import FloatPixels
from understudy.frames.sequence import format_frames
from understudy.report.metrics import read_metrics
from understudy.runs import RunFiles
from understudy.settings import Settings
from understudy.train.device import Machine, choose_machine
from understudy.train.infer import answer_for
from understudy.train.model_file import load_model
from understudy.train.network import Understudy


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A model on its way."""

    step: int
    seconds: float
    """Of training until then, its start left out."""
    answer: Callable[[FloatPixels], FloatPixels]
    """H W Cin scene-linear -> H W Cout."""


class Trainer(Protocol):
    """A program with its settings."""

    @property
    def name(self) -> str: ...

    def train(self, shot: Shot, files: PairFiles, seed: int, seconds: float, folder: Path) -> Iterator[Snapshot]:
        """For so long, on the painted frames alone; snapshots in order of time, the last one at the end."""


@dataclass(frozen=True, kw_only=True)
class Ours:
    """Ours, through its command line."""

    name: str
    flags: tuple[str, ...] = ()
    snapshots: int = 6

    def train(self, shot: Shot, files: PairFiles, seed: int, seconds: float, folder: Path) -> Iterator[Snapshot]:
        """Run once; its checkpoints are the snapshots. A first, short run says how many steps a second there are."""
        steps_a_second = self._run(shot, files, seed, 6.0, folder / "pace", 10**6).rate
        interval = max(1, int(steps_a_second * seconds / self.snapshots))
        yield from self._run(shot, files, seed, seconds, folder / "run", interval).snapshots()

    def _run(self, shot: Shot, files: PairFiles, seed: int, seconds: float, data: Path, interval: int) -> _Run:
        words = [
            *("train", *files.words(), "--frames", format_frames(shot.painted)),
            *("--data-directory", str(data), "--run-name", "bench", "--minutes", str(seconds / 60)),
            *("--seed", str(seed), "--steps", "1000000", "--checkpoint-interval", str(interval)),
            *("--max-checkpoints", "100", "--contact-sheet-interval", "1000000", *self.flags),
        ]
        done = subprocess.run([sys.executable, "-m", "understudy.cli.main", *words], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        return _Run(RunFiles(data, "bench"))


class _Run:
    """One that has ended."""

    def __init__(self, files: RunFiles) -> None:
        self._files = files
        self._metrics = read_metrics(files.metrics)

    @property
    def rate(self) -> float:
        return float(self._metrics.steps[-1] / self._metrics.seconds[-1])

    def snapshots(self) -> Iterator[Snapshot]:
        machine = choose_machine(Settings(precision="float32"), print)
        for step in self._files.checkpoint_steps():
            model = load_model(self._files.model(step)).model.to(machine.device).eval()
            seconds = float(np.interp(step, self._metrics.steps, self._metrics.seconds))
            yield Snapshot(step=step, seconds=seconds, answer=partial(_answer, model, machine))


def _answer(model: Understudy, machine: Machine, pixels: FloatPixels) -> FloatPixels:
    return answer_for(model, pixels, machine)
