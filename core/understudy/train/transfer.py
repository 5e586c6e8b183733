"""An invertible curve per channel, so that the network sees scene-linear HDR as evenly spaced numbers.

Colour:   y = asinh(gain x) / asinh(gain)   near-linear at black, logarithmic above white, odd
Mattes:   y = x
Data:     depth, vectors and positions are scaled to about 1 by their own spread

On the way back nothing is clamped, but for channels that have ends: black, or black and white.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from understudy.frames.kinds import is_colour, is_matte

STRAIGHT = (0.0, 1.0)
"""Gain and scale of a channel that is seen as it is."""
COLOUR_GAIN = 16.0
"""Slope 4.6 at black and 0.29 at white, close to what display encodings give shadows; 400 maps to 2.7."""
HAIR = 2.0**-12
"""What an answer is nearer to an end than this, is the end: far less than anyone can see."""


@dataclass(frozen=True, kw_only=True)
class Ends:
    """Beyond which channels have nothing: C 1 1 each, of bool."""

    black: Tensor
    white: Tensor


class Transfer(nn.Module):
    """Scene values to network values and back, exact to float rounding. Acts on N C H W in float32.

    Of channels with ends what comes back lies between them, and is exact but for what is beside them.
    """

    gain: Tensor
    scale: Tensor
    num_ends: Tensor

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.register_buffer("gain", torch.zeros(num_channels))  # 0: a straight line
        self.register_buffer("scale", torch.ones(num_channels))
        self.register_buffer("num_ends", torch.zeros(num_channels))  # 1: black is one; 2: white, too

    def encode(self, scene: Tensor) -> Tensor:
        """Also of half, which is quickest on the CPU; into the curves' own precision where that is more."""
        if scene.device.type != "cpu":
            return self._channel_by_channel(scene)
        curves = list(zip(self.gain.tolist(), self.scale.tolist(), strict=True))
        if scene.dtype == torch.float16:
            return _looked_up(scene, [_curve_of_half(*curve, self.gain.dtype) for curve in curves])
        if len(set(curves)) > 1:
            return self._channel_by_channel(scene)
        return _curved(scene.to(torch.promote_types(scene.dtype, self.gain.dtype)), *curves[0])

    def _channel_by_channel(self, scene: Tensor) -> Tensor:
        """Where nothing is known of the curves but on the device, or they are not alike."""
        # row by row, for arithmetic on pixels of three numbers takes five times as long
        rows, width = scene.movedim(-3, -1).flatten(-2), scene.shape[-1]  # N H W*C
        gain, scale = self.gain.repeat(width), self.scale.repeat(width)  # W*C
        encoded = torch.where(gain > 0, _asinh(rows * gain), rows) * scale
        return encoded.reshape(*rows.shape[:-1], width, -1).movedim(-1, -3)

    def decode(self, encoded: Tensor) -> Tensor:
        gain, scale, num_ends = (values[:, None, None] for values in (self.gain, self.scale, self.num_ends))
        unscaled = ended(encoded, num_ends, HAIR) / scale
        curved = gain > 0
        # sinh of a straight channel's values may overflow; the other branch of where would turn that into NaN gradients
        return torch.where(curved, torch.sinh(unscaled * curved) / gain.clamp_min(1e-30), unscaled)

    def set_curves(self, curves: list[tuple[float, float]]) -> None:
        """Take (gain, scale) for each channel."""
        self.gain.copy_(torch.tensor([gain for gain, _ in curves]))
        self.scale.copy_(torch.tensor([scale for _, scale in curves]))

    def set_ends(self, num_ends: Sequence[int]) -> None:
        """Of each channel 0, 1 (black) or 2 (black and white, which its curve must leave at 1)."""
        self.num_ends.copy_(torch.tensor(num_ends))

    def ends(self) -> Ends | None:
        """None: no channel has one."""
        num_ends = self.num_ends[:, None, None]
        return Ends(black=num_ends > 0, white=num_ends > 1) if num_ends.any() else None


def ended(values: Tensor, num_ends: Tensor, hair: float) -> Tensor:
    """N C H W of network values: below `hair` is 0, above 1 - hair 1, where a channel ends there.

    From two hairs on all stays as it is, without a jump. `num_ends`: of each channel, in a shape that goes with values.
    """
    dark = torch.where(num_ends > 0, torch.min(values, 2 * (values - hair)).clamp(min=0.0), values)
    return torch.where(num_ends > 1, torch.max(dark, 2 * (dark + hair) - 1).clamp(max=1.0), dark)


def _looked_up(scene: Tensor, tables: Sequence[NDArray[np.floating]]) -> Tensor:
    """Half, by a table for each channel."""
    bits = scene.movedim(-3, -1).numpy().view(np.uint16)  # N H W C
    if all(table is tables[0] for table in tables):
        encoded = np.take(tables[0], bits, mode="clip")
    else:
        encoded = np.stack([np.take(table, bits[..., c], mode="clip") for c, table in enumerate(tables)], axis=-1)
    return torch.from_numpy(encoded).movedim(-1, -3)


@lru_cache(maxsize=64)
def _curve_of_half(gain: float, scale: float, dtype: torch.dtype) -> NDArray[np.floating]:
    """What every one of half's 65536 numbers becomes, by its bits."""
    values = torch.from_numpy(np.arange(2**16, dtype=np.uint16).view(np.float16)).to(dtype)
    encoded: NDArray[np.floating] = _curved(values, gain, scale).numpy()
    return encoded


def _curved(values: Tensor, gain: float, scale: float) -> Tensor:
    if (gain, scale) == STRAIGHT:
        return values
    return (_asinh(values * gain) if gain > 0 else values) * scale


def _asinh(values: Tensor) -> Tensor:
    """As torch.asinh, which on the CPU takes one number after the other: ten times as long as all of this.

    Each line in the place of the one before, which takes a third less time than new places.
    """
    if values.device.type != "cpu":
        return torch.asinh(values)
    size = values.abs()
    root = torch.hypot(size, size.new_ones(()))
    bend = torch.div(size, root.add_(1), out=root)
    return torch.addcmul(size, bend, size, out=bend).log1p_().copysign_(values)


def choose_curve(channel: str, values: NDArray[np.float32]) -> tuple[float, float]:
    """(gain, scale) for a channel, from its name and, where the name does not tell, a sample of its values."""
    if is_colour(channel):
        return COLOUR_GAIN, float(1 / np.arcsinh(COLOUR_GAIN))
    magnitude = np.abs(values)
    largest = float(magnitude.max(initial=0.0))
    if is_matte(channel) or largest <= 1.0:
        return STRAIGHT
    usual = float(np.quantile(magnitude, 0.9)) or largest
    if largest <= 4 * usual:
        return 0.0, 1 / usual
    return 3 / usual, float(1 / np.arcsinh(3.0))
