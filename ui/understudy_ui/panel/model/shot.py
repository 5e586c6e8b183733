"""The chosen source as it was looked at: its pairs, what is wrong with them, and the check that decodes them."""

from __future__ import annotations

from typing import Dict, List, Optional, cast

from understudy_ui.panel.model.changes import Changes
from understudy_ui.panel.model.desk import Desk, Newest, about_words
from understudy_ui.panel.model.source import SCRIPT, Source
from understudy_ui.panel.model.speech import BETWEEN, spoken_count, spoken_frames
from understudy_ui.panel.model.tongue import tr
from understudy_ui.protocol import CheckShown, Json, PairShown, Problem, SourceShown, TrainingNode

MILLISECONDS_OF_TYPING = 350
"""Silence after which what was typed is looked at."""


class Shot:
    """Source, pairs and problems."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._looking, self._listing, self._checking, self._typing = Newest(), Newest(), Newest(), Newest()
        self.source = Source()
        self.snapshot = ""
        """Read instead of the script, when the host wrote one."""
        self.shown: Optional[SourceShown] = None
        self.nodes: List[str] = []
        """Training nodes of the chosen script."""
        self.faults: List[str] = []
        self.problems: List[Problem] = []
        self.remarks: List[str] = []
        self.is_looking = False
        self.check_progress = ""
        """What a check that runs told last; empty: none runs."""
        self.is_checked = False
        self.source_changed, self.pairs_changed, self.check_changed = Changes(), Changes(), Changes()

    def choose(self, source: Source, snapshot: str = "") -> None:
        """Another source; it is looked at when the typing rests."""
        other_script = source.script != self.source.script or snapshot != self.snapshot
        self.source, self.snapshot = source, snapshot
        if other_script:
            self.nodes = []
        self._forget()
        self.is_looking = not source.missing()
        self.source_changed.tell()
        if self.is_looking:
            self._typing.put(self._desk.after(MILLISECONDS_OF_TYPING, lambda: self._look(other_script)))

    def refuse(self, fault: str) -> None:
        """The host has nothing to train: say why, and forget what was shown."""
        self._forget()
        self.faults = [fault]
        self.pairs_changed.tell()

    def look_again(self) -> None:
        """After files changed."""
        self.choose(self.source, self.snapshot)

    def words(self) -> List[str]:
        words = self.source.words()
        if self.snapshot and self.source.kind == SCRIPT:
            words = [self.snapshot if word == self.source.script else word for word in words]
        return words

    def check(self, words: List[str]) -> None:
        """Decode every pair as training would."""
        self.problems, self.remarks, self.is_checked = [], [], False
        self.check_progress = tr("starting")
        self._checking.put(
            self._desk.ask("check", about_words(words), self._on_check, self._on_check_faults, self._tell)
        )
        self.check_changed.tell()

    def give_up_check(self) -> None:
        self._checking.drop()
        self.check_progress = ""
        self.check_changed.tell()

    def problems_of(self, frame: int) -> List[str]:
        return [problem["line"] for problem in self.problems if problem["frame"] == frame]

    def summary(self) -> str:
        """5 pairs · 4 to train, 1 to validate · 1001, 1013"""
        if self.is_looking:
            return tr("Looking ...")
        if self.shown is None:
            return self.source.missing() if not self.faults else ""
        pairs = self.shown["pairs"]
        held = [pair["frame"] for pair in pairs if pair["use"] == "validation"]
        said = [tr("{count} pairs").format(count=spoken_count(len(pairs)))]
        if held:
            said.append(tr("{count} for validation").format(count=len(held)))
        shown = spoken_frames([pair["frame"] for pair in pairs])
        return BETWEEN.join([*said, shown if len(shown) < 60 else f"{shown[:56]} ..."])

    def pairs(self) -> List[PairShown]:
        return self.shown["pairs"] if self.shown else []

    def _forget(self) -> None:
        for newest in (self._looking, self._listing, self._checking, self._typing):
            newest.drop()
        self.shown, self.is_looking, self.is_checked, self.check_progress = None, False, False, ""
        self.faults, self.problems, self.remarks = [], [], []
        self.pairs_changed.tell()
        self.check_changed.tell()

    def _look(self, lists_nodes: bool) -> None:
        self._looking.put(self._desk.ask("source", about_words(self.words()), self._on_source, self._on_faults))
        if lists_nodes and self.source.kind == SCRIPT:
            script = self.snapshot or self.source.script
            self._listing.put(self._desk.ask("nodes", {"script": script}, self._on_nodes))

    def _on_source(self, answer: Json) -> None:
        self.shown, self.is_looking, self.faults = cast(SourceShown, answer), False, []
        self.pairs_changed.tell()

    def _on_faults(self, lines: List[str]) -> None:
        self.is_looking, self.faults = False, lines
        self.pairs_changed.tell()

    def _on_nodes(self, answer: Json) -> None:
        self.nodes = [node["name"] for node in cast("List[TrainingNode]", answer)]
        self.source_changed.tell()

    def _tell(self, line: str) -> None:
        self.check_progress = line
        self.check_changed.tell()

    def _on_check(self, answer: Json) -> None:
        found = cast(CheckShown, answer)
        self.problems, self.remarks = found["problems"], found["remarks"]
        self.check_progress, self.is_checked = "", True
        self.check_changed.tell()

    def _on_check_faults(self, lines: List[str]) -> None:
        self.problems = [Problem(frame=None, line=line) for line in lines]
        self.check_progress = ""
        self.check_changed.tell()


def about_thumbnail(words: List[str], frame: int, side: str, width: int, height: int) -> Dict[str, Json]:
    return {**about_words(words), "frame": frame, "side": side, "width": width, "height": height}
