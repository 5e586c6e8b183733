"""The folder of an export: whole or absent, and never in the place of anything else."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.files import PARTIAL_SUFFIX, make_folder, naming_the_file

RECORD = "export.json"
"""In every export; only a folder that holds it is replaced by another."""


def refuse_foreign(folder: Path) -> None:
    """Raises UnderstudyError for a place that is taken by something else than an export."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UnderstudyError(f"{folder}: is no folder; choose another --folder")
    if folder.is_dir() and not (folder / RECORD).is_file() and any(folder.iterdir()):
        raise UnderstudyError(f"{folder}: holds something else than an export; choose another --folder")


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A new folder to fill, which takes the place of `folder` at the end; after a fault everything is as it was.

    Raises UnderstudyError when the place is taken or cannot be written.
    """
    refuse_foreign(folder)
    make_folder(folder.parent)
    aside = folder.with_name(f".{folder.name}.{os.getpid()}{PARTIAL_SUFFIX}")
    with naming_the_file(folder):
        try:
            aside.mkdir()
            yield aside
            _put_in_place(aside, folder)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def _put_in_place(aside: Path, folder: Path) -> None:
    before = aside.with_name(f"{aside.name}.before")
    if folder.exists():
        folder.rename(before)
    try:
        aside.rename(folder)
    except OSError:
        if before.exists():
            before.rename(folder)
        raise
    shutil.rmtree(before, ignore_errors=True)
