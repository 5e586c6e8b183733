"""Our own time of a submission of 64 ranks: everything but the farm's answer, for every farm that can be loaded.

    PYTHONPATH=. python benchmarks/submit.py [--ranks 64] [--times 5]

Each run is a whole process, `understudy submit --export`: it reads the pairs' names, makes the run's folder, plans,
writes the payload.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.core.train.shots import SmallShot, make_shot

from understudy_farm.registry import all_farms

HOSTS = "hosts=" + ",".join(f"render{number:02}:8" for number in range(8))
OPTIONS = {"ssh": (HOSTS,), "mpi": (HOSTS,), "opencue": ("show=testing",)}
"""What a farm must be told before it has a payload."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--times", type=int, default=5)
    arguments = parser.parse_args()
    print(f"{'farm':18}{'median':>10}{'longest':>10}   {arguments.ranks} ranks, {arguments.times} runs")
    with tempfile.TemporaryDirectory() as folder:
        shot = make_shot(Path(folder) / "shot")
        for name in all_farms():
            seconds = [export_seconds(shot, name, arguments.ranks, number) for number in range(arguments.times)]
            print(f"{name:18}{statistics.median(seconds):8.2f} s{max(seconds):8.2f} s", flush=True)


def export_seconds(shot: SmallShot, farm: str, ranks: int, number: int) -> float:
    words = [
        *("submit", *shot.train_words()[1:], "--skip-check", "--farm", farm, "--ranks", str(ranks)),
        *("--export", str(shot.folder / f"{farm}.{number}")),
        *(word for option in OPTIONS.get(farm, ()) for word in ("-O", option)),
    ]
    begin = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "understudy.cli.main", *words],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "LOGNAME": "artist"},  # OpenCue takes no jobs of root
    )
    return time.monotonic() - begin


if __name__ == "__main__":
    main()
