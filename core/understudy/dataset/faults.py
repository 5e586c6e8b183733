"""What makes a pair unfit to train on, and what is worth knowing about a fit one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.dataset.decoded import PairFacts
from understudy.errors import UnderstudyError
from understudy.frames.window import Window
from understudy.frames.write import HALF_MAX
from understudy.pairs import Pair

FEWEST_PIXELS = 2
"""A side of a pair: the loss looks at differences between neighbours."""


def refuse_giants(pair: Pair, window: Window) -> None:
    """Both sides are laid over one window."""
    if window.is_too_large:
        raise UnderstudyError(
            f"frame {pair.frame}: the data windows of {pair.input.label} and {pair.target.label} span {window}, "
            "more than any picture; render them in one place"
        )


def refuse_unlearnable(pair: Pair, window: Window, valid: NDArray[np.bool_]) -> None:
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


def find_problems(seen: Sequence[tuple[Pair, PairFacts]]) -> dict[str, int | None]:
    """A line for every pair that cannot be trained on, with its frame, and one when none is left to train on (None)."""
    problems: dict[str, int | None] = {
        line: facts.frame for _, facts in seen for line in _problems_of(facts, seen[0][1])
    }
    if not any(pair.use == "train" for pair, _ in seen):
        problems["no pair is left to train on; mend the files or give more frames"] = None
    return problems


def remarks_of_sources(pairs: Sequence[Pair]) -> list[str]:
    """What the user should know of how the pairs are made, each once."""
    return list(dict.fromkeys(line for pair in pairs for line in pair.remarks))


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
