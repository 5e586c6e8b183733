"""The selected runs in full: one with ranks, sheets and log, all of them with their curves."""

from __future__ import annotations

from typing import Dict, List, Mapping, Optional, Sequence, Tuple, cast

from understudy_ui.panel.model.changes import Changes
from understudy_ui.panel.model.desk import Desk, Newest
from understudy_ui.panel.model.log_tail import LogTail
from understudy_ui.panel.model.runs import MILLISECONDS_BETWEEN_LOOKS
from understudy_ui.protocol import CurveShown, Json, RunShown

MILLISECONDS_OF_WHEEL = 120
"""Silence after which a zoomed curve is asked for anew."""
MAX_CURVES = 8


class RunView:
    """Follows what is selected while somebody watches."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._looking, self._zooming = Newest(), Newest()
        self._drawing: Dict[str, Newest] = {}
        self._is_watched = False
        self.places: List[str] = []
        self.run: Optional[RunShown] = None
        self.fault = ""
        self.curves: Dict[str, CurveShown] = {}
        self.smoothness = 0.6
        self.num_points = 600
        self.steps: Tuple[int, int] = (0, 0)
        """First and last step on view; 0, 0: all."""
        self.changed, self.curves_changed = Changes(), Changes()
        self.log = LogTail(desk)

    def show(self, places: Sequence[str]) -> None:
        """The first is shown in full, up to MAX_CURVES are compared."""
        other_main = list(places[:1]) != self.places[:1]
        self.places = list(places[:MAX_CURVES])
        self.curves = {place: curve for place, curve in self.curves.items() if place in self.places}
        if other_main:
            self.run, self.fault, self.steps = None, "", (0, 0)
            self.log.follow(self.places[0] if self.places else "", 0)
            self.changed.tell()
        self.curves_changed.tell()
        if self._is_watched:
            self._look()

    def watch(self) -> None:
        self._is_watched = True
        self._look()

    def rest(self) -> None:
        self._is_watched = False
        for newest in (self._looking, self._zooming, *self._drawing.values()):
            newest.drop()

    def smooth(self, smoothness: float) -> None:
        self.smoothness = smoothness
        self._redraw_soon()

    def zoom(self, first: int, last: int) -> None:
        self.steps = (first, last)
        self._redraw_soon()

    def fit(self, num_points: int) -> None:
        """As many columns as the graph is wide."""
        if abs(num_points - self.num_points) > 50:
            self.num_points = num_points
            self._redraw_soon()

    def look(self) -> None:
        if self._is_watched:
            self._look()

    def _look(self) -> None:
        if not self.places:
            return
        place = self.places[0]
        self._looking.put(self._desk.ask("run", {"place": place}, self._on_run, self._on_faults))
        self._ask_curves()

    def _on_run(self, answer: Json) -> None:
        shown = cast(RunShown, answer)
        if shown != self.run or self.fault:
            self.run, self.fault = shown, ""
            self.changed.tell()
        self._look_later()

    def _on_faults(self, lines: List[str]) -> None:
        """Also a run that was deleted while it was shown; what was seen of it stays."""
        self.fault = "\n".join(lines)
        self.changed.tell()
        self._look_later()

    def _look_later(self) -> None:
        if self._is_watched:
            self._looking.put(self._desk.after(MILLISECONDS_BETWEEN_LOOKS, self._look))

    def _redraw_soon(self) -> None:
        if self._is_watched:
            self._zooming.put(self._desk.after(MILLISECONDS_OF_WHEEL, self._ask_curves))

    def _ask_curves(self) -> None:
        for place in self.places:
            self._ask_curve(place)

    def _ask_curve(self, place: str) -> None:
        def on_curve(answer: Json) -> None:
            curve = cast(CurveShown, answer)
            if place in self.places and curve != self.curves.get(place):
                self.curves[place] = curve
                self.curves_changed.tell()

        self._drawing.setdefault(place, Newest()).put(self._desk.ask("curve", self._about_curve(place), on_curve))

    def _about_curve(self, place: str) -> Mapping[str, Json]:
        first, last = self.steps
        return {
            "place": place,
            "num_points": self.num_points,
            "smoothness": self.smoothness,
            "first": first,
            "last": last,
        }
