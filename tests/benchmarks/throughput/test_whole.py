"""The bare loop is measured alone: what the program does for itself is not done in the bare loop's time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from benchmarks.throughput import whole
from benchmarks.throughput.bare import BareLoop
from benchmarks.throughput.shots import write_pairs
from benchmarks.throughput.whole import WARM_UP_STEPS, Watch, train_seen

from understudy.settings import Settings
from understudy.train.device import Machine
from understudy.train.drawn import Batch
from understudy.train.gather import gather

Span = tuple[float, float]
SLOW_SECONDS = 0.3
"""For which crops are gathered here: longer than a step, so that the next are always on their way."""
ROUNDS = 5


def test_no_crop_is_gathered_in_the_bare_loops_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gathered: list[Span] = []
    bare: list[Span] = []

    def gather_slowly(*given: object, **named: object) -> Batch:
        begin = time.perf_counter()
        time.sleep(SLOW_SECONDS)
        batch = gather(*given, **named)  # type: ignore[arg-type]
        gathered.append((begin, time.perf_counter()))
        return batch

    class SeenBareLoop(BareLoop):
        def step(self) -> None:
            begin = time.perf_counter()
            super().step()
            bare.append((begin, time.perf_counter()))

    def make_bare(machine: Machine) -> BareLoop:
        return SeenBareLoop(machine, model_size="small", batch_size=1, crop_size=32)

    monkeypatch.setattr(whole, "gather", gather_slowly)
    watch = Watch(steps_a_round=1, make_bare=make_bare)
    steps = WARM_UP_STEPS + ROUNDS + 1
    settings = Settings(
        data_directory=tmp_path / "data",
        steps=steps,
        batch_size=1,
        crop_size=32,
        model_size="small",
        device="cpu",
        memory_gib=0,  # from a mapped file crops are gathered on a thread
    )
    train_seen(watch, write_pairs(tmp_path, 320, 180, 3), settings)
    assert len(watch.rounds) == ROUNDS
    assert len(bare) == WARM_UP_STEPS + ROUNDS
    beside = [(one, other) for one in bare for other in gathered if one[0] < other[1] and other[0] < one[1]]
    assert beside == []
