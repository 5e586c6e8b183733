"""status: say how the tasks of a job fare, and how far its training is"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from understudy.errors import EXIT_DONE
from understudy_farm.cli.common import add_job, add_json, job_of, print_json, print_table, warn

if TYPE_CHECKING:
    from understudy_farm.backend import TaskStatus
    from understudy_farm.folder import Sent


def add_options(parser: argparse.ArgumentParser) -> None:
    add_job(parser)
    parser.add_argument("--watch", action="store_true", help="say it again at every change until the job has ended")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from understudy_farm.following import looks  # numpy and more: not for --help

    sent = job_of(arguments)
    shown: dict[str, object] = {}
    for tasks in looks(sent, warn):
        report = _report(sent, tasks)
        if report != shown:
            _print(report, arguments.json)
        shown = report
        if not arguments.watch:
            break
    return EXIT_DONE


def _report(sent: Sent, tasks: Sequence[TaskStatus]) -> dict[str, object]:
    from understudy_farm.following import progress_of, state_of

    return {
        "job": sent.job.name,
        "farm": sent.farm,
        "state": state_of(tasks),
        "training": str(progress_of(sent) or "unknown here"),
        "run_directory": str(sent.job.run_directory),
        "tasks": [dataclasses.asdict(task) for task in tasks],
    }


def _print(report: dict[str, object], as_json: bool) -> None:
    if as_json:
        print_json(report)
        return
    print(f"{report['job']} on {report['farm']}: {report['state']}; training: {report['training']}")
    tasks = report["tasks"]
    assert isinstance(tasks, list)
    rows = [(task["step"], str(task["number"]), task["state"], task["host"], task["note"]) for task in tasks]
    print_table([("step", "task", "state", "host", ""), *rows])
