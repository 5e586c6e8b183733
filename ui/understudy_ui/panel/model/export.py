"""A run's model made into files for other programs: for whom, where, how far it is, and what came of it."""

from __future__ import annotations

from pathlib import PurePath
from typing import List, Mapping, Optional, cast

from understudy_ui.panel.model.changes import Changes
from understudy_ui.panel.model.desk import Desk, Newest
from understudy_ui.panel.model.result import Result
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.model.voice import Voice
from understudy_ui.protocol import ExportedShown, Json

HOSTS: Mapping[str, str] = {
    "nuke": "Nuke",
    "flame": "Flame",
    "houdini": "Houdini",
    "onnx": "ONNX",
    "torch": "torch",
}
"""What the command line calls them, and how they call themselves."""


class Export:
    """Of the run whose result is shown."""

    def __init__(self, desk: Desk, voice: Voice, result: Result) -> None:
        self._desk, self._voice, self._result = desk, voice, result
        self._exporting = Newest()
        self.exporting = ""
        """What an export told last; empty: none is under way."""
        self.exported: Optional[ExportedShown] = None
        """The last one of this run."""
        self._place = ""
        self.changed = Changes()
        result.changed.subscribe(self._take_run)

    def folder(self, step: int, host: str) -> str:
        """Where it goes unless another one is chosen; empty where there is no such checkpoint."""
        if step not in self._result.checkpoints().values():
            return ""
        model = PurePath(self._result.model_of(step))
        return str(model.with_name(f"{model.stem}.{host}"))

    def begin(self, step: int, host: str, folder: str) -> None:
        place = self._place

        def on_done(answer: Json) -> None:
            shown = cast(ExportedShown, answer)
            if place == self._place:
                self.exported = shown
            self._tell("")
            self._voice.say(shown["said"])

        def on_faults(lines: List[str]) -> None:
            self._tell("")
            self._voice.complain(lines)

        self._voice.say("")
        self.exported = None
        about: Mapping[str, Json] = {"place": place, "checkpoint": step, "to": host, "folder": folder}
        self._exporting.put(self._desk.ask("export", about, on_done, on_faults, self._tell))
        self._tell(tr("Starting ..."))

    def give_up(self) -> None:
        """An export appears as a whole, at the end."""
        self._exporting.drop()
        self._tell("")
        self._voice.say(tr("Given up; nothing was put in place."))

    def _take_run(self) -> None:
        place = self._result.place
        if place != self._place:
            self._place, self.exported = place, None
        self.changed.tell()

    def _tell(self, line: str) -> None:
        self.exporting = line
        self.changed.tell()
