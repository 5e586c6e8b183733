"""apply: write the model's picture for every frame of a sequence"""

from __future__ import annotations

import argparse
from pathlib import Path

from understudy.cli import options


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", type=Path, metavar="MODEL", help="model file, or a run's data directory for its newest"
    )
    parser.add_argument("--input", required=True, metavar="PATTERN", help="plate.####.exr")
    parser.add_argument("--output", required=True, metavar="PATTERN", help="result.####.exr; folders are made")
    parser.add_argument("--frames", metavar="RANGE", help="default: all that the input has")
    parser.add_argument("--input-layer", metavar="LAYER", help="default: the layer that the model was trained on")
    parser.add_argument("--input-colorspace", default="", metavar="SPACE", help="OCIO space of the files")
    parser.add_argument("--view", default="", metavar="VIEW", help="stereo view, such as left")
    options.add_settings(parser, ("device", "gpu", "threads"))
    options.add_colour(parser)
    options.add_voice(parser)


def run(arguments: argparse.Namespace) -> int:
    frames = options.frame_list(arguments.frames)
    settings = options.settings_of(arguments, {"precision": "float32"})
    colour = options.colour_rules(arguments)
    from understudy.train.apply import ApplyOrder, apply_model  # torch: only now

    return apply_model(
        ApplyOrder(
            model=arguments.model,
            input=arguments.input,
            output=arguments.output,
            frames=frames,
            input_layer=arguments.input_layer,
            input_colorspace=arguments.input_colorspace,
            view=arguments.view,
            colour=colour,
            settings=settings,
            progress_style=arguments.progress,
        )
    )
