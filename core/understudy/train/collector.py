"""Python's collector, which looks for objects that hold nothing but each other."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG_OBJECTS = 10_000
"""More of them than before, at which it looks among these. By itself at 700, which a step has for a moment."""


@contextmanager
def old_objects_left_alone() -> Iterator[None]:
    """What is there already is not looked at again.

    Libraries hold so much that this takes a tenth of a second now and then: more than one step, and in the mean a
    seventieth of all of them. Steps themselves leave nothing to be found, contact sheets do.
    """
    usual = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()
