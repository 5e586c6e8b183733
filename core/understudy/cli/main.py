"""`understudy`: which command was meant, and how the process ends."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import NoReturn, Protocol

from understudy import __version__
from understudy.cli import (
    apply,
    bake,
    card,
    check,
    demo,
    export,
    info,
    netcheck,
    publish,
    resume,
    stop,
    suggest,
    train,
)
from understudy.errors import EXIT_USER, UnderstudyError
from understudy.ranks.place import LAUNCHED

COMMANDS = {
    "train": train,
    "resume": resume,
    "stop": stop,
    "apply": apply,
    "export": export,
    "publish": publish,
    "card": card,
    "suggest": suggest,
    "check": check,
    "bake": bake,
    "info": info,
    "netcheck": netcheck,
    "demo": demo,
}

DESCRIPTION = """\
Train an image-to-image network on a few painted frames and give the whole shot back.

  understudy -F 1 -X CopyCat1 [--gpu [N]] [-V LEVEL] [--cont] [--remap FROM,TO,...] shot.nk
  understudy train --input 'plate.####.exr' --target 'paint.####.exr'
  understudy apply RUN --input 'plate.####.exr' --output 'result.####.exr'
"""


def run() -> None:
    """The console script. Names that the terminal has no letters for are printed by their numbers."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if LAUNCHED in os.environ:
        from understudy.ranks.launch import end_with_parent  # psutil: not for --help

        end_with_parent()
    sys.exit(main(sys.argv[1:]))


def main(words: Sequence[str]) -> int:
    """Do what `words` ask; returns the exit code (errors.py)."""
    try:
        arguments = parsed(words)
        return int(arguments.run(arguments))
    except UnderstudyError as error:
        for line in str(error).splitlines():
            print(f"understudy: {line}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("understudy: interrupted", file=sys.stderr)
        return EXIT_USER
    except BrokenPipeError:  # `understudy check ... | head`
        sys.stderr.close()
        return EXIT_USER


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """What `words` ask, with `run` to do it. Raises UnderstudyError for words that are none of a command line."""
    arguments = build_parser().parse_args(_as_command(words))
    arguments.main = main
    arguments.words = list(words)
    arguments.command_line = " ".join(["understudy", *words])
    return arguments


class Command(Protocol):
    """A module that is a command: its docstring begins `name: summary`."""

    __doc__: str | None

    def add_options(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace) -> int: ...


@cache
def brought_commands() -> dict[str, Command]:
    """Those that other packages bring by the entry point `understudy.commands`; one that does not load is left out."""
    found: dict[str, Command] = {}
    for entry in sorted(entry_points(group="understudy.commands"), key=lambda entry: entry.name):
        try:
            found[entry.name] = entry.load()
        except Exception as error:  # a stranger's code
            print(f"understudy: command {entry.name} is left out ({error})", file=sys.stderr)
    return found


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the words in one line, without the whole usage before it."""

    def error(self, message: str) -> NoReturn:
        raise UnderstudyError(f"{message}; see {self.prog} --help")


def build_parser() -> argparse.ArgumentParser:
    """The whole command line, without importing what the commands need."""
    parser = _Parser(prog="understudy", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version", version=f"understudy {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, module in {**COMMANDS, **brought_commands()}.items():
        summary = (module.__doc__ or "").split(": ", 1)[-1].splitlines()[0]
        command = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        module.add_options(command)
        command.set_defaults(run=module.run)
    return parser


def _as_command(words: Sequence[str]) -> list[str]:
    """Nuke's own form is `train` without the word; `--gpu shot.nk` must not take the script for a number."""
    command = list(words)
    if command and command[0] not in {*COMMANDS, *brought_commands()} and any(map(_is_of_nuke, command)):
        command.insert(0, "train")
    for place, word in enumerate(command[:-1]):
        if word == "--gpu" and not command[place + 1].isdecimal():
            command[place] = "--gpu=0"
    if command and command[-1] == "--gpu":
        command[-1] = "--gpu=0"
    return command


def _is_of_nuke(word: str) -> bool:
    return word.startswith("-X") or word.endswith(".nk")


if __name__ == "__main__":
    run()
