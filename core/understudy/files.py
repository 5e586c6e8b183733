"""Files that are whole or absent: written aside, synced, renamed."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from understudy.errors import UnderstudyError

PARTIAL_SUFFIX = ".partial"
"""Ends the name of a file that is still being written; such files may be deleted when no run is alive."""


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a file beside `path` (same extension), sync it, and rename it to `path`.

    Raises UnderstudyError naming `path` when the disk is full or the folder not writable; `path` is then as before.
    """
    aside = partial_path(path)
    with naming_the_file(path):
        try:
            write(aside)
            _sync_file(aside)
            aside.replace(path)
            _sync_folder(path.parent)
        except BaseException:
            with suppress(OSError):
                aside.unlink()
            raise


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text with newlines as given, atomically. Names that are no UTF-8 are written as JSON escapes them."""
    write_atomically(path, lambda aside: _put(aside, text.encode("utf-8", "backslashreplace")))


def write_bytes(path: Path, content: bytes) -> None:
    write_atomically(path, lambda aside: _put(aside, content))


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read, atomically."""

    def put(aside: Path) -> None:
        aside.touch(mode=0o600)
        _put(aside, content)

    write_atomically(path, put)


def partial_path(path: Path) -> Path:
    """The name under which this process writes `path` aside; keeps the extension, which image writers need."""
    return path.with_name(f".{path.stem}.{os.getpid()}{PARTIAL_SUFFIX}{path.suffix}")


def remove_partials(folder: Path, first_word: str) -> None:
    """Delete what a killed process left half-written of files whose names begin with `first_word` and a dot."""
    for leftover in folder.glob(f".{first_word}.*{PARTIAL_SUFFIX}*"):
        with suppress(OSError):
            leftover.unlink()


def remove_dead_partials(paths: Collection[Path]) -> None:
    """Delete what earlier processes of this machine left half-written of these files; those still alive keep theirs."""
    import psutil  # not for --help

    stems = {path.stem for path in paths}
    pattern = re.compile(rf"\.(.+)\.(\d+){re.escape(PARTIAL_SUFFIX)}\.\w+")
    for folder in {path.parent for path in paths}:
        for leftover in folder.glob(f".*{PARTIAL_SUFFIX}.*"):
            found = pattern.fullmatch(leftover.name)
            writer = int(found[2]) if found and found[1] in stems else None
            if writer is not None and (writer == os.getpid() or not psutil.pid_exists(writer)):
                with suppress(OSError):
                    leftover.unlink()


def make_folder(folder: Path) -> None:
    """Create the folder and its parents; raises UnderstudyError naming it if that or writing there fails."""
    with naming_the_file(folder):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise UnderstudyError(f"{folder}: a file is in the way of this folder; choose another place") from error
        with tempfile.NamedTemporaryFile(prefix=".understudy.", dir=folder):
            pass


@contextmanager
def naming_the_file(path: Path) -> Iterator[None]:
    """Turn an OSError inside the block into one clear line about `path`."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnderstudyError(f"{path}: cannot be written ({reason}); free space or choose another place") from error


def _put(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)


def _sync_file(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows cannot open a folder; its rename is journalled
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
