"""What is fixed to the walls: window, door, neon letters, lamps, a rain pipe."""

from __future__ import annotations

import numpy as np

from understudy.demo.filters import float32, smooth_noise, smoothstep
from understudy.demo.surface import Canvas, Colour
from understudy.frames.image import FloatPixels

GLASS_GLOW: Colour = (0.95, 0.50, 0.17)


def window(canvas: Canvas, u0: float, v0: float, u1: float, v1: float) -> None:
    """A lit room behind curtains, in a painted frame on a stone sill."""
    frame = canvas.box(u0 - 0.07, v0 - 0.07, u1 + 0.07, v1 + 0.07)
    canvas.shade(0.55 * smoothstep(0.14, 0.0, frame))
    canvas.paint(canvas.coverage(frame), (0.09, 0.115, 0.10))
    canvas.flatten(canvas.coverage(frame), 0.03)
    sill = canvas.box(u0 - 0.14, v0 - 0.16, u1 + 0.14, v0 - 0.06)
    canvas.paint(canvas.coverage(sill), (0.36, 0.34, 0.30))
    canvas.flatten(canvas.coverage(sill), 0.05)
    across = (canvas.u - u0) / (u1 - u0)
    upward = (canvas.v - v0) / (v1 - v0)
    room = _lit_room(across, upward)
    for column in range(3):
        for low, high in ((0.0, 0.64), (0.68, 1.0)):
            pane = canvas.box(
                u0 + (u1 - u0) * (column / 3 + 0.012), v0 + (v1 - v0) * low,
                u0 + (u1 - u0) * ((column + 1) / 3 - 0.012), v0 + (v1 - v0) * high,
            )  # fmt: skip
            glass = canvas.coverage(pane)
            canvas.paint(glass, (0.02, 0.02, 0.022))
            canvas.flatten(glass, 0.0)
            inner_shadow = 0.25 + 0.75 * smoothstep(0.0, -0.05, pane)
            canvas.glow += (glass * inner_shadow)[..., None] * room


def _lit_room(across: FloatPixels, upward: FloatPixels) -> FloatPixels:
    lamp = np.exp(-(((across - 0.62) / 0.16) ** 2) - ((upward - 0.52) / 0.20) ** 2)
    shelf = smoothstep(0.03, 0.0, np.abs(upward - 0.26)) + smoothstep(0.03, 0.0, np.abs(upward - 0.02))
    bottles = (np.sin(across * 71) + np.sin(across * 43 + 2) > 0.35) & (upward > 0.27) & (upward < 0.40)
    level = (0.34 + 0.5 * upward * (1 - upward) + 3.0 * lamp) * (1 - 0.8 * np.clip(shelf, 0, 1)) * (1 - 0.6 * bottles)
    folds = 0.62 + 0.28 * np.sin(across * 88 + 1.3 * np.sin(across * 17)) + 0.1 * np.sin(across * 193)
    gathered = 0.20 + 0.07 * np.cos(upward * 2.6)
    curtain = smoothstep(0.0, 0.015, gathered - np.minimum(across, 1 - across))
    cloth = (0.30 + 0.45 * lamp + 0.16 * upward) * folds
    level = level + (cloth - level) * curtain
    return float32(level[..., None] * np.asarray(GLASS_GLOW, np.float32))


def door(canvas: Canvas, u0: float, u1: float, top: float) -> None:
    """A panelled door with a small lit pane."""
    surround = canvas.box(u0 - 0.12, -0.1, u1 + 0.12, top + 0.12)
    canvas.shade(0.5 * smoothstep(0.12, 0.0, surround))
    canvas.paint(canvas.coverage(surround), (0.30, 0.28, 0.25))
    canvas.flatten(canvas.coverage(surround), 0.03)
    leaf = canvas.coverage(canvas.box(u0, -0.1, u1, top))
    grain = smooth_noise(canvas.rng, canvas.u.shape, 12.0, 3)
    canvas.paint(leaf, (np.array([0.16, 0.035, 0.03], np.float32) * (0.7 + 0.6 * grain)[..., None]).astype(np.float32))
    canvas.flatten(leaf, -0.03)
    middle = (u0 + u1) / 2
    for left, right in ((u0 + 0.10, middle - 0.05), (middle + 0.05, u1 - 0.10)):
        for low, high in ((0.22, 0.85), (1.0, 1.42)):
            edge = canvas.box(left, low, right, high)
            canvas.shade(0.55 * smoothstep(0.03, 0.0, np.abs(edge)))
            canvas.relief += 0.012 * smoothstep(0.0, -0.04, edge)
    pane = canvas.box(u0 + 0.12, 1.56, u1 - 0.12, top - 0.12, corner_radius=0.03)
    canvas.paint(canvas.coverage(pane), (0.02, 0.02, 0.02))
    canvas.glow += (0.36 * canvas.coverage(pane) * (0.4 + 0.6 * grain))[..., None] * np.asarray(GLASS_GLOW, np.float32)
    knob = canvas.disc(u1 - 0.07, 1.0, 0.03)
    canvas.paint(canvas.coverage(knob), (0.85, 0.62, 0.25))


def neon_letters(canvas: Canvas, u: float, v: float, height: float) -> None:
    """CAFE in one red tube, with the soft light it lays on the wall behind. (u, v) is its lower left corner."""
    for index, strokes in enumerate(_LETTERS):
        left = u + index * height * 0.92
        for points in strokes:
            placed = [(left + x * height * 0.6, v + y * height) for x, y in points]
            canvas.shade(0.3 * smoothstep(0.06, 0.0, canvas.stroke([(x + 0.015, y - 0.03) for x, y in placed])))
            away = canvas.stroke(placed)
            canvas.paint(canvas.coverage(away - 0.014), (0.25, 0.2, 0.2))
            core, sheath = canvas.coverage(away - 0.005, 1.6), canvas.coverage(away - 0.014, 1.6)
            canvas.glow += sheath[..., None] * np.array([4.2, 0.26, 0.52], np.float32)
            canvas.glow += core[..., None] * np.array([5.0, 2.0, 2.6], np.float32)
            canvas.glow += (0.10 * np.exp(-away / 0.05))[..., None] * np.array([1.0, 0.06, 0.14], np.float32)


_ARC = [(0.5 + 0.5 * float(np.cos(angle)), 0.5 + 0.5 * float(np.sin(angle))) for angle in np.linspace(0.8, 5.48, 13)]
_LETTERS = (
    (_ARC,),
    ([(0.0, 0.0), (0.5, 1.0), (1.0, 0.0)], [(0.22, 0.36), (0.78, 0.36)]),
    ([(0.05, 0.0), (0.05, 1.0), (0.95, 1.0)], [(0.05, 0.52), (0.75, 0.52)]),
    ([(0.95, 0.0), (0.05, 0.0), (0.05, 1.0), (0.95, 1.0)], [(0.05, 0.52), (0.75, 0.52)], [(0.45, 1.12), (0.75, 1.28)]),
)
"""Strokes in a unit box, one tuple a letter."""


def sconce(canvas: Canvas, u: float, v: float, broad: float = 1.0) -> None:
    """A wall lamp: iron plate, and a glass globe brighter than white. (u, v) is the globe's centre.

    `broad` widens it on a wall that is seen at a slant, so that the globe still looks round.
    """
    plate = canvas.box(u - 0.055 * broad, v + 0.05, u + 0.055 * broad, v + 0.26, corner_radius=0.04)
    canvas.shade(0.6 * smoothstep(0.08, 0.0, plate))
    canvas.paint(canvas.coverage(plate), (0.05, 0.045, 0.04))
    canvas.flatten(canvas.coverage(plate), 0.03)
    hood = canvas.box(u - 0.115 * broad, v + 0.055, u + 0.115 * broad, v + 0.095, corner_radius=0.02)
    canvas.paint(canvas.coverage(hood), (0.06, 0.05, 0.045))
    globe = np.hypot((canvas.u - np.float32(u)) / np.float32(broad), canvas.v - np.float32(v)) - np.float32(0.095)
    glass = canvas.coverage(globe)
    canvas.paint(glass, (0.3, 0.28, 0.25))
    filament = np.exp(-((np.maximum(globe + 0.095, 0) / 0.042) ** 2))
    canvas.glow += (glass * (2.2 + 10.0 * filament))[..., None] * np.array([1.0, 0.66, 0.32], np.float32)


def rain_pipe(canvas: Canvas, u: float, radius: float = 0.05) -> None:
    """An iron pipe from the eaves to the ground, with brackets."""
    across = (canvas.u - np.float32(u)) / np.float32(radius)
    contact = smoothstep(2.6, 1.0, across) * (across > 0)
    canvas.shade((0.55 * contact).astype(np.float32))
    cover = canvas.coverage((np.abs(across) - 1) * np.float32(radius))
    round_light = 0.35 + 0.65 * np.sqrt(np.clip(1 - (across + 0.35) ** 2, 0, 1))
    gloss = 1.6 * np.exp(-(((across + 0.45) / 0.16) ** 2))
    rust = smooth_noise(canvas.rng, canvas.u.shape, 20.0, 4)
    tone = (round_light + gloss)[..., None] * (0.6 + 0.8 * rust)[..., None]
    canvas.paint(cover, (np.array([0.085, 0.095, 0.10], np.float32) * tone).astype(np.float32))
    canvas.flatten(cover, 0.06)
    for height in (0.55, 1.75, 2.95):
        bracket = canvas.coverage(
            canvas.box(u - radius * 1.5, height, u + radius * 1.5, height + 0.07, corner_radius=0.01)
        )
        canvas.paint(bracket, (np.array([0.06, 0.06, 0.062], np.float32) * tone).astype(np.float32))
