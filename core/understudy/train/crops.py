"""Which crops a step sees: drawn from (seed, sample number) and what is still wrong; a resumed run sees the same.

Places and all else of a pair's crops come from Sobol's points, which fill a cube more evenly than chance does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray

from understudy.dataset import DecodedPair
from understudy.frames.window import Window
from understudy.train.ends import BEYOND

FOCUSED_SHARE = 0.5
"""Of the crops, that are drawn to where there is most to learn; the others lie anywhere."""
MISSED_SHARE = 0.25
"""Of the crops, that are drawn to where the model is wrong now, others of the above to where its first guess was."""
MIRRORED_SHARE = 0.25
"""Of the crops, where they may be. A shot is hardly ever seen the other way round, so that with half of them most are
learnt later; with none, what turns round is lost: roto of mirrored frames 30 dB, in place of 48. With an eighth seeds
lie further apart."""
SHIFTED_SHARE = 0.5
"""Of the crops, where plate and target may be moved by parts of a pixel (shifts.py). With fewer a step takes up to a
hundredth less, and after five minutes, not sooner, roto is lower: by 0.3 dB with a quarter, 0.5 with an eighth."""
BLOCK = 16
"""Side in pixels of the squares by which that difference is remembered."""


GRAIN = 1
"""Sets the numbers by which it is laid over crops apart from those by which these are drawn."""
FIELD_SIDE = 256
"""Pixels after which the grain that is laid over crops repeats itself."""
POINTS = 512
"""Of one pair, that fill the cube together: a power of two. For as many passes at a time the pairs' order is drawn."""

Interest = NDArray[np.float32]
"""Of one pair, rows x columns of BLOCK pixels: each block's share of what is to be learnt."""


@dataclass(frozen=True)
class Crop:
    """A place in one pair's arrays, or hanging over their ends by up to BEYOND pixels (ends.part_of)."""

    pair: int
    """Index into the training pairs."""
    y: int
    x: int
    mirrored: bool
    """Left and right are swapped."""
    shift: tuple[float, float] = (0.0, 0.0)
    """Parts of a pixel, -0.5 to 0.5, further down and, mirrored or not, right: where it is looked at."""
    grain: tuple[int, int, float] = (0, 0, 0.0)
    """Row and column in its field of what is laid over it, where any is (grain.py), and how strong: 0 to 1."""

    @property
    def is_moved(self) -> bool:
        """By parts of a pixel."""
        return self.shift != (0.0, 0.0)

    @property
    def shift_in_frame(self) -> tuple[float, float]:
        """The same before it is mirrored."""
        down, right = self.shift
        return down, -right if self.mirrored else right


@dataclass(frozen=True, kw_only=True)
class Share:
    """Which crops of a step are one rank's: a run of them, as many as any other's or one less."""

    index: int = 0
    """Of the rank among those that train together."""
    size: int = 1
    """How many they are."""

    def of(self, samples: range) -> range:
        """This rank's among the samples of a step; empty when there are fewer than ranks."""
        each, more = divmod(len(samples), self.size)
        start = self.index * each + min(self.index, more)
        return samples[start : start + each + (self.index < more)]

    def computed(self, samples: range) -> range:
        """What this rank computes of a step: its samples, or one for nothing where it has none."""
        return self.of(samples) or samples[:1]

    def weight(self, batch_size: int) -> float:
        """Its part of a step, 0 to 1."""
        return len(self.of(range(batch_size))) / batch_size


class Focus:
    """Draws blocks of a pair, each as often as its part of a sum says."""

    def __init__(self, blocks: Sequence[NDArray[np.floating]]) -> None:
        """Of each pair, rows x columns of BLOCK pixels."""
        self._cumulative = [np.cumsum(part.ravel(), dtype=np.float64) for part in blocks]
        self._columns = [part.shape[1] for part in blocks]

    def block(self, pair: int, where: float) -> tuple[int, int] | None:
        """Its row and column, by a number from 0 to 1; None where no block has a part."""
        cumulative = self._cumulative[pair]
        if cumulative[-1] <= 0:
            return None
        block = int(np.searchsorted(cumulative, where * cumulative[-1], side="right"))
        row, column = divmod(min(block, len(cumulative) - 1), self._columns[pair])
        return row, column


class CropPlan:
    """Draws crops of one size from pairs of any sizes. Every pair comes up once in each pass over the set."""

    def __init__(
        self,
        pairs: tuple[DecodedPair, ...],
        interest: tuple[Interest, ...],
        *,
        crop_size: int,
        seed: int,
        may_mirror: bool = True,
        may_shift: bool = False,
        has_grain: bool = False,
    ) -> None:
        """`may_mirror`: MIRRORED_SHARE of the crops are mirrored; False where channels hold directions.

        `may_shift`: SHIFTED_SHARE of them are moved by parts of a pixel. `has_grain`: it is laid over
        them (grain.py), from places that are drawn beside their own.
        """
        self.height = min(crop_size, *(pair.window.height for pair in pairs))
        self.width = min(crop_size, *(pair.window.width for pair in pairs))
        self._sizes = [(pair.window.height, pair.window.width) for pair in pairs]
        self.interest = interest
        self._focus = Focus(interest)
        self._seed = seed
        self.may_mirror = may_mirror
        self.may_shift = may_shift
        self.has_grain = has_grain

    def draw(self, sample: int, missed: Focus) -> Crop:
        """The crop of sample number `sample`, counted from 0 over the whole run and all ranks.

        `missed`: what is wrong still.
        """
        turn, place_in_turn = divmod(sample, len(self._sizes))
        some, number = divmod(turn, POINTS)
        pair = int(_orders(self._seed, some, len(self._sizes))[number, place_in_turn])
        point: list[float] = _points((self._seed, pair, some), 8)[number].tolist()
        kind, where, down, across, mirrored, shifted, shift_down, shift_across = point
        if kind < FOCUSED_SHARE:
            focus = self._focus if kind < FOCUSED_SHARE - MISSED_SHARE else missed
            y, x = self._around(focus.block(pair, where), pair, down, across)
        else:
            y, x = self._anywhere(pair, down, across)
        is_shifted = self.may_shift and shifted < SHIFTED_SHARE
        shift = (shift_down - 0.5, shift_across - 0.5) if is_shifted else (0.0, 0.0)
        grain = self._grain(pair, some, number) if self.has_grain else Crop.grain
        return Crop(pair, y, x, self.may_mirror and mirrored < MIRRORED_SHARE, shift, grain)

    def window(self, crop: Crop, margin: int = 0) -> Window:
        """The pixels of its pair's arrays that it shows, and so many around it."""
        return Window.of_size(self.width + 2 * margin, self.height + 2 * margin, crop.x - margin, crop.y - margin)

    def _grain(self, pair: int, some: int, number: int) -> tuple[int, int, float]:
        row, column, strength = _points((self._seed, pair, some, GRAIN), 3)[number].tolist()
        return _whole(row, FIELD_SIDE), _whole(column, FIELD_SIDE), strength

    def _anywhere(self, pair: int, down: float, across: float) -> tuple[int, int]:
        height, width = self._sizes[pair]
        y = _whole(down, height - self.height + 2 * BEYOND + 1) - BEYOND
        x = _whole(across, width - self.width + 2 * BEYOND + 1) - BEYOND
        return y, x

    def _around(self, block: tuple[int, int] | None, pair: int, down: float, across: float) -> tuple[int, int]:
        if block is None:
            return self._anywhere(pair, down, across)
        row, column = block
        height, width = self._sizes[pair]
        # the block of interest lands anywhere in the crop, not always in its middle
        y = row * BLOCK + BLOCK // 2 - _whole(down, self.height)
        x = column * BLOCK + BLOCK // 2 - _whole(across, self.width)
        y_end, x_end = height - self.height + BEYOND, width - self.width + BEYOND
        return min(max(y, -BEYOND), y_end), min(max(x, -BEYOND), x_end)


@lru_cache(maxsize=8)
def _orders(seed: int, some: int, num_pairs: int) -> NDArray[np.int64]:
    """POINTS num_pairs: in which the pairs come up in each of as many passes over the set."""
    numbers = np.tile(np.arange(num_pairs), (POINTS, 1))
    return np.random.Generator(np.random.Philox(key=[seed, some])).permuted(numbers, axis=1)


@lru_cache(maxsize=2048)
def _points(seeds: tuple[int, ...], size: int) -> NDArray[np.float64]:
    """POINTS `size`: numbers from 0 to below 1 for a pair's crops in as many passes."""
    own_seed = int(np.random.SeedSequence(seeds).generate_state(1)[0])
    engine = torch.quasirandom.SobolEngine(size, scramble=True, seed=own_seed)  # type: ignore[no-untyped-call]
    points: NDArray[np.float64] = engine.draw(POINTS, dtype=torch.float64).numpy()
    return points


def _whole(number: float, end: int) -> int:
    """From 0 to below 1 -> 0 to before `end`."""
    return min(int(number * end), end - 1)


def most_interesting(interest: NDArray[np.float32], pair: DecodedPair, height: int, width: int) -> tuple[int, int]:
    """Top left corner of the crop of that size around the block with the most to learn."""
    row, column = divmod(int(interest.argmax()), interest.shape[1])
    y = row * BLOCK + BLOCK // 2 - height // 2
    x = column * BLOCK + BLOCK // 2 - width // 2
    return min(max(y, 0), pair.window.height - height), min(max(x, 0), pair.window.width - width)
