"""Pictures on which an export is held against our own model: the run's own frames, and made ones of odd sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from understudy.errors import UnderstudyError
from understudy.frames.image import FloatPixels
from understudy.frames.kinds import is_colour, is_matte
from understudy.orders import remembered
from understudy.remap import Remap
from understudy.report.run_record import read_record
from understudy.runs import find_run
from understudy.train.network import Understudy

MOST_SIDE = 768
"""Of a frame's width and height: the middle is taken of a larger one."""
MADE_SIZES = ((37, 53), (129, 64), (1, 17))
"""Heights and widths."""
HIGHLIGHT = 60000.0
"""The brightest made pixels: near the most that half holds."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A picture as the model is given it."""

    name: str
    pixels: FloatPixels
    """H W Cin, scene-linear; not all of them finite."""


@dataclass(frozen=True, kw_only=True)
class Samples:
    """What there is to try."""

    own: tuple[Sample, ...]
    """Of the frames that the run trained on."""
    why_none: str
    """Why none of them could be read; empty when some could."""
    made: tuple[Sample, ...]

    @property
    def all(self) -> tuple[Sample, ...]:
        return self.own + self.made

    def __str__(self) -> str:
        made = f"{len(self.made)} made HDR pictures"
        return f"{' and '.join(sample.name for sample in self.own)}, and {made}" if self.own else made


def samples_for(model_file: Path, model: Understudy, remap: Remap = ()) -> Samples:
    """The run's first and last input frame, where they can still be read, and pictures of odd sizes."""
    own: tuple[Sample, ...] = ()
    why_none = ""
    try:
        own = _own_frames(model_file, len(model.spec.input_channels), remap)
    except UnderstudyError as error:
        why_none = str(error).splitlines()[0]
    return Samples(own=own, why_none=why_none, made=tuple(_made(model, *size) for size in MADE_SIZES))


def _own_frames(model_file: Path, num_channels: int, remap: Remap) -> tuple[Sample, ...]:
    files = find_run(model_file)
    pairs = remembered(read_record(files.record), files, {}, remap).source.pairs()
    chosen = {source.label: source for source in (pairs[0].input, pairs[-1].input)}
    images = [(source.media.path.name, source.read().pixels) for source in chosen.values()]
    if any(pixels.shape[2] != num_channels for _, pixels in images):
        raise UnderstudyError(f"{pairs[0].input.label}: has other channels now than the model was trained on")
    return tuple(Sample(name=name, pixels=_middle(pixels)) for name, pixels in images)


def _middle(pixels: FloatPixels) -> FloatPixels:
    height, width = (min(side, MOST_SIDE) for side in pixels.shape[:2])
    top, left = (pixels.shape[0] - height) // 2, (pixels.shape[1] - width) // 2
    return pixels[top : top + height, left : left + width]


def _made(model: Understudy, height: int, width: int) -> Sample:
    """A ramp with grain, highlights, pixels below black, a NaN and two infinities, in units that each channel has."""
    random = np.random.default_rng(height * width)
    ramp = np.linspace(0, 2, width, dtype=np.float32)[None, :, None]
    channels = model.spec.input_channels
    pixels = ramp * random.random((height, width, len(channels)), np.float32)  # H W Cin
    pixels[::7, ::5] *= -0.1
    spots = random.random((height, width)) < 0.02
    for number, (channel, brightest) in enumerate(zip(channels, _brightest(model, channels), strict=True)):
        pixels[..., number] *= 1.0 if is_colour(channel) else brightest / 2
        pixels[spots, number] = brightest
    pixels[0, :3, 0] = np.nan, np.inf, -np.inf
    return Sample(name=f"a made picture of {width}x{height}", pixels=pixels)


def _brightest(model: Understudy, channels: Sequence[str]) -> list[float]:
    """1 for mattes; for other data what its scale says is usual."""
    usual = (1 / model.input_transfer.scale).tolist()
    return [
        HIGHLIGHT if is_colour(channel) else 1.0 if is_matte(channel) else value
        for channel, value in zip(channels, usual, strict=True)
    ]
