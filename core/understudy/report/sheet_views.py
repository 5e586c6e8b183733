"""What a contact sheet shows of a channel set: colour through the display, mattes as grey, other data scaled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from understudy.frames.colour import colour_triplets
from understudy.frames.image import FloatPixels

ViewKind = Literal["colour", "single", "vector"]

MAX_VIEWS = 3
"""Lines of cells that one crop may take."""


@dataclass(frozen=True, kw_only=True)
class View:
    """Up to three channels that are shown together in one cell."""

    kind: ViewKind
    """colour: scene-linear red, green, blue; single: one value; vector: two or three values that are not colour."""
    indices: tuple[int, ...]
    """Places of the channels in the picture."""
    name: str
    """Burnt into the cell: rgb, A, motion.x,y ..."""

    def of(self, pixels: FloatPixels) -> FloatPixels:
        """H W C -> H W 1, 2 or 3"""
        return pixels.take(self.indices, axis=2)


@dataclass(frozen=True, kw_only=True)
class Range:
    """The values that a cell shows from black to white (or, of vectors, from full negative to full positive)."""

    low: float
    high: float

    @property
    def note(self) -> str:
        """What to read beside the channel names; empty for 0 to 1."""
        if (self.low, self.high) == (0.0, 1.0):
            return ""
        return f" +-{self.high:.4g}" if self.low == -self.high else f" {self.low:.4g}..{self.high:.4g}"


def views_of(channels: tuple[str, ...]) -> tuple[View, ...]:
    """The cells that show these channels: colour first, then single channels and vectors, layer by layer."""
    triplets = colour_triplets(channels)
    in_colour = {index for triplet in triplets for index in triplet}
    colour = [
        View(kind="colour", indices=tuple(triplet), name=_layer(channels[triplet[0]]) or "rgb") for triplet in triplets
    ]
    layers: dict[str, list[int]] = {}
    for index, channel in enumerate(channels):
        if index not in in_colour:
            layers.setdefault(_layer(channel) or f".{index}" * _is_alone(channel), []).append(index)
    return (*colour, *(view for indices in layers.values() for view in _data_views(channels, indices)))


def value_range(view: View, reference: FloatPixels) -> Range:
    """What black and white shall mean, from the finite values of `reference` (H W 1..3); mattes keep 0 to 1."""
    finite = reference[np.isfinite(reference)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if view.kind == "vector":
        largest = max(abs(low), abs(high)) or 1.0
        return Range(low=-largest, high=largest)
    if view.kind == "colour" or (low >= -0.05 and high <= 1.05):  # a resized matte may overshoot a little
        return Range(low=0.0, high=1.0)
    return Range(low=low, high=high if high > low else low + 1.0)


def as_shown(values: FloatPixels, span: Range) -> FloatPixels:
    """H W 1..3 data -> H W 3 in 0..1: one value as grey, two as red and green on mid grey."""
    shown = np.clip((values - span.low) * np.float32(1 / (span.high - span.low)), 0, 1)
    return in_three(shown, empty=0.5)


def in_three(values: FloatPixels, *, empty: float) -> FloatPixels:
    """H W 1..3 -> H W 3; the missing third of two channels becomes `empty`."""
    if values.shape[2] == 2:
        return np.pad(values, ((0, 0), (0, 0), (0, 1)), constant_values=empty)
    return np.repeat(values, 3, axis=2) if values.shape[2] == 1 else values


def _data_views(channels: tuple[str, ...], indices: list[int]) -> list[View]:
    """Two or three channels of one layer are a vector; more are shown one by one."""
    if 2 <= len(indices) <= 3:
        layer = _layer(channels[indices[0]])
        parts = ",".join(channels[index].rpartition(".")[2] for index in indices)
        return [View(kind="vector", indices=tuple(indices), name=f"{layer}.{parts}" if layer else parts)]
    return [View(kind="single", indices=(index,), name=_spoken(channels[index])) for index in indices]


def _layer(channel: str) -> str:
    return channel.rpartition(".")[0]


def _spoken(channel: str) -> str:
    return "alpha" if channel == "A" else channel


def _is_alone(channel: str) -> bool:
    """Whether a channel of the main layer is shown by itself: alpha and depth are no part of a vector."""
    return channel.lower() in ("a", "alpha", "z", "depth")
