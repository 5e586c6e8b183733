"""Do starting weights shorten a training? Shots that they never saw, three painted frames, the rest held out.

    python -m benchmarks.starting_weights.measure [--weights FOLDER] [--tasks denoise] [--model-size small]
        [--steps 600] [--batch-size 2] [--crop-size 128] [--seeds 2] [--threads 0] [--ways NAME ...] [--keep FOLDER]

FOLDER holds what benchmarks/starting_weights/make.py wrote; without it, those that are shipped are measured. Every run
has the same seed, steps and schedule but for what its way says. What is told: PSNR of the held-out frames along the
run; and for each way with weights, the part of the time (and of the steps) of the best run from scratch after which it
had reached what that one ended with.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.shots.files import PairFiles
from benchmarks.shots.shot import Shot
from benchmarks.starting_weights.tasks import TASKS
from benchmarks.starting_weights.unseen import SHOTS
from numpy.typing import NDArray

from understudy.frames.psnr import PooledPsnr
from understudy.frames.sequence import format_frames
from understudy.report.metrics import read_metrics
from understudy.runs import RunFiles
from understudy.settings import STARTING_WEIGHTS
from understudy.train.initial_weights import OURS

LOOKS = 10
"""Measurements along a run."""
SHOWN = (1, 2, 4, 7, 10)
"""Those of them that are printed."""
FULL = ("--no-multi-resolution",)


@dataclass(frozen=True, kw_only=True)
class Way:
    """A way to train."""

    has_weights: bool
    flags: tuple[str, ...] = ()
    share: float = 1.0
    """Of the steps."""


WAYS = {
    "scratch": Way(has_weights=False),
    "scratch, full resolution": Way(has_weights=False, flags=FULL),
    "weights": Way(has_weights=True),
    "weights, full resolution": Way(has_weights=True, flags=FULL),
    "weights, full resolution, a quarter of the steps": Way(has_weights=True, flags=FULL, share=0.25),
}


@dataclass(frozen=True, kw_only=True)
class Curve:
    """How a run went."""

    way: str
    steps: NDArray[np.int64]
    seconds: NDArray[np.float64]
    """Of the run at those steps, its measurements among them."""
    decibels: NDArray[np.float64]
    """Held-out PSNR."""

    @property
    def end(self) -> float:
        return float(self.decibels[-1])

    def steps_to(self, decibels: float) -> float | None:
        """Between two measurements on a straight line; None when it never gets there."""
        there = np.flatnonzero(self.decibels >= decibels)
        if not there.size:
            return None
        after = int(there[0])
        if after == 0:
            return float(self.steps[0])
        span = slice(after - 1, after + 1)
        return float(np.interp(decibels, self.decibels[span], self.steps[span]))

    def seconds_at(self, step: float) -> float:
        return float(np.interp(step, self.steps, self.seconds))

    def __str__(self) -> str:
        along = " ".join(f"{self.decibels[min(look, len(self.decibels)) - 1]:6.2f}" for look in SHOWN)
        return f"{self.way:50} {along}   {self.seconds[-1]:5.0f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, default=OURS, metavar="FOLDER")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(STARTING_WEIGHTS))
    parser.add_argument("--model-size", default="small")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--crop-size", type=int, default=128)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--keep", type=Path, default=None, metavar="FOLDER", help="shots and runs, to look at")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as passing:
        for name, shot in SHOTS.items():
            if shot.kind in arguments.tasks and shot.is_there:
                measure(name, shot, arguments, (arguments.keep or Path(passing)) / name.replace(" ", "_"))


def measure(name: str, shot: Shot, arguments: argparse.Namespace, folder: Path) -> None:
    """All ways, seed by seed, so that a machine whose speed drifts treats all alike."""
    files = PairFiles(folder=folder, seen_channels=shot.seen, wanted_channels=shot.wanted)
    print(
        f"\n{name}: {plate_psnr(shot, files):.2f} dB before; after {_shares()} of {arguments.steps} steps", flush=True
    )
    for seed in range(arguments.seeds):
        curves = []
        for number, way in enumerate(arguments.ways):
            curves.append(train(way, shot, files, seed, arguments, folder / f"seed{seed}_{number}"))
            print(f"  seed {seed}  {curves[-1]}", flush=True)
        for line in ratios(curves):
            print(f"  seed {seed}  {line}", flush=True)


def plate_psnr(shot: Shot, files: PairFiles) -> float:
    """Write the shot; what its plate (for mattes: the rough matte) comes to on the held-out frames."""
    pooled = PooledPsnr(shot.wanted)
    places = [shot.seen.index(channel) for channel in shot.wanted]
    for frame in shot.frames:
        example = shot.example(frame)
        files.write(frame, example)
        if frame in shot.held_out:
            pooled.add(example.seen[..., places], example.wanted)
    return pooled.decibels()


def train(way: str, shot: Shot, files: PairFiles, seed: int, arguments: argparse.Namespace, data: Path) -> Curve:
    chosen, size = WAYS[way], arguments.model_size
    steps = round(arguments.steps * chosen.share)
    weights = ("--initial-weights", str(arguments.weights / f"{shot.kind}.{size}.safetensors"))
    words = [
        *("train", *files.words(), "--validation-frames", format_frames(shot.held_out)),
        *("--data-directory", str(data), "--run-name", "bench", "--model-size", size, "--steps", str(steps)),
        *("--seed", str(seed), "--batch-size", str(arguments.batch_size), "--crop-size", str(arguments.crop_size)),
        *("--checkpoint-interval", str(max(1, steps // LOOKS)), "--max-checkpoints", "1"),
        *("--contact-sheet-interval", str(steps), "--threads", str(arguments.threads)),
        *chosen.flags,
        *(weights if chosen.has_weights else ()),
    ]
    done = subprocess.run([sys.executable, "-m", "understudy.cli.main", *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    metrics = read_metrics(RunFiles(data, "bench").metrics)
    seconds = np.interp(metrics.validation_steps, metrics.steps, metrics.seconds)
    return Curve(way=way, steps=metrics.validation_steps, seconds=seconds, decibels=metrics.validation_psnrs)


def ratios(curves: list[Curve]) -> Iterator[str]:
    """Each way with weights beside the best from scratch."""
    scratch = [curve for curve in curves if not WAYS[curve.way].has_weights]
    if not scratch:
        return
    best = max(scratch, key=lambda curve: curve.end)
    for curve in curves:
        if WAYS[curve.way].has_weights:
            step = curve.steps_to(best.end)
            if step is None:
                told = "never there"
            else:
                in_time = curve.seconds_at(step) / best.seconds[-1]
                told = f"there after {in_time:.2f} of the time, {step / best.steps[-1]:.2f} of the steps"
            gain = curve.end - best.end
            yield f"{curve.way}: {told}; {gain:+.2f} dB at its end (best from scratch: {best.end:.2f})"


def _shares() -> str:
    return ", ".join(f"{look / LOOKS:.0%}" for look in SHOWN)


if __name__ == "__main__":
    main()
