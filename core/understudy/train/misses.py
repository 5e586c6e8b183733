"""Where the model was wrong when it last looked: there it looks again. Known of each block of each frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from understudy.train.batch_plan import BatchPlan
from understudy.train.crops import BLOCK, Crop, Focus, Interest

STEPS_BETWEEN = 100
"""Between two changes of where crops are drawn; reading the errors waits for the device."""
STEPS_AHEAD = 8
"""By which a change comes after what it rests on: so many steps' crops may have been drawn by then."""

Blocks = NDArray[np.float16]
"""Of all pairs, one after the other: each block's error in transfer space (`block_errors`)."""


class Ranks(Protocol):
    """Who trains together."""

    def pool(self, rows: Tensor) -> Tensor:
        """Rows of this rank's crops, step by step -> of all ranks', where these are to draw alike."""


@dataclass(frozen=True)
class Emphasis:
    """Where crops are drawn from one sample on."""

    first_sample: int
    blocks: Blocks
    focus: Focus


@dataclass(frozen=True)
class Noted:
    """What one step found."""

    places: list[tuple[int, int, int, bool]]
    """Of each crop: pair, first row and column of its blocks, whether it was shown mirrored."""
    errors: Tensor
    """N rows columns, still on the device."""


class Misses:
    """Begins with the guess's errors. What a step finds in a block takes the place of what was known of it."""

    def __init__(self, interest: Sequence[Interest], power: float = 1) -> None:
        """`interest`: as CropPlan takes it. `power`: as `block_errors` takes it; crops are drawn by the mean itself."""
        self._shapes = [blocks.shape for blocks in interest]
        self._ends = np.cumsum([0, *(blocks.size for blocks in interest)]).tolist()
        """Of each pair's blocks among all, after a 0."""
        self._known = np.concatenate([np.zeros(0), *(blocks.ravel() for blocks in interest)]).astype(np.float16)
        self.power = power
        self._noted: list[Noted] = []
        self._changed_step = 0
        first = self._emphasis(0, self._known.copy())
        self._emphases = (first, first)
        """The last two: for contact sheets, crops of a few steps before are drawn again."""

    def focus(self, sample: int) -> Focus:
        """By which the crop of that sample is drawn: one of the newest."""
        former, newest = self._emphases
        return newest.focus if sample >= newest.first_sample else former.focus

    def note(self, crops: Sequence[Crop], width: int, errors: Tensor) -> None:
        """After each step. `width`: of the crops, pixels. `errors`: their `block_errors`."""
        beside = width - errors.shape[2] * BLOCK  # pixels right of the last whole block, left of the first if mirrored
        lefts = [crop.x + (beside if crop.mirrored else 0) for crop in crops]
        places = [
            (crop.pair, (crop.y + BLOCK // 2) // BLOCK, (left + BLOCK // 2) // BLOCK, crop.mirrored)
            for crop, left in zip(crops, lefts, strict=True)  # blocks go to those in which their middles lie
        ]
        self._noted.append(Noted(places, errors))

    def is_change_due(self, step: int) -> bool:
        return step - self._changed_step >= STEPS_BETWEEN

    def change(self, step: int, batch: BatchPlan, ranks: Ranks) -> None:
        """From STEPS_AHEAD steps later on, draw by what was found wrong up to `step`. May raise GroupBroken."""
        self._lay(ranks.pool(self._rows()), self._known)
        self._noted.clear()
        self._changed_step = step
        first_sample = batch.samples(step + STEPS_AHEAD).stop
        self._emphases = (self._emphases[1], self._emphasis(first_sample, self._known.copy()))

    def tensors(self) -> dict[str, Tensor]:
        """All of it, for `restore`; what was noted since the last change is in it, and as if it were known already."""
        known = self._known.copy()
        if self._noted:
            self._lay(self._rows(), known)
        former, newest = self._emphases
        return {
            "blocks": torch.from_numpy(np.stack([known, former.blocks, newest.blocks])),  # 3 B
            "steps": torch.tensor([self._changed_step, former.first_sample, newest.first_sample]),
        }

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Raises KeyError or ValueError when these are not of such pairs."""
        if tensors["blocks"].shape != (3, len(self._known)):
            raise ValueError("other frames")
        known, *blocks = tensors["blocks"].numpy().astype(np.float16)
        self._changed_step, *samples = (int(number) for number in tensors["steps"])
        self._known = known
        self._noted.clear()
        former, newest = (self._emphasis(*one) for one in zip(samples, blocks, strict=True))
        self._emphases = (former, newest)

    def _rows(self) -> Tensor:
        """K 4+rows*columns: of each crop, step by step, its place, and the errors."""
        places = torch.tensor([place for one in self._noted for place in one.places], dtype=torch.float32)  # K 4
        errors = torch.cat([one.errors for one in self._noted]).cpu()  # K rows columns
        return torch.cat([places, errors.flatten(1)], dim=1)

    def _lay(self, table: Tensor, blocks: Blocks) -> None:
        """`table`: like `_rows`; newer ones cover older ones. Blocks past a frame's ends are nobody's."""
        num_rows, num_columns = self._noted[0].errors.shape[1:]
        crops = table.numpy()
        pairs, tops, lefts, mirrored = crops[:, :4].astype(np.int64).T[..., None, None]  # K 1 1 each
        errors = crops[:, 4:].reshape(len(crops), num_rows, num_columns)
        errors = np.where(mirrored, errors[:, :, ::-1], errors)
        heights, widths = (np.array(sizes)[pairs] for sizes in zip(*self._shapes, strict=True))
        rows = tops + np.arange(num_rows)[:, None]  # K rows 1
        columns = lefts + np.arange(num_columns)  # K 1 columns
        are_inside = (rows >= 0) & (rows < heights) & (columns >= 0) & (columns < widths)  # K rows columns
        places = np.array(self._ends[:-1])[pairs] + rows * widths + columns
        blocks[places[are_inside]] = errors[are_inside]  # of those for one block the last one stays

    def _emphasis(self, first_sample: int, blocks: Blocks) -> Emphasis:
        weights = [part.astype(np.float32) ** self.power for part in self._of_pairs(blocks)]
        return Emphasis(first_sample, blocks, Focus(weights))

    def _of_pairs(self, blocks: Blocks) -> list[Blocks]:
        """Views: rows x columns of each pair."""
        parts = np.split(blocks, self._ends[1:])[:-1]
        return [part.reshape(shape) for part, shape in zip(parts, self._shapes, strict=True)]


def block_errors(error: Tensor, reduction: int, power: float = 1) -> Tensor:
    """Of each crop its whole blocks' error: N C h w as `loss_and_error` gives it -> N rows columns.

    The mean absolute error, or with a `power` of 2 the root of the mean squared one. Summed up in the order of memory,
    channels last, which takes a quarter of the time of a pooling.
    """
    sizes = error.abs()
    if power != 1:
        sizes.pow_(power)
    side = BLOCK // reduction
    number, channels, height, width = sizes.shape
    rows, columns = height // side, width // side
    if not rows * columns:
        return sizes.new_zeros(number, 0, 0)
    lines = sizes.permute(0, 2, 3, 1)[:, : rows * side, : columns * side]  # N h w C
    strips = lines.reshape(number, rows, side, -1).sum(dim=2, dtype=torch.float32)  # N rows w*C
    means = strips.view(number, rows, columns, -1).sum(dim=3) / (side**2 * channels)
    return means if power == 1 else means.pow_(1 / power)
