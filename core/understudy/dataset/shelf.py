"""Where decoded arrays are held: in memory up to a limit, the rest in one mapped file."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

import numpy as np
from numpy.typing import NDArray

from understudy.errors import UnderstudyError
from understudy.files import naming_the_file

ALIGNMENT = 64
"""Bytes: where arrays begin in the file, so that every element lies as the processor likes it."""

Kept = TypeVar("Kept", bound=np.generic)


class CacheFault(UnderstudyError):
    """The file of the decoded frames cannot be written: no fault of the frame at hand."""


@dataclass(frozen=True, kw_only=True)
class ArrayPlace:
    """An array in the file."""

    offset: int
    """Bytes from the beginning of the file."""
    shape: tuple[int, ...]
    dtype: str
    """float16, float32 or bool."""

    @property
    def end(self) -> int:
        """The byte after the last one, from the beginning of the file."""
        return self.offset + int(np.prod(self.shape)) * np.dtype(self.dtype).itemsize


class Shelf:
    """Keeps arrays from any thread; when all are there, gives them back."""

    def __init__(self, memory_bytes: int, open_file: Callable[[], IO[bytes]], place: Path) -> None:
        """`open_file` is called once, when an array is over `memory_bytes`; `place` names the file in messages."""
        self._bytes_left = memory_bytes
        self._open_file = open_file
        self._place = place
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._mapped: NDArray[np.uint8] | None = None

    def __enter__(self) -> Shelf:
        return self

    def __exit__(self, *_: object) -> None:
        """What is mapped stays mapped."""
        if self._file is not None:
            self._file.close()

    def keep(self, array: NDArray[Kept]) -> NDArray[Kept] | ArrayPlace:
        """The array itself, or the place where it now lies. Raises CacheFault, on a full disk for one."""
        with self._lock:
            if array.nbytes > self._bytes_left:
                return self._written(array)
            self._bytes_left -= array.nbytes
            return array

    def take(self, kept: NDArray[Kept] | ArrayPlace) -> NDArray[Kept]:
        """The array; read-only when it lies in the file. Nothing may be kept once something was taken."""
        if not isinstance(kept, ArrayPlace):
            return kept
        if self._mapped is None:
            # once for all arrays: each mapping holds a file descriptor; read-only, else Linux counts it as memory
            self._mapped = np.memmap(self._opened(), dtype=np.uint8, mode="r")
        array: NDArray[Kept] = np.ndarray(kept.shape, np.dtype(kept.dtype), buffer=self._mapped, offset=kept.offset)
        return array

    def _written(self, array: NDArray[Kept]) -> ArrayPlace:
        try:
            with naming_the_file(self._place):
                file = self._opened()
                offset = -(-file.seek(0, os.SEEK_END) // ALIGNMENT) * ALIGNMENT
                file.seek(offset)
                file.write(np.ascontiguousarray(array).data)  # written, not mapped: a full disk must raise, not kill
                file.flush()
        except UnderstudyError as fault:
            raise CacheFault(str(fault)) from fault
        return ArrayPlace(offset=offset, shape=array.shape, dtype=str(array.dtype))

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            self._file = self._open_file()
        return self._file
