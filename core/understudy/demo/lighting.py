"""The lamps of the set, and the light that they and the dusk sky throw on a plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.demo.surface import Colour, Points, Vector
from understudy.frames.image import FloatPixels


@dataclass(frozen=True, kw_only=True)
class Light:
    """A small lamp."""

    place: Vector
    power: Colour
    """Irradiance at one metre, facing the lamp."""
    radius: float = 0.2
    """Metres; keeps the light finite close to the lamp."""


SCONCE_POWER: Colour = (0.66, 0.33, 0.115)
NEON_POWER: Colour = (0.20, 0.020, 0.045)
LIGHTS = (
    Light(place=(-1.42, 2.02, 6.28), power=SCONCE_POWER),
    Light(place=(0.88, 2.02, 6.28), power=SCONCE_POWER),
    Light(place=(1.68, 2.08, 4.70), power=SCONCE_POWER),
    Light(place=(-0.65, 2.52, 6.25), power=NEON_POWER),
    Light(place=(-0.27, 2.52, 6.25), power=NEON_POWER),
    Light(place=(0.11, 2.52, 6.25), power=NEON_POWER),
    Light(place=(-0.27, 1.35, 5.75), power=(0.30, 0.17, 0.07), radius=0.6),
    Light(place=(-5.0, 4.6, 1.0), power=(4.6, 2.9, 1.55)),  # a street lamp behind the camera's left shoulder
)
SKY: Colour = (0.105, 0.150, 0.235)
"""Irradiance of the dusk sky on a surface that faces up."""


def irradiance(place: Points, normal: Points, lights: Sequence[Light] = LIGHTS) -> FloatPixels:
    """Light that arrives at points with unit normals; their shape + (3,)."""
    sky = 0.72 + 0.28 * normal[1]
    total = sky[..., None] * np.asarray(SKY, np.float32)
    for light in lights:
        away = [np.float32(light.place[axis]) - place[axis] for axis in range(3)]
        squared = away[0] ** 2 + away[1] ** 2 + away[2] ** 2
        facing = sum(away[axis] * normal[axis] for axis in range(3)) / np.sqrt(squared + 1e-6)
        arriving = np.maximum(facing, 0) / (squared + np.float32(light.radius**2))
        total += arriving[..., None] * np.asarray(light.power, np.float32)
    return total.astype(np.float32)
