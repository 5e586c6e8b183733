"""An exported model beside our own, on the same pictures: by how much the pixels differ."""

from __future__ import annotations

import os
import subprocess
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from understudy.errors import UnderstudyError
from understudy.frames.image import FloatPixels
from understudy.train.export.onnx_file import PLATE
from understudy.train.export.samples import Sample
from understudy.train.network import Understudy

MOST_DIFFERENCE = 1e-4
"""Of an export in float."""
MOST_IN_HALF = float(np.finfo(np.float32).max)
"""Half is told, not judged, but for what is not finite."""
LARGEST_HALF = float(np.finfo(np.float16).max)
"""What is beyond it comes out as it: that differs by what half can hold, not by the model's arithmetic."""
HALF_SIDE = 256
"""Of a sample's width and height in half, which a CPU computes slowly."""
OLD_TORCH = "UNDERSTUDY_OLD_TORCH"
"""Environment variable: Pythons that have the torch of other Nukes, as PATH lists folders."""
_ELSEWHERE = Path(__file__).with_name("elsewhere.py")

Answered = Iterable[tuple[Sample, FloatPixels]]
"""Samples, and H W Cout of the exported model."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What came of one trial."""

    by: str
    """The program that ran the exported model, and its arithmetic."""
    difference: float
    """Largest over all pixels and channels: in scene-linear units up to 1, relative to our value above."""
    sample: str
    """Where it was."""

    def __str__(self) -> str:
        return f"{self.by}: largest difference {self.difference:.1e}, in {self.sample}"


def prove_torchscript(path: Path, model: Understudy, samples: Sequence[Sample]) -> Iterator[Proof]:
    """In this torch, in half, and in every old torch that the environment names.

    Raises UnderstudyError when the file gives other pixels than our model.
    """
    here = f"torch {torch.__version__}"
    yield _proof(here, model, _answered_here(path, samples), most=MOST_DIFFERENCE)
    yield _proof(f"{here}, half", model, _answered_in_half(path, samples), most=MOST_IN_HALF, largest=LARGEST_HALF)
    for python in filter(None, os.environ.get(OLD_TORCH, "").split(os.pathsep)):
        version, answered = _answered_elsewhere(python, path, samples)
        yield _proof(f"torch {version}", model, answered, most=MOST_DIFFERENCE)


def prove_onnx(path: Path, model: Understudy, samples: Sequence[Sample], first: int = 0) -> Proof:
    """In onnxruntime; `first`: the first of the model's channels that the file gives.

    Raises UnderstudyError when the file gives other pixels than our model.
    """
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    answered = (
        (sample, session.run(None, {PLATE: sample.pixels.transpose(2, 0, 1)[None]})[0][0].transpose(1, 2, 0))
        for sample in samples
    )
    return _proof(f"onnxruntime {onnxruntime.__version__}", model, answered, most=MOST_DIFFERENCE, first=first)


def largest_difference(ours: FloatPixels, theirs: FloatPixels) -> float:
    """Infinite where theirs is not finite or of another shape."""
    if ours.shape != theirs.shape or not np.isfinite(theirs).all():
        return float("inf")
    return float(np.max(np.abs(theirs - ours) / np.maximum(1.0, np.abs(ours))))


def _proof(
    by: str, model: Understudy, answered: Answered, *, most: float, largest: float = float("inf"), first: int = 0
) -> Proof:
    """`largest`: what our own answers are held to, as theirs are."""

    def difference(sample: Sample, theirs: FloatPixels) -> float:
        return largest_difference(_ours(model, sample, first, theirs).clip(-largest, largest), theirs)

    proofs = [Proof(by=by, difference=difference(sample, theirs), sample=sample.name) for sample, theirs in answered]
    worst = max(proofs, key=lambda proof: proof.difference)
    if worst.difference > most:
        raise UnderstudyError(
            f"the exported model is not ours ({worst}); nothing was written: please report it, and use understudy apply"
        )
    return worst


@torch.no_grad()
def _ours(model: Understudy, sample: Sample, first: int, theirs: FloatPixels) -> FloatPixels:
    """The channels that are answered for. Raises UnderstudyError for a model that has come apart."""
    finite = np.nan_to_num(sample.pixels, nan=0.0, posinf=0.0, neginf=0.0)
    answer = _pixels_of(model(_tensor_of(finite)))[..., first : first + theirs.shape[-1]]
    if not np.isfinite(answer).all():
        raise UnderstudyError(
            f"the model gives pixels that are no numbers, in {sample.name}; nothing was written: "
            "choose another checkpoint"
        )
    return answer


@torch.no_grad()
def _answered_here(path: Path, samples: Sequence[Sample]) -> Answered:
    module = _loaded(path)
    return [(sample, _pixels_of(module(_tensor_of(sample.pixels)))) for sample in samples]


@torch.no_grad()
def _answered_in_half(path: Path, samples: Sequence[Sample]) -> Answered:
    module = _loaded(path).half()
    held = [_for_half(sample) for sample in samples]
    return [(sample, _pixels_of(module(_tensor_of(sample.pixels).half()).float())) for sample in held]


def _for_half(sample: Sample) -> Sample:
    """What of it half can hold, so that only the model's arithmetic differs."""
    corner = sample.pixels[:HALF_SIDE, :HALF_SIDE]
    with np.errstate(over="ignore"):
        return Sample(name=sample.name, pixels=corner.astype(np.float16).astype(np.float32))


def _answered_elsewhere(python: str, path: Path, samples: Sequence[Sample]) -> tuple[str, Answered]:
    """With the other torch's version."""
    with tempfile.TemporaryDirectory() as folder:
        given, answered = Path(folder) / "given.npz", Path(folder) / "answered.npz"
        np.savez(given, *(sample.pixels for sample in samples))
        command = [python, "-I", str(_ELSEWHERE), str(path), str(given), str(answered)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise UnderstudyError(f"{OLD_TORCH}: {python}: cannot be started ({error.strerror})") from error
        if done.returncode:
            said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise UnderstudyError(f"{OLD_TORCH}: {python}: could not run the exported model ({said})")
        with np.load(answered) as answers:
            pairs = [(sample, answers[f"arr_{number}"]) for number, sample in enumerate(samples)]
        return done.stdout.strip(), pairs


def _loaded(path: Path) -> torch.jit.ScriptModule:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        module: torch.jit.ScriptModule = torch.jit.load(str(path), map_location="cpu")  # type: ignore[no-untyped-call]
    return module


def _tensor_of(pixels: FloatPixels) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1)[None]))  # 1 C H W


def _pixels_of(answer: torch.Tensor) -> FloatPixels:
    pixels: FloatPixels = answer[0].permute(1, 2, 0).numpy()
    return pixels
