"""Ranks are killed, frozen, unplugged and late; training has to end as well as if nothing had happened.

    sudo python tests/chaos/chaos.py --rounds 10

Three ranks, each in a network namespace of its own, train a small shot; every round disturbs one run at a random
moment. Prints a table; the exit code is 1 when a round failed. Needs root on Linux.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.chaos.disturbances import STEP, Recovery, frozen, join_late, killed, suffer, unplugged
from tests.chaos.farm import Farm, write_shot
from tests.networks import Laboratory

RANKS = range(3)
LONGEST_PAUSE_SECONDS = 5.0
WORST_LOSS_DECIBELS = 0.3
FIRST_AND_LAST_MOMENT = (0.05, 0.5)
"""Of an undisturbed run: later ones would leave no time to come back."""
SECONDS_TO_RESTART = 1.0
"""That a farm takes at least to start a rank again."""


@dataclass(frozen=True, kw_only=True)
class Round:
    """One kind of disturbance at one moment."""

    kind: str
    moment_seconds: float
    """After the first step, or after the start for a rank that is late."""
    rank: int


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a run ended."""

    seconds: float
    """From its first step to its last."""
    psnr: float
    """Of the held-out frames, in dB."""
    recovery: Recovery | None = None


class Chaos:
    """Runs of one shot on one network."""

    def __init__(self, arguments: argparse.Namespace, folder: Path, network: Laboratory) -> None:
        self._arguments = arguments
        self._folder = folder
        self._network = network
        self._shot = folder / "shot"
        self._shot.mkdir()
        write_shot(self._shot)

    def undisturbed(self) -> Outcome:
        with closing(self._farm("undisturbed", min_ranks=3)) as farm:
            for rank in RANKS:
                farm.start(rank)
            return self._ended(farm, None)

    def disturbed(self, name: str, planned: Round) -> Outcome:
        """Raises AssertionError, or TimeoutExpired, when a run does not end as it should."""
        away = self._arguments.absence_seconds
        if planned.kind == "late":
            return self._late(name, planned)
        disturbance = {
            "kill": lambda rank: killed(rank, SECONDS_TO_RESTART),
            "freeze": lambda rank: frozen(rank, away),
            "link": lambda rank: unplugged(rank, away),
        }[planned.kind](planned.rank)
        with closing(self._farm(name, min_ranks=0)) as farm:
            for rank in RANKS:
                farm.start(rank)
            farm.wait_for(0, STEP)
            time.sleep(planned.moment_seconds)
            return self._ended(farm, suffer(farm, disturbance))

    def _late(self, name: str, planned: Round) -> Outcome:
        with closing(self._farm(name, min_ranks=2)) as farm:
            for rank in RANKS:
                if rank != planned.rank:
                    farm.start(rank)
            time.sleep(planned.moment_seconds)
            return self._ended(farm, join_late(farm, planned.rank))

    def _farm(self, name: str, *, min_ranks: int) -> Farm:
        data = self._folder / name
        data.mkdir()
        flags = [
            *("--steps", str(self._arguments.steps), "--min-ranks", str(min_ranks)),
            *("--checkpoint-interval", "500", "--contact-sheet-interval", "1000000"),
            *self._arguments.training.split(),
        ]
        return Farm(self._network, self._shot, data, name=name, flags=flags)

    def _ended(self, farm: Farm, recovery: Recovery | None) -> Outcome:
        codes = farm.exit_codes()
        wrong = {rank: farm.said(rank)[-2000:] for rank, code in codes.items() if code != 0}
        assert not wrong, f"exit codes {codes}; {wrong}"
        assert not farm.leftovers(), f"processes {farm.leftovers()} are left over"
        steps = [line.seconds for line in farm.log(0) if STEP in line.text]
        return Outcome(seconds=steps[-1] - steps[0], psnr=farm.psnr(), recovery=recovery)


def main() -> int:
    arguments = parse_arguments()
    print_line(f"seed {arguments.seed}, {arguments.steps} steps, {arguments.rate_mbit:g} Mbit/s")
    with tempfile.TemporaryDirectory() as folder, Laboratory(len(RANKS)) as network:
        network.limit(arguments.rate_mbit)
        chaos = Chaos(arguments, Path(folder), network)
        base = chaos.undisturbed()
        print_line(f"undisturbed: {base.seconds:.0f} s of training, {base.psnr:.2f} dB\n")
        print_line(f"{'round':7}{'what':16}{'after':>7}{'goes on':>9}{'is back':>9}{'ran':>7}{'PSNR':>8}{'loss':>7}")
        rounds = planned_rounds(arguments, base.seconds)
        faults = [play(chaos, number, planned, base) for number, planned in enumerate(rounds, 1)]
    failed = sum(map(bool, faults))
    print_line(f"\n{len(faults) - failed} of {len(faults)} rounds are as they should be")
    return 1 if failed else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument(
        "--rate-mbit", type=float, default=500.0, help="of the links; keeps a fast machine from being done too soon"
    )
    parser.add_argument("--absence-seconds", type=float, default=15.0, help="how long a rank is frozen or unplugged")
    parser.add_argument("--late-seconds", type=float, default=60.0)
    parser.add_argument("--kinds", default="kill:1,freeze:2,link:*,kill:0,late:2", help="in turn; *: any rank")
    parser.add_argument("--training", default="--sync-interval 1", help="more flags for every rank")
    return parser.parse_args()


def planned_rounds(arguments: argparse.Namespace, seconds: float) -> list[Round]:
    """The kinds in turn, each at a moment of its own."""
    chance = random.Random(arguments.seed)
    rounds = []
    for number in range(arguments.rounds):
        kinds = arguments.kinds.split(",")
        kind, _, rank = kinds[number % len(kinds)].partition(":")
        moment = seconds * chance.uniform(*FIRST_AND_LAST_MOMENT)
        drawn = chance.choice(RANKS)
        rounds.append(
            Round(
                kind=kind,
                moment_seconds=arguments.late_seconds if kind == "late" else moment,
                rank=drawn if rank == "*" else int(rank),
            )
        )
    return rounds


def play(chaos: Chaos, number: int, planned: Round, base: Outcome) -> str:
    """One line of the table; what was wrong, empty when nothing."""
    what = f"{planned.kind} {planned.rank}"
    before = f"{number:<7}{what:16}{planned.moment_seconds:6.1f}s"
    try:
        outcome = chaos.disturbed(f"round{number}", planned)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        print_line(f"{before}  FAILED: {error}")
        return str(error)
    assert outcome.recovery
    pause, back = outcome.recovery.pause_seconds, outcome.recovery.return_seconds
    loss = base.psnr - outcome.psnr
    faults = []
    if pause > LONGEST_PAUSE_SECONDS:
        faults.append("too long a pause")
    if loss > WORST_LOSS_DECIBELS:
        faults.append("too great a loss")
    figures = f"{pause:8.1f}s{back:8.1f}s{outcome.seconds:6.0f}s{outcome.psnr:8.2f}{loss:+7.2f}"
    print_line(f"{before}{figures}  {'; '.join(faults) or 'ok'}")
    return "; ".join(faults)


def print_line(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
