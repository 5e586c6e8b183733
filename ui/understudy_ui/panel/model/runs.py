"""The runs of a data directory, looked at again and again while somebody watches."""

from __future__ import annotations

from typing import Dict, List, Sequence, cast

from understudy_ui.panel.model.changes import Changes
from understudy_ui.panel.model.desk import Desk, Newest
from understudy_ui.panel.model.voice import Voice
from understudy_ui.protocol import Done, Json, RunRow

MILLISECONDS_BETWEEN_LOOKS = 2000
"""Files lie on shared storage: a look is a question to a file server."""

LIVE = frozenset({"submitted", "training"})


class Runs:
    """Rows, newest first; which are selected; what can be done to them."""

    def __init__(self, desk: Desk, voice: Voice) -> None:
        self._desk, self._voice = desk, voice
        self._looking = Newest()
        self._is_watched = False
        self.folder = ""
        self.rows: List[RunRow] = []
        self.is_known = False
        """Whether the folder was looked at."""
        self.fault = ""
        self.selected: List[str] = []
        """Places; the first is the one shown in full."""
        self.changed, self.selection_changed = Changes(), Changes()

    def open(self, folder: str) -> None:
        if folder != self.folder:
            self.folder, self.rows, self.fault, self.is_known = folder, [], "", False
            self.select([])
            self.changed.tell()
        if self._is_watched:
            self._look()

    def watch(self) -> None:
        self._is_watched = True
        self._look()

    def rest(self) -> None:
        """Nobody looks: nothing is polled."""
        self._is_watched = False
        self._looking.drop()

    def select(self, places: Sequence[str]) -> None:
        if list(places) != self.selected:
            self.selected = list(places)
            self.selection_changed.tell()

    def selected_rows(self) -> List[RunRow]:
        known = {row["place"]: row for row in self.rows}
        return [known[place] for place in self.selected if place in known]

    def do(self, what: str, about: Dict[str, Json]) -> None:
        """stop, resume, requeue, cancel, trash or rename; says what came of it."""

        def on_done(answer: Json) -> None:
            self._voice.say(cast(Done, answer)["said"])
            self._look()

        self._desk.ask(what, about, on_done, self._voice.complain, self._voice.say)

    def look(self) -> None:
        if self._is_watched:
            self._look()

    def _look(self) -> None:
        if self.folder:
            self._looking.put(self._desk.ask("runs", {"folder": self.folder}, self._on_rows, self._on_faults))

    def _on_rows(self, answer: Json) -> None:
        rows = cast("List[RunRow]", answer)
        is_other = rows != self.rows or bool(self.fault) or not self.is_known
        self.rows, self.fault, self.is_known = rows, "", True
        if is_other:
            self.changed.tell()
        if not self.selected and rows:
            self.select([rows[0]["place"]])
        self._look_later()

    def _on_faults(self, lines: List[str]) -> None:
        """Also a folder that is not there yet: it may come."""
        self.rows, self.fault, self.is_known = [], "\n".join(lines), True
        self.changed.tell()
        self._look_later()

    def _look_later(self) -> None:
        if self._is_watched:
            self._looking.put(self._desk.after(MILLISECONDS_BETWEEN_LOOKS, self._look))
