"""The network as other programs take it: one plain module, in words that torch 1.6 and every later one understands.

It holds the very layers of the model; written anew is only the way through them. Two things are added: whatever comes
in, what goes out is finite; and when a host turns model and pixels into half, only the convolutions become half.
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from understudy.train.ends import carried_on, without_ends
from understudy.train.network import Understudy, with_squares
from understudy.train.transfer import HAIR, Transfer, ended

LARGEST = 1e30
"""Beyond it a number counts as infinite: a few more multiplications would make it so."""
HALF_LARGEST = 65504.0
HALF_SEEN = 1000.0
"""The most that half convolutions are given; what a model is trained on lies within a few units of 0."""


class PortableUnderstudy(nn.Module):
    """forward: N Cin H W scene-linear, float or half, any H and W -> N Cout H W scene-linear, of the same kind.

    NaN, infinite and absurd pixels are taken for black. Curves and guess are plain numbers, which `half()` leaves
    alone: 16 x pixel is past what half holds from 4094 on.
    """

    def __init__(self, model: Understudy) -> None:
        super().__init__()
        layers = _plain_copy(model)
        self.input_gain, self.input_scale = _curves(layers.input_transfer)
        self.target_gain, self.target_scale = _curves(layers.target_transfer)
        self.target_ends: list[float] = layers.target_transfer.num_ends.tolist()
        self.guess_matrix: list[list[float]] = layers.guess_matrix.tolist()
        self.guess_offset: list[float] = layers.guess_offset.tolist()
        self.enter, self.down = layers.unet.enter, layers.unet.down
        self.up, self.last_up = layers.unet.up[:-1], layers.unet.up[-1]
        weight, bias = layers.last_layer()
        self.leave_weight = nn.Parameter(weight, requires_grad=False)
        self.leave_bias = nn.Parameter(bias, requires_grad=False)
        # TorchScript sees no number that stands outside the module.
        self.largest, self.half_largest, self.half_seen, self.hair = LARGEST, HALF_LARGEST, HALF_SEEN, HAIR

    def forward(self, scene: Tensor) -> Tensor:
        encoded = self.encode(scene.to(torch.float32))
        guess = self.guess(encoded)
        gate, paint = without_ends(self.correction(self.features(carried_on(encoded)))).chunk(2, dim=1)
        answer = self.decode(guess + paint + guess * gate)
        if scene.dtype == torch.float16:
            answer = answer.clamp(-self.half_largest, self.half_largest)
        return answer.to(scene.dtype)

    def encode(self, scene: Tensor) -> Tensor:
        gain = torch.tensor(self.input_gain, dtype=torch.float32, device=scene.device).reshape(1, -1, 1, 1)
        scale = torch.tensor(self.input_scale, dtype=torch.float32, device=scene.device).reshape(1, -1, 1, 1)
        known = self.known(scene)
        return torch.where(gain > 0, torch.asinh(known * gain), known) * scale

    def decode(self, encoded: Tensor) -> Tensor:
        gain = torch.tensor(self.target_gain, dtype=torch.float32, device=encoded.device).reshape(1, -1, 1, 1)
        scale = torch.tensor(self.target_scale, dtype=torch.float32, device=encoded.device).reshape(1, -1, 1, 1)
        num_ends = torch.tensor(self.target_ends, dtype=torch.float32, device=encoded.device).reshape(1, -1, 1, 1)
        unscaled = ended(encoded, num_ends, self.hair) / scale
        curved = torch.sinh(unscaled) / gain.clamp(min=1e-30)
        return self.known(torch.where(gain > 0, curved, unscaled).clamp(-self.largest, self.largest))

    def guess(self, encoded: Tensor) -> Tensor:
        matrix = torch.tensor(self.guess_matrix, dtype=torch.float32, device=encoded.device)  # Cout Cin
        offset = torch.tensor(self.guess_offset, dtype=torch.float32, device=encoded.device)  # Cout
        return torch.conv2d(encoded, matrix.unsqueeze(2).unsqueeze(3), offset)

    def features(self, encoded: Tensor) -> Tensor:
        """N W0 H W float32."""
        seen = with_squares(encoded)  # N 2Cin H W
        if self.leave_weight.dtype == torch.float16:
            seen = seen.clamp(-self.half_seen, self.half_seen).to(torch.float16)
        features = self.enter(seen)  # N W0 H W
        skips: list[Tensor] = []
        for down in self.down:
            skips.append(features)
            features = down(features)  # N Wk H/2^k W/2^k
        for up in self.up:
            skip = skips.pop()
            features = up(torch.cat((_twice_as_large(features, skip), skip), dim=1))
        skip = skips.pop()
        features = self.last_up(_twice_as_large(features, skip) + skip)
        kept: Tensor = features.to(torch.float32)
        return kept

    def correction(self, features: Tensor) -> Tensor:
        """Gate and paint, N 2Cout H W. Where half could not hold the features there is none, and the guess stays."""
        weight, bias = self.leave_weight.to(torch.float32), self.leave_bias.to(torch.float32)
        return torch.conv2d(self.known(features), weight, bias)

    def known(self, values: Tensor) -> Tensor:
        """0 for what is not finite: a NaN is not below anything."""
        return torch.where(values.abs() <= self.largest, values, torch.zeros_like(values))


def _twice_as_large(coarse: Tensor, skip: Tensor) -> Tensor:
    """Every pixel four times, to the skip's size. Not `interpolate`: its words are new to torch 1.6."""
    fine: Tensor = torch.ops.aten.upsample_nearest2d(coarse, [2 * coarse.shape[2], 2 * coarse.shape[3]])
    return fine.narrow(2, 0, skip.shape[2]).narrow(3, 0, skip.shape[3])


def _plain_copy(model: Understudy) -> Understudy:
    """On the CPU, not to be trained, its weights in the common order."""
    layers = copy.deepcopy(model).cpu().eval().requires_grad_(False)
    for parameter in layers.parameters():
        parameter.data = parameter.data.contiguous()
    return layers


def _curves(transfer: Transfer) -> tuple[list[float], list[float]]:
    return transfer.gain.tolist(), transfer.scale.tolist()
