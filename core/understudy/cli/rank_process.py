"""What this process is to be: one process alone, one rank, or the launcher of this machine's ranks."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from understudy.cli.rank_options import rank_flags

if TYPE_CHECKING:
    from understudy.ranks.place import RankPlace


def run_as_rank(arguments: argparse.Namespace, train: Callable[[RankPlace | None], int]) -> int:
    """`train` as the rank that flags and environment say, or launch several; the exit code.

    Raises UnderstudyError when some of what makes a rank is missing or wrong.
    """
    from understudy.ranks.contract import places_of  # psutil: not for --help
    from understudy.ranks.launch import run_ranks

    places = places_of(
        rank_flags(arguments), os.environ, warn=lambda line: print(f"understudy: {line}", file=sys.stderr)
    )
    if len(places) > 1:
        return run_ranks(places, arguments.words, os.environ)
    return train(places[0] if places else None)


def given_sync_interval(arguments: argparse.Namespace) -> dict[str, object]:
    """The setting, from flag or COPYCAT_SYNC_INTERVAL; empty when neither says."""
    from understudy.ranks.contract import sync_interval_of

    interval = sync_interval_of(vars(arguments).get("sync_interval"), os.environ)
    return {"sync_interval": interval} if interval else {}
