"""A picture in memory: scene-linear float pixels, named channels, a data window in a display window."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from understudy.frames.window import Window

FloatPixels = NDArray[np.float32]

_LARGE_BYTES = 32 * 2**20


@dataclass(frozen=True, kw_only=True)
class Image:
    """Pixels outside the data window are black and transparent, as in Nuke. Values are never clamped."""

    pixels: FloatPixels
    """H W C float32 over the data window, rows downward."""
    channels: tuple[str, ...]
    """One name per channel, as OpenEXR writes them: R, G, B, A, Z, diffuse.R, mask.a ..."""
    data_window: Window
    """Display coordinates; same height and width as `pixels`."""
    display_window: Window
    """The format: what a compositor calls full frame."""
    pixel_aspect: float = 1.0
    """Width over height of one pixel."""
    metadata: Mapping[str, int | float | str] = field(default_factory=dict)
    """The file's own header fields, for writing a result beside its source."""

    def __post_init__(self) -> None:
        expected = (self.data_window.height, self.data_window.width, len(self.channels))
        assert self.pixels.shape == expected, f"pixels {self.pixels.shape}, window and channels {expected}"
        assert self.pixels.dtype == np.float32, self.pixels.dtype

    def over(self, window: Window) -> FloatPixels:
        """Pixels of `window` as H W C, black outside the data window; a copy unless they are all there."""
        return part_of(self.pixels, self.data_window, window)

    def with_result(self, result: Image) -> Image:
        """This picture and the result's channels, which lie over the same window and replace those of their names."""
        assert result.data_window == self.data_window, (result.data_window, self.data_window)
        kept = [place for place, name in enumerate(self.channels) if name not in result.channels]
        return replace(
            self,
            pixels=np.concatenate((self.pixels[..., kept], result.pixels), axis=2),  # H W C
            channels=(*(self.channels[place] for place in kept), *result.channels),
        )


def part_of(pixels: FloatPixels, there: Window, wanted: Window) -> FloatPixels:
    """H W C over `wanted`, black outside `there`, which the pixels lie over; a copy unless they are all there."""
    shared = there.intersect(wanted)
    if shared == wanted:
        return pixels[_slices(wanted, there)]
    out = np.zeros((wanted.height, wanted.width, pixels.shape[2]), np.float32)  # H W C
    if not shared.is_empty:
        out[_slices(shared, wanted)] = pixels[_slices(shared, there)]
    return out


def room_for(height: int, width: int, num_channels: int) -> FloatPixels:
    """H W C to be filled. Of a large frame it is memory of its own, which leaves no hole in that of everything else."""
    num_bytes = 4 * height * width * num_channels
    if num_bytes < _LARGE_BYTES:
        return np.empty((height, width, num_channels), np.float32)
    return np.frombuffer(mmap.mmap(-1, num_bytes), np.float32).reshape(height, width, num_channels)


def _slices(part: Window, whole: Window) -> tuple[slice, slice]:
    return (
        slice(part.y0 - whole.y0, part.y1 - whole.y0),
        slice(part.x0 - whole.x0, part.x1 - whole.x0),
    )
