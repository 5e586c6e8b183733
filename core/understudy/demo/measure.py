"""How close two sequences are, as an eye would see it."""

from __future__ import annotations

from collections.abc import Iterable

from understudy.frames.psnr import PooledPsnr
from understudy.frames.read import read_image
from understudy.frames.sequence import Sequence


def psnr_over(frames: Iterable[int], a_pattern: str, b_pattern: str) -> float:
    """Peak signal-to-noise ratio in dB over the R, G, B of these frames together, clamped and sRGB-encoded, peak 1.

    Raises UnderstudyError naming a frame's file that is missing or unreadable.
    """
    error = PooledPsnr(("R", "G", "B"))
    first, second = Sequence(a_pattern), Sequence(b_pattern)
    for frame in frames:
        error.add(
            read_image(first.path(frame), layer="rgb").pixels,
            read_image(second.path(frame), layer="rgb").pixels,
        )
    return error.decibels()
