"""A model's picture for a picture."""

from __future__ import annotations

import numpy as np
import torch

from understudy.dataset import DecodedPair, StoredPixels
from understudy.frames.image import FloatPixels
from understudy.frames.psnr import PooledPsnr
from understudy.train.device import Machine
from understudy.train.network import Understudy


@torch.no_grad()
def answer_for(model: Understudy, scene: StoredPixels, machine: Machine) -> FloatPixels:
    """Scene-linear H W Cin pixels -> H W Cout float32 on the CPU."""
    pixels = torch.from_numpy(np.array(scene, np.float32)).permute(2, 0, 1)[None]  # 1 Cin H W
    with machine.autocast():
        answer: torch.Tensor = model(pixels.to(machine.device, machine.dtype))
    return np.ascontiguousarray(answer[0].permute(1, 2, 0).float().cpu().numpy())


def validation_psnr(model: Understudy, pairs: tuple[DecodedPair, ...], machine: Machine) -> float:
    """dB over the valid pixels of all pairs together (frames.psnr); the frames were never trained on."""
    pooled = PooledPsnr(model.spec.target_channels)
    for pair in pairs:
        pooled.add(answer_for(model, pair.input, machine), pair.target.astype(np.float32), pair.valid)
    return pooled.decibels()
