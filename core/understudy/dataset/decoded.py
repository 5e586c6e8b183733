"""What a decoded pair is, and all pairs of a run together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.frames.window import Window
from understudy.pairs import Pair

StoredPixels = NDArray[np.float16 | np.float32]


@dataclass(frozen=True, kw_only=True)
class PairFacts:
    """What decoding a pair showed, without its pixels."""

    frame: int
    input_label: str
    target_label: str
    input_window: Window
    """Data window of the input."""
    target_window: Window
    """Data window of the target."""
    display_window: Window
    """Display window of the input."""
    target_display_window: Window
    input_channels: tuple[str, ...]
    target_channels: tuple[str, ...]
    input_range: tuple[float, float]
    """Least and greatest finite value; 0, 0 when there is none."""
    target_range: tuple[float, float]
    num_nonfinite: int
    """Pixels of the pair's window where input or target is NaN or infinite."""
    input_type: str
    """float16 or float32: how the input is held in memory."""
    target_type: str


@dataclass(frozen=True, kw_only=True)
class DecodedPair:
    """One pair in memory, both sides over the same window, black outside their own data windows."""

    pair: Pair
    window: Window
    """Both data windows, grown to the crop size where the display window has room; display coordinates."""
    input: StoredPixels
    """H W C, scene-linear. float32 only where a value does not fit into half."""
    target: StoredPixels
    """H W C, as `input`."""
    valid: NDArray[np.bool_] | None
    """H W, false where input or target was not finite (such values are 0 in the arrays), and where training withholds a
    validation square; None: all count."""
    facts: PairFacts

    @property
    def is_in_memory(self) -> bool:
        """Whether neither side lies in a mapped file (shelf.py)."""
        return not any(isinstance(side.base, np.memmap) for side in (self.input, self.target))


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """All pairs of a run, decoded."""

    pairs: tuple[DecodedPair, ...]
    """In frame order."""
    input_channels: tuple[str, ...]
    target_channels: tuple[str, ...]

    @property
    def training(self) -> tuple[DecodedPair, ...]:
        return tuple(pair for pair in self.pairs if pair.pair.use == "train")

    @property
    def validation(self) -> tuple[DecodedPair, ...]:
        return tuple(pair for pair in self.pairs if pair.pair.use == "validation")
