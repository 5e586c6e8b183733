"""PNG files for the panel in a folder that goes with the process: made once, the oldest dropped."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from understudy.frames.image import FloatPixels
from understudy.report.pictures import write_png

MOST_PICTURES = 1000


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A picture that a host can load."""

    path: str
    width: int
    height: int


class Gallery:
    """Pictures by whatever they depend on. Any thread may ask."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shown: OrderedDict[Hashable, Shown] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, key: Hashable, make: Callable[[], FloatPixels]) -> Shown:
        """The picture for `key`; `make` gives its h w 3 pixels in 0..1 where there is none yet."""
        with self._lock:
            if key in self._shown:
                self._shown.move_to_end(key)
                return self._shown[key]
        pixels = make()
        path = self._folder / f"{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}.png"
        write_png(pixels, path)
        shown = Shown(path=str(path), width=pixels.shape[1], height=pixels.shape[0])
        with self._lock:
            self._shown[key] = shown
            while len(self._shown) > MOST_PICTURES:
                _, old = self._shown.popitem(last=False)
                with suppress(OSError):
                    Path(old.path).unlink()
        return shown
