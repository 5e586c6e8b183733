"""A model's picture for a picture, whole or in tiles."""

from __future__ import annotations

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


def answer_for(
    model: Understudy, scene: StoredPixels, machine: Machine, tiling: Tiling | None = None, *, flips: bool = False
) -> FloatPixels:
    """Scene-linear H W Cin pixels -> H W Cout float32 on the CPU. A NaN or Inf is taken for black.

    `tiling`: how larger frames are cut up; the answer is that of the whole frame. `flips`: the mean of the answers to
    the picture and to its mirror image, in transfer space.
    """
    height, width = scene.shape[:2]
    tiling = tiling or tiling_for(model, MOST_PIXELS)
    answer = room_for(height, width, len(model.spec.target_channels))
    with torch.inference_mode(), machine.autocast():
        for part in tiling.parts(width, height):
            encoded = _encoded_part(model, scene, machine, tiling, part)  # 1 Cout h w
            if flips:
                mirrored = _encoded_part(model, scene, machine, tiling, part, is_mirrored=True)
                encoded = (encoded + mirrored) / 2
            decoded = model.target_transfer.decode(encoded)[0].permute(1, 2, 0)  # h w Cout
            torch.from_numpy(answer)[part.y0 : part.y1, part.x0 : part.x1] = decoded
    return answer


def _encoded_part(
    model: Understudy,
    picture: StoredPixels,
    machine: Machine,
    tiling: Tiling,
    part: Window,
    *,
    is_mirrored: bool = False,
) -> Tensor:
    """The answer within the part, 1 Cout h w in transfer space; `is_mirrored`: as found in the frame's mirror image."""
    height, width = picture.shape[:2]
    if is_mirrored:
        part = _mirror_of(part, width)
    seen = tiling.seen(part, width, height)
    place = _mirror_of(seen, width) if is_mirrored else seen
    stored = _tensor_of(part_of(picture, place)).permute(2, 0, 1)[None]  # 1 Cin H' W'
    scene = torch.nan_to_num(stored.to(machine.device, machine.dtype), nan=0.0, posinf=0.0, neginf=0.0)
    scene = scene.flip(-1) if is_mirrored else scene
    answer = model.encoded_answer(model.input_transfer.encode(scene))
    kept = answer[..., part.y0 - seen.y0 : part.y1 - seen.y0, part.x0 - seen.x0 : part.x1 - seen.x0]
    return kept.flip(-1) if is_mirrored else kept


def _mirror_of(window: Window, width: int) -> Window:
    """Where it lies in the mirror image of a picture of that width."""
    return Window(width - window.x1, window.y0, width - window.x0, window.y1)


def _tensor_of(pixels: StoredPixels) -> Tensor:
    """H W C, sharing memory where they may be written to: torch wants that."""
    return torch.from_numpy(pixels if pixels.flags.writeable else pixels.copy())


def validation_psnr(model: Understudy, pairs: tuple[DecodedPair, ...], machine: Machine) -> float:
    """dB over the valid pixels of all pairs together (frames.psnr); the frames were never trained on."""
    pooled = PooledPsnr(model.spec.target_channels)
    for pair in pairs:
        pooled.add(answer_for(model, pair.input, machine), pair.target.astype(np.float32), pair.valid)
    return pooled.decibels()
