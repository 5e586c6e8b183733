"""Questions to Grid Engine: which of our tasks it has now, and which queues could take them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from understudy_farm.backend import FarmAway, FarmError, TaskState
from understudy_farm.shell import ask

MEND = "see whether Grid Engine's commands work here"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A task, or a parallel job, as qstat tells of it."""

    job_id: str
    task_id: str
    """From 1; empty for a job that is no array."""
    letters: str
    """Grid Engine's own state: qw, hqw, r, dr, Eqw and many more."""
    host: str

    @property
    def state(self) -> TaskState:
        if "E" in self.letters:
            return "failed"
        return "running" if set(self.letters) & set("rtsST") else "waiting"


@dataclass(frozen=True, kw_only=True)
class QueueOnHost:
    """A queue's part on one machine."""

    host: str
    slots: int
    letters: str


def rows_of(job_ids: Sequence[str]) -> tuple[Row, ...]:
    """What Grid Engine has of these jobs: nothing of those that have ended. Raises FarmError."""
    if not job_ids:
        return ()
    words = ["qstat", "-u", "*", "-g", "d", "-xml"]
    rows = (_row(item) for item in _answer(words).iter("job_list"))
    return tuple(row for row in rows if row.job_id in job_ids)


def queue_names() -> list[str]:
    """Raises FarmAway."""
    return ask(["qconf", "-sql"], mend=MEND, failure=FarmAway).split()


def queues(pools: Sequence[str]) -> Iterator[QueueOnHost]:
    """Those that are asked for, or all. Raises FarmError."""
    chosen = ["-q", ",".join(pools)] if pools else []
    for item in _answer(["qstat", "-f", "-xml", *chosen]).iter("Queue-List"):
        yield QueueOnHost(
            host=_text(item, "name").partition("@")[2],
            slots=int(_text(item, "slots_total") or 0),
            letters=_text(item, "state"),
        )


def _answer(words: Sequence[str]) -> ElementTree.Element:
    said = ask(words, mend=MEND)
    try:
        return ElementTree.fromstring(said)
    except ElementTree.ParseError as error:
        raise FarmError(f"{words[0]}: its answer is no XML ({error}); {MEND}") from error


def _row(item: ElementTree.Element) -> Row:
    return Row(
        job_id=_text(item, "JB_job_number"),
        task_id=_text(item, "tasks"),
        letters=_text(item, "state"),
        host=_text(item, "queue_name").partition("@")[2],
    )


def _text(item: ElementTree.Element, name: str) -> str:
    return item.findtext(name) or ""
