"""TuNet (https://github.com/emlcpfx/tunet, Apache-2.0), from a checkout of its user; nothing of it is here.

Its perceptual loss is left out: LPIPS wants the weights of VGG, which it fetches from the network.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from benchmarks.quality.peers import PACE_SECONDS, Peer, as_matte, as_rgb, lacking, painted_pairs, peer, watch
from benchmarks.quality.trainers import Frames, Means, Snapshot, Task
from benchmarks.shots.files import write_pixels
from benchmarks.shots.shot import MATTE, RGB, Kind

from understudy.frames.image import FloatPixels
from understudy.frames.psnr import srgb_encoded

OPTION, PROGRAM = "tunet", "train.py"
PREFIX = "settings"
"""Of its checkpoints: the name of the file of settings."""
FAR_AWAY = 10**6


@dataclass(frozen=True, kw_only=True)
class Tunet:
    """With the settings that its panel offers."""

    name: str
    network: Literal["unet", "msrn"] = "unet"
    width: int = 64
    """Channels of the first layer."""
    crop: int = 128
    """Pixels."""
    overlap: float = 0.5
    """Of neighbouring crops."""
    batch: int = 2
    learning_rate: float = 1e-4
    schedule: Literal["none", "cosine"] = "none"
    """Cosine: down once over the whole run."""
    loss: Literal["l1", "weighted"] = "l1"
    """Of colour; weighted: half L1, half L2."""
    matte_loss: Literal["l1", "bce+dice"] = "bce+dice"
    residual: tuple[Kind, ...] = ("cleanup", "beauty", "deblur", "denoise")
    """Kinds of shot of which the plate is added to what the network gives."""
    auto_mask: tuple[Kind, ...] = ()
    """Kinds of shot in whose loss what was painted weighs more; crops without any paint are left out."""
    mask_weight: float = 10.0
    growing_crops: bool = False
    """A quarter and a half of the crop in the first two parts of the run."""
    snapshots: int = 6

    def lacking(self, means: Means, /) -> str | None:
        return lacking(means, "TuNet", OPTION, PROGRAM)

    def train(self, task: Task) -> Iterator[Snapshot]:
        """Run once; its checkpoints are the snapshots. A first, short run says how many steps a second there are."""
        self.write_pairs(task)
        program = peer(task.means, OPTION)
        rate = self._run(program, task, PACE_SECONDS, task.folder / "pace", FAR_AWAY).rate
        shutil.rmtree(task.folder / "pace")
        interval = max(1, int(rate * task.seconds / self.snapshots))
        for checkpoint in self._run(program, task, task.seconds, task.folder / "run", interval).checkpoints():
            answers = partial(_answers, program, task, checkpoint.path)
            yield Snapshot(step=checkpoint.step, seconds=checkpoint.seconds, answers=answers)
            checkpoint.path.unlink()

    def write_pairs(self, task: Task) -> None:
        """The painted frames as EXR files of R, G, B: colour linear; a matte as grey, its plate as displayed.

        In its linear mode TuNet learns log(1 + value) also of a matte, so that white would not be 1.
        """
        for frame, plate, truth in painted_pairs(task):
            write_pixels(task.folder / "src" / f"{frame:04d}.exr", RGB, _plate(task, plate))
            write_pixels(task.folder / "dst" / f"{frame:04d}.exr", RGB, as_rgb(truth))

    def settings(self, task: Task, output: Path, interval: int) -> dict[str, dict[str, object]]:
        """Of train.py, by section; what is left out is as in its base.yaml."""
        kind = task.shot.kind
        is_matte = _is_matte(task)
        return {
            "data": {
                **{"src_dir": str(task.folder / "src"), "dst_dir": str(task.folder / "dst")},
                **{"output_dir": str(output), "resolution": self.crop, "overlap_factor": self.overlap},
                "color_space": "srgb" if is_matte else "linear",
            },
            "mask": {
                **{"use_auto_mask": kind in self.auto_mask, "skip_empty_patches": kind in self.auto_mask},
                **{"auto_mask_gamma": 0.5, "mask_weight": self.mask_weight},
            },
            "model": {"model_type": self.network, "model_size_dims": self.width},
            "dataloader": {"num_workers": 0},
            "training": {
                **{"iterations_per_epoch": interval, "batch_size": self.batch, "use_amp": False},
                **{"lr": self.learning_rate, "lr_scheduler": self.schedule},
                "lr_scheduler_T_max": interval * self.snapshots + interval,
                "loss": self.matte_loss if is_matte else self.loss,
                **{"l1_weight": 0.5, "l2_weight": 0.5, "lpips_weight": 0.0, "lambda_lpips": 0.0},
                "predict_residual": kind in self.residual,
                "progressive_resolution": self.growing_crops,
            },
            "logging": {"log_interval": 1, "preview_batch_interval": 0},
            "saving": {"keep_last_checkpoints": -1},
            "early_stopping": {"enabled": False},
        }

    def _run(self, program: Peer, task: Task, seconds: float, folder: Path, interval: int) -> _Run:
        """Stopped as its panel stops it, so that it writes a last checkpoint."""
        folder.mkdir(parents=True)
        # JSON is YAML.
        (folder / f"{PREFIX}.yaml").write_text(json.dumps(self.settings(task, folder, interval)), encoding="utf-8")
        stop = folder / "stop"
        words = ["--config", str(folder / f"{PREFIX}.yaml"), "--stop-file", str(stop)]
        process = program.started(PROGRAM, words, task.seed, folder)
        watch(process, folder, lambda: _Run(folder, interval).begun, seconds)
        stop.touch()
        process.wait()
        return _Run(folder, interval)


@dataclass(frozen=True, kw_only=True)
class _Checkpoint:
    path: Path
    step: int
    seconds: float


class _Run:
    """What its log tells; its clock begins with its first step."""

    def __init__(self, folder: Path, interval: int) -> None:
        self._folder, self._interval = folder, interval
        log = folder / "training.log"
        self._text = log.read_text(encoding="utf-8") if log.exists() else ""
        lines = re.findall(r"^(\S+ \S+) \[.*?\] Epoch\[\d+\] Step\[(\d+)\].* T/Step:([\d.]+)s", self._text, re.M)
        self._times = [_seconds(when) for when, _, _ in lines]
        self._steps = [int(step) for _, step, _ in lines]
        self.begun = self._times[0] - float(lines[0][2]) if lines else None

    @property
    def rate(self) -> float:
        return self._steps[-1] / (self._times[-1] - (self.begun or 0))

    def checkpoints(self) -> Iterator[_Checkpoint]:
        paths = sorted(self._folder.glob(f"{PREFIX}_tunet_epoch_*.pth"))
        steps = [self._interval * int(path.stem.split("_")[-1]) for path in paths]
        last = int(re.findall(r"final checkpoint save \(State @ Step (\d+)\)", self._text)[-1])
        if last not in steps:
            paths, steps = [*paths, self._folder / f"{PREFIX}_tunet_latest.pth"], [*steps, last]
        for path, step in zip(paths, steps, strict=True):
            seconds = float(np.interp(step, self._steps, self._times)) - (self.begun or 0)
            yield _Checkpoint(path=path, step=step, seconds=seconds)


def _seconds(when: str) -> float:
    return datetime.strptime(when, "%Y-%m-%d %H:%M:%S,%f").timestamp()


def _is_matte(task: Task) -> bool:
    return task.shot.wanted == MATTE


def _plate(task: Task, pixels: FloatPixels) -> FloatPixels:
    return srgb_encoded(pixels) if _is_matte(task) else pixels


def _answers(program: Peer, task: Task, checkpoint: Path, frames: Frames) -> Frames:
    found = program.answers(OPTION, checkpoint, {frame: _plate(task, pixels) for frame, pixels in frames.items()})
    return as_matte(found) if _is_matte(task) else found
