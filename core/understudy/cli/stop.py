"""stop: ask a run to write a checkpoint and end, all of its ranks"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from understudy.errors import EXIT_DONE, UnderstudyError
from understudy.files import write_text
from understudy.runs import RunFiles, find_run

SECONDS_BETWEEN_LOOKS = 0.5


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run_place", type=Path, metavar="RUN", help="data directory (its newest run) or a file of the run"
    )
    parser.add_argument("--wait", action="store_true", help="come back only when the run has ended")


def run(arguments: argparse.Namespace) -> int:
    run = find_run(arguments.run_place)
    ask_to_end(run)
    print(f"Asked {run.name} to write a checkpoint and end.", flush=True)
    if arguments.wait:
        print(f"{run.name} is {_state_at_the_end(run)}.")
    return EXIT_DONE


def ask_to_end(run: RunFiles) -> None:
    """Leave a stop file. Raises UnderstudyError for a run that does not train."""
    state = _state(run)
    if state != "training":
        raise UnderstudyError(f"{run.record}: this run is {state}, not training; there is nothing to stop")
    write_text(run.stop_requests()[0], "understudy stop\n")


def _state_at_the_end(run: RunFiles) -> str:
    """Waits for ever for a run that was killed: its record cannot know."""
    while (state := _state(run)) == "training":
        time.sleep(SECONDS_BETWEEN_LOOKS)
    return state


def _state(run: RunFiles) -> str:
    from understudy.report.run_record import read_record  # numpy and more: not for --help

    return read_record(run.record).state
