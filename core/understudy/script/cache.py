"""What was computed last, up to a bound: the least recently used goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.frames.window import Window
from understudy.script.channels import places_of

Kept = TypeVar("Kept")

_MOST_ASKED = 20_000


class Recent(Generic[Kept]):
    """Values by key. May be used from several threads at once; two may compute the same value, and the last is kept."""

    def __init__(self, most: int, size_of: Callable[[Kept], int]) -> None:
        """`most`: the sum of sizes that is kept, in the unit of `size_of`."""
        self._most = most
        self._size_of = size_of
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def get(self, key: Hashable) -> Kept | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: Hashable, value: Kept) -> None:
        with self._lock:
            if key in self._kept:
                self._size -= self._size_of(self._kept.pop(key))
            self._kept[key] = value
            self._size += self._size_of(value)
            while self._size > self._most:
                self._size -= self._size_of(self._kept.popitem(last=False)[1])


class RecentPixels:
    """Pixels by content, channels and region; what is kept with more channels serves for fewer of them."""

    def __init__(self, most_bytes: int) -> None:
        self._pixels: Recent[FloatPixels] = Recent(most_bytes, lambda pixels: pixels.nbytes)
        self._asked: Recent[tuple[str, ...]] = Recent(_MOST_ASKED, lambda _: 1)

    def get(self, content: bytes, channels: tuple[str, ...], region: Window) -> FloatPixels | None:
        """H W C; None where they are to be computed."""
        kept = self._pixels.get((content, channels, region))
        more = self._asked.get((content, region)) or ()
        if kept is not None or not set(channels) <= set(more):
            return kept
        wider = self._pixels.get((content, more, region))
        return None if wider is None else np.ascontiguousarray(wider[..., places_of(channels, more)])

    def put(self, content: bytes, channels: tuple[str, ...], region: Window, pixels: FloatPixels) -> None:
        self._pixels.put((content, channels, region), pixels)
        self._asked.put((content, region), channels)
