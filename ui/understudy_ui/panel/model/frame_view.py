"""One frame's pictures: input, result, ground truth, difference, as they are asked for."""

from __future__ import annotations

from typing import List, Mapping, Optional, Sequence, cast

from understudy_ui.panel.model.changes import Changes
from understudy_ui.panel.model.desk import Desk, Newest
from understudy_ui.panel.model.plate import Plate
from understudy_ui.protocol import Json, ViewShown

MILLISECONDS_OF_SLIDING = 150


class FrameView:
    """Which frame, how bright, and what there is of it."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._asking = Newest()
        self.place = ""
        self.plate = Plate()
        self.frame = 0
        self.exposure = 0.0
        """Stops."""
        self.gamma = 1.0
        self.result = ""
        """Pattern of an applied sequence."""
        self.shown: Optional[ViewShown] = None
        self.fault = ""
        self._is_watched = False
        self.changed, self.frames_changed = Changes(), Changes()

    def show(self, place: str, plate: Plate) -> None:
        if (place, plate) == (self.place, self.plate):
            return
        if place != self.place:
            self.result, self.shown, self.fault = "", None, ""
        self.place, self.plate = place, plate
        if self.frame not in plate.frames:
            self.frame = plate.frames[0] if plate.frames else 0
        self.frames_changed.tell()
        self.changed.tell()
        self._ask_soon()

    def watch(self) -> None:
        self._is_watched = True
        self._ask_soon()

    def rest(self) -> None:
        self._is_watched = False
        self._asking.drop()

    def go_to(self, frame: int) -> None:
        if frame != self.frame:
            self.frame = frame
            self.frames_changed.tell()
            self._ask_soon()

    def step(self, by: int) -> None:
        """To the next pair, or the one before."""
        later = [frame for frame in self.plate.frames if (frame - self.frame) * by > 0]
        if later:
            self.go_to(min(later) if by > 0 else max(later))

    def light(self, exposure: float, gamma: float) -> None:
        if (exposure, gamma) != (self.exposure, self.gamma):
            self.exposure, self.gamma = exposure, gamma
            self._ask_soon()

    def take_result(self, pattern: str, frames: Sequence[int]) -> None:
        """Of an applied sequence, and the frames that were made: one of them comes on view, a painted one if it can."""
        self.result = pattern
        if frames and self.frame not in frames:
            painted = [frame for frame in frames if frame in self.plate.frames]
            self.frame = (painted or list(frames))[0]
            self.frames_changed.tell()
        self._ask_soon()

    def _ask_soon(self) -> None:
        if self._is_watched and self.place and self.frame:
            self._asking.put(self._desk.after(MILLISECONDS_OF_SLIDING, self._ask))

    def _ask(self) -> None:
        about: Mapping[str, Json] = {
            "place": self.place,
            "input": self.plate.pattern,
            "frame": self.frame,
            "exposure": self.exposure,
            "gamma": self.gamma,
            "result": self.result,
        }
        self._asking.put(self._desk.ask("view", about, self._on_view, self._on_faults))

    def _on_view(self, answer: Json) -> None:
        self.shown, self.fault = cast(ViewShown, answer), ""
        self.changed.tell()

    def _on_faults(self, lines: List[str]) -> None:
        self.shown, self.fault = None, "\n".join(lines)
        self.changed.tell()
