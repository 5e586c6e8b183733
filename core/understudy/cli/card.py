"""card: print the card of a model or run: what it does, what it was trained on, how to load it"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from understudy.errors import EXIT_DONE
from understudy.remap import PATH_RULES, remap_of_rules, remapped


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", type=Path, metavar="MODEL", help="model file, or a run's data directory for its newest"
    )
    parser.add_argument("--licence", default="", metavar="TEXT", help="a line for the card: who may use it for what")


def run(arguments: argparse.Namespace) -> int:
    remap = remap_of_rules(os.environ.get(PATH_RULES, ""))
    from understudy.publish.card import Contents, card_text
    from understudy.publish.facts import facts_of

    facts = facts_of(Path(remapped(str(arguments.model), remap)), remap)
    files = {role: path.as_posix() for role, path in facts.files().items() if path}
    contents = Contents(
        title=facts.model.card.run_name,
        model=facts.model.path.as_posix(),
        contact_sheet=files.get("contact sheet", ""),
        graph=files.get("graph", ""),
        pairs=files.get("pairs", ""),
    )
    print(card_text(facts, contents, licence=arguments.licence), end="")
    return EXIT_DONE
