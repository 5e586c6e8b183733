"""publish: make a numbered folder of a model with card, pictures, exports and timelines, for others to use"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from understudy.cli import options
from understudy.errors import EXIT_DONE, UnderstudyError
from understudy.publish.hook import HOOK
from understudy.remap import PATH_RULES, Remap, remap_of_rules, remapped
from understudy.train.export.hosts import Host

if TYPE_CHECKING:
    from understudy.publish.result import ResultOrder

RUN, OUTPUT, INPUT = "UNDERSTUDY_RUN", "UNDERSTUDY_OUTPUT", "UNDERSTUDY_INPUT"
"""What a farm's step `publish` is told."""
NONE = "none"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", nargs="?", type=Path, metavar="MODEL", help=f"model file, or a run for its newest; default ${RUN}"
    )
    parser.add_argument("--to", required=True, type=Path, metavar="DIR", help="where the versions are")
    parser.add_argument("--name", default="", help="NAME_v001 is made, or the next number; default: the run's name")
    parser.add_argument(
        "--exports",
        metavar="HOSTS",
        help=f"of {','.join(get_args(Host))}, or {NONE}; default: all that the model can have",
    )
    parser.add_argument("--make-cat", action="store_true", help="let NukeX make the .cat file of the export for Nuke")
    parser.add_argument("--nukex", default="", metavar="PROGRAM", help="NukeX for --make-cat, as for export")
    parser.add_argument("--licence", default="", metavar="TEXT", help="a line for the card: who may use it for what")
    parser.add_argument(
        "--hook", metavar="COMMAND", help=f"to run when the version is there; default ${HOOK}"
    )  # fmt: skip
    group = parser.add_argument_group("result")
    group.add_argument("--result", metavar="PATTERN", help=f"frames that the model made; default ${OUTPUT}")
    group.add_argument("--input", metavar="PATTERN", help=f"their plate; default ${INPUT}, else the run's own")
    group.add_argument("--frames", metavar="RANGE", help="which of them; default: all that there are")
    group.add_argument(
        "--fps", type=float, default=0.0, metavar="RATE", help="default: what their headers say, else 24"
    )
    group.add_argument("--copy-result", action="store_true", help="keep a copy of them in the version")


def run(arguments: argparse.Namespace) -> int:
    remap = remap_of_rules(os.environ.get(PATH_RULES, ""))
    model = str(arguments.model or os.environ.get(RUN, ""))
    if not model:
        raise UnderstudyError(f"publish: give MODEL, a model file or a run; on a farm {RUN} names it")
    if arguments.nukex and not arguments.make_cat:
        raise UnderstudyError(f"--nukex {arguments.nukex}: is for --make-cat; give both or none")
    hosts, result = _hosts(arguments.exports), _result(arguments, remap)
    from understudy.publish.plan import PublishOrder
    from understudy.publish.publishing import publish

    publish(
        PublishOrder(
            model=Path(remapped(model, remap)),
            to=Path(remapped(str(arguments.to), remap)),
            name=arguments.name,
            exports=hosts,
            make_cat=arguments.make_cat,
            nukex=arguments.nukex,
            result=result,
            copy_result=arguments.copy_result,
            licence=arguments.licence,
            hook=os.environ.get(HOOK, "") if arguments.hook is None else arguments.hook,
            remap=remap,
        ),
        lambda line: print(line, flush=True),
    )
    return EXIT_DONE


def _hosts(text: str | None) -> tuple[Host, ...] | None:
    """None: all. Raises UnderstudyError for a word that is none."""
    if text is None:
        return None
    words = [word for word in text.replace(",", " ").split() if word != NONE]
    for word in words:
        if word not in get_args(Host):
            raise UnderstudyError(f"--exports {text}: {word!r} is none of {', '.join(get_args(Host))}, {NONE}")
    return tuple(dict.fromkeys(cast("list[Host]", words)))


def _result(arguments: argparse.Namespace, remap: Remap) -> ResultOrder | None:
    """Raises UnderstudyError for words about a result when there is none."""
    pattern = str(os.environ.get(OUTPUT, "") if arguments.result is None else arguments.result)
    if not pattern:
        about = {"--input": arguments.input, "--frames": arguments.frames, "--fps": arguments.fps}
        needless = [flag for flag, value in {**about, "--copy-result": arguments.copy_result}.items() if value]
        if needless:
            raise UnderstudyError(f"{', '.join(needless)}: speak of a result; give --result too")
        return None
    if arguments.fps < 0:
        raise UnderstudyError(f"--fps {arguments.fps:g}: must be above 0")
    plate = os.environ.get(INPUT, "") if arguments.input is None else arguments.input
    from understudy.publish.result import ResultOrder

    return ResultOrder(
        pattern=remapped(pattern, remap),
        plate=remapped(plate, remap),
        frames=options.frame_list(arguments.frames),
        fps=arguments.fps,
    )
