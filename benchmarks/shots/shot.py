"""A shot whose every frame is known as it should become: some frames count as painted, the rest are held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from understudy.frames.image import FloatPixels

RGB, RGBA, MATTE = ("R", "G", "B"), ("R", "G", "B", "A"), ("A",)

Kind = Literal["denoise", "deblur", "matte", "cleanup", "beauty", "look"]


@dataclass(frozen=True, kw_only=True)
class Example:
    """A pair, of one size."""

    seen: FloatPixels
    """H W Cin: the plate, scene-linear; where a rough matte is given, it is in A."""
    wanted: FloatPixels
    """H W Cout."""


@dataclass(frozen=True, kw_only=True)
class Shot:
    """Frames one after the other."""

    kind: Kind
    seen: tuple[str, ...] = RGB
    wanted: tuple[str, ...] = RGB
    """Channels."""
    example: Callable[[int], Example]
    """Of a frame."""
    frames: range
    painted: tuple[int, ...]
    footage: Path | None = None
    """What it is made from; None: the demo's set."""

    @property
    def held_out(self) -> tuple[int, ...]:
        return tuple(frame for frame in self.frames if frame not in self.painted)

    @property
    def is_there(self) -> bool:
        return self.footage is None or self.footage.exists()
