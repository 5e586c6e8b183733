"""What kind of work the pairs show, and what a run chooses for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.dataset import Dataset
from understudy.frames.kinds import is_matte
from understudy.settings import Task
from understudy.train.fit import sample_pixels
from understudy.train.loss import ErrorMeasure
from understudy.train.schedule import Fall

NEARLY_ALL, MOST = 0.9, 0.5
"""Of the pixels, to call a picture a matte, and what is done to it a clean-up."""
ALIKE = 0.01
"""Difference from 0 or 1 of what counts as black or white; and, of what was left as it is, by its brightness."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """What follows from the kind of work."""

    task: Task
    """Never auto."""
    seen: str
    """Why, when nobody said so; empty when somebody did."""

    @property
    def is_matte(self) -> bool:
        """The target is coverage, whatever its channels are called: it is learnt as it is, without a curve."""
        return self.task == "matte"

    @property
    def measure(self) -> ErrorMeasure:
        """A matte is black or white nearly everywhere, and is to be so to the last."""
        return "sharp" if self.is_matte else "squared"

    @property
    def miss_power(self) -> float:
        """A false spot in a matte is small and glaring: among edges that are all a little wrong it must stand out."""
        return 2 if self.is_matte else 1

    @property
    def wakes(self) -> bool:
        """Whether faults that no last unit sees are called out (waking.py). Edges of mattes came out a little worse."""
        return not self.is_matte

    @property
    def fall(self) -> Fall:
        """Mattes are soon learnt, and then waver at their edges while steps are long; pictures go on learning."""
        return "steady" if self.is_matte else "held"

    def __str__(self) -> str:
        return f"{self.task} (auto: {self.seen})" if self.seen else self.task


def work_of(asked: Task, dataset: Dataset) -> Work:
    """As asked for, or by what a sample of the training pixels shows; the same on every rank and at every resume."""
    if asked != "auto":
        return Work(task=asked, seen="")
    if all(map(is_matte, dataset.target_channels)):
        return Work(task="matte", seen=f"the target is {','.join(dataset.target_channels)}")
    inputs, targets = sample_pixels(dataset.training)
    flat = _share(np.minimum(np.abs(targets), np.abs(targets - 1)) <= ALIKE)
    if flat >= NEARLY_ALL and targets.max() <= 1 + ALIKE and (targets >= 1 - ALIKE).any():
        return Work(task="matte", seen=f"{flat:.0%} of the target is black or white")
    left = _share_left(inputs, targets, dataset)
    return Work(task="cleanup" if left >= MOST else "look", seen=f"{left:.0%} of the pixels stay as they are")


def has_soft_edges(dataset: Dataset) -> bool:
    """Whether a sample of the target has anything between black and white, as coverage has where an edge crosses."""
    _, targets = sample_pixels(dataset.training)
    return bool(((targets > ALIKE) & (targets < 1 - ALIKE)).any())


def _share_left(inputs: NDArray[np.float32], targets: NDArray[np.float32], dataset: Dataset) -> float:
    """Of the pixels, that have the same value in every channel that both sides have; 0 when they share none."""
    shared = [name for name in dataset.target_channels if name in dataset.input_channels]
    before = inputs[:, [dataset.input_channels.index(name) for name in shared]]  # P C
    after = targets[:, [dataset.target_channels.index(name) for name in shared]]
    return _share(np.abs(after - before) <= ALIKE * (0.1 + np.abs(before))) if shared else 0.0


def _share(is_so: NDArray[np.bool_]) -> float:
    """Of the pixels P C, those that are so in all channels."""
    return float(is_so.all(axis=1).mean())
