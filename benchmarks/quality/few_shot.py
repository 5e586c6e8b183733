"""Few-Shot Patch-Based Training, https://github.com/OndrejTexler/Few-Shot-Patch-Based-Training, from a user's checkout.

It has no licence: it is run, nothing of it is here. Its perceptual loss is left out, since that fetches the weights of
VGG from the network; what remains is its L1 and its adversarial loss.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.quality.peers import (
    PACE_SECONDS,
    Peer,
    as_matte,
    as_rgb,
    lacking,
    painted_pairs,
    peer,
    said,
    watch,
    write_png,
)
from benchmarks.quality.trainers import Frames, Means, Snapshot, Task
from benchmarks.shots.shot import MATTE

from understudy.frames.image import FloatPixels
from understudy.frames.psnr import srgb_encoded

OPTION, PROGRAM = "few-shot", "train.py"
PAINTED, GENERATED = "bench_train", "bench_gen"
"""Folders side by side: it finds the second one by the end of the first one's name."""
PACE_STEPS = 4
CHANGES = {
    'device: "cuda:0"': 'device: "cpu"',
    "num_workers: 1": "num_workers: 0",
    "    perception_loss: *perception_loss\n": "",
}
"""Of its own settings."""


@dataclass(frozen=True, kw_only=True)
class FewShot:
    """With the settings that it ships."""

    name: str
    settings: str = "reference_P.yaml"
    """Of its folder _config."""
    snapshots: int = 5

    def lacking(self, means: Means, /) -> str | None:
        return lacking(means, "Few-Shot Patch-Based Training", OPTION, PROGRAM)

    def train(self, task: Task) -> Iterator[Snapshot]:
        """Run once; the networks that it saves are the snapshots. A first, short run tells its steps a second."""
        program = peer(task.means, OPTION)
        pace = self._run(program, task, PACE_SECONDS, task.folder / "pace", PACE_STEPS)
        rate = pace[-1].step / pace[-1].seconds
        shutil.rmtree(task.folder / "pace")
        interval = max(1, int(rate * task.seconds / self.snapshots))
        saved_ones = self._run(program, task, task.seconds, task.folder / "run", interval)
        # It saves after its first step already.
        for saved in saved_ones[1:] or saved_ones:
            answers = partial(_answers, program, task, saved.path)
            yield Snapshot(step=saved.step, seconds=saved.seconds, answers=answers)

    def write_pairs(self, task: Task, folder: Path) -> None:
        """The painted frames as 8 bits as displayed, mattes as grey, all of each frame painted.

        What it answers after each interval, it must have; a corner of a frame costs the least time.
        """
        for frame, plate, truth in painted_pairs(task):
            truth_shown = as_rgb(truth) if task.shot.wanted == MATTE else srgb_encoded(truth)
            name = f"{frame:04d}.png"
            write_png(folder / PAINTED / "input_filtered" / name, srgb_encoded(plate))
            write_png(folder / PAINTED / "output" / name, truth_shown)
            write_png(folder / PAINTED / "mask" / name, np.ones((*plate.shape[:2], 1), np.float32))
        write_png(folder / GENERATED / "input_filtered" / name, srgb_encoded(plate[:32, :32]))

    def write_settings(self, program: Peer, path: Path) -> None:
        """Its own, for this machine."""
        text = (program.checkout / "_config" / self.settings).read_text(encoding="utf-8")
        for old, new in CHANGES.items():
            if old not in text:
                raise SystemExit(
                    f"{self.settings} of {program.checkout} has no line {old.strip()!r}; it is another version"
                )
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")

    def _run(self, program: Peer, task: Task, seconds: float, folder: Path, interval: int) -> list[_Saved]:
        self.write_pairs(task, folder)
        self.write_settings(program, folder / "settings.yaml")
        words = ["--config", "settings.yaml", "--data_root", PAINTED, "--log_folder", "log"]
        process = program.started(PROGRAM, [*words, "--log_interval", str(interval)], task.seed, folder)
        watch(process, folder, lambda: _begun(folder), seconds)
        process.terminate()
        process.wait()
        return _saved(folder)


@dataclass(frozen=True, kw_only=True)
class _Saved:
    path: Path
    step: int
    seconds: float


def _saved(folder: Path) -> list[_Saved]:
    """What its log says has been written; its clock begins with its first step."""
    text = said(folder).read_text(encoding="utf-8", errors="replace")
    taken = {int(step): float(seconds) for step, seconds in re.findall(r"^\[(\d+)\].*Took ([\d.]+)$", text, re.M)}
    steps = [int(step) for step in re.findall(r"^Eval of batch: (\d+) took", text, re.M)]
    log = folder / PAINTED / "log"
    return [
        _Saved(path=log / f"model_{number:05d}.pth", step=step, seconds=taken[step])
        for number, step in enumerate(steps)
    ]


def _begun(folder: Path) -> float | None:
    """Seconds of the clock; told as soon as the first step is saved."""
    saved = _saved(folder)
    return time.time() - saved[0].seconds if saved else None


def _answers(program: Peer, task: Task, model: Path, frames: Frames) -> Frames:
    encoded = program.answers(OPTION, model, {frame: srgb_encoded(pixels) for frame, pixels in frames.items()})
    if task.shot.wanted == MATTE:
        return as_matte(encoded)
    return {frame: srgb_decoded(pixels) for frame, pixels in encoded.items()}


def srgb_decoded(encoded: FloatPixels) -> FloatPixels:
    """0..1 -> scene-linear 0..1; the other way round than srgb_encoded."""
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4).astype(np.float32)
