"""Orders: a run as it is asked for, laid into a folder for ranks to begin, and remembered from the run's record."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from understudy.errors import ProblemList, Problems
from understudy.files import make_folder
from understudy.frames.colour import ColourRules
from understudy.pairs import Pair, PairSource
from understudy.remap import Remap, remapped
from understudy.report.run_record import RunRecord, now, pair_records, this_host
from understudy.report.versions import versions
from understudy.runs import RunFiles
from understudy.settings import Settings, check, from_record, to_record
from understudy.sources.record import from_record as source_from_record
from understudy.sources.sequences import colour_of_record, remap_of_record
from understudy.sources.timeline import write_timeline

PATHS_OF_SETTINGS = ("data_directory", "initial_weights")
_PATHS_OF_SOURCES = ("input", "target", "timeline", "script", "original")


@dataclass(frozen=True, kw_only=True)
class Order:
    """A run, as the edge or its record asks for it."""

    settings: Settings
    source: PairSource
    colour: ColourRules
    skip_unreadable: bool = False
    """Leave out, with a warning each, pairs that cannot be read."""


def lay_down(order: Order, pairs: Sequence[Pair], files: RunFiles, *, command: str) -> RunRecord:
    """Keep script and pairs beside the run, whatever happens to them later, and return the record of a run to begin.

    Once the record is written, `understudy resume` begins the run on any machine.
    Raises UnderstudyError when the folder cannot be written.
    """
    make_folder(files.directory)
    write_timeline(files.timeline, pairs, name=files.name)
    settings = dataclasses.replace(order.settings, data_directory=files.directory, run_name=files.name)
    return RunRecord(
        settings=to_record(settings),
        source=order.source.kept_beside(files).record(),
        colour=dataclasses.asdict(order.colour),
        skip_unreadable=order.skip_unreadable,
        pairs=pair_records(pairs),
        versions=versions("unknown"),
        host=this_host(),
        command=command,
        started=now(),
        total_steps=0,
        batch_size=0,
        device="",
        state="submitted",
    )


def remembered(record: RunRecord, files: RunFiles, changes: Mapping[str, object], remap: Remap = ()) -> Order:
    """What the run was asked for, with some settings changed; `remap`: for paths that another system wrote.

    Raises Problems naming the record when it says what this version cannot follow.
    """
    problems = ProblemList()
    with problems.collecting():
        settings = from_record(_with_paths_here(record.settings, PATHS_OF_SETTINGS, remap))
        check(dataclasses.replace(settings, batch_size=record.batch_size))  # what the run chose may be damaged too
        written_elsewhere = _with_paths_here(record.source, _PATHS_OF_SOURCES, remap)
        source = source_from_record({**written_elsewhere, **_kept_with(files, record)})
        colour = colour_of_record({"colour": _with_paths_here(record.colour, ("config",), remap)})
    if problems.lines:
        mend = "restore it from a backup, or start a new run"
        raise Problems(f"{files.record}: {line}; {mend}" for line in problems.lines)
    settings = dataclasses.replace(settings, **changes)  # type: ignore[arg-type]
    check(settings)
    return Order(settings=settings, source=source, colour=colour, skip_unreadable=record.skip_unreadable)


def _with_paths_here(record: Mapping[str, object], names: tuple[str, ...], remap: Remap) -> dict[str, object]:
    """A record whose paths are those of this system; those inside a script or timeline are left to the source."""
    paths = {name: remapped(str(record[name]), remap) for name in names if record.get(name)}
    inside = {"remap": [*remap_of_record(record), *remap]} if "remap" in record else {}
    colour = record.get("colour")
    nested = {"colour": _with_paths_here(colour, ("config",), remap)} if isinstance(colour, Mapping) else {}
    return {**record, **paths, **inside, **nested}


def _kept_with(files: RunFiles, record: RunRecord) -> dict[str, str]:
    """Where the run's own script or timeline lies now: the data directory may have been moved."""
    kept = {"script": files.script, "timeline": files.timeline}
    kind = record.source.get("kind")
    return {kind: str(kept[kind].absolute())} if isinstance(kind, str) and kind in kept else {}
