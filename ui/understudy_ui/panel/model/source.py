"""What is trained on, as it is chosen: a node of a script, two sequences, or a timeline; and the words that say it."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Dict, List, Mapping, Sequence

from understudy_ui.panel.model.tongue import tr
from understudy_ui.protocol import Json

SCRIPT, SEQUENCES, TIMELINE = "script", "sequences", "timeline"
KINDS = (SCRIPT, SEQUENCES, TIMELINE)

_FRAME_NUMBER = re.compile(r"\d+(?=\D*$)")


@dataclass(frozen=True)
class Source:
    """Every field is text as it was typed; empty: not said."""

    kind: str = SCRIPT
    script: str = ""
    node: str = ""
    input: str = ""
    target: str = ""
    frames: str = ""
    input_layer: str = ""
    target_layer: str = ""
    input_colorspace: str = ""
    target_colorspace: str = ""
    timeline: str = ""
    view: str = ""
    validation_frames: str = ""

    def words(self) -> List[str]:
        """What follows `understudy submit`."""
        if self.kind == SCRIPT:
            said = [*_option("-X", self.node), self.script]
        elif self.kind == TIMELINE:
            said = _option("--timeline", self.timeline)
        else:
            names = ("input", "target", "frames", "input_layer", "target_layer", "input_colorspace")
            said = self._flags(*names, "target_colorspace")
        return said + self._flags("view", "validation_frames")

    def missing(self) -> str:
        """What has to be said first, for a person; empty when it can be looked at."""
        if self.kind == SCRIPT and not self.script:
            return tr("Choose a Nuke script, or drop one here.")
        if self.kind == TIMELINE and not self.timeline:
            return tr("Choose a timeline (.otio), or drop one here.")
        if self.kind == SEQUENCES and not self.input:
            return tr("Choose the plate and its painted frames, or drop both here.")
        if self.kind == SEQUENCES and not self.target:
            return tr("Choose the painted frames, too: the Ground Truth.")
        return ""

    def key(self) -> str:
        """By what this shot's last values are remembered."""
        named = {SCRIPT: f"{self.script} {self.node}", TIMELINE: self.timeline, SEQUENCES: self.input}
        return named[self.kind].strip()

    def to_record(self) -> Dict[str, Json]:
        return {name: value for name, value in dataclasses.asdict(self).items() if value}

    def _flags(self, *names: str) -> List[str]:
        said: List[str] = []
        for name in names:
            said += _option("--" + name.replace("_", "-"), str(getattr(self, name)))
        return said


def from_record(record: Mapping[str, Json]) -> Source:
    """What `to_record` wrote; what is no text, or unknown, is left out."""
    names = {field.name for field in dataclasses.fields(Source)}
    known = {name: value for name, value in record.items() if name in names and isinstance(value, str)}
    source = Source(**known)
    return source if source.kind in KINDS else Source()


def from_dropped(paths: Sequence[str], before: Source) -> Source:
    """What files dropped on the panel choose; one sequence alone is the input first, then the ground truth."""
    for path in paths:
        if path.lower().endswith((".nk", ".nknc", ".nkind")):
            return Source(kind=SCRIPT, script=path)
        if path.lower().endswith(".otio"):
            return Source(kind=TIMELINE, timeline=path)
    patterns = list(dict.fromkeys(as_pattern(path) for path in paths))
    sequences = before if before.kind == SEQUENCES else Source(kind=SEQUENCES)
    if len(patterns) > 1:
        return dataclasses.replace(sequences, input=patterns[0], target=patterns[1])
    if sequences.input and not sequences.target and patterns[0] != sequences.input:
        return dataclasses.replace(sequences, target=patterns[0])
    return dataclasses.replace(sequences, input=patterns[0], target="")


def as_pattern(path: str) -> str:
    """plate.1001.exr -> plate.####.exr; a path that is a pattern already, or has no number, stays."""
    name = PurePath(path).name
    stem, dot, ending = name.rpartition(".")
    if not dot or any(mark in name for mark in "#%@$"):
        return path
    return path[: len(path) - len(name)] + _FRAME_NUMBER.sub(lambda found: "#" * len(found[0]), stem) + dot + ending


def number_in(path: str) -> int:
    """plate.1001.exr -> 1001: what `as_pattern` takes out; 0 of a path that has no number."""
    found = _FRAME_NUMBER.search(PurePath(path).name.rpartition(".")[0])
    return int(found[0]) if found else 0


def _option(flag: str, value: str) -> List[str]:
    if not value:
        return []
    return [f"{flag}={value}"] if value.startswith("-") else [flag, value]
