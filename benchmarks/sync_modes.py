"""What sharing a run between two ranks gains on a given link: held-out PSNR after a given time, against one rank.

    sudo PYTHONPATH=. python benchmarks/sync_modes.py --minutes 1 --seeds 2 --cells alone,50:auto,1000:average:16:fp16

Each rank has one core and one thread, in a network namespace of its own; the link between them is limited by `tc tbf`.
A cell is `alone`, or RATE:MODE[:INTERVAL[:COMPRESSION]] with the rate in Mbit/s or `max`. `MINUTES@CELL` trains that
cell for another time than --minutes. Cells take turns, seed by seed, so that a machine whose speed drifts treats all
alike. Needs root on Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tests.networks import Laboratory

from understudy.demo.files import DemoFiles
from understudy.demo.script import DemoTraining
from understudy.demo.shot import DemoShot
from understudy.demo.write import write_demo

VALIDATION = (1019, 1031, 1043)
PORT = 30500


@dataclass(frozen=True)
class Cell:
    """One way to train."""

    text: str
    minutes: float
    rate_mbit: float | None
    """None: as fast as the machine can."""
    flags: tuple[str, ...]
    num_ranks: int


@dataclass(frozen=True)
class Outcome:
    psnr: float
    """dB on frames that were not trained on."""
    steps: int
    seconds: float
    """Of training."""
    wall_seconds: float
    """From the start of the processes to their end."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", required=True)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--training", default="--model-size small --crop-size 128 --batch-size 4")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "understudy-sync-modes")
    arguments = parser.parse_args()
    shot = DemoShot()
    files = DemoFiles(folder=arguments.folder)
    if not files.script.exists():
        write_demo(arguments.folder, shot, DemoTraining(), say=print)
    cells = [parse_cell(text, arguments.minutes) for text in arguments.cells.split(",")]
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
        for cell in cells:
            outcome = train(cell, files, shot, seed, arguments.training.split())
            outcomes[cell.text].append(outcome)
            result = f"{outcome.psnr:6.2f} dB  {outcome.steps:6} steps  {outcome.seconds:6.1f} s"
            print(f"seed {seed}  {cell.text:32} {result} of {outcome.wall_seconds:.1f}", flush=True)
    print(f"\n{'cell':34}{'PSNR':>8}{'spread':>8}{'steps':>8}{'wall':>9}{'against the first':>20}")
    first = np.mean([outcome.psnr for outcome in outcomes[cells[0].text]])
    for text, several in outcomes.items():
        psnrs = [outcome.psnr for outcome in several]
        steps = np.mean([outcome.steps for outcome in several])
        wall = np.mean([outcome.wall_seconds for outcome in several])
        mean = np.mean(psnrs)
        print(f"{text:34}{mean:8.2f}{np.ptp(psnrs):8.2f}{steps:8.0f}{wall:7.0f} s{mean - first:+17.2f} dB")


def parse_cell(text: str, minutes: float) -> Cell:
    before, at, after = text.partition("@")
    if at:
        minutes, rest = float(before), after
    else:
        rest = text
    if rest == "alone":
        return Cell(text=text, minutes=minutes, rate_mbit=None, flags=(), num_ranks=1)
    rate, mode, *more = rest.split(":")
    flags = ["--sync-mode", mode]
    for flag, value in zip(("--sync-interval", "--compress"), more, strict=False):
        flags += [flag, value]
    rate_mbit = None if rate == "max" else float(rate)
    return Cell(text=text, minutes=minutes, rate_mbit=rate_mbit, flags=tuple(flags), num_ranks=2)


def train(cell: Cell, files: DemoFiles, shot: DemoShot, seed: int, training: list[str]) -> Outcome:
    frames = sorted({*shot.painted_frames, *VALIDATION})
    with tempfile.TemporaryDirectory() as data, Laboratory(2) as laboratory:
        laboratory.limit(cell.rate_mbit)
        words = [
            *("train", "--input", files.plate, "--target", files.truth, "--frames", ",".join(map(str, frames))),
            *("--validation-frames", ",".join(map(str, VALIDATION)), "--data-directory", data, "--run-name", "bench"),
            *("--minutes", str(cell.minutes), "--epochs", "1000000", "--seed", str(seed), "--device", "cpu"),
            *("--threads", "1", "--checkpoint-interval", "1000000", "--contact-sheet-interval", "1000000"),
            *training,
            *cell.flags,
        ]
        ranks = []
        begin = time.monotonic()
        for rank in range(cell.num_ranks):
            environment = dict(os.environ)
            if cell.num_ranks > 1:
                environment |= {
                    "COPYCAT_MAIN_ADDR": laboratory.ipv4(0),
                    "COPYCAT_MAIN_PORT": str(PORT),
                    "COPYCAT_RANK": str(rank),
                    "COPYCAT_WORLD_SIZE": str(cell.num_ranks),
                }
            command = ["taskset", "-c", str(rank), sys.executable, "-m", "understudy.cli.main", *words]
            with (Path(data) / f"{rank}.out").open("w") as out:
                process = laboratory.run(rank, command, environment=environment, stdout=out, stderr=subprocess.STDOUT)
            ranks.append(process)
        codes = [rank.wait() for rank in ranks]
        wall_seconds = time.monotonic() - begin
        if any(codes):
            raise SystemExit("\n".join((Path(data) / f"{rank}.out").read_text() for rank in range(cell.num_ranks)))
        for line in (Path(data) / "bench.rank0.log").read_text().splitlines():
            if "Sync:" in line:
                print(f"    {line.partition('Sync: ')[2]}", flush=True)
        lines = [json.loads(line) for line in (Path(data) / "bench.metrics.jsonl").read_text().splitlines()]
    psnr = [line for line in lines if "validation_psnr" in line][-1]
    last = [line for line in lines if "loss" in line][-1]
    return Outcome(psnr=psnr["validation_psnr"], steps=psnr["step"], seconds=last["seconds"], wall_seconds=wall_seconds)


if __name__ == "__main__":
    main()
