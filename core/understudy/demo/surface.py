"""A flat piece of the set while it is painted: colour, relief and light of its own on a grid of texels."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from understudy.demo.filters import float32, sample_bilinear
from understudy.frames.image import FloatPixels

Colour = tuple[float, float, float]
"""Scene-linear red, green, blue."""
Vector = tuple[float, float, float]
"""World x, y, z; metres where it is a place."""
Points = tuple[FloatPixels, FloatPixels, FloatPixels]
"""World x, y, z of many places or directions, in arrays of one shape."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Where a plane's texels lie. u runs along columns, v along rows, both upward in world metres."""

    u0: float
    v0: float
    """Metres; the corner of the first texel."""
    width: int
    height: int
    """Texels."""
    texels_per_metre: float

    @staticmethod
    def spanning(u0: float, v0: float, u1: float, v1: float, texels_per_metre: float) -> Grid:
        width, height = round((u1 - u0) * texels_per_metre), round((v1 - v0) * texels_per_metre)
        return Grid(u0=u0, v0=v0, width=width, height=height, texels_per_metre=texels_per_metre)

    def coordinates(self) -> tuple[FloatPixels, FloatPixels]:
        """u and v of the texel centres, each H W, metres."""
        u = self.u0 + (np.arange(self.width, dtype=np.float32) + 0.5) / self.texels_per_metre
        v = self.v0 + (np.arange(self.height, dtype=np.float32) + 0.5) / self.texels_per_metre
        across, upward = np.meshgrid(u.astype(np.float32), v.astype(np.float32))
        return across, upward

    def sample(self, texels: FloatPixels, u: FloatPixels, v: FloatPixels) -> FloatPixels:
        """Values of an H W C texture on this grid at N places in metres, as N C."""
        x = (u - np.float32(self.u0)) * np.float32(self.texels_per_metre)
        y = (v - np.float32(self.v0)) * np.float32(self.texels_per_metre)
        return sample_bilinear(texels, x, y)


class Canvas:
    """What is painted on a plane before it is lit. Painters change its arrays."""

    def __init__(self, grid: Grid, rng: np.random.Generator) -> None:
        self.grid = grid
        self.rng = rng
        self.u, self.v = grid.coordinates()  # H W, metres
        self.albedo: FloatPixels = np.full((grid.height, grid.width, 3), 0.2, np.float32)
        self.relief: FloatPixels = np.zeros((grid.height, grid.width), np.float32)
        """Metres towards the viewer."""
        self.glow: FloatPixels = np.zeros((grid.height, grid.width, 3), np.float32)
        """Radiance that the plane sends out by itself."""

    def coverage(self, distance: FloatPixels, softness_texels: float = 1.0) -> FloatPixels:
        """0..1 from a signed distance in metres (negative inside), its edge softened over some texels."""
        return float32(np.clip(0.5 - distance * np.float32(self.grid.texels_per_metre / softness_texels), 0, 1))

    def box(self, u0: float, v0: float, u1: float, v1: float, corner_radius: float = 0.0) -> FloatPixels:
        """Signed distance to a rectangle with round corners, metres, H W."""
        away_u = np.abs(self.u - (u0 + u1) / 2) - np.float32((u1 - u0) / 2 - corner_radius)
        away_v = np.abs(self.v - (v0 + v1) / 2) - np.float32((v1 - v0) / 2 - corner_radius)
        outside = np.hypot(np.maximum(away_u, 0), np.maximum(away_v, 0))
        return float32(outside + np.minimum(np.maximum(away_u, away_v), 0) - np.float32(corner_radius))

    def disc(self, u: float, v: float, radius: float) -> FloatPixels:
        """Signed distance to a disc, metres, H W."""
        return float32(np.hypot(self.u - np.float32(u), self.v - np.float32(v)) - np.float32(radius))

    def stroke(self, points: list[tuple[float, float]]) -> FloatPixels:
        """Distance to a line through the points, metres, H W."""
        nearest = np.full(self.u.shape, np.inf, np.float32)
        for (u0, v0), (u1, v1) in pairwise(points):
            along_u, along_v = u1 - u0, v1 - v0
            part = ((self.u - u0) * along_u + (self.v - v0) * along_v) / (along_u**2 + along_v**2)
            part = np.clip(part, 0, 1)
            nearest = np.minimum(nearest, np.hypot(self.u - u0 - part * along_u, self.v - v0 - part * along_v))
        return nearest.astype(np.float32)

    def paint(self, cover: FloatPixels, colour: Colour | FloatPixels) -> None:
        """Lay a colour (or H W 3 of them) over the albedo, hiding what glowed there."""
        self.albedo += (np.asarray(colour, np.float32) - self.albedo) * cover[..., None]
        self.glow *= (1 - cover)[..., None]

    def flatten(self, cover: FloatPixels, height_metres: float) -> None:
        """Give the covered texels one height."""
        self.relief += (np.float32(height_metres) - self.relief) * cover

    def shade(self, amount: FloatPixels) -> None:
        """Darken the albedo: 0 leaves it, 1 makes it black. Stands for contact shadows and dirt."""
        self.albedo *= (1 - amount)[..., None]
