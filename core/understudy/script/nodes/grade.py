"""Grade: a linear ramp and a gamma for each channel.

The order and the gamma follow the Grade example of Nuke's developer kit: ramp, clamps, gamma; reversed: gamma, ramp,
clamps. The gamma is a power between 0 and 1, goes on as its tangent above 1, and leaves negative values alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from understudy.frames.image import FloatPixels, Image
from understudy.script.channels import ChannelSet, component
from understudy.script.graph import Node
from understudy.script.knobs import bool_knob, channels_knob, colour_knob, float_knob, knob_error
from understudy.script.nodes.base import NodeClass, Request, Tree

CHANNELS = channels_knob("channels", "rgb")
BLACKPOINT = colour_knob("blackpoint", 0.0)
WHITEPOINT = colour_knob("whitepoint", 1.0)
LIFT = colour_knob("black", 0.0)
GAIN = colour_knob("white", 1.0)
MULTIPLY = colour_knob("multiply", 1.0)
OFFSET = colour_knob("add", 0.0)
GAMMA = colour_knob("gamma", 1.0)
_RAMP = (BLACKPOINT, WHITEPOINT, LIFT, GAIN, MULTIPLY, OFFSET)
REVERSE = bool_knob("reverse", False)
BLACK_CLAMP = bool_knob("black_clamp", True)
WHITE_CLAMP = bool_knob("white_clamp", False)
MIX = float_knob("mix", 1.0)
MASKS = (channels_knob("maskChannelInput", "none"), channels_knob("maskChannelMask", "none"))
UNPREMULT = channels_knob("unpremult", "none")

_STEEPEST = 10000.0
"""Slope where blackpoint and whitepoint are equal."""


class Grade(NodeClass):
    """Changes red, green, blue and alpha of the chosen layers; other channels pass."""

    names = ("Grade",)
    page = "color_nodes/grade.html"
    knobs = (CHANNELS, *_RAMP, GAMMA, REVERSE, BLACK_CLAMP, WHITE_CLAMP, MIX)
    fixed = (*MASKS, UNPREMULT)
    makes_pixels = True

    def check(self, tree: Tree, node: Node) -> None:
        super().check(tree, node)
        if min(GAMMA.of(node)) <= 0:
            raise knob_error(node, GAMMA.name, "is 0 or less, which leaves no picture; set it above 0")

    def pull(self, tree: Tree, node: Node, request: Request) -> Image:
        image = tree.pull(tree.input(node, 0), request)
        curves = _curves(node, image.channels)
        if any(curve.lifts_black for curve in curves.values()):  # what lies outside the data window is black too
            whole = image.data_window.union(image.display_window)
            image = replace(image, pixels=image.over(whole), data_window=whole)
        mix = MIX.of(node)
        pixels = image.pixels.copy()  # H W C
        for place, curve in curves.items():
            graded = curve.graded(pixels[..., place])
            pixels[..., place] = graded if mix == 1 else _mixed(pixels[..., place], graded, mix)
        return replace(image, pixels=pixels)


@dataclass(frozen=True, kw_only=True)
class _Curve:
    """What happens to one channel."""

    slope: float
    shift: float
    gamma: float
    is_reversed: bool
    low: float
    """Clamp; minus infinity: none."""
    high: float

    @property
    def lifts_black(self) -> bool:
        return bool(self.graded(np.zeros(1, np.float32))[0] != 0)

    def graded(self, values: FloatPixels) -> FloatPixels:
        with np.errstate(invalid="ignore", over="ignore"):  # pixels may hold infinities and not-a-numbers
            if not self.is_reversed:
                ramped = values * np.float32(self.slope) + np.float32(self.shift)
                return _power(self._clamped(ramped), 1.0 / self.gamma)
            bent = _power(values, self.gamma)
            slope = 1.0 / self.slope if self.slope else 1.0
            return self._clamped(bent * np.float32(slope) - np.float32(self.shift * slope))

    def _clamped(self, values: FloatPixels) -> FloatPixels:
        if self.low == -np.inf and self.high == np.inf:
            return values
        clamped: FloatPixels = np.clip(values, np.float32(self.low), np.float32(self.high))
        return clamped


def _mixed(before: FloatPixels, after: FloatPixels, mix: float) -> FloatPixels:
    with np.errstate(invalid="ignore", over="ignore"):  # pixels may hold infinities and not-a-numbers
        mixed: FloatPixels = before * np.float32(1 - mix) + after * np.float32(mix)
        return mixed


def _power(values: FloatPixels, exponent: float) -> FloatPixels:
    if exponent == 1:
        return values
    inside = np.clip(values, 0, 1) ** np.float32(exponent)
    bent = np.where(values > 1, 1 + (values - 1) * np.float32(exponent), inside)
    return np.where(values <= 0, values, bent).astype(np.float32)


def _curves(node: Node, channels: tuple[str, ...]) -> dict[int, _Curve]:
    """The curve of each place in `channels` that changes."""
    chosen: ChannelSet = CHANNELS.of(node)
    parts = {place: component(channel) for place, channel in enumerate(channels) if channel in chosen}
    return {place: _curve(node, part) for place, part in parts.items() if part is not None}


def _curve(node: Node, part: int) -> _Curve:
    low, high = BLACKPOINT.of(node)[part], WHITEPOINT.of(node)[part]
    lift, gain = LIFT.of(node)[part], GAIN.of(node)[part]
    slope = MULTIPLY.of(node)[part] * ((gain - lift) / (high - low) if high != low else _STEEPEST)
    return _Curve(
        slope=slope,
        shift=OFFSET.of(node)[part] + lift - slope * low,
        gamma=GAMMA.of(node)[part],
        is_reversed=REVERSE.of(node),
        low=0.0 if BLACK_CLAMP.of(node) else -np.inf,
        high=1.0 if WHITE_CLAMP.of(node) else np.inf,
    )
