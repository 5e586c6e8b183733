"""Tidying up among runs: another name for one, or out of sight. Nothing is ever deleted."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.files import make_folder
from understudy.report.run_record import RunRecord, read_record, write_record
from understudy.runs import RECORD_SUFFIX, RunFiles
from understudy.settings import check, from_record, to_record

TRASH = ".trash"
"""Folder beside what was thrown away, in which it lies."""

Move = tuple[Path, Path]
"""From where, to where."""


def rename(files: RunFiles, name: str, *, has_ended: bool = False) -> RunFiles:
    """Give all files of a run another name, or none; the record moves last, so that half a renaming can be repeated.

    `has_ended`: the run trains no more, whatever its record says.
    Raises UnderstudyError for a run that trains, a name that cannot begin file names, or one that is taken.
    """
    record = _of_a_run_at_rest(files, has_ended)
    settings = dataclasses.replace(from_record(record.settings), run_name=name)
    check(settings)
    if not name:
        raise UnderstudyError(f"{files.record}: the new name is empty; use letters, digits, _ and -")
    renamed = RunFiles(files.directory, name)
    own = [path for path in files_of(files) if path != files.record]
    moves = [(path, path.with_name(name + path.name.removeprefix(files.name))) for path in own]
    taken = [target for target in (renamed.record, *(target for _, target in moves)) if target.exists()]
    if taken:
        raise UnderstudyError(f"{taken[0]}: is there already; choose another name")
    write_record(files.record, dataclasses.replace(record, settings=to_record(settings)))
    try:
        _move_all([*moves, (files.record, renamed.record)])
    except UnderstudyError:
        write_record(files.record, record)
        raise
    return renamed


def throw_away(files: RunFiles, *, is_alone: bool, has_ended: bool = False) -> Path:
    """Move a run into the trash beside it and return its new folder: with its whole folder if it `is_alone` there.

    `has_ended`: as for `rename`. Raises UnderstudyError for a run that trains, or when it cannot be moved; then it is
    where it was.
    """
    _of_a_run_at_rest(files, has_ended)
    if is_alone:
        place = _free_place(files.directory.parent / TRASH, files.directory.name)
        _move_all([(files.directory, place)])
        return place
    place = _free_place(files.directory / TRASH, files.name)
    make_folder(place)
    own = sorted(files_of(files), key=lambda path: path != files.record)  # once the record is gone, so is the run
    _move_all([(path, place / path.name) for path in own])
    return place


def files_of(files: RunFiles) -> list[Path]:
    """Everything that belongs to the run, and nothing of a run whose name merely begins alike."""
    names = [path.name for path in files.directory.iterdir()]
    longer = [name.removesuffix(RECORD_SUFFIX) for name in names if name.endswith(RECORD_SUFFIX)]
    others = [f"{name}." for name in longer if name.startswith(f"{files.name}.")]
    own = [name for name in names if name.startswith(f"{files.name}.") and not name.startswith(tuple(others))]
    return [files.directory / name for name in sorted(own)]


def _of_a_run_at_rest(files: RunFiles, has_ended: bool) -> RunRecord:
    record = read_record(files.record)
    if record.state == "training" and not has_ended:
        raise UnderstudyError(f"{files.record}: this run is training; stop it first")
    return record


def _free_place(trash: Path, name: str) -> Path:
    make_folder(trash)
    number = 1
    while (place := trash / (name if number == 1 else f"{name}.{number}")).exists():
        number += 1
    return place


def _move_all(moves: Sequence[Move]) -> None:
    """All of them or none. Raises UnderstudyError naming what is in the way."""
    done: list[Move] = []
    for source, target in moves:
        try:
            source.rename(target)
        except OSError as error:
            for before, after in reversed(done):
                with suppress(OSError):
                    after.rename(before)
            reason = error.strerror or str(error)
            raise UnderstudyError(
                f"{source}: cannot be moved to {target} ({reason}); free it, then try again"
            ) from error
        done.append((source, target))
