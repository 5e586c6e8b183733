"""check: print what is evaluated, the pairs, their sizes, windows and values, and every problem; train nothing"""

from __future__ import annotations

import argparse
from pathlib import Path

from understudy.cli import options
from understudy.cli.source_options import add_source, build_source
from understudy.errors import EXIT_DONE, ProblemList, Problems


def add_options(parser: argparse.ArgumentParser) -> None:
    add_source(parser)
    options.add_settings(parser)
    options.add_colour(parser)
    parser.add_argument(
        "--write-inputs", type=Path, metavar="DIR", help="write both sides of every pair there as EXR, to compare"
    )


def run(arguments: argparse.Namespace) -> int:
    chosen = build_source(arguments)
    settings = options.settings_of(arguments, chosen.settings)
    from understudy.survey import survey, write_inputs

    for line in chosen.outline():
        print(line)
    pairs = chosen.source.pairs()
    found = survey(pairs, crop_size=settings.crop_size)
    for line in (*found.table, *found.remarks):
        print(line)
    problems = ProblemList()
    if arguments.write_inputs:
        with problems.collecting():
            count = write_inputs(pairs, arguments.write_inputs)
            print(f"{count} files written into {arguments.write_inputs}")
    if found.problems or problems.lines:
        raise Problems(dict.fromkeys([*found.problems, *problems.lines]))
    print("No problem found.")
    return EXIT_DONE
