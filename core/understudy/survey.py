"""The survey: what `understudy check` says about the pairs, without keeping a pixel."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from understudy.dataset import PairFacts, decode_pair, find_problems, on_all_cores, remarks, remarks_of_sources
from understudy.errors import ProblemList, Problems, UnderstudyError
from understudy.files import make_folder
from understudy.frames.write import write_image
from understudy.pairs import FrameSource, Pair

SIDE_NAMES = ("input", "ground_truth")
"""How the files of `write_inputs` begin."""

_HEADINGS = ("frame", "use", "side", "channels", "format", "data window", "values", "not finite", "from")


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What a look at all pairs showed."""

    table: tuple[str, ...]
    """Lines: a heading, then two for every pair that could be read."""
    remarks: tuple[str, ...]
    """What is worth knowing but does not keep anyone from training."""
    problems: Mapping[str, int | None]
    """What must be mended first, each line with the frame of its pair (None: all); empty when training may begin."""

    def __str__(self) -> str:
        return "\n".join([*self.table, *self.remarks, *self.problems])


def survey(pairs: Sequence[Pair], *, crop_size: int, tell: Callable[[int], None] = lambda _: None) -> Survey:
    """Decode every pair as training would, and report its facts and every problem found.

    `tell`: how many pairs have been looked at so far; called on any thread, and what it raises ends the survey.
    """
    looks = _Looks(crop_size, tell)
    seen, unreadable = on_all_cores(pairs, looks.at)
    rows = [row for pair, facts in seen for row in _rows_of(pair, facts)]
    return Survey(
        table=_aligned([_HEADINGS, *rows]),
        remarks=(*remarks_of_sources(pairs), *(line for _, facts in seen for line in remarks(facts))),
        problems={**{line: looks.frames.get(line) for line in unreadable}, **find_problems(seen)},
    )


def write_inputs(pairs: Sequence[Pair], folder: Path) -> int:
    """Write both sides of every pair as float EXR, `input.1001.exr` and `ground_truth.1001.exr`; returns the count.

    Windows, channels and metadata are those that training sees; a side that covers no pixel is left out. Raises
    Problems naming every side that cannot be read and every file that cannot be written, once the others are there.
    """
    make_folder(folder)
    counts, problems = on_all_cores(pairs, lambda pair: _write_pair(pair, folder))
    if problems:
        raise Problems(problems)
    return sum(counts)


def _write_pair(pair: Pair, folder: Path) -> int:
    problems, count = ProblemList(), 0
    for name, side in zip(SIDE_NAMES, (pair.input, pair.target), strict=True):
        with problems.collecting():
            image = side.read()
            if not image.data_window.is_empty:
                write_image(folder / f"{name}.{pair.frame:04d}.exr", image, pixel_type="float")
                count += 1
    problems.raise_if_any()
    return count


class _Looks:
    """Looks at pairs on several threads."""

    def __init__(self, crop_size: int, tell: Callable[[int], None]) -> None:
        self.frames: dict[str, int] = {}
        """Of faults: whose they are."""
        self._crop_size = crop_size
        self._tell = tell
        self._num_done = 0
        self._lock = threading.Lock()

    def at(self, pair: Pair) -> tuple[Pair, PairFacts]:
        self._tell(self._num_done)  # and once more before a pair, so that nobody waits for those that are not wanted
        try:
            return pair, decode_pair(pair, self._crop_size).facts
        except UnderstudyError as error:
            for line in str(error).splitlines():
                self.frames.setdefault(line, pair.frame)
            raise
        finally:
            with self._lock:
                self._num_done += 1
                self._tell(self._num_done)


def _rows_of(pair: Pair, facts: PairFacts) -> list[tuple[str, ...]]:
    sides = (
        (facts.input_channels, facts.display_window, facts.input_window, facts.input_range, pair.input),
        (facts.target_channels, facts.target_display_window, facts.target_window, facts.target_range, pair.target),
    )
    plate, paint = (
        (",".join(channels), display.as_size(), str(window), f"{low:.4g} .. {high:.4g}", _origin(source))
        for channels, display, window, (low, high), source in sides
    )
    nonfinite = str(facts.num_nonfinite) if facts.num_nonfinite else "-"
    return [
        (str(pair.frame), pair.use, "input", *plate[:4], nonfinite, plate[4]),
        ("", "", "target", *paint[:4], "", paint[4]),
    ]


def _origin(source: FrameSource) -> str:
    """The node and frame, and the file behind it where the label does not name it."""
    name = source.media.path.name
    return source.label if name in source.label else f"{source.label} ({name})"


def _aligned(rows: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    return tuple("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
