"""export: make a model's files for Nuke, Flame, Houdini, ONNX or torch, and hold them against the model"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import get_args

from understudy.errors import EXIT_DONE, UnderstudyError
from understudy.remap import PATH_RULES, remap_of_rules, remapped
from understudy.train.export.hosts import Host


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", type=Path, metavar="MODEL", help="model file, or a run's data directory for its newest"
    )
    parser.add_argument("--to", required=True, choices=get_args(Host), help="who is to use it")
    parser.add_argument(
        "--folder", type=Path, metavar="DIR", help="to write; default: beside the model, called by it and the host"
    )
    parser.add_argument("--make-cat", action="store_true", help="let NukeX make the .cat file too (--to nuke)")
    parser.add_argument(
        "--nukex",
        default="",
        metavar="PROGRAM",
        help="NukeX for --make-cat; default $UNDERSTUDY_NUKEX, else looked for",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.make_cat and arguments.to != "nuke":
        raise UnderstudyError(f"--make-cat: a .cat file is Nuke's, not for --to {arguments.to}; leave it out")
    if arguments.nukex and not arguments.make_cat:
        raise UnderstudyError(f"--nukex {arguments.nukex}: is for --make-cat; give both or none")
    remap = remap_of_rules(os.environ.get(PATH_RULES, ""))
    from understudy.train.export.deliver import ExportOrder, deliver  # torch: only now

    delivery = deliver(
        ExportOrder(
            model=Path(remapped(str(arguments.model), remap)),
            to=arguments.to,
            folder=Path(remapped(str(arguments.folder), remap)) if arguments.folder else None,
            make_cat=arguments.make_cat,
            nukex=arguments.nukex,
            remap=remap,
        ),
        lambda line: print(line, flush=True),
    )
    if delivery.samples.why_none:
        print(f"warning: none of the run's own frames could be tried ({delivery.samples.why_none})")
    print(f"Held against our model on {delivery.samples}:")
    for proof in delivery.proofs:
        print(f"  {proof}")
    print(f" [*] Export saved at {delivery.folder}")
    return EXIT_DONE
