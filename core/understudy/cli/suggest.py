"""suggest: say which unpainted frame to paint next, and why"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.cli import options
from understudy.errors import EXIT_DONE, UnderstudyError
from understudy.remap import PATH_RULES, remap_of_rules, remapped

if TYPE_CHECKING:
    from understudy.frames.colour import ColourRules
    from understudy.train.suggest import Suggestion


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_place", type=Path, metavar="RUN", help="data directory (its newest run) or model file")
    parser.add_argument("--input", default="", metavar="PATTERN", help="plate.####.exr; default: the run's own plate")
    parser.add_argument("--frames", metavar="RANGE", help="choose among these; default: all that the input has")
    parser.add_argument("--count", type=int, default=3, metavar="N", help="how many frames to suggest (default 3)")
    parser.add_argument("--json", action="store_true", help="print JSON; progress goes to stderr")
    parser.add_argument("--input-layer", metavar="LAYER", help="default: the layer that the model was trained on")
    parser.add_argument("--input-colorspace", default="", metavar="SPACE", help="OCIO space of the files")
    parser.add_argument("--view", default="", metavar="VIEW", help="stereo view, such as left")
    options.add_settings(parser, ("device", "gpu", "threads"))
    options.add_colour(parser)
    options.add_voice(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.count < 1:
        raise UnderstudyError(f"--count {arguments.count}: at least one frame must be asked for; give 1 or more")
    frames = options.frame_list(arguments.frames)
    remap = remap_of_rules(os.environ.get(PATH_RULES, ""))
    settings = options.settings_of(arguments, {"precision": "float32"})
    colour = _stated_colour(arguments)
    from understudy.report.progress import Progress
    from understudy.train.suggest import SuggestOrder, suggest  # torch: only now

    progress = Progress(arguments.progress, sys.stderr if arguments.json else sys.stdout)
    suggestion = suggest(
        SuggestOrder(
            run=Path(remapped(str(arguments.run_place), remap)),
            count=arguments.count,
            input=remapped(arguments.input, remap),
            frames=frames,
            layer=arguments.input_layer,
            colorspace=arguments.input_colorspace,
            view=arguments.view,
            colour=colour,
            remap=remap,
            settings=settings,
        ),
        progress.say,
    )
    print(json.dumps(_plain(suggestion), indent=2) if arguments.json else "\n".join(_lines(suggestion)))
    return EXIT_DONE


def _stated_colour(arguments: argparse.Namespace) -> ColourRules | None:
    """None when no flag speaks of colour: the run's own rules hold."""
    is_stated = any(getattr(arguments, f"colour_{name}") for name in options.COLOUR_FLAGS)
    return options.colour_rules(arguments) if is_stated else None


def _lines(suggestion: Suggestion) -> list[str]:
    rows = [("frame", "score", "why")]
    rows += [(str(need.frame), f"{need.score:.2f}", need.why) for need in suggestion.needs]
    width = max(len(frame) for frame, _, _ in rows)
    table = [f"{frame:<{width}}  {score:<5}  {why}" for frame, score, why in rows]
    return [f"paint {suggestion.needs[0].frame} next", "", *table]


def _plain(suggestion: Suggestion) -> dict[str, object]:
    return {
        "model": str(suggestion.model),
        "input": suggestion.input,
        "painted": list(suggestion.painted),
        "suggestions": [
            {"frame": need.frame, "score": round(need.score, 4), "why": need.why} for need in suggestion.needs
        ],
        "left_out": list(suggestion.left_out),
    }
