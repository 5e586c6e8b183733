"""A frame of the demo shot: the set through a moving camera, with and without what must be painted out."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from understudy.demo.camera import camera_at
from understudy.demo.grain import grain
from understudy.demo.lens import glare, vignette
from understudy.demo.photograph import cast, radiance
from understudy.demo.rail import lay_rail
from understudy.demo.rigging import hang_wire, stick_markers
from understudy.demo.shot import DemoShot
from understudy.demo.street import Street, build_street
from understudy.frames.image import FloatPixels

__all__ = ["DemoShot", "render_frame"]

EXPOSURE = 1.6
SHUTTER_FRAMES = 0.6
"""How long the shutter is open, centred on the frame."""
SUB_FRAMES = 8
"""Instants averaged into a frame, each looking through another part of the pixel."""


def render_frame(shot: DemoShot, frame: int) -> tuple[FloatPixels, FloatPixels]:
    """The plate and the truth of one frame, each H W 3 float32, scene-linear.

    Both have the same grain, so they are equal wherever no marker and no wire was seen while the shutter was open.
    The first call for a shot also builds its set, which takes a second or two.
    """
    street = _street_of(shot.seed)
    plate = np.zeros((shot.height, shot.width, 3), np.float32)
    clean = np.zeros_like(plate)
    for index in range(SUB_FRAMES):
        with_rig, without = _instant(shot, street, frame, index)
        plate += with_rig
        clean += without
    gain = vignette(shot.height, shot.width) * np.float32(EXPOSURE / SUB_FRAMES)
    spread = glare(clean * gain)
    plate, clean = plate * gain + spread, clean * gain + spread
    noise = grain(shot, frame, clean)
    return plate + noise, clean + noise


def _instant(shot: DemoShot, street: Street, frame: int, index: int) -> tuple[FloatPixels, FloatPixels]:
    """Plate and clean picture of one sub-frame, H W 3 each."""
    time_frames = frame + SHUTTER_FRAMES * ((index + 0.5) / SUB_FRAMES - 0.5)
    shift = (index * 0.7549 % 1 - 0.5, index * 0.5698 % 1 - 0.5)  # spreads evenly over the pixel's area
    camera = camera_at(shot, time_frames)
    rays = camera.rays(*shift, (shot.width, shot.height))
    hits = cast(camera, rays)
    clean = radiance(street, camera, hits)
    plate = clean.copy()
    stick_markers(plate, camera, hits)
    hang_wire(plate, camera, time_frames - shot.first_frame, shift)
    first_row, cover, rail = lay_rail(camera, rays)
    for picture in (plate, clean):
        picture[first_row:] += (rail - picture[first_row:]) * cover
    return plate, clean


@lru_cache(maxsize=1)
def _street_of(seed: int) -> Street:
    return build_street(seed)
