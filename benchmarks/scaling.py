"""What more ranks will bring: a model of step time, fitted to exchanges measured here, and what it says of 2 to 256.

    sudo PYTHONPATH=. python benchmarks/scaling.py [--step-ms 140 20]

Exchanges of three model sizes are timed between 2 to 4 ranks in network namespaces, at several rates of `tc tbf`. The
model of a ring all-reduce of S bytes between n ranks over links of B bytes a second:

    seconds = 2 (n - 1) / n x S x max(1 / (efficiency x B), seconds per byte) + 2 (n - 1) x seconds per message

that is, what limits a transfer is either the link or the copying and adding. Needs root on Linux. The figures are of
one run on one machine; the ratio of prediction to measurement is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np
import torch
from tests.networks import Laboratory
from torch._C._distributed_c10d import FileStore

from understudy.train.group import Group

WEIGHTS = {"small": 291_190, "medium": 1_015_350, "large": 4_050_534}
RATES_MBIT = (50.0, 200.0, 1000.0)
MOST_RANKS = 4
TRIES = 3
TINY_BYTES = 200
UNLIMITED = 1e5
"""Mbit/s: no link here is as fast; its time is none."""


@dataclass(frozen=True)
class Exchange:
    """One measurement."""

    num_ranks: int
    rate_mbit: float
    num_bytes: int
    seconds: float


@dataclass(frozen=True)
class LinkModel:
    """What an exchange costs besides the bare transfer."""

    efficiency: float
    """Of the link's rate."""
    seconds_per_byte: float
    """Of copying and adding."""
    seconds_per_message: float

    def seconds(self, num_ranks: int, rate_mbit: float, num_bytes: float) -> float:
        rounds = 2 * (num_ranks - 1)
        per_byte = max(8e-6 / (self.efficiency * rate_mbit), self.seconds_per_byte)
        return rounds / num_ranks * num_bytes * per_byte + rounds * self.seconds_per_message


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step-ms", type=float, nargs="+", default=[140.0, 20.0], help="of one rank, whole batch")
    parser.add_argument("--worker", nargs=4, metavar=("RANK", "WORLD", "ADDRESS", "STORE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(*arguments.worker)
        return
    measured = list(measure())
    model = fit(measured)
    print(
        f"\nefficiency {model.efficiency:.3f}, {1e9 * model.seconds_per_byte:.2f} ns a byte, "
        f"{1e6 * model.seconds_per_message:.0f} us a message"
    )
    ratios = [
        model.seconds(one.num_ranks, one.rate_mbit, one.num_bytes) / one.seconds
        for one in measured
        if one.num_bytes != TINY_BYTES
    ]
    print(f"prediction / measurement: {min(ratios):.2f} to {max(ratios):.2f}, median {np.median(ratios):.2f}\n")
    for step_ms in arguments.step_ms:
        predict(model, step_ms / 1000)


def measure() -> Iterator[Exchange]:
    print(f"{'ranks':>5}{'Mbit/s':>9}{'bytes':>12}{'ms':>10}")
    with Laboratory(MOST_RANKS) as laboratory:
        for num_ranks in range(2, MOST_RANKS + 1):
            for rate in (*RATES_MBIT, UNLIMITED):
                laboratory.limit(None if rate == UNLIMITED else rate)
                for num_bytes, seconds in exchanges(laboratory, num_ranks):
                    print(f"{num_ranks:>5}{rate:>9.0f}{num_bytes:>12}{1000 * seconds:>10.1f}", flush=True)
                    yield Exchange(num_ranks, rate, num_bytes, seconds)


def exchanges(laboratory: Laboratory, num_ranks: int) -> list[tuple[int, float]]:
    with tempfile.TemporaryDirectory() as folder:
        workers = []
        for rank in range(num_ranks):
            own = [str(rank), str(num_ranks), laboratory.ipv4(rank), str(Path(folder) / "store")]
            command = [sys.executable, __file__, "--worker", *own]
            environment = {**os.environ, "OMP_NUM_THREADS": "1"}
            workers.append(laboratory.run(rank, command, environment=environment, stdout=subprocess.PIPE))
        outputs = [worker.communicate()[0] for worker in workers]
    return [(int(num_bytes), seconds) for num_bytes, seconds in json.loads(outputs[0])]


def work(rank: str, world_size: str, address: str, store: str) -> None:
    """One rank: the quickest of a few exchanges of each size, as rank 0 sees it."""
    index, size = int(rank), int(world_size)
    group = Group(
        FileStore(store, size),
        index=index,
        size=size,
        local_address=address,
        device=torch.device("cpu"),
        timeout=timedelta(seconds=60),
    )
    results = []
    for num_weights in (TINY_BYTES // 2, *WEIGHTS.values()):
        tensor = torch.zeros(num_weights, dtype=torch.float16)
        seconds = []
        for _ in range(TRIES):
            group.all_reduce_sum(torch.zeros(1))  # all begin together
            begin = time.monotonic()
            group.all_reduce_sum(tensor)
            seconds.append(time.monotonic() - begin)
        results.append((tensor.nbytes, min(seconds)))
    if index == 0:
        print(json.dumps(results), flush=True)
    group.all_reduce_sum(torch.zeros(1))
    group.close()


def fit(measured: list[Exchange]) -> LinkModel:
    """Medians: of tiny exchanges for the messages, of unlimited ones for the copying, of limited ones for the link."""
    tiny = [one.seconds / _rounds(one) for one in measured if one.num_bytes == TINY_BYTES]
    per_message = float(np.median(tiny))
    large = [one for one in measured if one.num_bytes != TINY_BYTES]
    per_byte = {one: (one.seconds - _rounds(one) * per_message) / _bytes_moved(one) for one in large}
    return LinkModel(
        efficiency=float(
            np.median([8e-6 / one.rate_mbit / each for one, each in per_byte.items() if _is_limited(one)])
        ),
        seconds_per_byte=float(np.median([each for one, each in per_byte.items() if not _is_limited(one)])),
        seconds_per_message=per_message,
    )


def _rounds(one: Exchange) -> int:
    return 2 * (one.num_ranks - 1)


def _bytes_moved(one: Exchange) -> float:
    """By each rank of the ring."""
    return _rounds(one) / one.num_ranks * one.num_bytes


def _is_limited(one: Exchange) -> bool:
    return one.rate_mbit < UNLIMITED


def predict(model: LinkModel, step_seconds: float) -> None:
    """Speed-up over one rank of the same whole batch for each rank: samples a second."""
    print(f"speed-up at {1000 * step_seconds:.0f} ms a step, medium model ({WEIGHTS['medium']:,} weights)")
    header = "".join(f"{num_ranks:>8}" for num_ranks in RANKS)
    print(f"{'Gbit/s':>7} {'exchange':<34}{header}")
    for gbit in (1, 10, 100):
        for name, bytes_per_weight, interval in WAYS:
            row = ""
            for num_ranks in RANKS:
                exchange = model.seconds(num_ranks, 1000 * gbit, bytes_per_weight * WEIGHTS["medium"])
                row += f"{num_ranks * step_seconds / (step_seconds + exchange / interval):>8.1f}"
            print(f"{gbit:>7} {name:<34}{row}")
    print()


RANKS = (2, 4, 8, 16, 32, 64, 128, 256)
WAYS = (
    ("every step, fp32", 4, 1),
    ("every step, fp16", 2, 1),
    ("every 4 steps, fp16", 2, 4),
    ("every 16 steps, fp16", 2, 16),
    ("every 64 steps, fp16", 2, 64),
)


if __name__ == "__main__":
    main()
