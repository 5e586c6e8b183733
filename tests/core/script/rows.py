"""Plates of one row of pixels, and what nodes make of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.core.script.fixtures import evaluator_of, pull, write_exr

from understudy.frames.window import Window

LAYERED = ("R", "G", "B", "A", "Z", "diffuse.R", "diffuse.G", "diffuse.B", "mask.a")
REGIONS = (
    Window(0, 0, 7, 5),
    Window(1, 1, 4, 3),
    Window(-3, -2, 2, 9),
    Window(5, 0, 6, 1),
    Window(6, 3, 12, 8),
    Window(40, 40, 42, 42),
)
"""Parts of a picture of 7 x 5, and places around it."""


def read_row(folder: Path, name: str, pixels: list[list[float]], channels: tuple[str, ...]) -> str:
    """A Read of one row of pixels, a list of channels for each."""
    write_exr(folder / f"{name}.exr", np.array([pixels], np.float32), channels)
    return f'Read {{ inputs 0 file "{folder.as_posix()}/{name}.exr" name {name} }}\n'


def read_grid(folder: Path, name: str, seed: int, channels: tuple[str, ...] = ("R", "G", "B", "A")) -> str:
    """A Read of 7 x 5 pixels between -0.5 and 1.5, a few of them infinite or not a number."""
    pixels = np.random.default_rng(seed).uniform(-0.5, 1.5, (5, 7, len(channels))).astype(np.float32)
    pixels[2, 3, 0], pixels[1, 5, -1], pixels[4, 6, 0] = np.nan, np.inf, -np.inf
    write_exr(folder / f"{name}.exr", pixels, channels)
    return f'Read {{ inputs 0 file "{folder.as_posix()}/{name}.exr" name {name} }}\n'


def shown(text: str, *channels: str) -> list[float]:
    """The first pixel of the script's last node."""
    return [round(float(value), 5) for value in pull(text, channels=channels).pixels[0, 0]]


def row(text: str, channel: str = "R") -> list[float]:
    """The uppermost row of one channel of the script's last node."""
    return [round(float(value), 5) for value in pull(text, channels=(channel,)).pixels[0, :, 0]]


def assert_regions_are_parts(text: str, channels: tuple[str, ...] = ("R", "A")) -> None:
    """What is pulled of a region, or of fewer channels, is that part of the whole picture."""
    whole = pull(text)
    places = [whole.channels.index(channel) for channel in channels]
    for region in REGIONS:
        evaluator, last = evaluator_of(text)
        part = evaluator.pull(last, 1, channels, region)
        assert part.data_window == whole.data_window.intersect(region) or part.data_window.is_empty
        assert part.display_window == whole.display_window
        np.testing.assert_array_equal(part.over(region), whole.over(region)[..., places])
