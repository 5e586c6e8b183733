"""Which crops a step sees: drawn from (seed, sample number) alone, so that any rank and any resume draws the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.dataset import DecodedPair

FOCUSED_SHARE = 0.5
"""Of the crops, centred where the target differs most from the guess; the others lie anywhere."""
BLOCK = 16
"""Side in pixels of the squares by which that difference is remembered."""


@dataclass(frozen=True)
class Crop:
    """A place in one pair's arrays."""

    pair: int
    """Index into the training pairs."""
    y: int
    x: int
    mirrored: bool
    """Left and right are swapped."""


class CropPlan:
    """Draws crops of one size from pairs of any sizes. Every pair comes up once in each pass over the set."""

    def __init__(
        self,
        pairs: tuple[DecodedPair, ...],
        interest: tuple[NDArray[np.float32], ...],
        *,
        crop_size: int,
        seed: int,
        may_mirror: bool = True,
    ) -> None:
        """`interest`: for each pair its blocks' share of what is to be learnt, rows x columns of BLOCK pixels.

        `may_mirror`: half of the crops are mirrored; False where channels hold directions.
        """
        self.height = min(crop_size, *(pair.window.height for pair in pairs))
        self.width = min(crop_size, *(pair.window.width for pair in pairs))
        self._sizes = [(pair.window.height, pair.window.width) for pair in pairs]
        self._cumulative = [np.cumsum(blocks.ravel(), dtype=np.float64) for blocks in interest]
        self._columns = [blocks.shape[1] for blocks in interest]
        self._seed = seed
        self._may_mirror = may_mirror

    def draw(self, sample: int) -> Crop:
        """The crop of sample number `sample`, counted from 0 over the whole run and all ranks."""
        turn, place_in_turn = divmod(sample, len(self._sizes))
        pair = int(self._random(turn, 0).permutation(len(self._sizes))[place_in_turn])
        random = self._random(sample, 1)
        y, x = self._focused(pair, random) if random.random() < FOCUSED_SHARE else self._anywhere(pair, random)
        return Crop(pair, y, x, self._may_mirror and bool(random.random() < 0.5))

    def _random(self, number: int, stream: int) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=[self._seed, 2 * number + stream]))

    def _anywhere(self, pair: int, random: np.random.Generator) -> tuple[int, int]:
        height, width = self._sizes[pair]
        return int(random.integers(height - self.height + 1)), int(random.integers(width - self.width + 1))

    def _focused(self, pair: int, random: np.random.Generator) -> tuple[int, int]:
        cumulative = self._cumulative[pair]
        if cumulative[-1] <= 0:
            return self._anywhere(pair, random)
        block = int(np.searchsorted(cumulative, random.random() * cumulative[-1], side="right"))
        row, column = divmod(min(block, len(cumulative) - 1), self._columns[pair])
        height, width = self._sizes[pair]
        # the block of interest lands anywhere in the crop, not always in its middle
        y = row * BLOCK + BLOCK // 2 - int(random.integers(self.height))
        x = column * BLOCK + BLOCK // 2 - int(random.integers(self.width))
        return min(max(y, 0), height - self.height), min(max(x, 0), width - self.width)


def most_interesting(interest: NDArray[np.float32], pair: DecodedPair, height: int, width: int) -> tuple[int, int]:
    """Top left corner of the crop of that size around the block with the most to learn."""
    row, column = divmod(int(interest.argmax()), interest.shape[1])
    y = row * BLOCK + BLOCK // 2 - height // 2
    x = column * BLOCK + BLOCK // 2 - width // 2
    return min(max(y, 0), pair.window.height - height), min(max(x, 0), pair.window.width - width)
