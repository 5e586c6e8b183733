"""requeue: start tasks of a job again under their numbers; training goes on from its newest checkpoint"""

from __future__ import annotations

import argparse
import dataclasses

from understudy.errors import EXIT_DONE, UnderstudyError
from understudy_farm.cli.common import add_job, add_json, job_of, print_json


def add_options(parser: argparse.ArgumentParser) -> None:
    add_job(parser)
    parser.add_argument("--step", default="train", metavar="STEP", help="train, apply or publish (default train)")
    parser.add_argument(
        "--rank", "--task", dest="number", type=int, metavar="N", help="which task of it; left out: all of the step"
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from understudy_farm.backend import Site  # numpy and more: not for --help
    from understudy_farm.folder import write_sent
    from understudy_farm.registry import farm_named

    sent = job_of(arguments)
    step = sent.job.step(arguments.step)
    numbers = tuple(range(step.num_tasks)) if arguments.number is None else (arguments.number,)
    if not set(numbers) <= set(range(step.num_tasks)):
        raise UnderstudyError(f"{sent.job.run_directory}: step {step.name} has no task {arguments.number}")
    farm, site = farm_named(sent.farm), Site(values=sent.options)
    if arguments.number is not None and not farm.capabilities(site).can_requeue_one and step.num_tasks > 1:
        raise UnderstudyError(f"{sent.farm} starts all tasks of a step again or none; leave --rank out")
    receipt = farm.requeue(sent.job, sent.receipt, step.name, numbers, site)
    write_sent(dataclasses.replace(sent, receipt=receipt))
    if arguments.json:
        print_json({"job": sent.job.name, "step": step.name, "tasks": list(numbers)})
    else:
        print(f"{sent.job.name}: {step.name} {', '.join(map(str, numbers))} will start again")
    return EXIT_DONE
