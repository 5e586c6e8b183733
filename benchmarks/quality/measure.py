"""Held-out quality against wall time: a few painted frames of shots whose every frame is known.

    python -m benchmarks.quality.measure [--shots NAME ...] [--final] [--seconds 60] [--seeds 1] [--ways NAME ...]
        [--keep FOLDER]

Each way trains for so many seconds on the painted frames alone. What is told, along its run, is closeness on all
others: PSNR as displayed, PSNR of stops for colour, mean absolute error for mattes, and flicker. --final takes the
shots that are kept aside; they are for judging, not for choosing.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.quality.catalogue import DEVELOPMENT, FINAL
from benchmarks.quality.scores import Scores, scores
from benchmarks.quality.trainers import Ours, Trainer
from benchmarks.shots.files import PairFiles
from benchmarks.shots.shot import Example, Shot

WAYS: Mapping[str, Trainer] = {
    way.name: way
    for way in (
        Ours(name="small", flags=("--model-size", "small")),
        Ours(name="small, full resolution", flags=("--model-size", "small", "--no-multi-resolution")),
        Ours(name="medium"),
        Ours(name="medium, full resolution", flags=("--no-multi-resolution",)),
    )
}


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shots", nargs="+", choices=[*DEVELOPMENT, *FINAL], default=None)
    parser.add_argument("--final", action="store_true")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=["small", "medium"])
    parser.add_argument("--keep", type=Path, default=None, metavar="FOLDER", help="shots, runs and scores.jsonl")
    arguments = parser.parse_args(words)
    chosen = FINAL if arguments.final else DEVELOPMENT
    wanted = arguments.shots or [name for name, shot in chosen.items() if shot.is_there]
    with tempfile.TemporaryDirectory() as passing:
        for name in wanted:
            measure(name, {**DEVELOPMENT, **FINAL}[name], arguments, arguments.keep or Path(passing))


def measure(name: str, shot: Shot, arguments: argparse.Namespace, folder: Path) -> None:
    """All ways, seed by seed, so that a machine whose speed drifts treats all alike."""
    place = folder / name.replace(" ", "_").replace(",", "")
    files = PairFiles(folder=place, seen_channels=shot.seen, wanted_channels=shot.wanted)
    examples = {frame: shot.example(frame) for frame in shot.frames}
    for frame, example in examples.items():
        files.write(frame, example)
    print(f"\n{name} ({shot.kind}), painted {len(shot.painted)} of {len(shot.frames)}")
    print(f"  {'plate as it is':34} {_told(_plate_scores(shot, examples))}")
    for seed in range(arguments.seeds):
        for number, way in enumerate(arguments.ways):
            run = place / f"seed{seed}_{number}"
            for snapshot in WAYS[way].train(shot, files, seed, arguments.seconds, run):
                answers = {frame: snapshot.answer(examples[frame].seen) for frame in shot.held_out}
                found = scores(shot.wanted, answers, {frame: examples[frame].wanted for frame in shot.held_out})
                where = {"shot": name, "way": way, "seed": seed, "step": snapshot.step, "seconds": snapshot.seconds}
                print(f"  {way:24} {seed} {snapshot.seconds:5.0f} s {snapshot.step:6} {_told(found)}", flush=True)
                with (folder / "scores.jsonl").open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps({**where, **asdict(found)}) + "\n")


def _plate_scores(shot: Shot, examples: Mapping[int, Example]) -> Scores | None:
    """Where the plate has all channels that are wanted."""
    if not set(shot.wanted) <= set(shot.seen):
        return None
    places = [shot.seen.index(channel) for channel in shot.wanted]
    answers = {frame: examples[frame].seen[..., places] for frame in shot.held_out}
    return scores(shot.wanted, answers, {frame: examples[frame].wanted for frame in shot.held_out})


def _told(found: Scores | None) -> str:
    if found is None:
        return "   -"
    return (
        f"{found.psnr:6.2f} dB, {found.log_psnr:6.2f} dB of stops, matte error {found.matte_error:.4f}, "
        f"flicker {found.flicker:.2f}"
    )


if __name__ == "__main__":
    main()
