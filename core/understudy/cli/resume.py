"""resume: go on with a stopped or killed run from its newest checkpoint, or begin one that was submitted"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from understudy.cli import options
from understudy.cli.rank_options import add_ranks
from understudy.cli.rank_process import given_sync_interval, run_as_rank
from understudy.importing import large_imports
from understudy.remap import PATH_RULES, remap_of_rules, remapped

MAY_CHANGE = (
    *("epochs", "steps", "minutes", "checkpoint_interval", "contact_sheet_interval", "max_checkpoints"),
    *("contact_sheet_exr", "tensorboard", "graph_log_scale", "graph_smoothness", "graph_show_original"),
    *("device", "gpu", "precision", "threads", "memory_gib"),
    *("sync_interval", "sync_mode", "compress", "min_ranks"),
    *("join_minutes", "hold_minutes", "silence_seconds", "eviction"),
)
"""What a run may take up differently half-way; anything else would make it another run."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run_place", type=Path, metavar="RUN", help="data directory (its newest run) or a file of the run"
    )
    options.add_settings(parser, MAY_CHANGE)
    add_ranks(parser)
    options.add_voice(parser)


def run(arguments: argparse.Namespace) -> int:
    with large_imports():
        from understudy.train.session import resume  # torch: only now
        from understudy.train.sitting import Manner

    manner = Manner(progress_style=arguments.progress, verbosity=arguments.verbosity, command=arguments.command_line)
    changes = {
        **options.implied_settings(arguments),
        **options.given_settings(arguments),
        **given_sync_interval(arguments),
    }
    remap = remap_of_rules(os.environ.get(PATH_RULES, ""))
    run_place = Path(remapped(str(arguments.run_place), remap))
    return run_as_rank(arguments, lambda place: resume(run_place, changes, manner, place, remap))
