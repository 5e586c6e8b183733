"""Where the demo's files lie."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class DemoFiles:
    """Every file name of a demo folder. Sequences are patterns with #### for the frame."""

    folder: Path

    @property
    def script(self) -> Path:
        """The Nuke script; its paths follow it when the folder moves."""
        return self.folder / "shot.nk"

    @property
    def plate(self) -> str:
        """All frames, with markers and wire."""
        return self._sequence("plate")

    @property
    def paint(self) -> str:
        """The painted frames alone."""
        return self._sequence("paint")

    @property
    def truth(self) -> str:
        """All frames without markers and wire; for measuring, no training sees it."""
        return self._sequence("truth")

    @property
    def result(self) -> str:
        """Where the model's answer to every frame of the plate goes."""
        return self._sequence("result")

    @property
    def data_directory(self) -> Path:
        """Where the script's CopyCat node keeps its runs."""
        return self.folder / "runs"

    def _sequence(self, name: str) -> str:
        return str(self.folder / name / f"{name}.####.exr")
