"""Pairs of frames for the measures: gradients with grain, cheap to make and as hard to compress as a camera's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from benchmarks.shots.shot import RGB

from understudy.frames.image import Image
from understudy.frames.window import Window
from understudy.frames.write import write_image
from understudy.sources.sequences import SequenceSource

WRITERS = 4


def write_pairs(folder: Path, width: int, height: int, count: int, wanted: tuple[str, ...] = RGB) -> SequenceSource:
    """`count` frames of plate and paint, half EXR with ZIP.

    `wanted`: RGB, a little darker in the upper quarter and as the plate below, or a matte, of a shade.
    """
    across, down = np.linspace(0.02, 1.2, width, dtype=np.float32), np.linspace(0.2, 1.0, height, dtype=np.float32)
    wall = down[:, None, None] * across[None, :, None] * np.array((1.0, 0.8, 0.6), np.float32)  # H W 3
    darker = np.where(np.arange(height) < height // 4, np.float32(0.8), np.float32(1))[:, None, None]  # H 1 1
    grain = np.random.default_rng(0).normal(0.0, 0.01, wall.shape).astype(np.float32)
    window = Window.of_size(width, height)

    def write(frame: int) -> None:
        plate = wall + np.roll(grain, 37 * frame, axis=0)
        shade = np.clip(8 * np.roll(wall[..., :1], 37 * frame, axis=0) - 2, 0, 1)  # H W 1, soft at its edges
        paint = plate * darker if wanted == RGB else shade
        for name, channels, pixels in (("plate", RGB, plate), ("paint", wanted, paint)):
            image = Image(pixels=pixels, channels=channels, data_window=window, display_window=window)
            write_image(folder / f"{name}.{frame:04d}.exr", image)

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(1, count + 1)))
    return SequenceSource(input=str(folder / "plate.####.exr"), target=str(folder / "paint.####.exr"))
