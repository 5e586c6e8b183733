"""What was read of files and folders, kept until they change."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

Value = TypeVar("Value")
Stamp = tuple[int, int, int]

MOST_PATHS = 20000


def stamp_of(path: Path) -> Stamp:
    """Differs when the file was written anew, or grew. Raises OSError when there is none."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino


class Remembered(Generic[Value]):
    """Reads a path once, and again when its stamp has changed. Any thread may ask."""

    def __init__(self, read: Callable[[Path], Value]) -> None:
        """`read` may raise: then nothing is kept."""
        self._read = read
        self._kept: dict[Path, tuple[Stamp, Value]] = {}
        self._lock = threading.Lock()

    def of(self, path: Path) -> Value:
        """Raises OSError when there is no such path, and what `read` raises."""
        stamp = stamp_of(path)
        kept = self._kept.get(path)
        if kept is not None and kept[0] == stamp:
            return kept[1]
        value = self._read(path)
        with self._lock:
            if len(self._kept) >= MOST_PATHS:
                self._kept.clear()
            self._kept[path] = stamp, value
        return value
