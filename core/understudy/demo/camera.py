"""The camera's move, and where the world falls on its film."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.demo.shot import DemoShot
from understudy.frames.image import FloatPixels

FOCAL_WIDTHS = 1.02
"""Focal length over film width: about a 37 mm lens on Super 35."""


@dataclass(frozen=True, kw_only=True)
class Camera:
    """A pinhole at one instant."""

    place: tuple[float, float, float]
    """World metres: x right, y up, z into the picture."""
    world_from_film: NDArray[np.float64]
    """3 x 3 rotation; film x right, y up, z forward."""
    focal: float
    """Pixels."""
    centre: tuple[float, float]
    """Pixels: where the axis meets the picture, x right, y down."""

    def rays(self, shift_x: float, shift_y: float, size: tuple[int, int]) -> FloatPixels:
        """World directions through every pixel centre moved by a part of a pixel, 3 H W, not normalised."""
        width, height = size
        x = (np.arange(width) + 0.5 + shift_x - self.centre[0]) / self.focal
        y = (self.centre[1] - np.arange(height) - 0.5 - shift_y) / self.focal
        turn = self.world_from_film
        directions = turn[:, 0, None, None] * x[None, None, :] + turn[:, 1, None, None] * y[None, :, None]
        return (directions + turn[:, 2, None, None]).astype(np.float32)

    def project(self, x: FloatPixels, y: FloatPixels, z: FloatPixels) -> tuple[FloatPixels, FloatPixels, FloatPixels]:
        """Pixel x, pixel y (down) and depth in metres of world points."""
        away = np.stack([x - self.place[0], y - self.place[1], z - self.place[2]])
        film = np.tensordot(self.world_from_film.T, away, axes=1)
        depth = film[2]
        return self.centre[0] + self.focal * film[0] / depth, self.centre[1] - self.focal * film[1] / depth, depth


def camera_at(shot: DemoShot, time_frames: float) -> Camera:
    """The camera at a time in frames, fractions included: a truck to the right with a slow push, held by hand."""
    part = shot.progress(time_frames)
    drift = _drift(shot.seed, time_frames - shot.first_frame)
    place = (-0.95 + 1.05 * part + 0.012 * drift[0], 1.48 + 0.04 * part + 0.010 * drift[1], 0.55 * part)
    yaw = 0.075 - 0.075 * part + 0.0035 * drift[2]
    pitch = -0.046 + 0.006 * part + 0.0030 * drift[3]
    roll = 0.0035 * drift[4]
    return Camera(
        place=place,
        world_from_film=_turned(yaw, pitch, roll),
        focal=FOCAL_WIDTHS * shot.width,
        centre=(shot.width / 2, shot.height / 2),
    )


def _drift(seed: int, time_frames: float) -> NDArray[np.float64]:
    """Five slow wanderings of about unit size."""
    rng = np.random.default_rng((seed, 1))
    periods, phases = rng.uniform(14, 60, (5, 4)), rng.uniform(0, 2 * np.pi, (5, 4))
    waves = np.sin(2 * np.pi * time_frames / periods + phases) * (periods / 40)
    return np.asarray(waves.sum(axis=1) / 2)


def _turned(yaw: float, pitch: float, roll: float) -> NDArray[np.float64]:
    """Angles in radians: yaw to the right, pitch upward, roll clockwise."""
    sine_yaw, cosine_yaw = np.sin(yaw), np.cos(yaw)
    sine_pitch, cosine_pitch = np.sin(pitch), np.cos(pitch)
    sine_roll, cosine_roll = np.sin(roll), np.cos(roll)
    about_y = np.array([[cosine_yaw, 0, sine_yaw], [0, 1, 0], [-sine_yaw, 0, cosine_yaw]])
    about_x = np.array([[1, 0, 0], [0, cosine_pitch, sine_pitch], [0, -sine_pitch, cosine_pitch]])
    about_z = np.array([[cosine_roll, sine_roll, 0], [-sine_roll, cosine_roll, 0], [0, 0, 1]])
    return np.asarray(about_y @ about_x @ about_z)
