"""While a run takes its steps, Python's collector leaves alone what was there before, and comes seldom."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
from tests.core.train.shots import make_shot
from torch import Tensor

from understudy.cli.main import main
from understudy.errors import EXIT_DONE
from understudy.train import loop
from understudy.train.collector import YOUNG_OBJECTS, old_objects_left_alone
from understudy.train.drawn import Drawn
from understudy.train.schedule import StepPlan
from understudy.train.sharing import Sharing
from understudy.train.state import TrainingState
from understudy.train.step import Learn, train_step


class Knot:
    """Holds itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.parametrize("fails", [False, True])
def test_only_what_is_new_is_looked_at_and_all_of_it_afterwards(*, fails: bool) -> None:
    usual = gc.get_threshold()
    loose, old = weakref.ref(Knot()), Knot()
    old_one = weakref.ref(old)
    try:
        with old_objects_left_alone():
            assert loose() is None, "what is not needed does not stay for good"
            del old
            new = weakref.ref(Knot())
            gc.collect()
            assert new() is None
            assert old_one() is not None
            assert gc.get_threshold() == (YOUNG_OBJECTS, *usual[1:])
            if fails:
                raise RuntimeError
    except RuntimeError:
        assert fails
    assert gc.get_threshold() == usual
    gc.collect()
    assert old_one() is None


def test_steps_are_taken_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    thresholds: list[int] = []

    def seen_step(state: TrainingState, drawn: Drawn, plan: StepPlan, sharing: Sharing, learn: Learn) -> Tensor:
        thresholds.append(gc.get_threshold()[0])
        assert gc.get_freeze_count() > 0
        return train_step(state, drawn, plan, sharing, learn)

    monkeypatch.setattr(loop, "train_step", seen_step)
    assert main(make_shot(tmp_path).train_words()) == EXIT_DONE
    assert {*thresholds} == {YOUNG_OBJECTS}
    assert gc.get_threshold()[0] != YOUNG_OBJECTS
