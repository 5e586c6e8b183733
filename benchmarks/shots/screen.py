"""Something with hair that moves before a green screen: its matte, or itself without the screen and its light."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from benchmarks.shots.shot import Example
from benchmarks.shots.street import Move, clean_and_rail

from understudy.demo.filters import blur, float32, sample_bilinear, smooth_noise
from understudy.demo.shot import DemoShot
from understudy.frames.image import FloatPixels

SIZE = (216, 384)
"""Rows and columns of a frame."""
SUBJECT = (300, 260)
"""Of the subject, whose lower end is out of the frame."""
STREET, CORNER = Move(shot=DemoShot(width=640, height=360), step=3.0), (20, 80)
"""What the subject is covered with: a picture of the demo's set, from a row and a column on."""
CENTRE, RADII = (190.0, 130.0), (110.0, 62.0)
"""Of the ellipse that it is but for its hair, in rows and columns."""
FINE = 4
"""Each pixel of the subject's matte is of so many a side."""
NUM_HAIRS = 420
GREEN = np.array([0.05, 0.42, 0.09], np.float32)
SPILL = 0.12
"""Of the screen's light, that the subject throws back."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Of a frame, H W 3 each but for the cover."""

    subject: FloatPixels
    """As it would be by itself."""
    spill: FloatPixels
    screen: FloatPixels
    noise: FloatPixels
    cover: FloatPixels
    """H W 1: how much of a pixel the subject covers."""

    @property
    def plate(self) -> FloatPixels:
        return float32((self.subject + self.spill) * self.cover + self.screen * (1 - self.cover) + self.noise)


def key(frame: int) -> Example:
    parts = _parts(frame)
    return Example(seen=parts.plate, wanted=parts.cover)


def cut_out(frame: int) -> Example:
    """Premultiplied, with its grain; black around it."""
    parts = _parts(frame)
    subject = (parts.subject + parts.noise) * parts.cover
    return Example(seen=parts.plate, wanted=float32(np.concatenate([subject, parts.cover], axis=2)))


def _parts(frame: int) -> Parts:
    rows, columns = SIZE
    light = 0.5 + 0.6 * _folds()[:, 3 * frame : 3 * frame + columns, None]
    screen = float32(light * GREEN)
    subject, cover = _moved(frame)
    near_edge = 0.3 + blur(1 - cover, 4, 4)
    spill = float32(SPILL * blur(screen, 6, 6) * near_edge)
    mixed = (subject + spill) * cover + screen * (1 - cover)
    photons = np.random.default_rng((40, frame)).normal(0, 1, (rows, columns, 3))
    noise = float32(photons * np.sqrt(np.maximum(mixed, 0) * 4e-4 + 1e-6))
    return Parts(subject=subject, spill=spill, screen=screen, noise=noise, cover=cover)


def _moved(frame: int) -> tuple[FloatPixels, FloatPixels]:
    """The subject, H W 3, and its cover, H W 1, where they are in a frame: it goes to the right, sways and nods."""
    rows, columns = SIZE
    left = 20 + 7 * frame + 4 * np.sin(0.6 * frame)
    top = 6 + 5 * np.sin(0.35 * frame)
    turn = 0.06 * np.sin(0.5 * frame)
    y, x = np.mgrid[:rows, :columns].astype(np.float32) + np.float32(0.5)
    across = float32((x - left) * np.cos(turn) + (y - top) * np.sin(turn)).ravel()
    down = float32((y - top) * np.cos(turn) - (x - left) * np.sin(turn)).ravel()
    found = sample_bilinear(_subject(), across, down).reshape(rows, columns, 4)
    return found[..., :3], blur(found[..., 3:], 0.5, 1.0)


@lru_cache(maxsize=1)
def _subject() -> FloatPixels:
    """SUBJECT 4: colour, and its cover, which is 0 at the sides and above."""
    street, _ = clean_and_rail(STREET, 1)
    (top, left), (rows, columns) = CORNER, SUBJECT
    return np.concatenate([street[top : top + rows, left : left + columns], _cover()[..., None]], axis=2)


def _cover() -> FloatPixels:
    """SUBJECT: an ellipse and hairs that grow out of its edge, each a little bent."""
    (rows, columns), (middle_y, middle_x), (radius_y, radius_x) = SUBJECT, CENTRE, RADII
    y, x = (np.mgrid[: rows * FINE, : columns * FINE] + 0.5) / FINE
    fine = float32(np.hypot((y - middle_y) / radius_y, (x - middle_x) / radius_x) < 1)
    rng = np.random.default_rng(5)
    for _ in range(NUM_HAIRS):
        root = rng.uniform(0, 2 * np.pi)
        way = np.arange(0, rng.uniform(8, 34), 0.2)
        heading = root + rng.normal(0, 0.5) + 0.02 * way
        at_y = (middle_y + (radius_y - 2) * np.sin(root) + way * np.sin(heading)) * FINE
        at_x = (middle_x + (radius_x - 2) * np.cos(root) + way * np.cos(heading)) * FINE
        inside = (at_y >= 0) & (at_y < rows * FINE - 2) & (at_x >= 0) & (at_x < columns * FINE)
        hair_y, hair_x = at_y[inside].astype(int), at_x[inside].astype(int)
        fine[hair_y, hair_x] = fine[hair_y + 1, hair_x] = 1
    return float32(fine.reshape(rows, FINE, columns, FINE).mean(axis=(1, 3)))


@lru_cache(maxsize=1)
def _folds() -> FloatPixels:
    """How light falls on the screen, wider than a frame."""
    rows, columns = SIZE
    return smooth_noise(np.random.default_rng(41), (rows, columns + 200), 90, 3)
