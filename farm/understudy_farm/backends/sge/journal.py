"""How a task fared, in its own words: one line for each thing that happened to it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from understudy.files import write_text
from understudy_farm.backend import TaskState, TaskStatus
from understudy_farm.folder import JobFolder
from understudy_farm.tasks import state_after

BEGAN, ENDED, SKIPPED = "began", "ended", "skipped"
"""Lines: `began HOST`, `ended CODE WHY HOST`, `skipped STEP HOST`: what it would have followed did not succeed."""
ITSELF, DELETED, TIMEOUT = "itself", "deleted", "timeout"
"""Why a task ended."""
CANCELLED = "cancelled"
"""Lists the ids of jobs that were cancelled from here."""


def journal_of(folder: JobFolder, step: str, number: int | str) -> Path:
    return folder.farm / f"{step}.{number}.journal"


def begin_journals(folder: JobFolder, step: str, numbers: Sequence[int]) -> None:
    """Empty, before the task is sent: a file server's client may look long for one that is not there yet."""
    for number in numbers:
        write_text(journal_of(folder, step, number), "")


def note_cancelled(folder: JobFolder, ids: Sequence[str]) -> None:
    write_text(folder.farm / CANCELLED, "\n".join([*_cancelled(folder), *ids]) + "\n")


def status_after(folder: JobFolder, step: str, number: int, ids: Sequence[str]) -> TaskStatus:
    """Of a task that Grid Engine has no more; `ids` are those that it had."""
    what, *rest = _last_words(folder, step, number)
    state, note = _fate(what, rest, is_cancelled=not set(ids).isdisjoint(_cancelled(folder)))
    return TaskStatus(step=step, number=number, state=state, host=rest[-1] if rest else "", note=note)


def has_ended(folder: JobFolder, step: str, number: int) -> bool:
    """By itself, as far as its newest start is concerned."""
    return _last_words(folder, step, number)[0] == ENDED


def is_done(folder: JobFolder, step: str, number: int) -> bool:
    return _last_words(folder, step, number)[:2] == [ENDED, "0"]


def _last_words(folder: JobFolder, step: str, number: int) -> list[str]:
    """Of the last whole line; one that is empty when the task never began."""
    with suppress(OSError):
        whole, _, _ = journal_of(folder, step, number).read_text(encoding="utf-8").rpartition("\n")
        return whole.rpartition("\n")[2].split() or [""]
    return [""]


def _fate(what: str, rest: list[str], *, is_cancelled: bool) -> tuple[TaskState, str]:
    if what == ENDED:
        code, why = int(rest[0]), rest[1]
        state = "failed" if why == TIMEOUT else "cancelled" if why == DELETED and code else state_after(code)
        return state, "" if code == 0 else f"exit code {code}" + (f", {why}" if why != ITSELF else "")
    if what == SKIPPED:
        return "cancelled", f"{rest[0]} did not succeed"
    if is_cancelled:
        return "cancelled", ""
    if what == BEGAN:
        return "failed", "killed, or lost with its machine"
    return "cancelled", "deleted before it began"


def _cancelled(folder: JobFolder) -> list[str]:
    with suppress(OSError):
        return (folder.farm / CANCELLED).read_text(encoding="utf-8").split()
    return []
