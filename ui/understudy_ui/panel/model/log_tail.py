"""One rank's log, read on as it grows."""

from __future__ import annotations

from typing import List, Mapping, cast

from understudy_ui.panel.model.changes import Changes
from understudy_ui.panel.model.desk import Desk, Newest
from understudy_ui.panel.model.runs import MILLISECONDS_BETWEEN_LOOKS
from understudy_ui.protocol import Json, LogShown

MILLISECONDS_BETWEEN_PIECES = 40
"""Of a log that is behind."""


class LogTail:
    """One rank's log, from its beginning on."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._reading = Newest()
        self._offset = 0
        self._is_watched = False
        self.place, self.rank = "", 0
        self.fresh = ""
        """What came since it was taken last."""
        self.fault = ""
        self.began_anew, self.grew = Changes(), Changes()

    def follow(self, place: str, rank: int) -> None:
        if (place, rank) == (self.place, self.rank):
            return
        self.place, self.rank = place, rank
        self._begin()
        self.look()

    def watch(self) -> None:
        self._is_watched = True
        self.look()

    def rest(self) -> None:
        self._is_watched = False
        self._reading.drop()

    def take(self) -> str:
        text, self.fresh = self.fresh, ""
        return text

    def look(self) -> None:
        if self._is_watched and self.place:
            about: Mapping[str, Json] = {"place": self.place, "rank": self.rank, "offset": self._offset}
            self._reading.put(self._desk.ask("log", about, self._on_text, self._on_faults))

    def _begin(self) -> None:
        self._reading.drop()
        self._offset, self.fresh, self.fault = 0, "", ""
        self.began_anew.tell()

    def _on_text(self, answer: Json) -> None:
        said = cast(LogShown, answer)
        if said["offset"] < self._offset:
            self._begin()
        has_more = said["offset"] > self._offset
        self._offset, self.fault = said["offset"], ""
        self.fresh += said["text"]
        self.grew.tell()
        wait = MILLISECONDS_BETWEEN_PIECES if has_more else MILLISECONDS_BETWEEN_LOOKS
        self._reading.put(self._desk.after(wait, self.look))

    def _on_faults(self, lines: List[str]) -> None:
        self.fault = "\n".join(lines)
        self.grew.tell()
        self._reading.put(self._desk.after(MILLISECONDS_BETWEEN_LOOKS, self.look))
