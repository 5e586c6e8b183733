"""What the commands about jobs share: how a job is named, and how answers are printed."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from understudy_farm.folder import Sent


def add_job(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "job", metavar="JOB", help="run directory, data directory (its newest version), the job's name or the farm's id"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead of text for people")


def job_of(arguments: argparse.Namespace) -> Sent:
    """Raises UnderstudyError when no such job is known."""
    from understudy_farm.history import find_job  # numpy and more: not for --help

    return find_job(arguments.job, os.environ)


def warn(line: str) -> None:
    print(f"understudy: {line}", file=sys.stderr, flush=True)


def print_json(value: Mapping[str, object] | Sequence[Mapping[str, object]]) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False), flush=True)


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """The first row is the heading."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
