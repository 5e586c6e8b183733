"""submit: train on a farm, or on this machine beside the terminal"""

from __future__ import annotations

import argparse
import dataclasses
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from understudy.cli import options
from understudy.cli.source_options import add_source, build_source
from understudy.errors import EXIT_DONE, EXIT_STOPPED, UnderstudyError
from understudy_farm.choices import Choices, field_doc
from understudy_farm.cli.common import add_json, print_json

if TYPE_CHECKING:
    from understudy_farm.folder import Sent
    from understudy_farm.spec import Job
    from understudy_farm.submission import Request

CHOICE = "choice_"
"""Begins the names of parsed choices, so that none is taken for a setting."""


def add_options(parser: argparse.ArgumentParser) -> None:
    add_source(parser)
    _add_choices(parser)
    _add_manner(parser)
    options.add_settings(parser)
    options.add_colour(parser)


def _add_choices(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("farm")
    for field in dataclasses.fields(Choices):
        default: object = field.default
        flag, dest = "--" + field.name.replace("_", "-"), CHOICE + field.name
        about = field_doc(field)
        if isinstance(default, bool):
            action = argparse.BooleanOptionalAction
            group.add_argument(flag, dest=dest, action=action, default=argparse.SUPPRESS, help=about)
        else:
            kind = str if isinstance(default, tuple) else type(default)
            metavar = "A,B,..." if isinstance(default, tuple) else kind.__name__.upper()
            group.add_argument(flag, dest=dest, type=kind, metavar=metavar, default=argparse.SUPPRESS, help=about)
    group.add_argument(
        "-O",
        "--farm-option",
        dest="farm_options",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="what only this farm can be told; `understudy farms` lists it",
    )
    group.add_argument("--preset", default="", metavar="NAME", help="a [preset.NAME] of the studio's or your farm.toml")
    group.add_argument("--as-last", action="store_true", help="begin with what the last submission to this farm chose")


def _add_manner(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("submission")
    group.add_argument("--dry-run", action="store_true", help="check everything, show what would be sent, send nothing")
    group.add_argument(
        "--export", type=Path, metavar="DIR", help="write what would be sent into a folder, send nothing"
    )
    group.add_argument("--skip-check", action="store_true", help="do not decode the pairs before sending")
    follow = group.add_mutually_exclusive_group()
    follow.add_argument("--detach", action="store_true", help="come back when the job is sent (default on a queue)")
    follow.add_argument(
        "--follow",
        action="store_true",
        help="stay and tell how the job fares; Ctrl-C cancels it (default if no queue)",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from understudy_farm.submission import export, send  # numpy and more: not for --help

    request = request_of(arguments)
    if arguments.dry_run:
        return _show(request, arguments)
    if arguments.export:
        job = export(request, arguments.export, print)
        print(f"{arguments.export}: everything that {request.farm.name} takes; the run lies in {job.run_directory}")
        return EXIT_DONE
    sent = send(request, print if not arguments.json else lambda _: None)
    keep_in_mind(sent, request)
    _tell(sent, request, arguments)
    return _follow(sent) if _follows(request, arguments) else EXIT_DONE


def request_of(arguments: argparse.Namespace) -> Request:
    """Raises UnderstudyError, or Problems, for words, presets or a source that are wrong."""
    from understudy.orders import Order
    from understudy_farm.presets import chosen
    from understudy_farm.submission import Request

    source = build_source(arguments)
    settings = options.settings_of(arguments, source.settings)
    order = Order(settings=settings, source=source.source, colour=source.colour, skip_unreadable=arguments.cont)
    flags = {name.removeprefix(CHOICE): value for name, value in vars(arguments).items() if name.startswith(CHOICE)}
    choices, farm, site = chosen(
        flags, _farm_options(arguments.farm_options), preset=arguments.preset, take_last=arguments.as_last
    )
    request = Request(
        order=order,
        choices=choices,
        farm=farm,
        site=site,
        command=arguments.command_line,
        looks_at_frames=not arguments.skip_check,
    )
    return dataclasses.replace(request, is_held=_follows(request, arguments))


def _farm_options(words: list[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    wrong = next((word for word, (name, is_pair, _) in zip(words, pairs, strict=True) if not is_pair or not name), "")
    if wrong:
        raise UnderstudyError(f"--farm-option {wrong}: is no NAME=VALUE; `understudy farms` lists the names")
    return {name: value for name, _, value in pairs}


def _follows(request: Request, arguments: argparse.Namespace) -> bool:
    if arguments.json or arguments.detach:
        return False
    return bool(arguments.follow or not request.farm.capabilities(request.site).has_queue)


def what_would_be_sent(
    request: Request, say: Callable[[str], None], tell: Callable[[str], None] | None = None
) -> tuple[Job, dict[str, str]]:
    """A dry run: the job, and the files by name, once everything has been looked at.

    `say` and `tell` hear what `looked_at` says. Raises as `send` does.
    """
    from understudy_farm.spec import to_text
    from understudy_farm.submission import looked_at, preview

    looked_at(request, say, tell=tell)
    job, payload = preview(request)
    return job, {"job.json": to_text(job), **payload}


def keep_in_mind(sent: Sent, request: Request) -> None:
    """So that the job is found again, and the next submission may take over what was chosen."""
    from understudy_farm.history import note
    from understudy_farm.presets import remember

    note(sent, os.environ)
    remember(request.choices)


def _show(request: Request, arguments: argparse.Namespace) -> int:
    job, files = what_would_be_sent(request, print if not arguments.json else lambda _: None)
    if arguments.json:
        print_json(files)
        return EXIT_DONE
    for name, text in files.items():
        print(f"=== {name}\n{text.rstrip()}\n")
    print(f"Nothing was sent. {request.farm.name} would get this, the run would lie in {job.run_directory}.")
    return EXIT_DONE


def _tell(sent: Sent, request: Request, arguments: argparse.Namespace) -> None:
    if arguments.json:
        print_json({"run_directory": str(sent.job.run_directory), "farm": sent.farm, "ids": dict(sent.receipt.ids)})
        return
    print(f"Submitted {sent.job.name} to {sent.farm}: {len(sent.job.steps)} steps, {request.choices.ranks} ranks")
    print(f"Run directory: {sent.job.run_directory}")
    for step, number in sent.receipt.ids.items():
        print(f"  {step}: {number}")
    print(f"Monitor: {sent.receipt.link}", flush=True)


def _follow(sent: Sent) -> int:
    from understudy_farm.following import cancel, follow, raise_if_failed, state_of

    try:
        with _as_interrupt():
            tasks = follow(sent, lambda line: print(line, flush=True))
    except KeyboardInterrupt:
        print("understudy: the job is cancelled; its ranks write a checkpoint first", file=sys.stderr, flush=True)
        cancel(sent)
        return EXIT_STOPPED
    raise_if_failed(sent, tasks)
    return EXIT_DONE if state_of(tasks) == "done" else EXIT_STOPPED


@contextmanager
def _as_interrupt() -> Iterator[None]:
    """SIGTERM, and SIGHUP of a closed terminal, end the following as Ctrl-C does."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    previous = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
