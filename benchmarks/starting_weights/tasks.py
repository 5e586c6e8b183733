"""What starting weights are trained for: each task makes pairs, seen and wanted, from a generator of numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from benchmarks.shots.shot import MATTE, RGB, RGBA, Example
from benchmarks.shots.spoiling import behind_iris, disk
from benchmarks.starting_weights.mattes import plate_and_matte, rough
from benchmarks.starting_weights.pictures import picture
from benchmarks.starting_weights.shapes import Generator

from understudy.demo.filters import blur, float32
from understudy.frames.image import FloatPixels


@dataclass(frozen=True, kw_only=True)
class Task:
    """A kind of work."""

    seen: tuple[str, ...]
    wanted: tuple[str, ...]
    """Channels."""
    example: Callable[[Generator, int, int], Example]
    """From a generator, height and width."""


def noisy(rng: Generator, height: int, width: int) -> Example:
    """Read noise in black, shot noise in light, of any strength; fine or, as after debayering, a little soft."""
    clean = picture(rng, height, width)
    read, gain = _between(rng, 0.0008, 0.03), _between(rng, 1e-4, 1.5e-2)
    softness = rng.uniform(0.35, 1.0) if rng.random() < 0.5 else 0.0
    return Example(seen=clean + noise(rng, clean, read, gain, softness), wanted=clean)


def defocused(rng: Generator, height: int, width: int) -> Example:
    """Behind a round iris or a soft lens, with the little noise of a good camera."""
    sharp = picture(rng, height, width)
    if rng.random() < 0.6:
        soft = behind_iris(sharp, disk(rng.uniform(0.7, 4.5)))
    else:
        sigma = rng.uniform(0.5, 2.5)
        soft = blur(sharp, sigma, sigma)
    read, gain = _between(rng, 0.0002, 0.003), _between(rng, 1e-5, 6e-4)
    return Example(seen=soft + noise(rng, soft, read, gain, 0.0), wanted=sharp)


def roughly_cut(rng: Generator, height: int, width: int) -> Example:
    """A figure in a plate with a little noise, and a rough matte of it."""
    plate, matte, figure = plate_and_matte(rng, height, width)
    plate += noise(rng, plate, _between(rng, 0.0002, 0.006), _between(rng, 1e-5, 2e-3), 0.0)
    seen = np.concatenate([plate, rough(rng, figure, height, width)[..., None]], axis=2)  # H W 4
    return Example(seen=float32(seen), wanted=matte[..., None])


TASKS = {
    "denoise": Task(seen=RGB, wanted=RGB, example=noisy),
    "deblur": Task(seen=RGB, wanted=RGB, example=defocused),
    "matte": Task(seen=RGBA, wanted=MATTE, example=roughly_cut),
}


def noise(rng: Generator, clean: FloatPixels, read: float, gain: float, softness: float) -> FloatPixels:
    """H W 3: deviation `read` in black, variance `gain` per unit of light, blurred by so many pixels."""
    field = rng.standard_normal(clean.shape, np.float32)
    field = blur(field, softness, softness)
    field /= field.std()
    strengths = float32(rng.uniform(0.75, 1.4, 3))
    return float32(field * strengths * np.sqrt(read**2 + gain * np.maximum(clean, 0)))


def _between(rng: Generator, low: float, high: float) -> float:
    """Evenly over the orders of magnitude."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))
