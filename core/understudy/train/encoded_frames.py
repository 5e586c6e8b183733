"""The training frames in transfer space, once: on a CPU each step would otherwise look all its crops up anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from understudy.dataset import DecodedPair, StoredPixels
from understudy.train.device import Machine
from understudy.train.network import Understudy
from understudy.train.transfer import Transfer

LARGEST_BYTES = 2**30
"""The first step waits until all are there, a second for so many."""


@dataclass(frozen=True, kw_only=True)
class EncodedFrames:
    """What crops are cut out of; and the curves, for those that are moved, as light is mixed in scene values."""

    pairs: tuple[DecodedPair, ...]
    """Their pixels are in transfer space, float32."""
    plate: Transfer
    truth: Transfer


def encoded_frames(
    pairs: Sequence[DecodedPair], model: Understudy, machine: Machine, *, memory_bytes: int
) -> EncodedFrames | None:
    """None where steps encode what they see: on a GPU, which does that on its way; in float64; and of frames on a disk,
    or that, with these beside them, need more than LARGEST_BYTES or `memory_bytes`.
    """
    if machine.device.type != "cpu" or machine.dtype != torch.float32:
        return None
    sides = [side for pair in pairs for side in (pair.input, pair.target)]
    own_bytes = torch.float32.itemsize * sum(side.size for side in sides)
    has_room = own_bytes + sum(side.nbytes for side in sides) <= memory_bytes
    if own_bytes > LARGEST_BYTES or not has_room or not all(pair.is_in_memory for pair in pairs):
        return None
    plate, truth = model.input_transfer, model.target_transfer
    there = tuple(
        replace(pair, input=_encoded(pair.input, plate), target=_encoded(pair.target, truth)) for pair in pairs
    )
    return EncodedFrames(pairs=there, plate=plate, truth=truth)


def _encoded(pixels: StoredPixels, transfer: Transfer) -> StoredPixels:
    """H W C."""
    scene = torch.from_numpy(np.require(pixels, requirements="W")).permute(2, 0, 1)  # C H W
    encoded: StoredPixels = transfer.encode(scene).permute(1, 2, 0).contiguous().numpy()
    return encoded
