"""Flags that make a process one of several ranks; they go over CopyCat's variables of the same meaning."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from understudy.ranks.contract import RankFlags


def add_ranks(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("ranks")
    group.add_argument("--ranks", type=int, metavar="N", help="start N ranks on this machine")
    group.add_argument("--hosts", type=Path, metavar="HOSTS.toml", help="start this machine's ranks of a list of hosts")
    group.add_argument("--rank", metavar="N", help="number of this rank, from 0 [CopyCat: COPYCAT_RANK]")
    group.add_argument("--world-size", metavar="N", help="number of ranks [CopyCat: COPYCAT_WORLD_SIZE]")
    group.add_argument(
        "--main-addr",
        metavar="ADDRESS",
        help="address or host name of rank 0; auto: it writes it into the data directory [CopyCat: COPYCAT_MAIN_ADDR]",
    )
    group.add_argument(
        "--main-port", metavar="PORT", help="port of rank 0; auto: it takes a free one [CopyCat: COPYCAT_MAIN_PORT]"
    )
    group.add_argument(
        "--local-addr",
        metavar="ADDRESS",
        help="address or interface of this machine for all traffic of the ranks [CopyCat: COPYCAT_LOCAL_ADDR]",
    )
    group.add_argument(
        "--allow-single", action="store_true", help="train alone, as CopyCat does, when some of these are missing"
    )


def rank_flags(arguments: argparse.Namespace) -> RankFlags:
    """The flags of `add_ranks` as they were typed."""
    from understudy.ranks.contract import RankFlags  # psutil: not for --help

    return RankFlags(
        main_addr=arguments.main_addr,
        main_port=arguments.main_port,
        rank=arguments.rank,
        world_size=arguments.world_size,
        local_addr=arguments.local_addr,
        hosts=arguments.hosts,
        ranks=arguments.ranks,
        allow_single=arguments.allow_single,
    )
