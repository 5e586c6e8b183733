"""apply: write the model's picture for every frame of a sequence"""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

from understudy.cli import options
from understudy.errors import UnderstudyError
from understudy.remap import PATH_RULES, remap_of_rules, remapped


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", type=Path, metavar="MODEL", help="model file, or a run's data directory for its newest"
    )
    parser.add_argument("--input", required=True, metavar="PATTERN", help="plate.####.exr")
    parser.add_argument("--output", required=True, metavar="PATTERN", help="result.####.exr; folders are made")
    parser.add_argument("--frames", metavar="RANGE", help="default: all that the input has")
    parser.add_argument(
        "--part", default="0/1", metavar="N/M", help="of M parts of these frames do the one numbered N, from 0"
    )
    parser.add_argument("--input-layer", metavar="LAYER", help="default: the layer that the model was trained on")
    parser.add_argument("--input-colorspace", default="", metavar="SPACE", help="OCIO space of the files")
    parser.add_argument("--view", default="", metavar="VIEW", help="stereo view, such as left")
    options.add_settings(parser, ("device", "gpu", "threads"))
    options.add_colour(parser)
    options.add_voice(parser)


def run(arguments: argparse.Namespace) -> int:
    frames = options.frame_list(arguments.frames)
    remap = remap_of_rules(os.environ.get(PATH_RULES, ""))
    settings = options.settings_of(arguments, {"precision": "float32"})
    colour = options.colour_rules(arguments)
    from understudy.train.apply import ApplyOrder, apply_model  # torch: only now
    from understudy.train.plate import PlateRules

    return apply_model(
        ApplyOrder(
            model=Path(remapped(str(arguments.model), remap)),
            input=remapped(arguments.input, remap),
            output=remapped(arguments.output, remap),
            frames=frames,
            part=_part(arguments.part),
            plate=PlateRules(
                layer=arguments.input_layer,
                colorspace=arguments.input_colorspace,
                view=arguments.view,
                colour=colour,
            ),
            settings=settings,
            progress_style=arguments.progress,
        )
    )


def _part(text: str) -> tuple[int, int]:
    """(Which, of how many). Raises UnderstudyError when it is no N/M."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not int(match[1]) < int(match[2]):
        raise UnderstudyError(f"--part {text}: is no part; give 0/4 to 3/4 for four parts")
    return int(match[1]), int(match[2])
