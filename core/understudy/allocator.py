"""glibc's memory: what a process gives back is kept for its next picture, and a training's lies in large pages.

Other allocators do as they like.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

SECONDS_BETWEEN_LOOKS = 0.2
"""At the memory of a process that keeps what it was given."""
HEAP_BYTES = 2**30
"""That the heap can grow by in large pages: frames, and what a step needs. None is there until it is used."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -3, -4, -8
"""glibc's names for mallopt(3)."""
_USUAL_MMAP_MAX = 65536


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


def grow_in_large_pages() -> None:
    """Let what the heap is filled with from now on lie in pages of 2 MiB, where Linux gives them to whoever asks.

    To find its way through small ones costs a processor two to six hundredths of a training step. To be called after
    `keep_blocks_of_a_step`, which is what leaves the heap large.
    """
    libc = _glibc()
    if libc is None or not hasattr(mmap, "MADV_HUGEPAGE"):
        return
    libc.malloc_trim(0)  # what is free lies in small pages, which would be filled before others are fetched
    libc.malloc.restype = ctypes.c_void_p
    libc.mallopt(_MMAP_MAX, 0)  # the block is the end of the heap, and becomes it again
    block = libc.malloc(ctypes.c_size_t(HEAP_BYTES))
    libc.mallopt(_MMAP_MAX, _USUAL_MMAP_MAX)
    if block:
        for begin, end in _heap():
            libc.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), mmap.MADV_HUGEPAGE)
        libc.free(ctypes.c_void_p(block))


def _heap() -> list[tuple[int, int]]:
    """Where it lies: each part's first address, and that after its last."""
    lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    parts = [line.partition(" ")[0].split("-") for line in lines if line.endswith("[heap]")]
    return [(int(begin, 16), int(end, 16)) for begin, end in parts]


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
