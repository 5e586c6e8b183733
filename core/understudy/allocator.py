"""glibc's memory: what a process gives back is kept for its next picture, instead of being fetched anew page by page.

Other allocators do as they like.
"""

from __future__ import annotations

import ctypes
import platform
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

SECONDS_BETWEEN_LOOKS = 0.2
"""At the memory of a process that keeps what it was given."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -3, -4, -8
"""glibc's names for mallopt(3)."""


def use_one_heap() -> None:
    """Let threads to come take memory from the heap of the first one; those that are there already keep their own.

    Heaps of other threads take nothing above 64 MiB, so that a picture's tensors would not be kept. To be called before
    a library makes threads.
    """
    libc = _glibc()
    if libc:
        libc.mallopt(_ARENA_MAX, 1)


def keep_blocks_of_a_step() -> None:
    """Keep a training step's tensors for the next one: fetching fresh pages for each costs a tenth of it and more."""
    libc = _glibc()
    if libc:
        libc.mallopt(_TRIM_THRESHOLD, 2**31 - 1)
        libc.mallopt(_MMAP_THRESHOLD, 32 * 2**20)  # the most that it takes


@contextmanager
def large_blocks_kept(most_bytes: float) -> Iterator[None]:
    """Keep all memory that is given back, also the largest blocks, for whichever thread asks next; see `use_one_heap`.

    A whole frame's tensors are fetched page by page otherwise, which takes half as long as a forward pass. What is kept
    and fits nothing grows: whenever the process has more than `most_bytes`, all that is free goes back to the system.
    """
    libc = _glibc()
    if libc is None:
        yield
        return
    is_over = threading.Event()
    libc.mallopt(_MMAP_MAX, 0)
    libc.mallopt(_TRIM_THRESHOLD, -1)
    watch = threading.Thread(target=_give_back_beyond, args=(most_bytes, libc, is_over), name="memory", daemon=True)
    watch.start()
    try:
        yield
    finally:
        is_over.set()
        watch.join()


def _give_back_beyond(most_bytes: float, libc: ctypes.CDLL, is_over: threading.Event) -> None:
    process = psutil.Process()
    while not is_over.wait(SECONDS_BETWEEN_LOOKS):
        if process.memory_info().rss > most_bytes:
            libc.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    return ctypes.CDLL(None) if platform.libc_ver()[0] == "glibc" else None
