"""What pairs are used for: the validation frames that a user names, and what must be left for training."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from understudy.errors import ProblemList
from understudy.frames.sequence import format_frames
from understudy.pairs import Pair


def with_validation(pairs: Sequence[Pair], validation_frames: Collection[int]) -> tuple[Pair, ...]:
    """The pairs in frame order, those of `validation_frames` kept from training.

    Raises Problems when a validation frame has no pair, or no pair is left to train on.
    """
    problems = ProblemList()
    frames = {pair.frame for pair in pairs}
    strangers = set(validation_frames) - frames
    if strangers:
        problems.add(f"validation frames {format_frames(strangers)} have no pair; choose among {format_frames(frames)}")
    marked = [replace(pair, use="validation") if pair.frame in validation_frames else pair for pair in pairs]
    if marked and all(pair.use == "validation" for pair in marked):
        problems.add(f"all frames ({format_frames(frames)}) are validation frames; leave at least one to train on")
    problems.raise_if_any()
    return tuple(sorted(marked, key=lambda pair: pair.frame))
