"""cancel: end a job; ranks that train write a checkpoint first where the farm lets them"""

from __future__ import annotations

import argparse

from understudy.errors import EXIT_DONE
from understudy_farm.cli.common import add_job, add_json, job_of, print_json


def add_options(parser: argparse.ArgumentParser) -> None:
    add_job(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from understudy_farm.following import cancel  # numpy and more: not for --help

    sent = job_of(arguments)
    cancel(sent)
    if arguments.json:
        print_json({"job": sent.job.name, "cancelled": True})
    else:
        print(f"{sent.job.name} is cancelled; `understudy requeue` goes on from its newest checkpoint")
    return EXIT_DONE
