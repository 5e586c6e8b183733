"""One instant of the set as a camera sees it: which plane each pixel shows, and its radiance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.demo.camera import Camera
from understudy.demo.filters import float32
from understudy.demo.street import BACK, BACK_Z, GROUND, SIDE, SIDE_X, Plane, Street
from understudy.frames.image import FloatPixels

HAZE = np.array([0.085, 0.075, 0.085], np.float32)
HAZE_PER_METRE = 0.012
PLANES = (BACK, SIDE, GROUND)
FAR = np.float32(1e6)


@dataclass(frozen=True, kw_only=True)
class Hits:
    """Where the rays of a picture end."""

    place: FloatPixels
    """3 H W, world metres."""
    distance: FloatPixels
    """H W, metres along the camera's axis, near enough."""
    plane: NDArray[np.int8]
    """H W, index into PLANES."""

    def on(self, plane: Plane) -> NDArray[np.bool_]:
        """H W: the pixels that show this plane."""
        return np.asarray(self.plane == PLANES.index(plane))

    def part(self, rows: slice, columns: slice) -> Hits:
        """The hits of a part of the picture."""
        return Hits(
            place=self.place[:, rows, columns], distance=self.distance[rows, columns], plane=self.plane[rows, columns]
        )


def cast(camera: Camera, rays: FloatPixels) -> Hits:
    """Follow every ray to the nearest plane of the set; `rays` 3 H W."""
    ray_x, ray_y, ray_z = rays
    with np.errstate(divide="ignore"):
        to_back = (np.float32(BACK_Z) - np.float32(camera.place[2])) / ray_z
        to_side = np.where(ray_x > 0, np.float32(SIDE_X - camera.place[0]) / ray_x, FAR)
        to_ground = np.where(ray_y < 0, np.float32(-camera.place[1]) / ray_y, FAR)
    distances = np.stack([to_back, to_side, to_ground])
    plane = np.argmin(distances, axis=0).astype(np.int8)
    distance = np.minimum(np.minimum(to_back, to_side), to_ground)
    place = np.asarray(camera.place, np.float32)[:, None, None] + rays * distance
    return Hits(place=place, distance=distance, plane=plane)


def radiance(street: Street, camera: Camera, hits: Hits) -> FloatPixels:
    """What the set sends to the camera along every ray, haze included; H W 3."""
    x, y, z = hits.place
    out = np.empty((*x.shape, 3), np.float32)
    for plane, texels, u, v in ((BACK, street.back, x, y), (SIDE, street.side, z, y), (GROUND, street.ground, x, z)):
        there = hits.on(plane)
        out[there] = plane.grid.sample(texels, u[there], v[there])
    wet = hits.on(GROUND)
    out[wet] += _mirrored(street, camera, x[wet], z[wet])
    return through_haze(out, hits.distance)


def through_haze(pixels: FloatPixels, distance: FloatPixels) -> FloatPixels:
    """Radiance after `distance` metres of damp air; pixels shape is distance's + (3,)."""
    clear = np.exp(-np.float32(HAZE_PER_METRE) * distance)[..., None]
    return float32(HAZE + (pixels - HAZE) * clear)


def _mirrored(street: Street, camera: Camera, x: FloatPixels, z: FloatPixels) -> FloatPixels:
    """The walls in the wet paving at N places on the ground, N 3."""
    ripple = GROUND.grid.sample(street.ripple, x, z)
    slope_x, slope_z, wet = ripple[:, 0], ripple[:, 1], ripple[:, 2]
    ray_x, ray_z = x - np.float32(camera.place[0]), z - np.float32(camera.place[2])
    rise = np.float32(camera.place[1]) * np.ones_like(x)
    turned_x, turned_z = ray_x + 0.9 * slope_x * rise, np.maximum(ray_z + 0.9 * slope_z * rise, 0.1)
    to_back = (np.float32(BACK_Z) - z) / turned_z
    to_side = np.where(turned_x > 0, (np.float32(SIDE_X) - x) / np.maximum(turned_x, 1e-6), FAR)
    reach = np.minimum(to_back, to_side)
    up, back = rise * reach, BACK.grid.sample(street.back_mirrored, x + turned_x * to_back, rise * to_back)
    side = SIDE.grid.sample(street.side_mirrored, z + turned_z * reach, up)
    seen = np.where((to_back <= to_side)[:, None], back, side)
    steepness = rise / np.sqrt(ray_x**2 + ray_z**2 + rise**2)
    fresnel = 0.08 + 0.92 * (1 - steepness) ** 2.2
    return float32(seen * (fresnel * wet)[:, None])
