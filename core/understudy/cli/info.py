"""info: print what a model takes, gives, and was trained on"""

from __future__ import annotations

import argparse
from pathlib import Path

from understudy.errors import EXIT_DONE


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", type=Path, metavar="MODEL", help="model file, or a run's data directory for its newest"
    )


def run(arguments: argparse.Namespace) -> int:
    from understudy.publish.facts import model_facts_of

    facts = model_facts_of(arguments.model)
    pairs = facts.card.trained_on
    rows = {"Model": str(facts.path), **facts.rows(), "Pairs": str(len(pairs))}
    for name, value in rows.items():
        print(f"{name + ':':17}{value}")
    for pair in pairs:
        print(f"  {pair}")
    return EXIT_DONE
