"""The network: a U-Net that corrects a fitted linear guess, from scene-linear pixels to scene-linear pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from understudy.settings import ModelSize
from understudy.train.ends import carried_on, without_ends
from understudy.train.transfer import Transfer

WIDTHS: dict[ModelSize, tuple[int, ...]] = {
    "small": (32, 32, 32, 48, 64),
    "medium": (48, 48, 64, 96, 128),
    "large": (96, 96, 128, 192, 256),
}
"""Channels at full, 1/2, 1/4, 1/8 and 1/16 resolution: as many as can be where pixels are told apart. The first two are
alike, as what comes up there is added to what was kept."""

LAST_SIDE = 1
"""Pixels a side of whose features a pixel's gate and paint are made. That layer is in float32, as all that meets the
guess is: with 3 a step on a CPU with AMX takes 6 to 8 % longer, and teaches no more."""
LEAK = 0.1
"""Of what is below zero, that a unit lets through. With none, units that once give nothing learn nothing any more."""


@dataclass(frozen=True, kw_only=True)
class NetworkSpec:
    """All that must be known to build the network before its weights are read."""

    input_channels: tuple[str, ...]
    """What the network sees, in order."""
    target_channels: tuple[str, ...]
    """What it gives, in order."""
    model_size: ModelSize


class Understudy(nn.Module):
    """forward: whole pictures, N Cin H W scene-linear float32, any H and W -> N Cout H W scene-linear float32.

    In transfer space the answer is `guess x (1 + gate) + paint`: a fixed per-pixel linear guess from the input's
    channels, which the U-Net may keep, dim or paint over. With the last layer at zero the network starts as the guess.
    Gate and paint are measured in `paint_size`: steps of the optimizer are no longer than what is to be painted.
    """

    def __init__(self, spec: NetworkSpec) -> None:
        super().__init__()
        self.spec = spec
        num_inputs, num_targets = len(spec.input_channels), len(spec.target_channels)
        self.input_transfer = Transfer(num_inputs)
        self.target_transfer = Transfer(num_targets)
        self.guess_matrix: Tensor
        self.guess_offset: Tensor
        self.paint_size: Tensor
        self.register_buffer("guess_matrix", torch.zeros(num_targets, num_inputs))
        self.register_buffer("guess_offset", torch.zeros(num_targets))
        self.register_buffer("paint_size", torch.ones(()))
        widths = WIDTHS[spec.model_size]
        self.unet = UNet(num_inputs, widths)
        self.leave = nn.Conv2d(widths[0], 2 * num_targets, LAST_SIDE)
        for parameter in self.leave.parameters():
            nn.init.zeros_(parameter)

    def forward(self, scene: Tensor) -> Tensor:
        return self.target_transfer.decode(self.encoded_picture(self.input_transfer.encode(scene)))

    def encoded_picture(self, encoded: Tensor) -> Tensor:
        """`encoded_answer` for whole pictures, which are carried on past their ends: N Cin H W -> N Cout H W."""
        return without_ends(self.encoded_answer(carried_on(encoded)))

    def encoded_answer(self, encoded: Tensor, unet: UNet | None = None) -> Tensor:
        """The answer in transfer space, where the loss is taken: N Cin H W -> N Cout H W, of the input's dtype.

        For crops and parts of a picture (ends.part_of): what is given is not carried on.
        `unet`: a copy of its own, to be used in its place (cast_once.py).
        """
        features = (unet or self.unet)(encoded)  # N W0 H W
        # the guess and what meets it stay float32: bfloat16 would round bright pixels by 1 % and band smooth ones
        with torch.autocast(encoded.device.type, enabled=False):
            guess = _convolved(encoded, self.guess_matrix[:, :, None, None], self.guess_offset)
            both = _convolved(features.to(encoded.dtype), *self.last_layer())
            gate, paint = both.chunk(2, dim=1)
            return torch.addcmul(guess + paint, guess, gate)

    def last_layer(self) -> tuple[Tensor, Tensor]:
        """Weight, 2Cout W0 LAST_SIDE LAST_SIDE, and bias by which features become all gates, then all paints."""
        assert self.leave.bias is not None
        return self.leave.weight * self.paint_size, self.leave.bias * self.paint_size

    @torch.no_grad()
    def set_paint_size(self, size: float) -> None:
        """Take another unit. What has been learnt gives what it gave."""
        for parameter in self.leave.parameters():
            parameter.mul_(self.paint_size / size)
        self.paint_size.fill_(size)


class UNet(nn.Module):
    """N C H W -> N W0 H W features, any H and W. No normalisation: alike on any crop.

    Each channel is seen twice (`with_squares`).

    Skips are joined, but added at full resolution, where one convolution of both would take a quarter of a step.

    Layers are few, for each takes half a millisecond of a step, however little there is to compute: what comes up is
    joined as it is, and the coarsest level has but the one that halves.

    The last units do not leak: where there is nothing to paint they give just that, and black in a matte is black.

    Sides that are odd are halved up, so that a picture ends as a crop does: beyond it every layer sees zeros.
    """

    def __init__(self, num_inputs: int, widths: tuple[int, ...]) -> None:
        super().__init__()
        steps_down = list(pairwise(widths))
        self.enter = nn.Sequential(convolution(2 * num_inputs, widths[0]), convolution(widths[0], widths[0]))
        self.down = nn.ModuleList(
            nn.Sequential(convolution(wide, deep, stride=2), convolution(deep, deep)) for wide, deep in steps_down[:-1]
        )
        self.down.append(convolution(*steps_down[-1], stride=2))
        self.up = nn.ModuleList(
            nn.Sequential(convolution(wide + deep if level else wide, wide), convolution(wide, wide, leaks=level > 0))
            for level, (wide, deep) in reversed(list(enumerate(steps_down)))
        )
        self.multiple = 2 ** len(steps_down)
        """Pixels a side behind one of the coarsest features."""

    def forward(self, image: Tensor) -> Tensor:
        features: Tensor = self.enter(with_squares(image))  # N W0 H W
        skips = []
        for down in self.down:
            skips.append(features)
            features = down(_even(features))  # N Wk H/2^k W/2^k
        for up in self.up:
            skip = skips.pop()
            features = _doubled(features)[..., : skip.shape[-2], : skip.shape[-1]]
            features = torch.cat((features, skip), dim=1) if skips else features + skip
            del skip
            for conv in up.children():  # one by one: nothing holds what came in any longer
                features = conv(features)
        return features


def with_squares(encoded: Tensor) -> Tensor:
    """N C H W -> N 2C H W: every channel, then every channel's square with its sign.

    Colour is nearly scene-linear there up to white, so that where a lens or a shutter mixes light it lies on a line.
    """
    return torch.cat((encoded, encoded * encoded.abs()), dim=1)


def _convolved(pixels: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """A convolution of as many pixels as come in. Of one pixel it is a product: PyTorch's convolution of float32 does
    without oneDNN there on one thread, and takes half as long again."""
    side = weight.shape[-1]
    if side > 1 or pixels.device.type != "cpu":
        return functional.conv2d(pixels, weight, bias, padding=side // 2)
    return functional.linear(pixels.permute(0, 2, 3, 1), weight[:, :, 0, 0], bias).permute(0, 3, 1, 2)


def _doubled(features: Tensor) -> Tensor:
    """Each pixel twice in rows and columns. CUDA's autocast would do this, and all that is joined to it, in float32."""
    with torch.autocast(features.device.type, enabled=False):
        return functional.interpolate(features, scale_factor=2.0, mode="nearest")


def _even(features: Tensor) -> Tensor:
    """With zeros beyond an odd side, which changes no answer: of a lone pixel oneDNN's bfloat16 gradient is garbage."""
    height, width = features.shape[-2:]
    return functional.pad(features, (0, width % 2, 0, height % 2)) if height % 2 or width % 2 else features


def in_channels_last(model: Understudy) -> Understudy:
    """Lay the convolutions' weights out as the fast kernels want them, in place."""
    for parameter in model.parameters():
        if parameter.dim() == 4:
            parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)
    return model


def convolution(num_inputs: int, num_outputs: int, *, stride: int = 1, leaks: bool = True) -> nn.Sequential:
    """A layer of 3 x 3 pixels and its bend: N Cin H W -> N Cout H/stride W/stride, halved up."""
    conv = nn.Conv2d(num_inputs, num_outputs, 3, stride=stride, padding=1)
    nn.init.orthogonal_(conv.weight, gain=math.sqrt(2))  # as large as He's; at right angles, as Muon's steps are
    return nn.Sequential(conv, nn.LeakyReLU(LEAK, inplace=True) if leaks else nn.ReLU(inplace=True))
