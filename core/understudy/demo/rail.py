"""The iron rail between the camera and the street, a little out of focus."""

from __future__ import annotations

import numpy as np

from understudy.demo.camera import Camera
from understudy.demo.filters import float32
from understudy.demo.photograph import FAR
from understudy.frames.image import FloatPixels

RAIL_Z = 3.1
RAIL_END_X = -0.62
RAIL_HEIGHTS, RAIL_RADIUS = (0.80, 0.42), 0.026
POST_SPACING, POST_RADIUS = 1.25, 0.032
"""Metres."""


def lay_rail(camera: Camera, rays: FloatPixels) -> tuple[int, FloatPixels, FloatPixels]:
    """What the rail hides of an instant, for rays 3 H W.

    Returns the first row that it may touch, its coverage (rows W 1) and its radiance (rows W 3) from there down.
    """
    reach = (RAIL_Z - camera.place[2]) / rays[2]
    v_all = np.float32(camera.place[1]) + rays[1] * reach
    touched = np.flatnonzero((v_all < RAIL_HEIGHTS[0] + 0.12).any(axis=1))
    first = int(touched[0]) if touched.size else rays.shape[1]
    u, v = (np.float32(camera.place[0]) + rays[0] * reach)[first:], v_all[first:]
    soft = np.float32(2.6 * (RAIL_Z - camera.place[2]) / camera.focal)
    post = (u - np.float32(RAIL_END_X) + np.float32(POST_SPACING / 2)) % np.float32(POST_SPACING) - POST_SPACING / 2
    post = np.where(u > RAIL_END_X + POST_RADIUS * 2, FAR, post)
    cover = _tube_coverage(np.maximum(np.abs(post), v - RAIL_HEIGHTS[0] + POST_RADIUS), POST_RADIUS, soft)
    colour = _tube_colour(np.clip(post / POST_RADIUS, -1, 1), left_key=True)
    for height in RAIL_HEIGHTS:
        across = v - np.float32(height)
        tube = _tube_coverage(np.maximum(np.abs(across), u - RAIL_END_X + RAIL_RADIUS), RAIL_RADIUS, soft)
        colour += (_tube_colour(np.clip(across / RAIL_RADIUS, -1, 1), left_key=False) - colour) * tube[..., None]
        cover = np.maximum(cover, tube)
    return first, cover[..., None], colour


def _tube_coverage(across: FloatPixels, radius: float, soft: np.float32) -> FloatPixels:
    part = np.clip(0.5 - (across - np.float32(radius)) / soft, 0, 1).astype(np.float32)
    return float32(part * part * (3 - 2 * part))


def _tube_colour(across: FloatPixels, *, left_key: bool) -> FloatPixels:
    """Radiance of a painted tube, -1 to 1 from its left (or lower) to its right (or upper) edge."""
    key_at = -0.45 if left_key else 0.40
    body = 0.35 + 0.65 * np.sqrt(np.clip(1 - (across - 0.5 * key_at) ** 2, 0, 1))
    key = np.exp(-(((across - key_at) / 0.20) ** 2))
    rim = np.exp(-(((across - 0.85) / 0.22) ** 2))
    colour = body[..., None] * np.array([0.018, 0.021, 0.024], np.float32)
    colour = colour + key[..., None] * np.array([0.16, 0.125, 0.10], np.float32)
    return np.asarray(colour + rim[..., None] * np.array([0.09, 0.045, 0.016], np.float32), np.float32)
