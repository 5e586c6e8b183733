"""A model's picture for a picture, whole or in tiles."""

from __future__ import annotations

from functools import reduce

import numpy as np
import torch
from torch import Tensor

from understudy.dataset import DecodedPair, StoredPixels
from understudy.frames.image import FloatPixels, room_for
from understudy.frames.psnr import PooledPsnr
from understudy.frames.window import Window
from understudy.train.device import Machine
from understudy.train.ends import part_of
from understudy.train.network import Understudy
from understudy.train.tiles import Tiling, tiling_for

MOST_PIXELS = 2**22
"""Of a frame that is answered whole where nobody reckons with memory: 1.3 GiB of the small model, 3.3 of the large."""


def answer_for(model: Understudy, scene: StoredPixels, machine: Machine, tiling: Tiling | None = None) -> FloatPixels:
    """Scene-linear H W Cin pixels -> H W Cout float32 on the CPU. A NaN or Inf is taken for black.

    `tiling`: how larger frames are cut up; the answer is that of the whole frame. Of several passes it is the mean, in
    transfer space.
    """
    height, width = scene.shape[:2]
    tiling = tiling or tiling_for(model, MOST_PIXELS)
    answer = room_for(height, width, len(model.spec.target_channels))
    with torch.inference_mode(), machine.autocast():
        for part in tiling.parts(width, height):
            passes = (_encoded_part(model, scene, machine, tiling, part, number) for number in range(tiling.passes))
            encoded = reduce(torch.add, passes) / tiling.passes  # 1 Cout h w
            decoded = model.target_transfer.decode(encoded)[0].permute(1, 2, 0)  # h w Cout
            torch.from_numpy(answer)[part.y0 : part.y1, part.x0 : part.x1] = decoded
    return answer


def _encoded_part(
    model: Understudy, picture: StoredPixels, machine: Machine, tiling: Tiling, part: Window, number: int
) -> Tensor:
    """The answer within the part in that pass, 1 Cout h w in transfer space."""
    height, width = picture.shape[:2]
    seen = tiling.seen(part, width, height, number)
    stored = _tensor_of(part_of(picture, seen)).permute(2, 0, 1)[None]  # 1 Cin H' W'
    scene = torch.nan_to_num(stored.to(machine.device, machine.dtype), nan=0.0, posinf=0.0, neginf=0.0)
    answer = model.encoded_answer(model.input_transfer.encode(scene))
    return answer[..., part.y0 - seen.y0 : part.y1 - seen.y0, part.x0 - seen.x0 : part.x1 - seen.x0]


def _tensor_of(pixels: StoredPixels) -> Tensor:
    """H W C, sharing memory where they may be written to: torch wants that."""
    return torch.from_numpy(pixels if pixels.flags.writeable else pixels.copy())


def validation_psnr(model: Understudy, pairs: tuple[DecodedPair, ...], machine: Machine) -> float:
    """dB over the valid pixels of all pairs together (frames.psnr); the frames were never trained on."""
    pooled = PooledPsnr(model.spec.target_channels)
    for pair in pairs:
        pooled.add(answer_for(model, pair.input, machine), pair.target.astype(np.float32), pair.valid)
    return pooled.decibels()
