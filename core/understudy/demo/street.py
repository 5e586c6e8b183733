"""The set: a back wall, a side wall that meets it, wet paving; painted, lit and ready to be photographed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.demo.dressing import door, neon_letters, rain_pipe, sconce, window
from understudy.demo.filters import blur, smoothstep
from understudy.demo.lighting import irradiance
from understudy.demo.materials import flaked, lay_bricks, pave, plaster_over, rain_streaks
from understudy.demo.posters import Print, poster
from understudy.demo.surface import Canvas, Grid, Points, Vector
from understudy.frames.image import FloatPixels

BACK_Z = 6.5
"""Metres: the back wall is the plane z = BACK_Z, left of the side wall."""
SIDE_X = 1.9
"""Metres: the side wall is the plane x = SIDE_X, before the back wall. The ground is y = 0."""
TEXELS_PER_METRE = 180.0


@dataclass(frozen=True, kw_only=True)
class Plane:
    """How a grid's u and v lie in the world: place = origin + u * u_axis + v * v_axis."""

    grid: Grid
    origin: Vector
    u_axis: Vector
    v_axis: Vector
    normal: Vector
    """Unit vector towards the camera's side."""

    def place(self, u: FloatPixels, v: FloatPixels) -> Points:
        """World x, y, z of places on the plane."""
        x, y, z = (self.origin[i] + u * self.u_axis[i] + v * self.v_axis[i] for i in range(3))
        return x, y, z

    def coordinates(self, x: FloatPixels, y: FloatPixels, z: FloatPixels) -> tuple[FloatPixels, FloatPixels]:
        """u and v of world places on the plane."""
        u = sum(part * np.float32(along) for part, along in zip((x, y, z), self.u_axis, strict=True))
        v = sum(part * np.float32(along) for part, along in zip((x, y, z), self.v_axis, strict=True))
        return np.asarray(u), np.asarray(v)


BACK = Plane(
    grid=Grid.spanning(-5.2, 0.0, SIDE_X, 3.8, TEXELS_PER_METRE),
    origin=(0, 0, BACK_Z), u_axis=(1, 0, 0), v_axis=(0, 1, 0), normal=(0, 0, -1),
)  # fmt: skip
SIDE = Plane(
    grid=Grid.spanning(2.6, 0.0, BACK_Z, 3.8, TEXELS_PER_METRE),
    origin=(SIDE_X, 0, 0), u_axis=(0, 0, 1), v_axis=(0, 1, 0), normal=(-1, 0, 0),
)  # fmt: skip
GROUND = Plane(
    grid=Grid.spanning(-5.2, 2.4, SIDE_X, BACK_Z, TEXELS_PER_METRE),
    origin=(0, 0, 0), u_axis=(1, 0, 0), v_axis=(0, 0, 1), normal=(0, 1, 0),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Street:
    """Radiance of the three planes, H W 3 each, and what the paving's mirror needs."""

    back: FloatPixels
    side: FloatPixels
    ground: FloatPixels
    back_mirrored: FloatPixels
    side_mirrored: FloatPixels
    """The walls as wet stone shows them: blurred."""
    ripple: FloatPixels
    """H W 3 on the ground's grid: slope along x, slope along z, wetness."""


def build_street(seed: int) -> Street:
    """Paint and light everything. Takes a second or two; equal seeds give equal streets."""
    back_rng, side_rng, ground_rng = np.random.default_rng(seed).spawn(3)
    back = _light(BACK, _back_wall(back_rng))
    side = _light(SIDE, _side_wall(side_rng))
    paving = Canvas(GROUND.grid, ground_rng)
    wet = pave(paving)
    near_wall = np.minimum(BACK_Z - paving.v, SIDE_X - paving.u)
    paving.shade(0.6 * smoothstep(0.35, 0.0, near_wall))
    slope_u, slope_v = _slopes(paving)
    return Street(
        back=back,
        side=side,
        ground=_light(GROUND, paving),
        back_mirrored=blur(back, 30.0, 5.0),
        side_mirrored=blur(side, 30.0, 5.0),
        ripple=np.stack([slope_u, slope_v, wet], axis=-1).astype(np.float32),
    )


def _back_wall(rng: np.random.Generator) -> Canvas:
    wall = Canvas(BACK.grid, rng)
    lay_bricks(wall)
    plaster_over(wall, flaked(wall, 0.34), (0.22, 0.33, 0.32))
    rain_streaks(wall, 0.28)
    base = wall.coverage(wall.v - 0.62)
    plaster_over(wall, base, (0.13, 0.15, 0.16))
    wall.shade(0.5 * smoothstep(0.05, 0.0, np.abs(wall.v - 0.62)))
    poster(wall, 1.02, 0.92, (0.52, 0.74), Print(art="cup", paper=(0.62, 0.53, 0.36), ink=(0.42, 0.05, 0.04)))
    poster(wall, -1.95, 0.95, (0.46, 0.66), Print(art="stripes", paper=(0.16, 0.30, 0.42), ink=(0.75, 0.68, 0.52)))
    poster(wall, -1.70, 0.78, (0.44, 0.62), Print(art="disc", paper=(0.66, 0.44, 0.13), ink=(0.07, 0.06, 0.06)))
    door(wall, -3.35, -2.45, 2.2)
    window(wall, -0.98, 1.02, 0.44, 2.06)
    neon_letters(wall, -0.74, 2.36, 0.27)
    sconce(wall, -1.42, 2.02)
    sconce(wall, 0.88, 2.02)
    _contact_shadows(wall, SIDE_X - wall.u)
    return wall


def _side_wall(rng: np.random.Generator) -> Canvas:
    wall = Canvas(SIDE.grid, rng)
    lay_bricks(wall)
    rain_streaks(wall, 0.4)
    poster(wall, 5.15, 0.95, (0.55, 0.78), Print(art="mountain", paper=(0.60, 0.57, 0.50), ink=(0.05, 0.16, 0.22)))
    rain_pipe(wall, 5.95, radius=0.075)
    sconce(wall, 4.70, 2.08, broad=2.3)
    _contact_shadows(wall, BACK_Z - wall.u)
    return wall


def _contact_shadows(wall: Canvas, from_corner: FloatPixels) -> None:
    wall.shade(0.62 * smoothstep(0.55, 0.0, wall.v))
    wall.shade(0.55 * smoothstep(0.6, 0.0, from_corner))


def _light(plane: Plane, canvas: Canvas) -> FloatPixels:
    slope_u, slope_v = _slopes(canvas)
    tilted = [plane.normal[i] - slope_u * plane.u_axis[i] - slope_v * plane.v_axis[i] for i in range(3)]
    length = np.sqrt(1 + slope_u**2 + slope_v**2)
    normal = (tilted[0] / length, tilted[1] / length, tilted[2] / length)
    arriving = irradiance(plane.place(canvas.u, canvas.v), normal)
    return canvas.albedo * arriving + canvas.glow


def _slopes(canvas: Canvas) -> tuple[FloatPixels, FloatPixels]:
    scale = np.float32(canvas.grid.texels_per_metre)
    slope_v, slope_u = np.gradient(blur(canvas.relief, 0.7, 0.7))
    return np.clip(slope_u * scale, -0.9, 0.9), np.clip(slope_v * scale, -0.9, 0.9)
