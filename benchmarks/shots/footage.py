"""Real pictures with one thing wrong at a time; there where the project's real footage lies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce
from pathlib import Path

import numpy as np
from benchmarks.shots.shot import Example
from benchmarks.shots.spoiling import behind_iris, halved, hexagon, segmented, with_matte
from tests.footage import FOOTAGE

from understudy.demo.filters import float32
from understudy.frames.image import FloatPixels, Image
from understudy.frames.read import read_image
from understudy.frames.window import Window

BALL, BALL_FRAMES = FOOTAGE / "beachball", range(1, 9)
GREY = 0.18
"""What half of a photograph's pixels are brought under."""


@dataclass(frozen=True, kw_only=True)
class Pan:
    """A window that moves over a photograph."""

    path: Path
    num_frames: int
    size: tuple[int, int] = (208, 304)
    """Rows and columns."""

    def frame(self, number: int) -> FloatPixels:
        """H W 3, of frames from 1."""
        whole = _exposed(self.path, self.size)
        part = (number - 1) / (self.num_frames - 1)
        row, column = (round((1 - part if axis else part) * (whole.shape[axis] - self.size[axis])) for axis in (0, 1))
        return whole[row : row + self.size[0], column : column + self.size[1]]


def noise(pan: Pan, frame: int) -> Example:
    """Photons counted, and an amplifier's noise."""
    clean, rng = pan.frame(frame), np.random.default_rng((22, frame))
    counted = rng.poisson(np.maximum(clean, 0) * 120) / 120 + rng.normal(0, 0.006, clean.shape)
    return Example(seen=float32(counted), wanted=clean)


def defocus(pan: Pan, frame: int) -> Example:
    sharp, rng = pan.frame(frame), np.random.default_rng((23, frame))
    soft = behind_iris(sharp, hexagon(1.9))
    return Example(seen=float32(soft + rng.normal(0, 0.0015, soft.shape)), wanted=sharp)


def ball_matte(frame: int, *, has_rough: bool) -> Example:
    """The beach ball's white bar, at half size; from the plate alone, or with a rough matte beside it."""
    plate, bar = _ball(frame, "rgba_left"), _ball(frame, "whitebarmask_left")
    rgb, matte = (halved(layer.over(_ball_window())) for layer in (plate, bar))
    rgb, matte = rgb[..., :3], matte[..., 0]
    rough = segmented(np.random.default_rng((24, frame)), matte, 6)
    return Example(seen=with_matte(rgb, rough) if has_rough else rgb, wanted=matte[..., None])


def _ball(frame: int, layer: str) -> Image:
    return read_image(BALL / f"multipart.{frame:04d}.exr", layer=layer)


@lru_cache(maxsize=1)
def _ball_window() -> Window:
    """All that the data windows cover: they move, and frames are compared with one another."""
    return reduce(Window.union, (_ball(frame, "rgba_left").data_window for frame in BALL_FRAMES))


@lru_cache(maxsize=4)
def _exposed(path: Path, size: tuple[int, int]) -> FloatPixels:
    """The photograph, H W 3; where it is large enough at half size, so that little of its own noise is left."""
    pixels = read_image(path, layer="rgb").pixels
    if min(pixels.shape[:2]) >= 2 * max(size):
        pixels = halved(pixels)
    return float32(pixels * GREY / np.median(pixels))
