"""Small pictures on disk for nodes that move pixels: with windows, pixel aspect and values that say where they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import OpenImageIO as oiio
from tests.core.script.fixtures import evaluator_of, pull

from understudy.frames.image import FloatPixels, Image
from understudy.frames.window import Window

REGIONS = (Window(0, 0, 9, 7), Window(2, 1, 5, 4), Window(-3, -4, 3, 20), Window(8, 0, 9, 1), Window(90, 90, 92, 92))


def plate(
    folder: Path,
    pixels: FloatPixels,
    channels: tuple[str, ...] = ("R", "G", "B", "A"),
    *,
    at: tuple[int, int] = (0, 0),
    display: Window | None = None,
    pixel_aspect: float = 1.0,
    name: str = "plate",
) -> str:
    """A Read of H W C pixels whose data window begins at `at`; the format is the data window unless stated."""
    height, width, num_channels = pixels.shape
    spec = oiio.ImageSpec(width, height, num_channels, oiio.FLOAT)
    spec.channelnames = channels
    spec.x, spec.y = at
    shown = display or Window.of_size(width, height, *at)
    spec.full_x, spec.full_y, spec.full_width, spec.full_height = shown.x0, shown.y0, shown.width, shown.height
    spec.attribute("PixelAspectRatio", pixel_aspect)
    path = folder / f"{name}.exr"
    output = oiio.ImageOutput.create(str(path))
    assert output is not None
    assert output.open(str(path), spec), output.geterror()
    assert output.write_image(np.ascontiguousarray(pixels, np.float32)), output.geterror()
    output.close()
    return f'Read {{ inputs 0 file "{path.as_posix()}" name {name} }}\n'


def noise(height: int, width: int, num_channels: int = 4) -> FloatPixels:
    """H W C from -0.5 to 2, the same every time."""
    return np.random.default_rng(7).uniform(-0.5, 2, (height, width, num_channels)).astype(np.float32)


def coordinates(height: int, width: int) -> FloatPixels:
    """H W 2: of each pixel's middle the distance from the left side and from the lower one, in pixels."""
    x, y = np.arange(width) + 0.5, height - 0.5 - np.arange(height)
    return np.stack(np.broadcast_arrays(x[None, :], y[:, None]), axis=2).astype(np.float32)


def assert_regions_are_cut_out(text: str, whole: Image, frame: int = 1) -> None:
    """Any region of the script's last node is the same part of its whole picture."""
    evaluator, last = evaluator_of(text)
    for region in (*REGIONS, whole.data_window):
        part = evaluator.pull(last, frame, whole.channels, region)
        assert part.data_window == whole.data_window.intersect(region) or part.data_window.is_empty
        np.testing.assert_array_equal(part.over(region), whole.over(region))


def assert_regions_of_a_strange_plate_are_cut_out(
    folder: Path, nodes: str, at: tuple[int, int], display: Window | None
) -> None:
    """Of these nodes below a plate that holds an infinity and a not-a-number."""
    pixels = noise(7, 9)
    pixels[2, 3], pixels[4, 6] = np.inf, np.nan
    text = plate(folder, pixels, at=at, display=display) + nodes
    assert_regions_are_cut_out(text, pull(text))
