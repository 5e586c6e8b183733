"""train: learn from a Nuke script's CopyCat node, from two sequences, or from a timeline"""

from __future__ import annotations

import argparse
import time

from understudy.cli import options
from understudy.cli.rank_options import add_ranks
from understudy.cli.rank_process import given_sync_interval, run_as_rank
from understudy.cli.source_options import add_source, build_source
from understudy.errors import EXIT_DONE
from understudy.importing import large_imports


def add_options(parser: argparse.ArgumentParser) -> None:
    add_source(parser)
    options.add_settings(parser)
    add_ranks(parser)
    options.add_colour(parser)
    options.add_voice(parser)


def run(arguments: argparse.Namespace) -> int:
    chosen = build_source(arguments)
    settings = options.settings_of(arguments, {**(chosen.settings or {}), **given_sync_interval(arguments)})
    with large_imports():
        from understudy.orders import Order
        from understudy.train.session import train_new  # torch: only now
        from understudy.train.sitting import Manner

    order = Order(settings=settings, source=chosen.source, colour=chosen.colour, skip_unreadable=arguments.cont)
    manner = Manner(progress_style=arguments.progress, verbosity=arguments.verbosity, command=arguments.command_line)
    begin = time.monotonic()
    code = run_as_rank(arguments, lambda place: train_new(order, manner, place))
    if chosen.dummy_frames and code == EXIT_DONE:
        print_as_nuke(chosen.dummy_frames, time.monotonic() - begin)
    return code


def print_as_nuke(frames: tuple[int, ...], seconds: float) -> None:
    """The closing lines of a Nuke render, for which farm scripts look."""
    for number, frame in enumerate(frames, 1):
        print(f"Frame {frame} ({number} of {len(frames)})")
    minutes, rest = divmod(seconds, 60)
    print(f"Total render time: {minutes:.0f} minutes, {rest:.2f} seconds", flush=True)
