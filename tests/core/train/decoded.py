"""Decoded pairs made in memory, for the training room's small parts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from understudy.dataset import DecodedPair, decode_pair
from understudy.frames.image import FloatPixels, Image
from understudy.frames.window import Window
from understudy.pairs import Media, Pair


@dataclass(frozen=True)
class Picture:
    """A FrameSource whose pixels are at hand."""

    pixels: FloatPixels
    channels: tuple[str, ...]

    @property
    def label(self) -> str:
        return "picture"

    @property
    def media(self) -> Media:
        return Media(path=Path("picture.exr"), frame=1)

    def read(self) -> Image:
        window = Window.of_size(self.pixels.shape[1], self.pixels.shape[0])
        return Image(pixels=self.pixels, channels=self.channels, data_window=window, display_window=window)


def decoded(plate: NDArray[np.floating], paint: NDArray[np.floating], crop_size: int = 16) -> DecodedPair:
    """A pair of H W C arrays, decoded as a run would."""
    names = {1: ("A",), 2: ("A", "Z"), 3: ("R", "G", "B"), 4: ("R", "G", "B", "A")}
    sides = [Picture(side.astype(np.float32), names[side.shape[2]]) for side in (plate, paint)]
    return decode_pair(Pair(frame=1, input=sides[0], target=sides[1]), crop_size)
