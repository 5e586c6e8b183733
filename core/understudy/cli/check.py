"""check: print the pairs, their sizes, channels, windows and values, and every problem; train nothing"""

from __future__ import annotations

import argparse

from understudy.cli import options
from understudy.cli.source_options import add_source, build_source
from understudy.errors import EXIT_DONE, Problems


def add_options(parser: argparse.ArgumentParser) -> None:
    add_source(parser)
    options.add_settings(parser)
    options.add_colour(parser)


def run(arguments: argparse.Namespace) -> int:
    chosen = build_source(arguments)
    settings = options.settings_of(arguments, chosen.settings)
    from understudy.survey import survey

    found = survey(chosen.source.pairs(), crop_size=settings.crop_size)
    for line in (*found.table, *found.remarks):
        print(line)
    if found.problems:
        raise Problems(found.problems)
    print("No problem found.")
    return EXIT_DONE
