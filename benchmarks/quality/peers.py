"""Other people's programs, run from a checkout of theirs by a Python that has what they require."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import psutil
from benchmarks.quality.trainers import Frames, Means, Task

from understudy.frames.image import FloatPixels
from understudy.frames.read import read_image
from understudy.frames.sequence import Sequence as FrameSequence

HERE = Path(__file__).parent
PACE_SECONDS = 8.0
"""Of training, to learn how many steps a second there are."""
GLANCE_SECONDS = 0.2
"""Between looks at a peer's log."""
LEAST_SHARE = 0.9
"""Of a core: a peer that has less is not alone."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A checkout, and how it is run."""

    checkout: Path
    python: Path
    threads: int | None

    def started(self, program: str, words: Sequence[str], seed: int, folder: Path) -> subprocess.Popen[bytes]:
        """Its own program in `folder`; what it says goes to said.txt there."""
        folder.mkdir(parents=True, exist_ok=True)
        start = [str(self.python), str(HERE / "peer_start.py"), str(seed), str(self.checkout / program), *words]
        with said(folder).open("wb") as output:
            return subprocess.Popen(start, cwd=folder, env=self._environment(), stdout=output, stderr=output)

    def answers(self, network: str, model: Path, frames: Frames) -> Frames:
        """H W 3 each, in the peer's own encoding on both sides; `network` as peer_answers.py names it."""
        given, found = model.parent / "frames.npy", model.parent / "answers.npy"
        np.save(given, np.stack(list(frames.values())))
        words = [
            str(self.python),
            str(HERE / "peer_answers.py"),
            network,
            *map(str, (self.checkout, model, given, found)),
        ]
        done = subprocess.run(words, env=self._environment(), capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        return dict(zip(frames, np.load(found), strict=True))

    def _environment(self) -> dict[str, str]:
        names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS") if self.threads else ()
        return {**os.environ, **dict.fromkeys(names, str(self.threads)), "NO_ALBUMENTATIONS_UPDATE": "1"}


def peer(means: Means, option: str) -> Peer:
    """Where Trainer.lacking has found nothing."""
    assert means.peer_python is not None
    return Peer(checkout=means.checkouts[option], python=means.peer_python, threads=means.threads)


def lacking(means: Means, name: str, option: str, program: str) -> str | None:
    """In one line."""
    checkout = means.checkouts.get(option)
    if checkout is None or means.peer_python is None:
        return f"{name} is not part of understudy: give --{option} (its checkout) and --peer-python"
    if not (checkout / program).is_file():
        return f"--{option} {checkout}: there is no {program}; give the folder of its checkout"
    return None


def said(folder: Path) -> Path:
    return folder / "said.txt"


def painted_pairs(task: Task) -> Iterator[tuple[int, FloatPixels, FloatPixels]]:
    """Frame, plate H W 3 and truth H W C, as understudy reads them; a rough matte is left out: no peer takes one."""
    sides = ((task.files.seen, task.shot.seen[:3]), (task.files.wanted, task.shot.wanted))
    for frame in task.shot.painted:
        plate, truth = (
            read_image(FrameSequence(pattern).path(frame), layer=",".join(channels)).pixels
            for pattern, channels in sides
        )
        yield frame, plate, truth


def as_rgb(truth: FloatPixels) -> FloatPixels:
    """A matte as grey."""
    return np.repeat(truth, 3 // truth.shape[2], axis=2)


def as_matte(answers: Frames) -> Frames:
    """Grey as a matte."""
    return {frame: pixels.mean(axis=2, keepdims=True) for frame, pixels in answers.items()}


def watch(process: subprocess.Popen[bytes], folder: Path, begun: Callable[[], float | None], seconds: float) -> None:
    """Until it has trained for so long, by the clock of the first step that `begun` finds in its log."""
    try:
        while (first := begun()) is None:
            _glance(process, folder)
        looked, cpu_seconds = time.time(), _cpu_seconds(process)
        while time.time() < first + seconds:
            _glance(process, folder)
    except BaseException:
        process.kill()
        raise
    share = (_cpu_seconds(process) - cpu_seconds) / max(time.time() - looked, GLANCE_SECONDS)
    if share < LEAST_SHARE:
        print(f"  {folder}: it had {share:.0%} of a core; something else is running here, so that its time says little")


def _glance(process: subprocess.Popen[bytes], folder: Path) -> None:
    if process.poll() is not None:
        raise SystemExit(f"{folder}: the peer has ended by itself\n" + said(folder).read_text(errors="replace")[-4000:])
    time.sleep(GLANCE_SECONDS)


def _cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    times = psutil.Process(process.pid).cpu_times()
    return float(times.user + times.system)


def write_png(path: Path, encoded: FloatPixels) -> None:
    """H W C in 0..1, as 8 bits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    height, width, channels = encoded.shape
    output = oiio.ImageOutput.create(str(path))
    if output is None or not output.open(str(path), oiio.ImageSpec(width, height, channels, "uint8")):
        raise SystemExit(f"{path}: {oiio.geterror()}")
    output.write_image(np.rint(encoded * 255).astype(np.uint8))
    output.close()
