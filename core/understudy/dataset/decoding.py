"""From pairs to a data set: every file read once, both sides over one window, every fault of the whole set at once."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

import numpy as np
from numpy.typing import NDArray

from understudy.cores import cores_given
from understudy.dataset.decoded import Dataset, DecodedPair, PairFacts, StoredPixels
from understudy.dataset.faults import find_problems, refuse_giants, refuse_unlearnable, remarks, remarks_of_sources
from understudy.dataset.shelf import ArrayPlace, CacheFault, Shelf
from understudy.errors import Problems, UnderstudyError
from understudy.files import make_folder
from understudy.frames.image import FloatPixels, Image
from understudy.frames.window import Window
from understudy.frames.write import HALF_MAX
from understudy.pairs import Pair

MAX_THREADS = 16
"""Frames decoded at once: each takes its float32 pixels in memory while it is looked at."""
_ROWS_AT_ONCE = 64

Seen = TypeVar("Seen")


@dataclass(frozen=True, kw_only=True)
class ShelvedPair:
    """A DecodedPair whose arrays may lie in a shelf's file, not mapped yet."""

    pair: Pair
    window: Window
    input: StoredPixels | ArrayPlace
    target: StoredPixels | ArrayPlace
    valid: NDArray[np.bool_] | ArrayPlace | None
    facts: PairFacts


def decode(
    pairs: Sequence[Pair],
    *,
    crop_size: int,
    memory_bytes: int,
    cache_folder: Path,
    skip_unreadable: bool = False,
    warn: Callable[[str], None],
) -> Dataset:
    """Decode all pairs on all cores; what exceeds `memory_bytes` lies in a mapped file without name in `cache_folder`.

    `skip_unreadable` leaves out pairs that cannot be read, with a warning each. `warn` gets one line a fault.
    Raises Problems listing every unreadable, empty or mismatching frame, or that no pair is left to train on, and
    CacheFault when the file cannot be written.
    """
    with Shelf(memory_bytes, lambda: _file_without_name(cache_folder), cache_folder) as shelf:
        shelved = decode_onto(shelf, pairs, crop_size=crop_size, skip_unreadable=skip_unreadable, warn=warn)
        return take_down(shelved, shelf)


def decode_onto(
    shelf: Shelf, pairs: Sequence[Pair], *, crop_size: int, skip_unreadable: bool, warn: Callable[[str], None]
) -> list[ShelvedPair]:
    """Decode all pairs on all cores, each onto the shelf as soon as it is decoded; raises as `decode` does."""
    shelved, unreadable = on_all_cores(pairs, lambda pair: _put_on(shelf, decode_pair(pair, crop_size)))
    problems = find_problems([(one.pair, one.facts) for one in shelved])
    if problems or (unreadable and not skip_unreadable):
        raise Problems(dict.fromkeys([*unreadable, *problems]))
    for line in unreadable:
        warn(f"{line} (the pair is left out)")
    for line in remarks_of_sources(pairs):
        warn(line)
    for one in shelved:
        for line in remarks(one.facts):
            warn(line)
    return shelved


def take_down(shelved: Sequence[ShelvedPair], shelf: Shelf) -> Dataset:
    """The data set of pairs without problems, now that no array follows any more."""
    first = shelved[0].facts
    return Dataset(
        pairs=tuple(
            DecodedPair(
                pair=one.pair,
                window=one.window,
                input=shelf.take(one.input),
                target=shelf.take(one.target),
                valid=None if one.valid is None else shelf.take(one.valid),
                facts=one.facts,
            )
            for one in shelved
        ),
        input_channels=first.input_channels,
        target_channels=first.target_channels,
    )


def on_all_cores(pairs: Sequence[Pair], look: Callable[[Pair], Seen]) -> tuple[list[Seen], list[str]]:
    """What `look` gives for every pair that can be read, in order, and a line for each file that cannot.

    A CacheFault of `look` is raised: it is no fault of the pair.
    """

    def look_safely(pair: Pair) -> Seen | Problems:
        try:
            return look(pair)
        except CacheFault:
            raise
        except Problems as several:
            return several
        except UnderstudyError as one:
            return Problems([str(one)])

    with ThreadPoolExecutor(min(cores_given(), MAX_THREADS), thread_name_prefix="decode") as pool:
        outcomes = list(pool.map(look_safely, pairs))
    seen = [outcome for outcome in outcomes if not isinstance(outcome, Problems)]
    lines = [line for outcome in outcomes if isinstance(outcome, Problems) for line in outcome.lines]
    return seen, list(dict.fromkeys(lines))


def decode_pair(pair: Pair, crop_size: int) -> DecodedPair:
    """Read both sides and lay them over one window. Raises UnderstudyError when a side cannot be read."""
    plate, paint = pair.input.read(), pair.target.read()
    both = plate.data_window.union(paint.data_window)
    refuse_giants(pair, both)
    window = both.grown_to(crop_size, crop_size, within=plate.display_window)
    source, target = _Side(plate, window), _Side(paint, window)
    valid = source.finite_pixels() & target.finite_pixels()  # H W
    refuse_unlearnable(pair, window, valid)
    stored_input, stored_target = source.stored(), target.stored()
    facts = PairFacts(
        frame=pair.frame,
        input_label=pair.input.label,
        target_label=pair.target.label,
        input_window=plate.data_window,
        target_window=paint.data_window,
        display_window=plate.display_window,
        target_display_window=paint.display_window,
        input_channels=plate.channels,
        target_channels=paint.channels,
        input_range=source.finite_range(),
        target_range=target.finite_range(),
        num_nonfinite=int(valid.size - np.count_nonzero(valid)),
        input_type=str(stored_input.dtype),
        target_type=str(stored_target.dtype),
    )
    return DecodedPair(
        pair=pair,
        window=window,
        input=stored_input,
        target=stored_target,
        valid=None if valid.all() else valid,
        facts=facts,
    )


class _Side:
    """A decoded picture over the pair's window. Its extremes, which tell most of it, are looked for once."""

    def __init__(self, image: Image, window: Window) -> None:
        self._image = image
        self._pixels = image.over(window)  # H W C, black around the image's own
        pixels = image.pixels
        with np.errstate(invalid="ignore"):  # the extremes of NaN
            self._extremes = (float(pixels.min()), float(pixels.max())) if pixels.size else (0.0, 0.0)
        self._is_finite = bool(np.isfinite(self._extremes).all())

    def finite_pixels(self) -> NDArray[np.bool_]:
        """H W: where all channels are."""
        if self._is_finite:
            return np.ones(self._pixels.shape[:2], np.bool_)
        return np.asarray(np.isfinite(self._pixels).all(axis=-1), np.bool_)

    def stored(self) -> StoredPixels:
        """A copy in half, or in float32 where half would clip; what is not finite becomes 0."""
        finite: FloatPixels = self._pixels
        low, high = self.finite_range()
        if not self._is_finite:
            finite = np.where(np.isfinite(finite), finite, np.float32(0))
        if low < -HALF_MAX or high > HALF_MAX:
            return np.array(finite)
        halves = np.empty(finite.shape, np.float16)
        for top in range(0, len(finite), _ROWS_AT_ONCE):  # a third quicker than all at once
            halves[top : top + _ROWS_AT_ONCE] = finite[top : top + _ROWS_AT_ONCE]
        return halves

    def finite_range(self) -> tuple[float, float]:
        """Of the image's own pixels."""
        if self._is_finite:
            return self._extremes
        finite = self._image.pixels[np.isfinite(self._image.pixels)]
        return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)


def _put_on(shelf: Shelf, decoded: DecodedPair) -> ShelvedPair:
    return ShelvedPair(
        pair=decoded.pair,
        window=decoded.window,
        input=shelf.keep(decoded.input),
        target=shelf.keep(decoded.target),
        valid=None if decoded.valid is None else shelf.keep(decoded.valid),
        facts=decoded.facts,
    )


def _file_without_name(folder: Path) -> IO[bytes]:
    """It vanishes with the last array, however the process ends."""
    make_folder(folder)
    return tempfile.TemporaryFile(prefix=".understudy.", dir=folder)
