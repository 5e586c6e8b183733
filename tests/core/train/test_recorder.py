"""When a contact sheet is due, and which crops it shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.core.train.lessons import let_first_steps_be
from tests.core.train.shots import make_shot

from understudy.cli.main import main
from understudy.dataset import DecodedPair
from understudy.errors import EXIT_DONE
from understudy.train import recorder
from understudy.train.crops import CropPlan
from understudy.train.drawn import Batch
from understudy.train.gather import gather
from understudy.train.misses import Misses
from understudy.train.recorder import MOST_SHEET_CROPS, SHEET_SECONDS, SHEET_STEPS, is_sheet_due


@pytest.mark.parametrize(
    ("interval", "step", "seconds_since_last", "is_due"),
    [
        (0, SHEET_STEPS, math.inf, True),
        (0, SHEET_STEPS - 1, math.inf, False),
        (0, 3 * SHEET_STEPS, SHEET_SECONDS, True),
        (0, 3 * SHEET_STEPS, SHEET_SECONDS - 0.1, False),
        (7, 14, 0.0, True),
        (7, SHEET_STEPS, math.inf, False),
    ],
)
def test_a_sheet_comes_by_steps_and_by_the_clock_or_as_often_as_asked_for(
    interval: int, step: int, seconds_since_last: float, is_due: bool
) -> None:
    assert is_sheet_due(interval, step, seconds_since_last) == is_due


def test_a_sheet_shows_the_crops_of_its_step_also_where_the_batch_has_grown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Crops of 64: steps of four, then of nine; sheets at steps 6 and 12."""
    shown: list[Sequence[int]] = []

    def seen(pairs: tuple[DecodedPair, ...], plan: CropPlan, misses: Misses, samples: Sequence[int]) -> Batch:
        shown.append(samples)
        return gather(pairs, plan, misses, samples)

    monkeypatch.setattr(recorder, "gather", seen)
    let_first_steps_be(6, monkeypatch)
    assert main(make_shot(tmp_path).train_words("--batch-size", "0", "--crop-size", "64")) == EXIT_DONE
    end = 6 * 4 + 6 * 9
    assert shown == [range(6 * 4 - 4, 6 * 4), range(end - MOST_SHEET_CROPS, end)]
