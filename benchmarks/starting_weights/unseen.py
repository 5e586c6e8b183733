"""Shots on which starting weights are judged: other pictures and other faults than those they were trained on.

The demo's street and its iron rail are always there; photographs and the beach ball where real footage lies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from benchmarks.starting_weights.shapes import Generator
from benchmarks.starting_weights.tasks import Example, behind_iris
from tests.footage import FOOTAGE

from understudy.demo.camera import camera_at
from understudy.demo.filters import blur, float32
from understudy.demo.grain import grain
from understudy.demo.lens import glare, vignette
from understudy.demo.photograph import cast, radiance
from understudy.demo.rail import lay_rail
from understudy.demo.scene import EXPOSURE, SHUTTER_FRAMES, SUB_FRAMES
from understudy.demo.shot import DemoShot
from understudy.demo.street import Street, build_street
from understudy.frames.image import FloatPixels
from understudy.frames.read import read_image

FRAMES = range(1, 10)
PAINTED = (1, 5, 9)
BALL_FRAMES, BALL_PAINTED = range(1, 9), (1, 4, 8)
STREET, STREET_STEP = DemoShot(width=384, height=216, seed=11), 5.8
"""The demo's move, of which every so many frames one is taken."""
WINDOW = (208, 304)
"""Rows and columns of a photograph that a frame shows."""
GREY = 0.18
"""What half of a photograph's pixels are brought under."""


@dataclass(frozen=True, kw_only=True)
class Unseen:
    """A shot whose every frame is known clean."""

    task: str
    example: Callable[[int], Example]
    """Of a frame."""
    footage: Path | None = None
    """What it is made from; None: the demo."""
    frames: range = FRAMES
    painted: tuple[int, ...] = PAINTED

    @property
    def held_out(self) -> tuple[int, ...]:
        return tuple(frame for frame in self.frames if frame not in self.painted)

    @property
    def is_there(self) -> bool:
        return self.footage is None or self.footage.exists()


def street_noise(frame: int) -> Example:
    """The demo's grain, four times: soft, and of other strength in each channel."""
    clean, _ = _street(frame)
    return Example(seen=clean + 4 * grain(STREET, frame, clean), wanted=clean)


def street_defocus(frame: int) -> Example:
    clean, _ = _street(frame)
    soft = behind_iris(clean, hexagon(2.6))
    return Example(seen=soft + grain(STREET, frame, soft), wanted=clean)


def street_rail(frame: int) -> Example:
    """The matte of the rail, which is out of focus and moves with the camera."""
    plate, matte = _street(frame)
    plate = plate + grain(STREET, frame, plate)
    return Example(seen=_with(plate, segmented(np.random.default_rng((21, frame)), matte, 4)), wanted=matte[..., None])


def desk_noise(frame: int) -> Example:
    """Photons counted, and an amplifier's noise."""
    clean, rng = _photograph(DESK, frame), np.random.default_rng((22, frame))
    counted = rng.poisson(np.maximum(clean, 0) * 120) / 120 + rng.normal(0, 0.006, clean.shape)
    return Example(seen=float32(counted), wanted=clean)


def carrots_defocus(frame: int) -> Example:
    sharp, rng = _photograph(CARROTS, frame), np.random.default_rng((23, frame))
    soft = behind_iris(sharp, hexagon(1.9))
    return Example(seen=float32(soft + rng.normal(0, 0.0015, soft.shape)), wanted=sharp)


def ball_matte(frame: int) -> Example:
    """The beach ball's white bar, at half size."""
    path = FOOTAGE / "beachball" / f"multipart.{frame:04d}.exr"
    plate, bar = read_image(path, layer="rgba_left"), read_image(path, layer="whitebarmask_left")
    window = plate.data_window
    rgb, matte = halved(plate.pixels[..., :3]), halved(bar.over(window))[..., 0]
    return Example(seen=_with(rgb, segmented(np.random.default_rng((24, frame)), matte, 6)), wanted=matte[..., None])


DESK, CARROTS = FOOTAGE / "hdr" / "Desk.exr", FOOTAGE / "hdr" / "Carrots.exr"
SHOTS = {
    "street noise": Unseen(task="denoise", example=street_noise),
    "desk noise": Unseen(task="denoise", example=desk_noise, footage=DESK),
    "street defocus": Unseen(task="deblur", example=street_defocus),
    "carrots defocus": Unseen(task="deblur", example=carrots_defocus, footage=CARROTS),
    "rail matte": Unseen(task="matte", example=street_rail),
    "ball matte": Unseen(
        task="matte", example=ball_matte, footage=FOOTAGE / "beachball", frames=BALL_FRAMES, painted=BALL_PAINTED
    ),
}


def hexagon(radius: float) -> FloatPixels:
    """An iris of six straight blades."""
    reach = int(np.ceil(radius)) + 1
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    blades = [x * np.cos(angle) + y * np.sin(angle) for angle in np.arange(6) * np.pi / 3 + 0.2]
    weights = np.clip(radius + 0.5 - np.max(blades, axis=0), 0, 1)
    return float32(weights / weights.sum())


def segmented(rng: Generator, matte: FloatPixels, block: int) -> FloatPixels:
    """H W, as a program that works on a small picture would cut it: squares, a little off, some wrong."""
    height, width = matte.shape
    padded = np.pad(matte, ((0, -height % block), (0, -width % block)), mode="edge")
    squares = padded.reshape(padded.shape[0] // block, block, padded.shape[1] // block, block).mean(axis=(1, 3)) > 0.35
    inside = np.argwhere(squares)
    for row, column in inside[rng.integers(len(inside), size=4)] if len(inside) else ():
        squares[row : row + 2, column : column + 2] = False
    for row, column in zip(*(rng.integers(0, side, 4) for side in squares.shape), strict=True):
        squares[row : row + 3, column : column + 3] = True
    whole = np.kron(squares, np.ones((block, block)))[:height, :width]
    return float32(np.roll(blur(float32(whole), 0.6, 0.6), rng.integers(-2, 3, 2), axis=(0, 1)))


def halved(pixels: FloatPixels) -> FloatPixels:
    """H W C averaged to half its size; an odd row or column is left out."""
    height, width, channels = pixels.shape[0] // 2, pixels.shape[1] // 2, pixels.shape[2]
    return float32(pixels[: 2 * height, : 2 * width].reshape(height, 2, width, 2, channels).mean(axis=(1, 3)))


def _with(plate: FloatPixels, matte: FloatPixels) -> FloatPixels:
    return float32(np.concatenate([plate, matte[..., None]], axis=2))


def _photograph(path: Path, frame: int) -> FloatPixels:
    """A window that moves over it, H W 3."""
    whole = _exposed(path)
    part = (frame - FRAMES[0]) / (len(FRAMES) - 1)
    row, column = (round((1 - part if axis else part) * (whole.shape[axis] - WINDOW[axis])) for axis in (0, 1))
    return whole[row : row + WINDOW[0], column : column + WINDOW[1]]


@lru_cache(maxsize=2)
def _exposed(path: Path) -> FloatPixels:
    """The photograph, H W 3; where it is large enough at half size, so that little of its own noise is left."""
    pixels = read_image(path, layer="rgb").pixels
    if min(pixels.shape[:2]) >= 2 * max(WINDOW):
        pixels = halved(pixels)
    return float32(pixels * GREY / np.median(pixels))


def _street(frame: int) -> tuple[FloatPixels, FloatPixels]:
    """Without grain, H W 3, and the matte of its rail, H W."""
    instants = list(_instants(frame))
    picture = float32(np.mean([seen for seen, _ in instants], axis=0)) * vignette(STREET.height, STREET.width)
    picture *= np.float32(EXPOSURE)
    return picture + glare(picture), float32(np.mean([cover for _, cover in instants], axis=0))


def _instants(frame: int) -> Iterator[tuple[FloatPixels, FloatPixels]]:
    """While the shutter is open: the picture H W 3, and what the rail covers of it, H W."""
    opened = STREET.first_frame + STREET_STEP * (frame - FRAMES[0])
    for index in range(SUB_FRAMES):
        camera = camera_at(STREET, opened + SHUTTER_FRAMES * ((index + 0.5) / SUB_FRAMES - 0.5))
        rays = camera.rays(index * 0.7549 % 1 - 0.5, index * 0.5698 % 1 - 0.5, (STREET.width, STREET.height))
        picture = radiance(_set(), camera, cast(camera, rays))
        first, cover, rail = lay_rail(camera, rays)
        picture[first:] += (rail - picture[first:]) * cover
        matte = np.zeros((STREET.height, STREET.width), np.float32)
        matte[first:] = cover[..., 0]
        yield picture, matte


@lru_cache(maxsize=1)
def _set() -> Street:
    return build_street(STREET.seed)
