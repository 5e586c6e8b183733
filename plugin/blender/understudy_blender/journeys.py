"""What the buttons do, each from top to bottom in the order in which things happen."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from . import command, job, plan, problems, session
from .child import Child
from .lookout import Lookout
from .problems import Problem
from .session import Journey, Session

DRY_RUN_TEXT = "Understudy dry run"


def dry_run(now: Session, request: plan.Request) -> Journey:
    """Check everything, and show in a text block what would be sent."""
    with tempfile.TemporaryDirectory(prefix="understudy_") as folder:
        work = plan.training(request, folder)
        yield from _bake(now, work.bakes)
        now.stage = session.CHECKING
        said = yield from now.call((*work.words, "--dry-run", "--json"))
    texts = [f"=== {name}\n{text.rstrip()}\n" for name, text in json.loads(said).items()]
    now.host.show_text(DRY_RUN_TEXT, "\n".join([*texts, "Nothing was sent.\n"]))


def train(now: Session, request: plan.Request) -> Journey:
    baked = str(Path(request.data_directory, "baked", time.strftime("%y%m%d_%H%M%S")))
    work = plan.training(request, baked)
    with _removed_on_failure(baked):
        yield from _bake(now, work.bakes)
        now.stage = session.SUBMITTING
        said = yield from now.call((*work.words, "--json"))
    now.run_directory = str(json.loads(said)["run_directory"])
    now.host.remember(now.run_directory)
    yield from stop(now) if now.is_stopping else follow(now)


def follow(now: Session) -> Journey:
    """Show how the job fares until it has ended."""
    now.stage = session.TRAINING
    reports, pace = job.Reports(), job.Pace()
    child, lookout = now.understudy(command.status(now.run_directory)), Lookout(now.run_directory)
    try:
        while child.code is None:
            _see(now, child, reports, pace)
            _show_sheet(now, lookout)
            yield
        lookout.end()
        while lookout.is_alive():
            yield
    finally:
        child.end()
        lookout.end()
    _see(now, child, reports, pace)
    _show_sheet(now, lookout)
    if child.code != problems.EXIT_DONE:
        raise problems.of_errors(child.code, child.errors)
    yield from _tell_failure(now)


def resume(now: Session) -> Journey:
    now.stage = session.SUBMITTING
    yield from now.call(command.requeue(now.run_directory))
    yield from follow(now)


def stop(now: Session) -> Journey:
    now.stage = session.STOPPING
    yield from now.call(command.cancel(now.run_directory))
    yield from follow(now)


def apply(now: Session, work: plan.Work, result: plan.Result) -> Journey:
    yield from _bake(now, work.bakes)
    now.stage = session.APPLYING
    yield from now.call(work.words)
    now.host.place(result)


def _bake(now: Session, bakes: Sequence[plan.Bake]) -> Journey:
    if not bakes:
        return
    now.found()  # nobody should wait for a bake that nothing can follow
    now.stage = session.BAKING
    with tempfile.TemporaryDirectory(prefix="understudy_") as folder:
        yield from now.bake(now.host.baking(bakes, folder), os.environ)


@contextmanager
def _removed_on_failure(folder: str) -> Iterator[None]:
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _see(now: Session, child: Child, reports: job.Reports, pace: job.Pace) -> None:
    report = reports.newest(child.output)
    if report is not None:
        now.report, now.share = report, report.share
        pace.see(report.step, time.monotonic())
    if now.report is not None:
        now.seconds_left = pace.seconds_left(now.report.total_steps, time.monotonic())
    now.warning = problems.newest_warning(child.errors)


def _show_sheet(now: Session, lookout: Lookout) -> None:
    if lookout.is_gone:
        raise Problem(f"{now.run_directory}: the run's folder is gone; bring it back, or train again")
    if lookout.sheet != now.sheet:
        now.sheet = lookout.sheet
        now.host.show_sheet(now.sheet)


def _tell_failure(now: Session) -> Journey:
    """Raises Problem with the last words of the task that failed, if one did."""
    task = now.report.failed if now.report is not None else None
    if task is None:
        return
    said = yield from now.call(command.log(now.run_directory, task.step, task.number))
    text = str(json.loads(said)["log"])
    last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), task.note)
    where = f" on {task.host}" if task.host else ""
    told = f"{task.step} {task.number} failed{where}: {last}; mend it and Resume"
    raise Problem(told, details=text)
