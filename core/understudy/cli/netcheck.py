"""netcheck: say whether the machines of the ranks reach each other, how fast, and how often to synchronise"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from understudy.cli import options
from understudy.cli.rank_options import add_ranks
from understudy.cli.rank_process import run_as_rank
from understudy.errors import UnderstudyError

if TYPE_CHECKING:
    from understudy.ranks.place import RankPlace

SETTINGS = ("data_directory", "model_size", "crop_size", "batch_size", "device", "gpu", "precision", "threads")
DEFAULT_MINUTES = 5.0


def add_options(parser: argparse.ArgumentParser) -> None:
    options.add_settings(parser, SETTINGS)
    add_ranks(parser)
    group = parser.add_argument_group("check")
    group.add_argument(
        "--minutes-to-wait",
        dest="join_minutes",
        type=float,
        metavar="MINUTES",
        default=DEFAULT_MINUTES,
        help=f"how long to wait for the other ranks (default {DEFAULT_MINUTES:g})",
    )
    group.add_argument(
        "--probe-port",
        metavar="PORT",
        default="auto",
        help="port that every rank opens for the others to try; auto: any free one, as training takes",
    )


def run(arguments: argparse.Namespace) -> int:
    from understudy.ranks.place import port_of  # psutil: not for --help

    settings = options.settings_of(arguments)
    probe_port = port_of("--probe-port", arguments.probe_port)

    def check(place: RankPlace | None) -> int:
        if place is None or place.world_size == 1:
            raise UnderstudyError("netcheck: there is one rank only; set COPYCAT_RANK and the others, or give --ranks")
        from understudy.train.netcheck import check_network  # torch: only now

        return check_network(place, settings, probe_port)

    return run_as_rank(arguments, check)
