"""Makes starting weights: synthetic pairs for a task, a training on them by `understudy train`, a small file of it.

    python -m benchmarks.starting_weights.make [--tasks denoise deblur matte] [--model-size small]
        [--to FOLDER] [--pairs 160] [--side 192] [--steps 2500] [--batch-size 4] [--seed 0] [--threads 0]
        [--work FOLDER]

Same words, same pairs. Pairs and run lie in --work, by default in a temporary folder that goes afterwards. What is
shipped is made by

    python -m benchmarks.starting_weights.make --tasks denoise --to core/understudy/train/starting_weights
"""

from __future__ import annotations

import argparse
import dataclasses
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from benchmarks.shots.files import PairFiles
from benchmarks.starting_weights.tasks import TASKS

from understudy.runs import find_model
from understudy.train.model_file import load_model, save_model

CROP_SIZE = 128
VALIDATED = 4
"""Pairs kept out of training, so that its log says how it goes."""


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--model-size", default="small")
    parser.add_argument("--to", type=Path, default=Path("build/starting_weights"), metavar="FOLDER")
    parser.add_argument("--pairs", type=int, default=160)
    parser.add_argument("--side", type=int, default=192, help="pixels of the pictures")
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--work", type=Path, default=None, metavar="FOLDER")
    arguments = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as passing:
        for name in arguments.tasks:
            make(name, arguments, (arguments.work or Path(passing)) / name)


def make(name: str, arguments: argparse.Namespace, work: Path) -> None:
    task = TASKS[name]
    files = PairFiles(folder=work / "pairs", seen_channels=task.seen, wanted_channels=task.wanted)
    write_pairs(name, files, count=arguments.pairs, side=arguments.side, seed=arguments.seed)
    run = work / f"run_{arguments.model_size}"
    train(name, files, arguments, run)
    place = arguments.to / f"{name}.{arguments.model_size}.safetensors"
    told = f"{arguments.pairs} synthetic pairs for {name}, seed {arguments.seed}"
    slim(find_model(run), place, name=name, trained_on=told)
    print(f"{place}: {place.stat().st_size / 2**20:.2f} MiB", flush=True)


def write_pairs(name: str, files: PairFiles, *, count: int, side: int, seed: int) -> None:
    """Each from a generator of its own: more of them change none."""
    task = TASKS[name]

    def write(number: int) -> None:
        rng = np.random.default_rng((seed, list(TASKS).index(name), number))
        files.write(number, task.example(rng, side, side))

    with ThreadPoolExecutor() as pool:
        list(pool.map(write, range(1, count + 1)))


def train(name: str, files: PairFiles, arguments: argparse.Namespace, run: Path) -> None:
    """At full resolution from the start: noise and blur are other ones in reduced pictures."""
    words = [
        *("train", *files.words(), "--data-directory", str(run), "--run-name", name),
        *("--validation-frames", f"1-{VALIDATED}", "--model-size", arguments.model_size, "--no-multi-resolution"),
        *("--steps", str(arguments.steps), "--batch-size", str(arguments.batch_size), "--crop-size", str(CROP_SIZE)),
        *("--checkpoint-interval", str(max(1, arguments.steps // 6)), "--max-checkpoints", "1"),
        *("--contact-sheet-interval", str(arguments.steps), "--seed", str(arguments.seed)),
        *("--threads", str(arguments.threads)),
    ]
    subprocess.run([sys.executable, "-m", "understudy.cli.main", *words], check=True)


def slim(model: Path, place: Path, *, name: str, trained_on: str) -> None:
    """The weights as half, and a card that names no files."""
    saved = load_model(model)
    saved.model.unet.half()
    saved.model.leave.half()
    card = dataclasses.replace(saved.card, run_name=name, trained_on=(trained_on,))
    place.parent.mkdir(parents=True, exist_ok=True)
    save_model(place, saved.model, card)


if __name__ == "__main__":
    main()
