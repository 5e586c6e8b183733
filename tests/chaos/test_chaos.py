"""The short form of chaos.py: one run to which everything happens ends as a run of one process does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.chaos.disturbances import frozen, join_late, killed, suffer, unplugged
from tests.chaos.farm import Farm, write_shot
from tests.networks import Laboratory, needs_namespaces

from understudy.train.misses import STEPS_AHEAD, STEPS_BETWEEN

RATE_MBIT = 50
"""So slow a link that no machine is done before everything has happened."""
STEPS = STEPS_BETWEEN + STEPS_AHEAD
"""Before any crop is drawn by what a step found wrong: of that, a rank that is killed takes its own share with it."""
ABSENCE_SECONDS = 5.0

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture
def network() -> Iterator[Laboratory]:
    with Laboratory(3) as laboratory:
        laboratory.limit(RATE_MBIT)
        yield laboratory


@needs_namespaces
def test_a_run_to_which_everything_happens_ends_as_if_nothing_had(network: Laboratory, tmp_path: Path) -> None:
    shot, data = tmp_path / "shot", tmp_path / "data"
    shot.mkdir()
    data.mkdir()
    write_shot(shot)
    # in float64 what is computed does not depend on how many ranks compute it: whatever is lost or done twice shows;
    # with a higher learning rate rounding would grow a hundredfold in five steps
    flags = [
        *("--steps", str(STEPS), "--sync-interval", "1", "--min-ranks", "2", "--precision", "float64"),
        *("--crop-size", "32", "--batch-size", "3", "--checkpoint-interval", "40"),
        *("--learning-rate", "0.0002"),
    ]
    farm = Farm(network, shot, data, name="disturbed", flags=flags)
    farm.start(0)
    farm.start(1)
    farm.wait_for(0, "[Step:")
    join_late(farm, 2)
    for disturbance in (
        killed(1, 0.0),
        frozen(2, ABSENCE_SECONDS),
        unplugged(1, ABSENCE_SECONDS),
        killed(0, 0.0),
    ):
        suffer(farm, disturbance)
    assert farm.exit_codes() == {0: 0, 1: 0, 2: 0}
    assert farm.leftovers() == []
    undisturbed = Farm(network, shot, data, name="undisturbed", flags=flags)
    undisturbed.start_alone()
    assert undisturbed.exit_codes() == {0: 0}
    assert farm.psnr() == pytest.approx(undisturbed.psnr(), abs=1e-5)


@needs_namespaces
def test_the_long_form_runs(tmp_path: Path) -> None:
    program = Path(__file__).with_name("chaos.py")
    words = ["--rounds", "1", "--kinds", "kill:1", "--steps", "60", "--rate-mbit", "200"]
    done = subprocess.run(
        [sys.executable, program, *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600
    )
    assert "undisturbed: " in done.stdout, done.stderr
    assert done.stderr == ""
