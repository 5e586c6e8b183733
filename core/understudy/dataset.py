"""The data set: every pair decoded once into two arrays in display coordinates, ready to draw crops from."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

import numpy as np
from numpy.typing import NDArray

from understudy.errors import Problems, UnderstudyError
from understudy.files import make_folder, naming_the_file
from understudy.frames.image import FloatPixels, Image
from understudy.frames.window import Window
from understudy.frames.write import HALF_MAX, exceeds_half
from understudy.pairs import Pair

StoredPixels = NDArray[np.float16 | np.float32]
MAX_THREADS = 16
"""Frames decoded at once: each takes its float32 pixels in memory while it is looked at."""

FEWEST_PIXELS = 2
"""A side of a pair: the loss looks at differences between neighbours."""

Kept = TypeVar("Kept", bound=np.generic)
Seen = TypeVar("Seen")


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
    """H W, false where input or target was not finite (such values are 0 in the arrays); None: all are finite."""
    facts: PairFacts


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
    Raises Problems listing every unreadable, empty or mismatching frame, or that no pair is left to train on.
    """
    with _Shelf(memory_bytes, cache_folder) as shelf:
        decoded, unreadable = on_all_cores(pairs, lambda pair: _on_shelf(decode_pair(pair, crop_size), shelf))
    problems = find_problems([(one.pair, one.facts) for one in decoded])
    if problems or (unreadable and not skip_unreadable):
        raise Problems(dict.fromkeys([*unreadable, *problems]))
    for line in unreadable:
        warn(f"{line} (the pair is left out)")
    for one in decoded:
        for line in remarks(one.facts):
            warn(line)
    first = decoded[0].facts
    return Dataset(pairs=tuple(decoded), input_channels=first.input_channels, target_channels=first.target_channels)


def on_all_cores(pairs: Sequence[Pair], look: Callable[[Pair], Seen]) -> tuple[list[Seen], list[str]]:
    """What `look` gives for every pair that can be read, in order, and a line for each file that cannot."""

    def look_safely(pair: Pair) -> Seen | Problems:
        try:
            return look(pair)
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
    window = both.grown_to(crop_size, crop_size, within=plate.display_window)
    source, target = plate.over(window), paint.over(window)  # H W C each
    is_finite = np.isfinite(source).all(axis=-1) & np.isfinite(target).all(axis=-1)  # H W
    valid: NDArray[np.bool_] = np.asarray(is_finite, np.bool_)
    _refuse_unlearnable(pair, window, valid)
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


def _refuse_unlearnable(pair: Pair, window: Window, valid: NDArray[np.bool_]) -> None:
    """An empty window is told of by `find_problems`, together with its data window."""
    if window.is_empty:
        return
    if min(window.width, window.height) < FEWEST_PIXELS:
        raise UnderstudyError(
            f"frame {pair.frame}: {pair.input.label} is {window.width}x{window.height}, too small to learn from; "
            f"give at least {FEWEST_PIXELS} pixels a side"
        )
    if not valid.any():
        raise UnderstudyError(
            f"frame {pair.frame}: {pair.input.label} and {pair.target.label} have no pixel that is a number in both; "
            "render them again"
        )


def find_problems(seen: Sequence[tuple[Pair, PairFacts]]) -> list[str]:
    """A line for every pair that cannot be trained on, and one when none is left to train on."""
    problems = [line for _, facts in seen for line in _problems_of(facts, seen[0][1])]
    if not any(pair.use == "train" for pair, _ in seen):
        problems.append("no pair is left to train on; mend the files or give more frames")
    return problems


def remarks(facts: PairFacts) -> list[str]:
    """What the user should know about a pair that can be trained on."""
    lines = []
    if facts.num_nonfinite:
        lines.append(
            f"frame {facts.frame}: {facts.num_nonfinite} pixels of {facts.input_label} or {facts.target_label} "
            "are NaN or infinite; they are left out of the loss"
        )
    for label, stored in ((facts.input_label, facts.input_type), (facts.target_label, facts.target_type)):
        if stored != "float16":
            lines.append(f"frame {facts.frame}: {label} has values beyond {HALF_MAX:.0f}; it is held as 32-bit float")
    return lines


def _problems_of(facts: PairFacts, first: PairFacts) -> list[str]:
    lines = []
    sides = (
        ("input", facts.input_label, facts.input_window, facts.input_channels, first.input_channels),
        ("target", facts.target_label, facts.target_window, facts.target_channels, first.target_channels),
    )
    for side, label, window, channels, expected in sides:
        if window.is_empty:
            lines.append(f"frame {facts.frame}: {label} has an empty data window; give it pixels or leave it out")
        if channels != expected:
            lines.append(
                f"frame {facts.frame}: {label} has channels {', '.join(channels)}, but frame {first.frame} has "
                f"{', '.join(expected)}; choose {side} channels that every frame has"
            )
    if facts.display_window != facts.target_display_window:
        lines.append(
            f"frame {facts.frame}: {facts.input_label} has the format {facts.display_window}, but {facts.target_label} "
            f"{facts.target_display_window}; make them equal with a Reformat or Crop"
        )
    return lines


def _as_stored(pixels: FloatPixels) -> StoredPixels:
    """A copy in half, or in float32 where half would clip; what is not finite becomes 0."""
    finite = np.nan_to_num(pixels, nan=0.0, posinf=0.0, neginf=0.0)
    return finite if exceeds_half(finite) else finite.astype(np.float16)


def _finite_range(image: Image) -> tuple[float, float]:
    finite = image.pixels[np.isfinite(image.pixels)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)


def _on_shelf(decoded: DecodedPair, shelf: _Shelf) -> DecodedPair:
    return DecodedPair(
        pair=decoded.pair,
        window=decoded.window,
        input=shelf.keep(decoded.input),
        target=shelf.keep(decoded.target),
        valid=None if decoded.valid is None else shelf.keep(decoded.valid),
        facts=decoded.facts,
    )


class _Shelf:
    """Keeps arrays in memory up to a limit, the rest in a mapped file that vanishes with the last array."""

    def __init__(self, memory_bytes: int, cache_folder: Path) -> None:
        self._bytes_left = memory_bytes
        self._folder = cache_folder
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None

    def __enter__(self) -> _Shelf:
        return self

    def __exit__(self, *_: object) -> None:
        """What is mapped stays mapped; the file has no name, so nothing is left behind."""
        if self._file is not None:
            self._file.close()

    def keep(self, array: NDArray[Kept]) -> NDArray[Kept]:
        with self._lock:
            if array.nbytes > self._bytes_left:
                return self._mapped(array)
            self._bytes_left -= array.nbytes
            return array

    def _mapped(self, array: NDArray[Kept]) -> NDArray[Kept]:
        make_folder(self._folder)
        with naming_the_file(self._folder):
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix=".understudy.", dir=self._folder)  # noqa: SIM115  # __exit__
            offset = self._file.seek(0, os.SEEK_END)
            self._file.write(np.ascontiguousarray(array).data)  # written, not mapped: a full disk must raise, not kill
            self._file.flush()
            # copy on write: readers may do as they like, the file stays as it is
            mapped = np.memmap(self._file, dtype=array.dtype, mode="c", offset=offset, shape=array.shape)
            return mapped.view(np.ndarray)
