"""What the set is built of: brick, plaster, paving, paint."""

from __future__ import annotations

import numpy as np

from understudy.demo.filters import float32, smooth_noise, smoothstep
from understudy.demo.surface import Canvas, Colour
from understudy.frames.image import FloatPixels

MORTAR: Colour = (0.30, 0.28, 0.25)


def lay_bricks(canvas: Canvas, length: float = 0.25, course: float = 0.085, mortar: float = 0.013) -> None:
    """Running bond over the whole canvas; measures in metres."""
    row = np.floor(canvas.v / course).astype(int)
    along = canvas.u / length + 0.5 * (row % 2)
    column = np.floor(along).astype(int)
    wobble = (_noise(canvas, 0.09, 2) - 0.5) * np.float32(0.008)
    edge_u = (0.5 - np.abs(along - column - 0.5)) * length
    edge_v = (0.5 - np.abs(canvas.v / course - row - 0.5)) * course
    inside = np.minimum(edge_u, edge_v).astype(np.float32) - np.float32(mortar / 2) + wobble
    brick = smoothstep(-0.004, 0.006, inside)
    tint, warmth = _per_cell(canvas, row, column), _per_cell(canvas, row, column)
    grit = _noise(canvas, 0.05, 3)
    strength = (0.55 + 0.75 * tint) * (0.75 + 0.5 * grit)
    clay = np.stack([0.34 + 0.06 * warmth, 0.15 + 0.05 * warmth, 0.10 + 0.03 * warmth], axis=-1) * strength[..., None]
    canvas.albedo[:] = np.asarray(MORTAR, np.float32) * (0.6 + 0.6 * grit)[..., None]
    canvas.paint(brick, clay.astype(np.float32))
    canvas.relief[:] = brick * (0.009 + 0.004 * tint) + (grit - 0.5) * np.float32(0.005)


def plaster_over(canvas: Canvas, cover: FloatPixels, colour: Colour) -> None:
    """Uneven painted plaster where `cover` is 1, with stains; its broken edge stands proud of what is below."""
    broad, fine = _noise(canvas, 0.9, 4), _noise(canvas, 0.06, 3)
    tone = (0.72 + 0.5 * broad) * (0.86 + 0.28 * fine)
    canvas.paint(cover, (np.asarray(colour, np.float32) * tone[..., None]).astype(np.float32))
    canvas.relief += cover * (0.014 + (fine - 0.5) * 0.007 + (broad - 0.5) * 0.02 - canvas.relief)


def flaked(canvas: Canvas, amount: float) -> FloatPixels:
    """A cover that has fallen off in patches over about `amount` of the canvas."""
    patches = _noise(canvas, 1.1, 5)
    return smoothstep(amount, amount + 0.02, patches)


def rain_streaks(canvas: Canvas, strength: float) -> None:
    """Dirt that water has drawn downward."""
    shape = canvas.u.shape
    thin = smooth_noise(canvas.rng, (max(2, shape[0] // 24), shape[1]), 10.0, 4)
    rows = np.linspace(0, thin.shape[0] - 1.001, shape[0]).astype(np.float32)
    whole = rows.astype(int)
    drawn = thin[whole] + (thin[whole + 1] - thin[whole]) * (rows - whole)[:, None]
    canvas.shade((np.float32(strength) * smoothstep(0.5, 0.95, drawn)).astype(np.float32))


def pave(canvas: Canvas, slab: float = 0.55, joint: float = 0.012) -> FloatPixels:
    """Paving slabs; returns how wet each texel is, 0..1."""
    row = np.floor(canvas.v / slab).astype(int)
    along = canvas.u / (slab * 1.5) + 0.37 * row
    column = np.floor(along).astype(int)
    edge_u = (0.5 - np.abs(along - column - 0.5)) * slab * 1.5
    edge_v = (0.5 - np.abs(canvas.v / slab - row - 0.5)) * slab
    stone = smoothstep(0.0, joint, np.minimum(edge_u, edge_v).astype(np.float32))
    tint, grit, broad = _per_cell(canvas, row, column), _noise(canvas, 0.04, 3), _noise(canvas, 0.8, 3)
    grey = (0.13 + 0.10 * tint) * (0.6 + 0.8 * grit) * (0.35 + 0.65 * stone)
    wet = smoothstep(0.34, 0.52, broad) * (0.75 + 0.25 * stone)
    canvas.albedo[:] = grey[..., None] * np.array([1.0, 0.96, 0.9], np.float32) * (1 - 0.55 * wet)[..., None]
    canvas.relief[:] = (stone * 0.006 + (grit - 0.5) * 0.006 + tint * 0.002) * (1 - 0.9 * wet)
    return float32(np.maximum(wet, np.float32(0.3)))


def _noise(canvas: Canvas, cell_metres: float, octaves: int) -> FloatPixels:
    return smooth_noise(canvas.rng, canvas.u.shape, cell_metres * canvas.grid.texels_per_metre, octaves)


def _per_cell(canvas: Canvas, row: FloatPixels, column: FloatPixels) -> FloatPixels:
    """One random number for each brick or slab, H W."""
    rows, columns = (row - row.min()).astype(int), (column - column.min()).astype(int)
    table = canvas.rng.random((int(rows.max()) + 1, int(columns.max()) + 1), np.float32)
    return float32(table[rows, columns])
