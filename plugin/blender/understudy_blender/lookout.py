"""A look at a run directory from time to time, on a thread: a share that does not answer must not hold Blender up."""

from __future__ import annotations

import re
import threading
from pathlib import Path

SECONDS_BETWEEN_LOOKS = 2.0
_SHEET = re.compile(r".+\.\d+\.png")


class Lookout(threading.Thread):
    """Knows the newest contact sheet of a run, and whether its directory is still there."""

    def __init__(self, run_directory: str) -> None:
        super().__init__(daemon=True)
        self._directory = Path(run_directory)
        self._ended = threading.Event()
        self.sheet = ""
        """Path of the newest contact sheet; empty: none yet."""
        self.is_gone = False
        self.start()

    def run(self) -> None:
        while not self._ended.is_set():
            self._look()
            self._ended.wait(SECONDS_BETWEEN_LOOKS)
        self._look()

    def _look(self) -> None:
        try:
            sheets = [path for path in self._directory.iterdir() if _SHEET.fullmatch(path.name)]
            self.sheet = str(max(sheets, key=lambda path: path.stat().st_mtime)) if sheets else ""
            self.is_gone = False
        except OSError:
            self.is_gone = not self._directory.is_dir()

    def end(self) -> None:
        self._ended.set()
