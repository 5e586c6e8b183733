"""How much a small place in a painted frame is like others: what is painted nowhere else is to be learnt from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.dataset import DecodedPair
from understudy.frames.image import FloatPixels
from understudy.train.crops import BLOCK

MOST_COMPARED = 1024
"""Blocks that others are compared with, drawn where there is something to learn."""
COMMON = 0.95
"""Of the blocks, that have their like in another frame as near as a block that is not called rare."""

Blocks = NDArray[np.intp]
"""N 3: pair, row, column."""


class Rarity:
    """Compares blocks by what an eye tells apart: level, contrast and grain of what is seen and what is wanted."""

    def __init__(
        self, pairs: Sequence[DecodedPair], interest: Sequence[FloatPixels], random: np.random.Generator
    ) -> None:
        """`interest`: as CropPlan takes it; blocks without any are nothing to learn, and never rare."""
        self._pairs = pairs
        self._interest = interest
        self._known = _drawn(interest, random)
        looks = self._looks(self._known)
        self._scale = looks.std(axis=0) + 1e-6 if len(looks) else np.ones(1, np.float32)
        self._known_looks = looks / self._scale
        apart = self._squared_distances(self._known, self._known_looks, self._known[:0])
        self._usual = float(np.quantile(apart, COMMON, method="higher")) if len(apart) else 0.0

    def is_rare(self, pair: int, blocks: tuple[slice, slice], withheld: Blocks) -> bool:
        """Whether any block of the place has no near like in the other frames.

        `withheld`: blocks that are no comparison, since they will not be learnt from either.
        """
        inside = _learning(pair, self._interest[pair][blocks])
        if not len(inside):
            return False
        inside += (0, blocks[0].start, blocks[1].start)
        farthest = float(self._squared_distances(inside, self._looks(inside) / self._scale, withheld).max())
        return farthest > self._usual or np.isinf(farthest)

    def _squared_distances(self, blocks: Blocks, looks: FloatPixels, withheld: Blocks) -> FloatPixels:
        """N: of each block to the most similar one that is known from another frame; infinity without any."""
        known = self._known_looks
        products = looks @ known.T
        apart = (looks**2).sum(1)[:, None] + (known**2).sum(1)[None] - 2 * products  # N known
        is_no_like = (blocks[:, :1] == self._known[None, :, 0]) | _among(self._known, withheld)[None]
        nearest: FloatPixels = np.where(is_no_like, np.inf, apart).min(axis=1, initial=np.inf)
        return nearest

    def _looks(self, blocks: Blocks) -> FloatPixels:
        """N D."""
        if not len(blocks):
            return np.zeros((0, 1), np.float32)
        pairs, order = blocks[:, 0], np.argsort(blocks[:, 0], kind="stable")
        looks = np.concatenate([_looks_in(self._pairs[pair], blocks[pairs == pair, 1:]) for pair in np.unique(pairs)])
        return looks[np.argsort(order)]


def blocks_of(pair: int, place: tuple[slice, slice]) -> Blocks:
    """All blocks of a place."""
    rows, columns = (np.arange(side.start, side.stop) for side in place)
    return np.stack(np.broadcast_arrays(pair, *np.meshgrid(rows, columns, indexing="ij")), axis=-1).reshape(-1, 3)


def _drawn(interest: Sequence[FloatPixels], random: np.random.Generator) -> Blocks:
    """MOST_COMPARED of the blocks in which there is something to learn, without a list of the millions that may be."""
    ends = np.cumsum([np.count_nonzero(blocks > 0) for blocks in interest])
    numbers = random.choice(ends[-1], min(ends[-1], MOST_COMPARED), replace=False)
    pairs = np.searchsorted(ends, numbers, side="right")
    drawn = np.zeros((len(numbers), 3), np.intp)
    for pair in np.unique(pairs):
        is_here, learning = pairs == pair, _learning(pair, interest[pair])
        drawn[is_here] = learning[numbers[is_here] - ends[pair] + len(learning)]
    return drawn


def _learning(pair: int, interest: FloatPixels) -> Blocks:
    places = np.argwhere(interest > 0)
    return np.concatenate([np.full((len(places), 1), pair), places], axis=1)


def _among(blocks: Blocks, others: Blocks) -> NDArray[np.bool_]:
    digits = np.array([1 << 40, 1 << 20, 1])
    found: NDArray[np.bool_] = np.isin(blocks @ digits, others @ digits)
    return found


def _looks_in(pair: DecodedPair, blocks: NDArray[np.intp]) -> FloatPixels:
    """Of each channel: mean, deviation, and mean steps across and down. Blocks at a border are moved inside."""
    height, width = pair.input.shape[:2]
    corners = np.clip(blocks * BLOCK, 0, np.maximum((height - BLOCK, width - BLOCK), 0))  # N 2
    places = [(slice(y, y + BLOCK), slice(x, x + BLOCK)) for y, x in corners]
    both = [np.concatenate([pair.input[place], pair.target[place]], axis=-1) for place in places]
    seen = np.log1p(np.maximum(np.stack(both).astype(np.float32), 0))  # N h w C, about as bright as it looks
    size = seen[0, ..., 0].size
    steps = [np.abs(np.diff(seen, axis=axis)).sum((1, 2)) / size for axis in (1, 2)]
    looks: FloatPixels = np.concatenate([seen.mean((1, 2)), seen.std((1, 2)), *steps], axis=1)
    return looks
