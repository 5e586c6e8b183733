"""What changes something: stopping, going on, cancelling, renaming, throwing away, applying."""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from pathlib import Path

from understudy import tidying
from understudy.cli.stop import ask_to_end
from understudy.errors import UnderstudyError
from understudy.files import write_text
from understudy.report.run_record import read_record
from understudy.runs import RECORD_SUFFIX, RunFiles, run_of
from understudy_farm import following
from understudy_farm.backend import ENDED, FarmError
from understudy_farm.folder import Sent, read_sent
from understudy_farm.plan import TRAIN
from understudy_farm.spec import to_text
from understudy_ui.answers.asking import Asking
from understudy_ui.answers.children import detach
from understudy_ui.answers.condition import LOST, place_of_job
from understudy_ui.answers.rows import RunBook
from understudy_ui.answers.run import Farms
from understudy_ui.protocol import Done


class Actions:
    """Each answers in words what came of it."""

    def __init__(self, book: RunBook, farms: Farms) -> None:
        self._book = book
        self._farms = farms

    def stop(self, asking: Asking) -> Done:
        files = _files(asking)
        ask_to_end(files)
        return {"said": f"{files.name} was asked to write a checkpoint and end."}

    def resume(self, asking: Asking) -> Done:
        """A submitted run by its farm; any other on this machine, where it outlives this process."""
        files = _files(asking)
        state = self._state(files)
        if state in ("submitted", "training", "finished"):
            raise UnderstudyError(f"{files.record}: this run is {state}; there is nothing to resume")
        if place_of_job(files):
            step, _ = following.requeue(read_sent(files.directory), TRAIN, None)
            self._farms.forget(files.directory)
            where = "from its newest checkpoint" if step == TRAIN else f"with its {step}"
            return {"said": f"{files.name} will start again on its farm, {where}."}
        before = files.record.read_bytes()
        detach(["resume", str(files.record)], lambda: _has_begun(files, before), asking)
        return {"said": f"{files.name} goes on, on this machine."}

    def requeue(self, asking: Asking) -> Done:
        sent = _job(_files(asking))
        step, numbers = following.requeue(sent, TRAIN, asking.whole_or_none("rank"))
        self._farms.forget(sent.job.run_directory)
        what = "rank" if step == TRAIN else step
        return {"said": f"{sent.job.name}: {what} {', '.join(map(str, numbers))} will start again."}

    def cancel(self, asking: Asking) -> Done:
        sent = _job(_files(asking))
        following.cancel(sent)
        self._farms.forget(sent.job.run_directory)
        return {"said": f"{sent.job.name} is cancelled; what it has trained is kept."}

    def rename(self, asking: Asking) -> Done:
        files, name = _files(asking), asking.text("name")
        has_ended = self._has_ended(files)
        renamed = tidying.rename(files, name, has_ended=has_ended)
        if place_of_job(files):
            self._rename_in_job(files, renamed)
        return {"said": f"{files.name} is called {name} now."}

    def trash(self, asking: Asking) -> Done:
        """A version goes with its folder, unless somebody trained another run into it."""
        files = _files(asking)
        has_ended = self._has_ended(files)
        records = [path for path in files.directory.iterdir() if path.name.endswith(RECORD_SUFFIX)]
        is_alone = place_of_job(files) is not None and len(records) == 1
        place = tidying.throw_away(files, is_alone=is_alone, has_ended=has_ended)
        return {"said": f"{files.name} lies in {place} now."}

    def _state(self, files: RunFiles) -> str:
        row = self._book.row(files.record)
        if row["fault"]:
            raise UnderstudyError(row["fault"])
        return row["state"]

    def _has_ended(self, files: RunFiles) -> bool:
        """Whether nobody writes it any more, whatever its record says. Raises UnderstudyError while its job lives."""
        state = self._state(files)
        if place_of_job(files):
            sent = read_sent(files.directory)
            if _has_tasks(sent, is_over=state not in ("submitted", "training")):
                raise UnderstudyError(f"{files.record}: its job still has tasks on {sent.farm}; cancel it first")
        return state == LOST or state != read_record(files.record).state

    def _rename_in_job(self, files: RunFiles, renamed: RunFiles) -> None:
        """The job knows its run by name, too."""
        sent = read_sent(files.directory)
        job = dataclasses.replace(sent.job, run_name=renamed.name)
        try:
            write_text(sent.folder.job, to_text(job))
        except UnderstudyError:
            tidying.rename(renamed, files.name, has_ended=True)
            raise


def _files(asking: Asking) -> RunFiles:
    return run_of(Path(asking.text("place")))


def _job(files: RunFiles) -> Sent:
    if place_of_job(files) is None:
        raise UnderstudyError(f"{files.record}: no farm has this run; stop or resume it instead")
    return read_sent(files.directory)


def _has_tasks(sent: Sent, *, is_over: bool) -> bool:
    """A farm that does not answer is taken to have ended what is over by the run itself. Else raises FarmError."""
    try:
        return any(task.state not in (*ENDED, "unknown") for task in following.tasks_of(sent))
    except FarmError:
        if is_over:
            return False
        raise


def _has_begun(files: RunFiles, before: bytes) -> bool:
    with suppress(OSError, UnderstudyError):
        return files.record.read_bytes() != before and read_record(files.record).state == "training"
    return False
