"""logs: print what a task of a job has printed"""

from __future__ import annotations

import argparse

from understudy.errors import EXIT_DONE
from understudy_farm.cli.common import add_job, add_json, job_of, print_json, warn


def add_options(parser: argparse.ArgumentParser) -> None:
    add_job(parser)
    parser.add_argument("--step", default="train", metavar="STEP", help="bake, train, apply or publish (default train)")
    parser.add_argument(
        "--rank", "--task", dest="number", type=int, default=0, metavar="N", help="which task of it (default 0)"
    )
    parser.add_argument("-f", "--follow", action="store_true", help="go on until the job has ended")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from understudy_farm.following import log_of, looks  # numpy and more: not for --help

    sent = job_of(arguments)
    if arguments.json:
        log = log_of(sent, arguments.step, arguments.number)
        print_json({"step": arguments.step, "task": arguments.number, "log": log})
        return EXIT_DONE
    said = 0
    for _ in looks(sent, warn):
        text = log_of(sent, arguments.step, arguments.number)
        print(text[said:], end="", flush=True)
        said = len(text)
        if not arguments.follow:
            break
    return EXIT_DONE
