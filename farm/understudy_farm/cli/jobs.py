"""jobs: list the jobs that you submitted, newest first"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from understudy.errors import EXIT_DONE, UnderstudyError
from understudy_farm.cli.common import add_json, print_json, print_table

if TYPE_CHECKING:
    from understudy_farm.folder import Sent


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--newest", type=int, default=20, metavar="N", help="how many (default 20)")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from understudy_farm.history import listed  # numpy and more: not for --help

    rows = [_row(sent) for sent in listed(os.environ)[: arguments.newest]]
    if arguments.json:
        print_json(rows)
    elif rows:
        print_table([tuple(rows[0]), *(tuple(row.values()) for row in rows)])
    else:
        print("No jobs yet; `understudy submit` sends one.")
    return EXIT_DONE


def _row(sent: Sent) -> dict[str, str]:
    from understudy_farm.following import progress_of, state_of, tasks_of

    try:
        state: str = state_of(tasks_of(sent))
    except UnderstudyError as error:
        state = f"unknown: {error}"
    return {
        "job": sent.job.name,
        "farm": sent.farm,
        "state": state,
        "training": str(progress_of(sent) or ""),
        "run directory": str(sent.job.run_directory),
    }
