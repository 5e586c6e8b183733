"""Small real image files, written with OpenImageIO itself, for tests that read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
from numpy.typing import NDArray

from understudy.frames.image import FloatPixels
from understudy.frames.window import Window

SMALL = Window.of_size(8, 6)


def ramp(window: Window, num_channels: int, scale: float = 1.0) -> FloatPixels:
    """H W C of different values, exact in half."""
    size = window.height * window.width * num_channels
    steps = np.arange(size, dtype=np.float32).reshape(window.height, window.width, num_channels)  # H W C
    return np.asarray(steps * np.float32(scale / 256), np.float32)


def part_spec(
    channels: Sequence[str],
    data: Window = SMALL,
    display: Window = SMALL,
    pixel_type: str = "half",
    *,
    name: str = "",
    attributes: Mapping[str, int | float | str] | None = None,
) -> oiio.ImageSpec:
    spec = oiio.ImageSpec(data.width, data.height, len(channels), pixel_type)
    spec.x, spec.y = data.x0, data.y0
    spec.full_x, spec.full_y = display.x0, display.y0
    spec.full_width, spec.full_height = display.width, display.height
    spec.channelnames = tuple(channels)
    if name:
        spec["oiio:subimagename"] = name
    for key, value in (attributes or {}).items():
        spec[key] = value
    return spec


def write_file(path: Path, spec: oiio.ImageSpec, pixels: NDArray[np.generic]) -> Path:
    return write_parts(path, [(spec, pixels)])


def write_parts(path: Path, parts: Sequence[tuple[oiio.ImageSpec, NDArray[np.generic]]]) -> Path:
    output = oiio.ImageOutput.create(str(path))
    assert output is not None
    specs = [spec for spec, _ in parts]
    assert output.open(str(path), specs) if len(specs) > 1 else output.open(str(path), specs[0]), output.geterror()
    for index, (spec, pixels) in enumerate(parts):
        if index:
            assert output.open(str(path), spec, "AppendSubimage"), output.geterror()
        assert output.write_image(np.ascontiguousarray(pixels)), output.geterror()
    assert output.close()
    return path


def write_plate(
    path: Path,
    pixels: FloatPixels,
    channels: Sequence[str] = ("R", "G", "B"),
    data: Window | None = None,
    display: Window | None = None,
) -> Path:
    """A one-part float EXR; windows default to the size of `pixels`."""
    window = data or Window.of_size(pixels.shape[1], pixels.shape[0])
    return write_file(path, part_spec(channels, window, display or window, "float"), pixels)
