"""An invertible curve per channel, so that the network sees scene-linear HDR as evenly spaced numbers.

Colour:   y = asinh(gain x) / asinh(gain)   near-linear at black, logarithmic above white, odd, never clamped
Mattes:   y = x
Data:     depth, vectors and positions are scaled to about 1 by their own spread
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from understudy.frames.kinds import is_colour, is_matte

COLOUR_GAIN = 16.0
"""Slope 4.6 at black and 0.29 at white, close to what display encodings give shadows; 400 maps to 2.7."""


class Transfer(nn.Module):
    """Scene values to network values and back, exact to float rounding. Acts on N C H W in float32."""

    gain: Tensor
    scale: Tensor

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.register_buffer("gain", torch.zeros(num_channels))  # 0: a straight line
        self.register_buffer("scale", torch.ones(num_channels))

    def encode(self, scene: Tensor) -> Tensor:
        gain, scale = self.gain[:, None, None], self.scale[:, None, None]
        return torch.where(gain > 0, torch.asinh(scene * gain), scene) * scale

    def decode(self, encoded: Tensor) -> Tensor:
        gain, scale = self.gain[:, None, None], self.scale[:, None, None]
        unscaled = encoded / scale
        curved = gain > 0
        # sinh of a straight channel's values may overflow; the other branch of where would turn that into NaN gradients
        return torch.where(curved, torch.sinh(unscaled * curved) / gain.clamp_min(1e-30), unscaled)

    def set_curves(self, curves: list[tuple[float, float]]) -> None:
        """Take (gain, scale) for each channel."""
        self.gain.copy_(torch.tensor([gain for gain, _ in curves]))
        self.scale.copy_(torch.tensor([scale for _, scale in curves]))


def choose_curve(channel: str, values: NDArray[np.float32]) -> tuple[float, float]:
    """(gain, scale) for a channel, from its name and, where the name does not tell, a sample of its values."""
    if is_colour(channel):
        return COLOUR_GAIN, float(1 / np.arcsinh(COLOUR_GAIN))
    magnitude = np.abs(values)
    largest = float(magnitude.max(initial=0.0))
    if is_matte(channel) or largest <= 1.0:
        return 0.0, 1.0
    usual = float(np.quantile(magnitude, 0.9)) or largest
    if largest <= 4 * usual:
        return 0.0, 1 / usual
    return 3 / usual, float(1 / np.arcsinh(3.0))
