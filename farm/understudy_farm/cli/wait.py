"""wait: come back when a job has ended; with code 0 if it is done"""

from __future__ import annotations

import argparse

from understudy.errors import EXIT_DONE, EXIT_STOPPED
from understudy_farm.cli.common import add_job, add_json, job_of, print_json, warn


def add_options(parser: argparse.ArgumentParser) -> None:
    add_job(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from understudy_farm.following import looks, raise_if_failed, state_of  # numpy and more: not for --help

    sent = job_of(arguments)
    *_, tasks = looks(sent, warn)
    state = state_of(tasks)
    if arguments.json:
        print_json({"job": sent.job.name, "state": state})
    else:
        print(f"{sent.job.name}: {state}", flush=True)
    raise_if_failed(sent, tasks)
    return EXIT_DONE if state == "done" else EXIT_STOPPED
