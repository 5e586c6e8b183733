"""farms: list the farms that can be submitted to, and what only they can be told"""

from __future__ import annotations

import argparse

from understudy.errors import EXIT_DONE
from understudy_farm.cli.common import add_json, print_json


def add_options(parser: argparse.ArgumentParser) -> None:
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from understudy_farm.registry import all_farms  # numpy and more: not for --help

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
