"""What was computed last, up to a bound: the least recently used goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from itertools import islice
from threading import Lock
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from understudy.frames.image import FloatPixels, part_of
from understudy.frames.window import Window
from understudy.script.channels import places_of

Kept = TypeVar("Kept")

_Asked: TypeAlias = "tuple[tuple[str, ...], Window]"
"""Channels and region."""
_MOST_ASKED = 20_000
_MOST_OF_ONE = 8
"""Of one content; of more it takes longer to look through them."""


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
    """Pixels by content, channels and region; what is kept serves for fewer channels and for parts of its region."""

    def __init__(self, most_bytes: int) -> None:
        self._pixels: Recent[FloatPixels] = Recent(most_bytes, lambda pixels: pixels.nbytes)
        self._asked: Recent[tuple[_Asked, ...]] = Recent(_MOST_ASKED, lambda _: 1)

    def get(self, content: bytes, channels: tuple[str, ...], region: Window) -> FloatPixels | None:
        """H W C; None where they are to be computed."""
        exact = self._pixels.get((content, channels, region))
        if exact is not None:
            return exact
        for kept_channels, there in self._asked.get(content) or ():
            if there.contains(region) and set(channels) <= set(kept_channels):
                kept = self._pixels.get((content, kept_channels, there))
                if kept is not None:
                    part = part_of(kept, there, region)[..., places_of(channels, kept_channels)]
                    return np.ascontiguousarray(part)
        return None

    def put(self, content: bytes, channels: tuple[str, ...], region: Window, pixels: FloatPixels) -> None:
        asked = (channels, region)
        self._pixels.put((content, *asked), pixels)
        before = (other for other in self._asked.get(content) or () if other != asked)
        self._asked.put(content, (asked, *islice(before, _MOST_OF_ONE - 1)))
