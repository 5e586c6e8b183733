"""Looking at a frame with the network, at a size that is enough to judge it."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from understudy.frames.image import FloatPixels, Image
from understudy.train.device import Machine
from understudy.train.loss import reduce_pixels
from understudy.train.need import Look
from understudy.train.network import Understudy

LOOK_PIXELS = 480 * 270
"""Enough to judge a frame by; larger ones are averaged down, HD to the quarter that training begins with."""
SQUARES = (9, 16)
"""Rows and columns in which the amount of paint is counted."""


def reduced(image: Image) -> FloatPixels:
    """The display window, H W C, averaged to LOOK_PIXELS at most. A NaN or Inf is taken for black."""
    pixels = np.nan_to_num(image.over(image.display_window), nan=0.0, posinf=0.0, neginf=0.0)
    height, width, _ = pixels.shape
    reduction = min(math.ceil(math.sqrt(height * width / LOOK_PIXELS)), height, width)
    tensor = torch.from_numpy(pixels).permute(2, 0, 1)[None]  # 1 C H W
    return reduce_pixels(tensor, reduction)[0].permute(1, 2, 0).contiguous().numpy()


class Looker:
    """The model, and an earlier state of it to compare with."""

    def __init__(self, model: Understudy, earlier: Understudy | None, machine: Machine) -> None:
        self._model = model.to(machine.device)
        self._earlier = None if earlier is None else earlier.to(machine.device)
        self._machine = machine
        self._deepest: Tensor = torch.empty(0)
        model.unet.down[-1].register_forward_hook(self._keep_deepest)

    @torch.no_grad()
    def look(self, frame: int, pixels: FloatPixels) -> Look:
        """`pixels`: H W Cin, scene-linear."""
        scene = torch.from_numpy(pixels).permute(2, 0, 1)[None].to(self._machine.device)  # 1 Cin H W
        encoded = self._model.input_transfer.encode(scene)
        guess = functional.conv2d(encoded, self._model.guess_matrix[:, :, None, None], self._model.guess_offset)
        answer = self._model.encoded_picture(encoded)  # 1 Cout H W
        painted = (answer - guess).abs().mean(dim=1, keepdim=True)  # 1 1 H W
        squares = functional.adaptive_avg_pool2d(painted, SQUARES).flatten()
        doubt = 0.0 if self._earlier is None else float((self._earlier.encoded_picture(encoded) - answer).abs().mean())
        places = functional.normalize(self._deepest[0].flatten(1), dim=0).T  # P C
        return Look(
            frame=frame,
            amounts=squares.sort().values.cpu().numpy(),
            doubt=doubt,
            features=places.cpu().numpy(),
        )

    def _keep_deepest(self, _module: nn.Module, _given: tuple[Tensor, ...], features: Tensor) -> None:
        self._deepest = features
