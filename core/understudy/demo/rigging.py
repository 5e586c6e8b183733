"""What must be painted out: tracking markers stuck to the walls, and the wire that holds the lamp rig."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from understudy.demo.camera import Camera
from understudy.demo.filters import float32
from understudy.demo.lighting import irradiance
from understudy.demo.photograph import Hits, through_haze
from understudy.demo.street import BACK, GROUND, SIDE, Plane
from understudy.demo.surface import Colour, Points
from understudy.frames.image import FloatPixels

GREEN: Colour = (0.05, 0.80, 0.16)
ORANGE: Colour = (0.95, 0.26, 0.02)
STEEL: Colour = (0.78, 0.84, 0.90)


@dataclass(frozen=True, kw_only=True)
class Marker:
    """Tape on a plane of the set."""

    plane: Plane
    u: float
    v: float
    """Metres on the plane."""
    size: float
    """Metres from end to end."""
    shape: Literal["cross", "dot", "target"] = "cross"
    colour: Colour = GREEN

    def coverage(self, u: FloatPixels, v: FloatPixels, pixel: FloatPixels) -> FloatPixels:
        """0..1 at places on the plane, edges softened over one pixel's width in metres."""
        du, dv, half = np.abs(u - self.u), np.abs(v - self.v), self.size / 2
        if self.shape == "cross":
            arm = half * 0.26
            away = np.minimum(np.maximum(du - half, dv - arm), np.maximum(du - arm, dv - half))
        elif self.shape == "dot":
            away = np.hypot(du, dv) - half
        else:
            radius = np.hypot(du, dv)
            away = np.minimum(np.abs(radius - half * 0.82) - half * 0.18, radius - half * 0.3)
        return float32(np.clip(0.5 - away / pixel, 0, 1))


MARKERS = (
    Marker(plane=BACK, u=-2.28, v=1.62, size=0.22),
    Marker(plane=BACK, u=-1.62, v=2.52, size=0.20, colour=ORANGE),
    Marker(plane=BACK, u=-1.18, v=1.42, size=0.19),
    Marker(plane=BACK, u=-1.17, v=2.16, size=0.11, shape="dot", colour=ORANGE),
    Marker(plane=BACK, u=-0.25, v=0.52, size=0.22),
    Marker(plane=BACK, u=0.66, v=1.52, size=0.18, shape="target"),
    Marker(plane=BACK, u=1.26, v=2.40, size=0.20, colour=ORANGE),
    Marker(plane=BACK, u=0.78, v=0.80, size=0.12, shape="dot", colour=ORANGE),
    Marker(plane=BACK, u=-3.62, v=1.20, size=0.16, shape="target"),
    Marker(plane=SIDE, u=5.62, v=1.86, size=0.24),
    Marker(plane=SIDE, u=4.95, v=1.22, size=0.22),
    Marker(plane=SIDE, u=4.30, v=1.72, size=0.13, shape="dot"),
    Marker(plane=BACK, u=1.55, v=1.75, size=0.22),
    Marker(plane=BACK, u=-2.20, v=0.34, size=0.22),
    Marker(plane=BACK, u=1.35, v=0.42, size=0.22, shape="target"),
    Marker(plane=SIDE, u=5.30, v=0.55, size=0.24, shape="target"),
    Marker(plane=GROUND, u=-1.00, v=5.75, size=0.24, shape="dot", colour=ORANGE),
)

WIRE_FROM, WIRE_TO = (-4.2, 3.05, 4.6), (3.1, 1.55, 4.1)
WIRE_SAG = 0.34
WIRE_RADIUS = 0.0115
"""Metres; about two and a half pixels across at 480."""


def stick_markers(plate: FloatPixels, camera: Camera, hits: Hits) -> None:
    """Draw every marker into one instant's H W 3 picture."""
    for marker in MARKERS:
        middle = marker.plane.place(float32(marker.u), float32(marker.v))
        x, y, depth = (float(part) for part in camera.project(*middle))
        reach = 0.75 * marker.size * camera.focal / depth + 2
        rows, columns = _span(y, reach, plate.shape[0]), _span(x, reach, plate.shape[1])
        _stick(marker, plate[rows, columns], hits.part(rows, columns), camera.focal)


def _span(middle: float, reach: float, length: int) -> slice:
    return slice(min(max(0, int(middle - reach)), length), max(0, min(length, int(middle + reach) + 1)))


def _stick(marker: Marker, pixels: FloatPixels, hits: Hits, focal: float) -> None:
    x, y, z = hits.place
    u, v = marker.plane.coordinates(x, y, z)
    cover = marker.coverage(u, v, hits.distance / np.float32(focal)) * hits.on(marker.plane)
    normal = tuple(np.full_like(x, part) for part in marker.plane.normal)
    light = irradiance((x, y, z), (normal[0], normal[1], normal[2]))
    tape = through_haze(np.asarray(marker.colour, np.float32) * light, hits.distance)
    pixels += (tape - pixels) * cover[..., None]


def hang_wire(plate: FloatPixels, camera: Camera, time_frames: float, shift: tuple[float, float]) -> None:
    """Draw the wire into one instant's H W 3 picture, whose pixel centres are moved by `shift` (x, y down)."""
    height, width, _ = plate.shape
    columns = np.arange(width)
    middle, radius, light = _wire_on_film(camera, time_frames, float32(columns + 0.5 + shift[0]))
    steepness = np.sqrt(1 + np.gradient(middle) ** 2)
    reach = int(np.ceil((radius.max() + 1.5) * steepness.max())) + 1
    rows = np.floor(middle).astype(int) + np.arange(-reach, reach + 1)[:, None]  # rows W
    across = (rows + 0.5 + shift[1] - middle) / steepness
    cover = np.clip(radius + 0.5 - np.abs(across), 0, 1) * ((rows >= 0) & (rows < height))
    steel = float32(light * np.asarray(STEEL) * _wire_shading(float32(across / radius))[..., None])  # rows W 3
    row, column = np.nonzero(cover)
    at = (rows[row, column], column)
    plate[at] += (steel[row, column] - plate[at]) * float32(cover[row, column])[:, None]


def _wire_on_film(
    camera: Camera, time_frames: float, columns: FloatPixels
) -> tuple[NDArray[np.float64], NDArray[np.float64], FloatPixels]:
    """Where the wire crosses the columns (pixels down), its radius there in pixels, and the light on it, W 3."""
    points = _wire_at(time_frames)
    x, y, depth = camera.project(*points)
    up_and_forward = [np.full_like(x, part) for part in (-0.2, 0.62, -0.76)]
    light = irradiance(points, (up_and_forward[0], up_and_forward[1], up_and_forward[2]))
    lit = np.stack([np.interp(columns, x, light[:, channel]) for channel in range(3)], axis=-1)
    return np.interp(columns, x, y), np.interp(columns, x, WIRE_RADIUS * camera.focal / depth), float32(lit)


def _wire_at(time_frames: float) -> Points:
    """World points along the wire, swaying."""
    part = np.linspace(0, 1, 49)
    belly = 4 * part * (1 - part)
    sway = 0.055 * np.sin(time_frames * 0.23) + 0.02 * np.sin(time_frames * 0.61 + 1)
    ends = [WIRE_FROM[axis] + (WIRE_TO[axis] - WIRE_FROM[axis]) * part for axis in range(3)]
    x, y, z = ends[0], ends[1] - (WIRE_SAG + sway) * belly, ends[2] + 1.5 * sway * belly
    return x.astype(np.float32), y.astype(np.float32), z.astype(np.float32)


def _wire_shading(across: FloatPixels) -> FloatPixels:
    """Brightness over a round wire, -1 its upper edge, 1 its lower; a soft highlight sits a little above the middle."""
    body = 0.35 + 0.65 * np.sqrt(np.clip(1 - (across + 0.25) ** 2, 0, 1))
    return np.asarray(body + 1.5 * np.exp(-(((across + 0.35) / 0.35) ** 2)), np.float32)
