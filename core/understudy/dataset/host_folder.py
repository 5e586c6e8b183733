"""A private folder that the processes of one user on one machine share: it goes when the last of them leaves or dies.

Two locks, both dropped by the system when a process is killed: whoever uses the folder shares `users`, and `turn` is
held by one at a time. Removing takes `users` for itself alone, and renames the folder first: a process that comes
meanwhile finds either the whole folder or none.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from understudy.errors import UnderstudyError
from understudy.files import naming_the_file

if sys.platform != "win32":
    import fcntl

    @contextmanager
    def use_folder(folder: Path) -> Iterator[None]:
        """Make the folder (mode 700) unless it is there, and use it for the length of the `with` block.

        Raises UnderstudyError when it cannot be made, or somebody else made it.
        """
        users = _claim(folder)
        try:
            yield
        finally:
            users.close()
            _remove_if_unused(folder)

    @contextmanager
    def turn(folder: Path, say_waiting: Callable[[], None]) -> Iterator[None]:
        """Be the only process in such a block; `say_waiting` is called when another is in it. Use the folder first."""
        with naming_the_file(folder):
            lock = open_private(folder / "turn", "a+b")
        with lock:
            with naming_the_file(folder):
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    say_waiting()
                    fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def remove_unused(parent: Path, prefix: str) -> None:
        """Remove those folders of this user under `parent` that nobody uses: their users were killed."""
        for folder in parent.glob(f"{prefix}*"):
            with suppress(FileNotFoundError):
                if _is_private(folder):
                    _remove_if_unused(folder)

    def _claim(folder: Path) -> IO[bytes]:
        """`users`, shared. Begins again whenever the folder was removed meanwhile."""
        while True:
            with naming_the_file(folder):
                with suppress(FileExistsError):
                    folder.mkdir(mode=0o700)
                try:
                    _refuse_unless_private(folder)
                    users = open_private(folder / "users", "a+b")
                except FileNotFoundError:
                    continue
                fcntl.flock(users, fcntl.LOCK_SH)
            if _is_still_at(folder / "users", users):
                return users
            users.close()

    def _remove_if_unused(folder: Path) -> None:
        try:
            users = open_private(folder / "users", "a+b")
        except OSError:
            return
        with users:
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return
            if _is_still_at(folder / "users", users):
                doomed = folder.with_name(f"{folder.name}.{os.getpid()}.gone")
                with suppress(OSError):
                    folder.rename(doomed)
                shutil.rmtree(doomed, ignore_errors=True)

    def _is_still_at(path: Path, file: IO[bytes]) -> bool:
        try:
            return os.path.samestat(path.stat(), os.fstat(file.fileno()))
        except OSError:
            return False

    def _refuse_unless_private(folder: Path) -> None:
        if not _is_private(folder):
            raise UnderstudyError(
                f"{folder}: is not a folder of this user alone; remove it, or choose another place for temporary "
                "files (TMPDIR)"
            )

    def _is_private(folder: Path) -> bool:
        """Nobody else can have put anything there: a folder for temporary files belongs to all users."""
        found = folder.lstat()
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def open_private(path: Path, mode: str) -> IO[bytes]:
    """Open a binary file; made with mode 600 if it is made."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))
