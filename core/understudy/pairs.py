"""Pairs: after this room nobody knows whether a frame came from a script, a sequence or a timeline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from understudy.frames.image import Image
from understudy.runs import RunFiles

PairUse = Literal["train", "validation"]


@dataclass(frozen=True, kw_only=True)
class Media:
    """Where a frame's pixels lie on disk, for records and timelines."""

    path: Path
    """The image file."""
    frame: int
    """The number by which that file is called in its sequence; 0 for a still."""
    layer: str = ""
    """Part or layer; empty for the file's main picture."""


class FrameSource(Protocol):
    """One side of a pair: something that can be read once, on any thread."""

    @property
    def label(self) -> str:
        """How messages call it: the file and layer, or the node, frame and script."""

    @property
    def media(self) -> Media:
        """The file behind it; of a tree with several, the one nearest the node."""

    def read(self) -> Image:
        """Decode or evaluate it, scene-linear.

        Raises UnderstudyError naming the file, frame, node or knob.
        """


@dataclass(frozen=True, kw_only=True)
class Pair:
    """What the network sees and what it should answer, for one frame."""

    frame: int
    """The frame number by which people and `--validation-frames` call this pair."""
    input: FrameSource
    target: FrameSource
    use: PairUse = "train"
    """Validation pairs are never trained on."""
    remarks: tuple[str, ...] = ()
    """What is worth knowing of how its sides are made; the same of many pairs is said once."""


class PairSource(Protocol):
    """A way to name pairs: two sequences, a Nuke script and node, a timeline."""

    def pairs(self, *, are_to_come: bool = False) -> tuple[Pair, ...]:
        """The pairs in frame order, none of them read yet.

        `are_to_come`: their files will be made later; such pairs have a name, and cannot be read.
        Raises UnderstudyError (Problems when there are several) if they cannot be named.
        """

    def kept_beside(self, files: RunFiles) -> PairSource:
        """This source as a run keeps it: later edits of a script or timeline do not change it. May write into the run.

        The run's own timeline of its pairs lies at `files.timeline` by the time the result is used.
        """

    def record(self) -> dict[str, object]:
        """Plain JSON data with a `kind` key, from which `sources.from_record` builds this source again."""
