"""farms: list the farms that can be submitted to and what only they can be told, or ask one for its pools and more"""

from __future__ import annotations

import argparse
import dataclasses

from understudy.errors import EXIT_DONE
from understudy_farm.cli.common import add_json, print_json


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "farm", nargs="?", metavar="NAME", help="ask this one which pools, groups, limits and machines it has"
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from understudy_farm.registry import all_farms  # numpy and more: not for --help

    if arguments.farm:
        return _tell_names(arguments.farm, as_json=arguments.json)
    farms = all_farms()
    if arguments.json:
        print_json(
            [
                {"name": name, "doc": farm.doc, "options": {option.name: option.doc for option in farm.options}}
                for name, farm in farms.items()
            ]
        )
        return EXIT_DONE
    for name, farm in farms.items():
        print(f"{name}: {farm.doc}")
        for option in farm.options:
            default = f" (default {option.default})" if option.default else ""
            print(f"    {option.name}: {option.doc}{default}")
    return EXIT_DONE


def _tell_names(name: str, *, as_json: bool) -> int:
    from understudy_farm.backend import names_on
    from understudy_farm.presets import chosen

    _, farm, site = chosen({"farm": name}, {})
    names = dataclasses.asdict(names_on(farm, site))
    if as_json:
        print_json(names)
        return EXIT_DONE
    for kind, known in names.items():
        print(f"{kind}: {', '.join(known) or 'none that it can name'}")
    return EXIT_DONE
