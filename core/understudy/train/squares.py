"""Validation squares: small parts of painted frames that are never learnt from, and by which a run is judged.

They lie where there is something to learn: of a matte, black squares are right before anything is learnt, and hide what
is. And only where it is seen elsewhere: with three painted frames, one square on what no other frame shows cost a matte
2.6 dB. They lie on the grid of blocks, so that both are known.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from understudy.dataset import DecodedPair
from understudy.frames.psnr import PooledPsnr
from understudy.frames.window import Window
from understudy.train.crops import BLOCK, Interest
from understudy.train.device import Machine
from understudy.train.ends import BEYOND, part_of
from understudy.train.network import Understudy
from understudy.train.rarity import Rarity, blocks_of
from understudy.train.twins import Place, Twins

SIDES = (64, 48, 32, 16)
"""Pixels; of those that give enough squares the largest is taken."""
MANY_PAIRS = 8
"""From which on frames that show different things have squares as well: each has a small part of what is painted."""
FEWEST, MOST = 6, 16
"""Squares of a run: by three, a matte fell by 10 dB whose unpainted frames went on to rise."""
SHARE_OF_PIXELS = 0.03
"""Of all training pairs, that squares may take at most."""
SHARE_OF_INTEREST = 0.03
"""Of what there is to learn, likewise."""
MARGIN = 48
"""Pixels around a square that the network is given to see, where the frame has room."""
MOST_DECIBELS = 60.0
"""Of one square: so near the truth, more tells nothing."""
TRIES = 50
SEED = 1
"""Whatever that of the run is: runs with other seeds are judged by the same pixels, and may learn from the same."""
STREAM = 2**63 - 1
"""Of random numbers; the crops' streams count up from 0."""


@dataclass(frozen=True, kw_only=True)
class Square:
    """A place in one pair's arrays."""

    pair: int
    """Index into the training pairs."""
    y: int
    """A multiple of BLOCK, as are `x` and `side`."""
    x: int
    side: int
    """Pixels."""

    @property
    def place(self) -> tuple[slice, slice]:
        """Rows and columns of its pixels."""
        return slice(self.y, self.y + self.side), slice(self.x, self.x + self.side)

    @property
    def window(self) -> Window:
        """The same, as a window."""
        return Window.of_size(self.side, self.side, self.x, self.y)

    @property
    def blocks(self) -> tuple[slice, slice]:
        """Rows and columns of its blocks."""
        (y, x), side = (self.y // BLOCK, self.x // BLOCK), self.side // BLOCK
        return slice(y, y + side), slice(x, x + side)

    def seen(self, pair: DecodedPair) -> Window:
        """The square with its margin, moved back where it would hang over the frame by more than BEYOND pixels."""
        size = self.side + 2 * MARGIN
        y0, y1 = _within(self.y - MARGIN, size, pair.window.height)
        x0, x1 = _within(self.x - MARGIN, size, pair.window.width)
        return Window(x0, y0, x1, y1)


def draw_squares(pairs: Sequence[DecodedPair], interest: Sequence[Interest], *, seed: int = SEED) -> tuple[Square, ...]:
    """The same on every rank and at every resume; none where there are too few pairs, or too little in them.

    `interest`: as CropPlan takes it; where all is right already, squares lie anywhere. No two lie at one place, so that
    what is withheld in one frame can be seen in another.
    """
    if len(pairs) < 2:
        return ()
    rarity = Rarity(pairs, interest, _random(seed, 0))
    ways: tuple[Twins | None, ...] = (Twins(pairs), None) if len(pairs) >= MANY_PAIRS else (Twins(pairs),)
    for twins, side in itertools.product(ways, SIDES):
        random = _random(seed, side)
        draw = _Draw(pairs=pairs, interest=interest, rarity=rarity, twins=twins, side=side, random=random)
        if squares := draw.squares():
            return squares
    return ()


def withheld(pairs: Sequence[DecodedPair], squares: Iterable[Square]) -> tuple[DecodedPair, ...]:
    """The pairs with the squares' pixels marked as not valid; the frames themselves are shared, not copied."""
    masks: dict[int, NDArray[np.bool_]] = {}
    for square in squares:
        pair = pairs[square.pair]
        if square.pair not in masks:
            height, width = pair.input.shape[:2]
            masks[square.pair] = np.ones((height, width), np.bool_) if pair.valid is None else pair.valid.copy()
        masks[square.pair][square.place] = False
    return tuple(
        dataclasses.replace(pair, valid=masks[index]) if index in masks else pair for index, pair in enumerate(pairs)
    )


def left_to_learn(interest: Sequence[Interest], squares: Iterable[Square]) -> tuple[Interest, ...]:
    """The interest without that of the squares, so that no crop is drawn for their sake."""
    left = tuple(blocks.copy() for blocks in interest)
    for square in squares:
        left[square.pair][square.blocks] = 0
    return left


def squares_psnr(model: Understudy, pairs: Sequence[DecodedPair], squares: Sequence[Square], machine: Machine) -> float:
    """Mean of the squares' own dB (frames.psnr), MOST_DECIBELS at most each.

    Over all their pixels together, a few edges of the worst square would decide alone.
    """
    decibels = []
    for alike in _by_size(pairs, squares):
        answers = _answers(model, [part_of(pairs[square.pair].input, seen) for square, seen in alike], machine)
        for (square, seen), answer in zip(alike, answers, strict=True):
            y, x = square.y - seen.y0, square.x - seen.x0
            truth = pairs[square.pair].target[square.place].astype(np.float32)
            own = PooledPsnr(model.spec.target_channels)
            own.add(answer[y : y + square.side, x : x + square.side], truth)
            decibels.append(min(own.decibels(), MOST_DECIBELS))
    return sum(decibels) / len(decibels)


@dataclass(kw_only=True)
class _Draw:
    """Squares of one side, as many as may be, or none."""

    pairs: Sequence[DecodedPair]
    interest: Sequence[Interest]
    rarity: Rarity
    twins: Twins | None
    """None: a square need not stand in another frame."""
    side: int
    random: np.random.Generator
    found: list[Square] = field(default_factory=list)
    kept: list[Place] = field(default_factory=list)
    """Twins of what was found: they must be learnt from."""

    def squares(self) -> tuple[Square, ...]:
        self._pixels_left = SHARE_OF_PIXELS * sum(pair.window.width * pair.window.height for pair in self.pairs)
        self._interest_left = SHARE_OF_INTEREST * sum(float(blocks.sum(dtype=np.float64)) for blocks in self.interest)
        self._is_all_right = not any(blocks.any() for blocks in self.interest)
        order = self.random.permutation(len(self.pairs))
        for number in range(MOST):
            self._find(int(order[number % len(order)]))
        return tuple(self.found) if len(self.found) >= FEWEST else ()

    def _find(self, pair: int) -> None:
        height, width = self.pairs[pair].input.shape[:2]
        has_place = self._is_all_right or self.interest[pair].any()
        is_hopeless = self.twins is not None and self.twins.are_hopeless
        if min(height, width) < self.side or not has_place or is_hopeless:
            return
        for _ in range(TRIES):
            y, x = self._corner(pair)
            y, x = (min(max(at, 0), (size - self.side) // BLOCK * BLOCK) for at, size in ((y, height), (x, width)))
            square = Square(pair=pair, y=y, x=x, side=self.side)
            if self._may_take(square) and self._stands_elsewhere(square):
                self._pixels_left -= self.side**2
                self._interest_left -= self._interest_in(square)
                self.found.append(square)
                return

    def _corner(self, pair: int) -> tuple[int, int]:
        """Where a square may begin; the block that there is something to learn in lies anywhere within it."""
        blocks = self.interest[pair]
        if self._is_all_right:
            row, column = self.random.integers(blocks.shape)
            return int(row) * BLOCK, int(column) * BLOCK
        cumulative = np.cumsum(blocks.ravel(), dtype=np.float64)
        block = int(np.searchsorted(cumulative, self.random.random() * cumulative[-1], side="right"))
        row, column = divmod(min(block, blocks.size - 1), blocks.shape[1])
        inside = self.random.integers(self.side // BLOCK, size=2)
        return (row - int(inside[0])) * BLOCK, (column - int(inside[1])) * BLOCK

    def _may_take(self, square: Square) -> bool:
        valid = self.pairs[square.pair].valid
        return (
            self._pixels_left >= self.side**2
            and self._interest_left >= self._interest_in(square)
            and (self._is_all_right or self._interest_in(square) > 0)
            and not any(_meet(square.window, other.window) for other in self.found)
            and not any(pair == square.pair and _meet(square.window, window) for pair, window in self.kept)
            and (valid is None or bool(valid[square.place].all()))
            and not self._is_rare(square)
        )

    def _is_rare(self, square: Square) -> bool:
        taken = [blocks_of(other.pair, other.blocks) for other in (*self.found, square)]
        return self.rarity.is_rare(square.pair, square.blocks, np.concatenate(taken))

    def _stands_elsewhere(self, square: Square) -> bool:
        if self.twins is None:
            return True
        twin = self.twins.twin((square.pair, square.window), [(other.pair, other.window) for other in self.found])
        if twin:
            self.kept.append(twin)
        return twin is not None

    def _interest_in(self, square: Square) -> float:
        return float(self.interest[square.pair][square.blocks].sum(dtype=np.float64))


def _random(seed: int, side: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=[seed, STREAM - side]))


def _meet(one: Window, other: Window) -> bool:
    return not one.intersect(other).is_empty


def _within(first: int, length: int, size: int) -> tuple[int, int]:
    first = max(min(first, size + BEYOND - length), -BEYOND)
    return first, min(first + length, size + BEYOND)


def _by_size(pairs: Sequence[DecodedPair], squares: Sequence[Square]) -> list[list[tuple[Square, Window]]]:
    """The squares and what is seen of each, those together that make one batch."""
    alike: dict[tuple[int, int], list[tuple[Square, Window]]] = {}
    for square in squares:
        seen = square.seen(pairs[square.pair])
        alike.setdefault((seen.height, seen.width), []).append((square, seen))
    return list(alike.values())


def _answers(model: Understudy, scenes: Sequence[NDArray[np.float16 | np.float32]], machine: Machine) -> Interest:
    """N H W Cin of one size -> N H W Cout, scene-linear."""
    stacked = np.stack(scenes).astype(np.float32)
    scene = torch.from_numpy(stacked).permute(0, 3, 1, 2).to(machine.device, machine.dtype)  # N Cin H W
    with torch.inference_mode(), machine.autocast():
        encoded = model.encoded_answer(model.input_transfer.encode(scene))
        answer = model.target_transfer.decode(encoded).permute(0, 2, 3, 1).to("cpu", torch.float32)
    result: Interest = answer.numpy()
    return result
