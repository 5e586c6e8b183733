"""The plate of a run: how its frames are called on disk, which is how people and results call them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence, Tuple

from understudy_ui.panel.model.source import as_pattern, number_in
from understudy_ui.protocol import PairShown


@dataclass(frozen=True)
class Plate:
    """What the inputs of a run are frames of."""

    pattern: str = ""
    """plate.####.exr; empty where the inputs are of several sequences, or stills."""
    frames: Tuple[int, ...] = ()
    """Numbers of the painted frames in that sequence; without a pattern, the pairs' own."""


def plate_of(pairs: Sequence[PairShown]) -> Plate:
    """The pairs may be numbered anew, as by Nuke's AppendClip; their files tell."""
    paths = [pair["input"]["path"] for pair in pairs]
    patterns = {as_pattern(path) for path in paths}
    pattern = patterns.pop() if len(patterns) == 1 else ""
    if "#" not in pattern:
        return Plate(frames=tuple(pair["frame"] for pair in pairs))
    return Plate(pattern=pattern, frames=tuple(sorted({number_in(path) for path in paths})))
