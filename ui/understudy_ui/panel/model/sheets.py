"""The contact sheets of a run, and the one that is looked at."""

from __future__ import annotations

from typing import List, Mapping, cast

from understudy_ui.panel.model.changes import Changes
from understudy_ui.panel.model.desk import Desk, Newest
from understudy_ui.protocol import Json, SheetShown


class Sheets:
    """The contact sheet on view: the newest, until somebody takes another."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._asking = Newest()
        self.place = ""
        self.steps: List[int] = []
        self.step = 0
        self.follows = True
        self.path = ""
        self.fault = ""
        self.changed, self.steps_changed = Changes(), Changes()

    def show(self, place: str, steps: List[int]) -> None:
        if place != self.place:
            self.place, self.step, self.follows, self.path, self.fault = place, 0, True, "", ""
            self.changed.tell()
        if steps != self.steps:
            self.steps = steps
            self.steps_changed.tell()
        if self.steps and (self.follows or self.step not in self.steps):
            self._ask(self.steps[-1])

    def choose(self, step: int) -> None:
        self.follows = bool(self.steps) and step == self.steps[-1]
        self._ask(step)

    def _ask(self, step: int) -> None:
        if step == self.step:
            return
        self.step = step
        self.steps_changed.tell()
        about: Mapping[str, Json] = {"place": self.place, "step": step}
        self._asking.put(self._desk.ask("sheet", about, self._on_sheet, self._on_faults))

    def _on_sheet(self, answer: Json) -> None:
        self.path, self.fault = cast(SheetShown, answer)["path"], ""
        self.changed.tell()

    def _on_faults(self, lines: List[str]) -> None:
        self.path, self.fault = "", "\n".join(lines)
        self.changed.tell()
