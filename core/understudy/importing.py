"""Importing large libraries in less time."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def large_imports() -> Iterator[None]:
    """What is imported in the block stays: the garbage collector does not look through it, neither now nor later.

    PyTorch makes 200,000 objects while it is imported. To go through them again and again took a tenth of the time.
    """
    if gc.get_freeze_count() or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
        gc.freeze()
        atexit.register(gc.unfreeze)  # at the end nanobind complains of every object that nobody can collect
    finally:
        gc.enable()
