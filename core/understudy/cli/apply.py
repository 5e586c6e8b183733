"""apply: write the model's picture for every frame of a sequence, or of what a script's Inference node sees"""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.allocator import use_one_heap
from understudy.cli import options
from understudy.errors import UnderstudyError
from understudy.remap import PATH_RULES, Remap, remap_of_rules, remapped
from understudy.runs import find_model

if TYPE_CHECKING:
    from understudy.frames.colour import ColourRules
    from understudy.script.inference import Inference
    from understudy.train.model_file import SavedModel
    from understudy.train.shot import Placing, Shot

MOST_PASSES = 4
"""More bring no more."""
PRECISIONS = ("float32", "half", "bfloat16", "float64")
_FOR_SEQUENCES = ("layer_in", "input_colorspace")
_FOR_SCRIPTS = ("node", "remap")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model",
        nargs="?",
        metavar="MODEL",
        help="model file, or a run's data directory for its newest; from a script by default what the node names",
    )
    parser.add_argument("--input", metavar="PATTERN", help="plate.####.exr")
    parser.add_argument("--output", required=True, metavar="PATTERN", help="result.####.exr; folders are made")
    parser.add_argument("--frames", metavar="RANGE", help="default: all that the input has, or the script's range")
    parser.add_argument(
        "--part", default="0/1", metavar="N/M", help="of M parts of these frames do the one numbered N, from 0"
    )
    parser.add_argument("--skip-existing", action="store_true", help="leave frames alone that are there already")
    parser.add_argument("--layer-in", metavar="LAYER", help="of the input; default: the one the model was trained on")
    parser.add_argument("--layer-out", default="", metavar="LAYER", help="write into it; default: the model's channels")
    parser.add_argument("--only-result", action="store_true", help="leave out the input's other channels and parts")
    parser.add_argument("--input-colorspace", default="", metavar="SPACE", help="OCIO space of the files")
    parser.add_argument("--view", default="", metavar="VIEW", help="stereo view, such as left")
    _add_script(parser)
    _add_arithmetic(parser)
    options.add_settings(parser, ("device", "gpu", "threads"))
    options.add_colour(parser)
    options.add_voice(parser)


def _add_script(parser: argparse.ArgumentParser) -> None:
    script = parser.add_argument_group("from a Nuke script")
    script.add_argument("--script", type=Path, metavar="SHOT.nk", help="apply to what its Inference node sees")
    script.add_argument("--node", default="", metavar="NODE", help="that node; may be left out when there is one")
    script.add_argument("--remap", default="", metavar="FROM,TO,...", help="replace the beginnings of paths in it")


def _add_arithmetic(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("arithmetic")
    group.add_argument(
        "--precision",
        dest="arithmetic",
        choices=PRECISIONS,
        help="of the convolutions; half where the device has it (default float32, from a script as the node says)",
    )
    group.add_argument(
        "--passes",
        type=int,
        choices=range(1, MOST_PASSES + 1),
        default=1,
        metavar="N",
        help=f"answers to each frame, whose mean is taken: nearer, N times as long (1 to {MOST_PASSES}; default 1)",
    )
    group.add_argument(
        "--memory-gib",
        dest="memory",
        type=float,
        default=4.0,
        metavar="GIB",
        help="of the whole process; frames that need more are computed in tiles (default 4; a GPU's own not counted)",
    )


def run(arguments: argparse.Namespace) -> int:
    use_one_heap()
    _refuse_contradictions(arguments)
    frames, part = options.frame_list(arguments.frames), _part(arguments.part)
    colour = options.colour_rules(arguments)
    inference = _inference(arguments, colour) if arguments.script else None
    arithmetic = arguments.arithmetic or ("half" if inference and inference.is_half() else "float32")
    knobs: dict[str, object] = {"precision": "float32" if arithmetic == "half" else arithmetic}
    if inference and not inference.uses_gpu():
        knobs["device"] = "cpu"
    settings = options.settings_of(arguments, knobs)
    from understudy.train.apply import ApplyOrder, apply_model  # torch: only now
    from understudy.train.model_file import load_model
    from understudy.train.shot import Placing

    model = _model(arguments, inference)
    placing = Placing(layer=arguments.layer_out, only_result=arguments.only_result)
    order = ApplyOrder(
        model=model,
        output=remapped(arguments.output, _farm_remap()),
        frames=frames,
        part=part,
        skip_existing=arguments.skip_existing,
        passes=arguments.passes,
        half=arithmetic == "half",
        memory_gib=arguments.memory,
        settings=settings,
        progress_style=arguments.progress,
    )
    return apply_model(order, _shot(arguments, inference, load_model(model), placing, colour))


def _refuse_contradictions(arguments: argparse.Namespace) -> None:
    if bool(arguments.input) == bool(arguments.script):
        what = "--input and --script exclude each other" if arguments.input else "no frames were named"
        raise UnderstudyError(f"{what}; give --input with a pattern, or --script with a Nuke script")
    if arguments.input and not arguments.model:
        raise UnderstudyError("no model was named; give a model file, or a run's data directory")
    kind, names = ("--script", _FOR_SEQUENCES) if arguments.script else ("--input", _FOR_SCRIPTS)
    given = ["--" + name.replace("_", "-") for name in names if getattr(arguments, name)]
    if given:
        raise UnderstudyError(f"{', '.join(given)} cannot be used with {kind}; leave out one of them")
    if arguments.memory <= 0:
        raise UnderstudyError(f"--memory-gib {arguments.memory:g}: give more than 0")


def _inference(arguments: argparse.Namespace, colour: ColourRules) -> Inference:
    from understudy.script.inference import read_inference

    remap = (*options.remap_rules(arguments.remap), *_farm_remap())
    return read_inference(arguments.script, arguments.node, remap=remap, colour=colour, view=arguments.view)


def _model(arguments: argparse.Namespace, inference: Inference | None) -> Path:
    from understudy.train.shot import model_behind

    if arguments.model or inference is None:
        return find_model(Path(remapped(arguments.model, _farm_remap())))
    return find_model(model_behind(Path(inference.model())))


def _shot(
    arguments: argparse.Namespace, inference: Inference | None, saved: SavedModel, placing: Placing, colour: ColourRules
) -> Shot:
    from understudy.train.plate import PlateRules
    from understudy.train.shot import ScriptShot, SequenceShot

    if inference:
        return ScriptShot(inference=inference, saved=saved, placing=placing)
    rules = PlateRules(
        layer=arguments.layer_in, colorspace=arguments.input_colorspace, view=arguments.view, colour=colour
    )
    pattern = remapped(arguments.input, _farm_remap())
    return SequenceShot(pattern=pattern, rules=rules, saved=saved, placing=placing)


def _farm_remap() -> Remap:
    return remap_of_rules(os.environ.get(PATH_RULES, ""))


def _part(text: str) -> tuple[int, int]:
    """(Which, of how many). Raises UnderstudyError when it is no N/M."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not int(match[1]) < int(match[2]):
        raise UnderstudyError(f"--part {text}: is no part; give 0/4 to 3/4 for four parts")
    return int(match[1]), int(match[2])
