"""The training frames in a GPU's own memory: crops are cut out there, and neither gathered nor sent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from understudy.dataset import DecodedPair, StoredPixels
from understudy.train.crops import Crop
from understudy.train.device import Machine, free_bytes
from understudy.train.ends import turned_back

LARGEST_SHARE = 0.25
"""Of the GPU's free memory, that frames may take from the steps."""
LARGEST_BYTES = 8 * 2**30
"""The first step waits until all are there, 2 seconds for so many."""


def device_frames(pairs: Sequence[DecodedPair], machine: Machine) -> DeviceFrames | None:
    """None where frames stay where they are: for a CPU, or too large for the GPU."""
    if machine.device.type != "cuda":
        return None
    num_bytes = _bytes_there([pair.input for pair in pairs]) + _bytes_there([pair.target for pair in pairs])
    most_bytes = min(LARGEST_BYTES, LARGEST_SHARE * free_bytes(machine))
    return DeviceFrames(pairs, machine.device) if num_bytes <= most_bytes else None


class DeviceFrames:
    """Plates and ground truths of all pairs, as they are held: in half, or in float32 if one of them is."""

    def __init__(self, pairs: Sequence[DecodedPair], device: torch.device) -> None:
        self._plates = _joined([pair.input for pair in pairs], device)  # P Cin
        self._truths = _joined([pair.target for pair in pairs], device)  # P Cout
        self._sizes = [(pair.window.height, pair.window.width) for pair in pairs]
        ends = np.cumsum([height * width for height, width in self._sizes]).tolist()
        self._firsts = [0, *ends[:-1]]
        """Of each pair, its first pixel among all."""

    @property
    def wants_pinned(self) -> bool:
        """What is sent there is copied at its own time then."""
        return self._plates.device.type == "cuda"

    def table(self, crops: Sequence[Crop]) -> Tensor:
        """What `cut` wants to know, on the CPU: N 6."""
        facts = [(self._firsts[one.pair], *self._sizes[one.pair], one.y, one.x, one.mirrored) for one in crops]
        table = torch.tensor(facts)
        return table.pin_memory() if self.wants_pinned else table

    def cut(self, table: Tensor, height: int, width: int, margin: int = 0) -> tuple[Tensor, Tensor]:
        """As `gather`, by a `table` on the device, which is not waited for: N Cin H W and N Cout H W, channels last.

        `margin`: pixels more on each side.
        """
        first, rows, columns, y, x, mirrored = table.T[..., None]  # N 1 each
        height, width, y, x = height + 2 * margin, width + 2 * margin, y - margin, x - margin
        steps = torch.arange(width, device=table.device)
        across = x + torch.where(mirrored > 0, width - 1 - steps, steps)  # N W
        down = y + torch.arange(height, device=table.device)  # N H
        lines = first + turned_back(down, rows) * columns  # N H
        places = lines[:, :, None] + turned_back(across, columns)[:, None]  # N H W
        return self._plates[places].permute(0, 3, 1, 2), self._truths[places].permute(0, 3, 1, 2)


def _joined(frames: Sequence[StoredPixels], device: torch.device) -> Tensor:
    """H W C each -> P C, all pixels of all."""
    channels = frames[0].shape[2]
    counts = [frame.shape[0] * frame.shape[1] for frame in frames]
    joined = torch.empty(sum(counts), channels, dtype=common_dtype(frames), device=device)
    for frame, room in zip(frames, torch.split(joined, counts), strict=True):
        room.copy_(torch.from_numpy(np.require(frame, requirements="W")).reshape(-1, channels))
    return joined


def _bytes_there(frames: Sequence[StoredPixels]) -> int:
    return sum(frame.size for frame in frames) * common_dtype(frames).itemsize


def common_dtype(frames: Sequence[StoredPixels]) -> torch.dtype:
    """Half, or float32 if one of them is."""
    return torch.float16 if all(frame.dtype == np.float16 for frame in frames) else torch.float32
