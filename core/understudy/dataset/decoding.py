"""From pairs to a data set: every file read once, both sides over one window, every fault of the whole set at once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

import numpy as np
from numpy.typing import NDArray

from understudy.dataset.decoded import Dataset, DecodedPair, PairFacts, StoredPixels
from understudy.dataset.faults import find_problems, refuse_giants, refuse_unlearnable, remarks
from understudy.dataset.shelf import ArrayPlace, CacheFault, Shelf
from understudy.errors import Problems, UnderstudyError
from understudy.files import make_folder
from understudy.frames.image import FloatPixels, Image
from understudy.frames.window import Window
from understudy.frames.write import exceeds_half
from understudy.pairs import Pair

MAX_THREADS = 16
"""Frames decoded at once: each takes its float32 pixels in memory while it is looked at."""

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

    with ThreadPoolExecutor(min(os.cpu_count() or 1, MAX_THREADS), thread_name_prefix="decode") as pool:
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
    source, target = plate.over(window), paint.over(window)  # H W C each
    valid = _finite_pixels(source) & _finite_pixels(target)  # H W
    refuse_unlearnable(pair, window, valid)
    stored_input, stored_target = _as_stored(source), _as_stored(target)
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
        input_range=_finite_range(plate),
        target_range=_finite_range(paint),
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


def _finite_pixels(pixels: FloatPixels) -> NDArray[np.bool_]:
    """H W C -> H W: where all channels are."""
    if _is_finite(pixels):
        return np.ones(pixels.shape[:2], np.bool_)
    return np.asarray(np.isfinite(pixels).all(axis=-1), np.bool_)


def _is_finite(pixels: FloatPixels) -> bool:
    """Told from the extremes, which takes a tenth of the time of looking at each value."""
    with np.errstate(invalid="ignore"):  # the extremes of NaN
        return bool(pixels.size and np.isfinite(pixels.min()) and np.isfinite(pixels.max()))


def _as_stored(pixels: FloatPixels) -> StoredPixels:
    """A copy in half, or in float32 where half would clip; what is not finite becomes 0."""
    finite = pixels if _is_finite(pixels) else np.nan_to_num(pixels, nan=0.0, posinf=0.0, neginf=0.0)
    return finite.copy() if exceeds_half(finite) else finite.astype(np.float16)


def _finite_range(image: Image) -> tuple[float, float]:
    finite = image.pixels if _is_finite(image.pixels) else image.pixels[np.isfinite(image.pixels)]
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
