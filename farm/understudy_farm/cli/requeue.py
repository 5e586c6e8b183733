"""requeue: start tasks of a job again under their numbers; training goes on from its newest checkpoint"""

from __future__ import annotations

import argparse

from understudy.errors import EXIT_DONE
from understudy_farm.cli.common import add_job, add_json, job_of, print_json


def add_options(parser: argparse.ArgumentParser) -> None:
    add_job(parser)
    parser.add_argument("--step", default="train", metavar="STEP", help="bake, train, apply or publish (default train)")
    parser.add_argument(
        "--rank", "--task", dest="number", type=int, metavar="N", help="which task of it; left out: all of the step"
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from understudy_farm.following import requeue  # numpy and more: not for --help

    sent = job_of(arguments)
    step, numbers = requeue(sent, arguments.step, arguments.number)
    if arguments.json:
        print_json({"job": sent.job.name, "step": step, "tasks": list(numbers)})
    else:
        print(f"{sent.job.name}: {step} {', '.join(map(str, numbers))} will start again")
    return EXIT_DONE
