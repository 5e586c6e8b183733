"""bake: lay out a copy of a script for Nuke to render the inputs of a training, and a script that trains on them"""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path

from understudy.cli import options
from understudy.errors import EXIT_DONE, UnderstudyError


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", type=Path, metavar="SHOT.nk", help="Nuke script with a CopyCat node")
    parser.add_argument("-X", dest="node", default="", metavar="NODE", help="the CopyCat node; if there are several")
    parser.add_argument("-F", dest="frames", required=True, metavar="FIRST-LAST", help="the frames to render")
    parser.add_argument("--folder", type=Path, required=True, metavar="DIR", help="for the files and the second script")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text for people")


def run(arguments: argparse.Namespace) -> int:
    from understudy.script.bake import lay_out  # numpy and more: not for --help
    from understudy.script.nodes.base import Span

    frames = options.frame_list(arguments.frames)
    span = Span(frames[0], frames[-1]) if frames else Span(0, -1)
    if not frames or tuple(span) != frames:
        raise UnderstudyError(f"-F {arguments.frames}: a bake is of all frames from one to another; give FIRST-LAST")
    bake = lay_out(arguments.script, arguments.node, span, arguments.folder)
    if arguments.json:
        print(json.dumps({"baked": str(bake.baked), "nuke": bake.words()}, indent=2))
    else:
        print(f"{bake.baked} trains on what this renders:\n{shlex.join(['nuke', *bake.words()])}")
    return EXIT_DONE
