"""Held-out quality against wall time: a few painted frames of shots whose every frame is known.

    python -m benchmarks.quality.measure [--shots NAME ...] [--final] [--seconds 60 | --steps N] [--seeds 1]
        [--ways NAME ...] [--keep FOLDER] [--threads N] [--tunet FOLDER] [--few-shot FOLDER] [--peer-python EXECUTABLE]

Each way trains for so many seconds on the painted frames alone. What is told, along its run, is closeness on all
others: PSNR as displayed, PSNR of stops for colour, mean absolute error for mattes, and flicker. With --steps our own
ways take so many steps instead: for what a busy machine must not decide, as how far seeds lie apart. --final takes the
shots that are kept aside; they are for judging, not for choosing. --threads gives all ways as many threads of the CPU.
Ways of other projects want the folder of their checkout, and a Python that has what they require.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.quality import few_shot, tunet
from benchmarks.quality.altered import ALTERATIONS
from benchmarks.quality.catalogue import DEVELOPMENT, FINAL
from benchmarks.quality.few_shot import FewShot
from benchmarks.quality.scores import Scores, scores
from benchmarks.quality.trainers import Means, Ours, Task, Trainer
from benchmarks.quality.tunet import Tunet
from benchmarks.shots.files import PairFiles, folder_of
from benchmarks.shots.shot import Example, Kind, Shot

SMALL = ("--model-size", "small")
PAINTED_OUT: tuple[Kind, ...] = ("cleanup", "beauty")
FLOAT32 = ("--precision", "float32")
LEARNING_RATES = tuple(
    (f"learning rate {rate}", ("--learning-rate", rate)) for rate in ("0.0005", "0.001", "0.002", "0.004")
)
_WAYS: tuple[Trainer, ...] = (
    *(Ours(name=size, flags=("--model-size", size)) for size in ("small", "medium", "large")),
    # one choice at a time, the small model
    *(Ours(name=choice, flags=SMALL, altered=choice) for choice in ALTERATIONS),
    Ours(name="two passes", flags=SMALL, passes=2),
    Ours(name="four passes", flags=SMALL, passes=4),
    Ours(name="three resolutions", flags=(*SMALL, "--multi-resolution")),
    *(Ours(name=f"crops of {side}", flags=(*SMALL, "--crop-size", side)) for side in ("64", "128", "256")),
    *(Ours(name=f"batches of {crops}", flags=(*SMALL, "--batch-size", crops)) for crops in ("2", "4", "8", "16")),
    *(Ours(name=name, flags=(*SMALL, *flags)) for name, flags in (("float32", FLOAT32), *LEARNING_RATES)),
    *(Ours(name=f"float32, {name}", flags=(*SMALL, *FLOAT32, *flags)) for name, flags in LEARNING_RATES),
    Ours(name="no validation squares", flags=(*SMALL, "--no-validation-squares")),
    Tunet(name="TuNet"),
    # The best of what was tried for five minutes of one core.
    Tunet(name="TuNet, narrow", width=32, learning_rate=1e-3, auto_mask=PAINTED_OUT),
    Tunet(name="TuNet, narrow, cosine", width=32, learning_rate=1e-3, auto_mask=PAINTED_OUT, schedule="cosine"),
    # Its other network, twice as wide, was further behind.
    Tunet(name="TuNet, MSRN", network="msrn", width=16, learning_rate=1e-3, auto_mask=PAINTED_OUT, schedule="cosine"),
    FewShot(name="few-shot"),
)
WAYS: Mapping[str, Trainer] = {way.name: way for way in _WAYS}


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shots", nargs="+", choices=[*DEVELOPMENT, *FINAL], default=None)
    parser.add_argument("--final", action="store_true")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--steps", type=int, default=None)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=["small", "medium"])
    parser.add_argument("--keep", type=Path, default=None, metavar="FOLDER", help="shots, runs and scores.jsonl")
    parser.add_argument("--threads", type=int, default=None, help="of the CPU, for every way")
    parser.add_argument("--tunet", type=Path, default=None, metavar="FOLDER", help="checkout of emlcpfx/tunet")
    parser.add_argument(
        "--few-shot", type=Path, default=None, metavar="FOLDER", help="checkout of Few-Shot-Patch-Based"
    )
    parser.add_argument("--peer-python", type=Path, default=None, metavar="EXECUTABLE")
    arguments = parser.parse_args(words)
    lacks = [lack for way in arguments.ways if (lack := WAYS[way].lacking(_means(arguments)))]
    if lacks:
        parser.error(lacks[0])
    if arguments.steps and not all(isinstance(WAYS[way], Ours) for way in arguments.ways):
        parser.error("--steps is for our own ways alone")
    chosen = FINAL if arguments.final else DEVELOPMENT
    wanted = arguments.shots or [name for name, shot in chosen.items() if shot.is_there]
    with tempfile.TemporaryDirectory() as passing:
        for name in wanted:
            measure(name, {**DEVELOPMENT, **FINAL}[name], arguments, arguments.keep or Path(passing))


def measure(name: str, shot: Shot, arguments: argparse.Namespace, folder: Path) -> None:
    """All ways, seed by seed, so that a machine whose speed drifts treats all alike."""
    place = folder_of(name, folder)
    files = PairFiles(folder=place, seen_channels=shot.seen, wanted_channels=shot.wanted)
    examples = {frame: shot.example(frame) for frame in shot.frames}
    shown = shot.held_out[len(shot.held_out) // 2]
    for frame, example in examples.items():
        files.write(frame, example)
    print(f"\n{name} ({shot.kind}), painted {len(shot.painted)} of {len(shot.frames)}")
    print(f"  {'plate as it is':34} {_told(_plate_scores(shot, examples))}")
    for seed in range(arguments.seeds):
        for number, way in enumerate(arguments.ways):
            run = place / f"seed{seed}_{number}"
            task = Task(
                shot=shot,
                files=files,
                seed=seed,
                seconds=arguments.seconds,
                steps=arguments.steps,
                folder=run,
                means=_means(arguments),
            )
            for snapshot in WAYS[way].train(task):
                answers = snapshot.answers({frame: examples[frame].seen for frame in shot.held_out})
                files.write_answer(shown, way, seed, answers[shown])
                found = scores(shot.wanted, answers, {frame: examples[frame].wanted for frame in shot.held_out})
                where = {"shot": name, "way": way, "seed": seed, "step": snapshot.step, "seconds": snapshot.seconds}
                print(f"  {way:24} {seed} {snapshot.seconds:5.0f} s {snapshot.step:6} {_told(found)}", flush=True)
                with (folder / "scores.jsonl").open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps({**where, **asdict(found)}) + "\n")


def _means(arguments: argparse.Namespace) -> Means:
    """Absolute: peers run in folders of their own. A link is kept, since a Python finds its packages by it."""
    given = {tunet.OPTION: arguments.tunet, few_shot.OPTION: arguments.few_shot}
    return Means(
        threads=arguments.threads,
        peer_python=arguments.peer_python and arguments.peer_python.absolute(),
        checkouts={option: folder.absolute() for option, folder in given.items() if folder},
    )


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
