"""The demo's street through its moving camera, without grain and with one thing wrong at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from benchmarks.shots.shot import Example
from benchmarks.shots.spoiling import behind_iris, hexagon, segmented, with_matte

from understudy.demo.camera import Camera, camera_at
from understudy.demo.filters import float32
from understudy.demo.grain import grain
from understudy.demo.lens import glare, vignette
from understudy.demo.photograph import Hits, cast, radiance
from understudy.demo.rail import lay_rail
from understudy.demo.rigging import hang_wire, stick_markers
from understudy.demo.scene import EXPOSURE, SHUTTER_FRAMES, SUB_FRAMES
from understudy.demo.shot import DemoShot
from understudy.demo.street import BACK, SIDE, Street, build_street
from understudy.frames.image import FloatPixels

Dressing = Callable[[FloatPixels, Camera, Hits, float, tuple[float, float]], None]
"""Changes one instant's picture, H W 3: camera, where its rays end, time in frames from the first, part of a pixel."""


@dataclass(frozen=True, kw_only=True)
class Move:
    """The demo's move, of which every so many frames one is taken."""

    shot: DemoShot
    step: float

    def time_frames(self, frame: int) -> float:
        """Of the demo's, for our frame 1, 2, ..."""
        return self.shot.first_frame + self.step * (frame - 1)


def noise(move: Move, frame: int) -> Example:
    """The demo's grain, four times: soft, and of other strength in each channel."""
    clean, _ = clean_and_rail(move, frame)
    return Example(seen=clean + 4 * grain(move.shot, frame, clean), wanted=clean)


def defocus(move: Move, frame: int) -> Example:
    clean, _ = clean_and_rail(move, frame)
    soft = behind_iris(clean, hexagon(2.6))
    return Example(seen=soft + grain(move.shot, frame, soft), wanted=clean)


def rail(move: Move, frame: int) -> Example:
    """The matte of the rail, which is out of focus and moves with the camera; a rough one is given."""
    plate, matte = clean_and_rail(move, frame)
    rough = segmented(np.random.default_rng((21, frame)), matte, 4)
    return Example(seen=with_matte(plate + grain(move.shot, frame, plate), rough), wanted=matte[..., None])


def roto(move: Move, frame: int) -> Example:
    """The same matte from the plate alone."""
    plate, matte = clean_and_rail(move, frame)
    return Example(seen=plate + grain(move.shot, frame, plate), wanted=matte[..., None])


def rig(move: Move, frame: int) -> Example:
    """Markers and a wire to be painted out."""
    return _dressed(move, frame, _rigged)


def blemishes(move: Move, frame: int) -> Example:
    """Soft dark spots that stick to the walls, as on skin."""
    return _dressed(move, frame, _spotted)


def look(move: Move, frame: int) -> Example:
    """A grade: contrast, cold shadows and warm lights, and what is red turned to blue."""
    clean, _ = clean_and_rail(move, frame)
    plate = clean + grain(move.shot, frame, clean)
    light = plate.mean(axis=2, keepdims=True)
    redness = np.clip(plate[..., :1] - 2.2 * plate[..., 1:2], 0, None) / (np.abs(plate[..., :1]) + 0.02)
    tint = np.where(light < 0.18, [0.82, 1.0, 1.22], [1.12, 1.0, 0.86])
    toned = np.sign(plate) * np.abs(plate) ** 1.18 * tint
    turned = toned[..., ::-1] * [0.4, 1.6, 1.0]
    return Example(seen=plate, wanted=float32(toned + (turned - toned) * np.clip(2 * redness, 0, 1)))


def clean_and_rail(move: Move, frame: int) -> tuple[FloatPixels, FloatPixels]:
    """Without grain, H W 3, and what the rail covers, H W."""
    instants = [(picture, cover) for picture, _, cover in _instants(move, frame, _left_alone)]
    return (
        _exposed(move.shot, [picture for picture, _ in instants]),
        float32(np.mean([cover for _, cover in instants], axis=0)),
    )


def _dressed(move: Move, frame: int, dressing: Dressing) -> Example:
    """With and without it, both with the same glare and grain."""
    instants = list(_instants(move, frame, dressing))
    clean = _exposed(move.shot, [picture for picture, _, _ in instants])
    plate = _exposed(move.shot, [dressed for _, dressed, _ in instants])
    film = grain(move.shot, frame, clean)
    return Example(seen=plate + film, wanted=clean + film)


def _exposed(shot: DemoShot, instants: list[FloatPixels]) -> FloatPixels:
    picture = float32(np.mean(instants, axis=0) * vignette(shot.height, shot.width) * EXPOSURE)
    return float32(picture + glare(picture))


def _instants(move: Move, frame: int, dressing: Dressing) -> Iterator[tuple[FloatPixels, FloatPixels, FloatPixels]]:
    """While the shutter is open: the picture H W 3, the same dressed, and what the rail covers H W."""
    shot = move.shot
    for index in range(SUB_FRAMES):
        time_frames = move.time_frames(frame) + SHUTTER_FRAMES * ((index + 0.5) / SUB_FRAMES - 0.5)
        shift = (index * 0.7549 % 1 - 0.5, index * 0.5698 % 1 - 0.5)
        camera = camera_at(shot, time_frames)
        rays = camera.rays(*shift, (shot.width, shot.height))
        hits = cast(camera, rays)
        picture = radiance(_set(shot.seed), camera, hits)
        dressed = picture.copy()
        dressing(dressed, camera, hits, time_frames - shot.first_frame, shift)
        first, cover, rail_pixels = lay_rail(camera, rays)
        for one in (picture, dressed):
            one[first:] += (rail_pixels - one[first:]) * cover
        matte = np.zeros((shot.height, shot.width), np.float32)
        matte[first:] = cover[..., 0]
        yield picture, dressed, matte


def _left_alone(_pixels: FloatPixels, _camera: Camera, _hits: Hits, _time: float, _shift: tuple[float, float]) -> None:
    """Nothing is wrong."""


def _rigged(pixels: FloatPixels, camera: Camera, hits: Hits, time: float, shift: tuple[float, float]) -> None:
    stick_markers(pixels, camera, hits)
    hang_wire(pixels, camera, time, shift)


def _spotted(pixels: FloatPixels, _camera: Camera, hits: Hits, _time: float, _shift: tuple[float, float]) -> None:
    rng = np.random.default_rng(31)
    for plane in (BACK, SIDE):
        u, v = plane.coordinates(*hits.place)
        shade = np.ones(u.shape, np.float32)
        low_u, high_u = (-4.0, 3.5) if plane is BACK else (3.5, 7.0)
        for _ in range(40):
            away = np.hypot(u - rng.uniform(low_u, high_u), v - rng.uniform(0.2, 3.0)) / rng.uniform(0.025, 0.07)
            shade *= 1 - float32(rng.uniform(0.25, 0.6) * np.exp(-(away**2)))
        there = hits.on(plane)
        pixels[there] *= shade[there][:, None] ** np.array([0.7, 1.15, 1.1], np.float32)


@lru_cache(maxsize=2)
def _set(seed: int) -> Street:
    return build_street(seed)
