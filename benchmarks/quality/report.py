"""What measure has found, as a table for each shot and as two pictures.

    python -m benchmarks.quality.report FOLDER [--at 60 300]

FOLDER is that of measure --keep; report.md, report.png and frames.png are written beside its scores.jsonl. A table
tells each way's PSNR (of mattes also the error) at those seconds, the rest at the last of them that it reached; with
several seeds, the mean, and half of what lies between the best and the worst. frames.png shows what each way has made
of a frame that was held out.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from benchmarks.quality.curves_picture import draw
from benchmarks.quality.frames_picture import draw_frames
from benchmarks.quality.results import Run, of, read_runs, shots_and_ways


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--at", type=float, nargs="+", default=[60.0, 300.0], metavar="SECONDS")
    arguments = parser.parse_args(words)
    runs = read_runs(arguments.folder / "scores.jsonl")
    shots, ways = shots_and_ways(runs)
    text = "\n".join(table(shot, of(runs, shot=shot), sorted(arguments.at)) for shot in shots)
    (arguments.folder / "report.md").write_text(text, encoding="utf-8")
    draw(runs, arguments.folder / "report.png")
    draw_frames(arguments.folder, shots, ways, arguments.folder / "frames.png")
    print(text)


def table(shot: str, runs: Sequence[Run], times: Sequence[float]) -> str:
    """Markdown; one line for each way."""
    is_matte = runs[0].is_of_matte
    over_time = [("psnr", "PSNR", 2), *([("matte_error", "error", 4)] if is_matte else [])]
    at_end = [
        *([] if is_matte else [("log_psnr", "PSNR of stops", 2)]),
        ("flicker", "flicker", 2),
        ("step", "steps", 0),
    ]
    titles = [
        *(f"{title} at {time:g} s" for _, title, _ in over_time for time in times),
        *(title for _, title, _ in at_end),
    ]
    lines = [f"## {shot}", "", f"| way | {' | '.join(titles)} |", "| --- |" + " ---: |" * len(titles)]
    for way in dict.fromkeys(run.way for run in runs):
        seeds = of(runs, shot=shot, way=way)
        last = max((time for time in times if not math.isnan(seeds[0].at("psnr", time))), default=times[-1])
        cells = [told(seeds, name, time, digits) for name, _, digits in over_time for time in times]
        lines.append(
            f"| {way} | {' | '.join(cells + [told(seeds, name, last, digits) for name, _, digits in at_end])} |"
        )
    return "\n".join([*lines, ""])


def told(seeds: Sequence[Run], name: str, seconds: float, digits: int) -> str:
    """Mean and half of the range; - where a seed has not come so far or nothing is told."""
    values = np.array([run.at(name, seconds) for run in seeds])
    if np.isnan(values).any():
        return "-"
    spread = f" ± {np.ptp(values) / 2:.{digits}f}" if len(values) > 1 else ""
    return f"{values.mean():.{digits}f}{spread}"


if __name__ == "__main__":
    main()
