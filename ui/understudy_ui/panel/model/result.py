"""The result of a run: a checkpoint, applied to frames, and what to paint next."""

from __future__ import annotations

import re
from typing import Callable, Dict, List, Mapping, Optional, cast

from understudy_ui.panel.model.changes import Changes
from understudy_ui.panel.model.desk import Desk, Newest
from understudy_ui.panel.model.plate import plate_of
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.model.voice import Voice
from understudy_ui.protocol import AppliedShown, Json, RunShown, SuggestionShown

BEST, LATEST = "best", "latest"
NUM_SUGGESTIONS = 8

_COUNTED = re.compile(r"(\d+) of (\d+)")


class Result:
    """One run's model at work."""

    def __init__(self, desk: Desk, voice: Voice) -> None:
        self._desk, self._voice = desk, voice
        self._applying, self._suggesting = Newest(), Newest()
        self.run: Optional[RunShown] = None
        self.applying = ""
        """What an application told last; empty: none is under way."""
        self.suggesting = ""
        self.suggestions: List[SuggestionShown] = []
        self.applied = ""
        """Pattern of the last applied sequence."""
        self.applied_frames: List[int] = []
        """Those that were made of it."""
        self.frames_of_input: List[int] = []
        """Of the whole shot, where they are known."""
        self.changed, self.apply_changed, self.suggestions_changed = Changes(), Changes(), Changes()
        self.applied_changed = Changes()

    def show(self, run: Optional[RunShown]) -> None:
        place = self.place
        self.run = run
        if self.place != place:
            self._suggesting.drop()
            self.suggestions, self.suggesting, self.applied, self.applied_frames = [], "", "", []
            self.suggestions_changed.tell()
        self.changed.tell()

    @property
    def place(self) -> str:
        """Of the run; empty: none is shown."""
        return self.run["row"]["place"] if self.run else ""

    def checkpoints(self) -> Dict[str, int]:
        """Name to step: best (when one was measured), latest, then all, newest first."""
        if self.run is None or not self.run["checkpoints"]:
            return {}
        steps = sorted(self.run["checkpoints"], reverse=True)
        named = {BEST: self.run["best_step"]} if self.run["best_step"] else {}
        return {**named, LATEST: steps[0], **{str(step): step for step in steps}}

    def model_of(self, step: int) -> str:
        """Model file of a checkpoint. Raises KeyError for one that there is not."""
        assert self.run is not None
        return dict(zip(self.run["checkpoints"], self.run["models"]))[step]

    def input_pattern(self) -> str:
        """The sequence that the run's own inputs are frames of; empty where they are several, or stills."""
        return plate_of(self.run["pairs"]).pattern if self.run else ""

    def apply(self, about: Mapping[str, Json], then: Callable[[str], None]) -> None:
        """about: input, output, frames, passes, checkpoint; `then` gets the pattern of what was written."""

        def on_done(answer: Json) -> None:
            shown = cast(AppliedShown, answer)
            self.applied, self.applied_frames = str(about["output"]), shown["frames"]
            self._tell_applying("")
            self.applied_changed.tell()
            self._voice.say(shown["said"])
            then(self.applied)

        def on_faults(lines: List[str]) -> None:
            self._tell_applying("")
            self._voice.complain(lines)

        self._voice.say("")
        asked = {"place": self.place, **about}
        self._applying.put(self._desk.ask("apply", asked, on_done, on_faults, self._tell_applying))
        self._tell_applying(tr("Starting ..."))

    def give_up_applying(self) -> None:
        self._applying.drop()
        self._tell_applying("")
        self._voice.say(tr("Given up; frames that were written stay."))

    def suggest(self, pattern: str) -> None:
        def on_suggestions(answer: Json) -> None:
            self.suggestions, self.suggesting = cast("List[SuggestionShown]", answer), ""
            self.suggestions_changed.tell()

        def on_faults(lines: List[str]) -> None:
            self._tell_suggesting("")
            self._voice.complain(lines)

        about: Mapping[str, Json] = {"place": self.place, "input": pattern, "count": NUM_SUGGESTIONS}
        self._suggesting.put(self._desk.ask("suggest", about, on_suggestions, on_faults, self._tell_suggesting))
        self._tell_suggesting(tr("Looking at the frames ..."))

    def give_up_suggesting(self) -> None:
        self._suggesting.drop()
        self._tell_suggesting("")

    def _tell_applying(self, line: str) -> None:
        self.applying = line
        self.apply_changed.tell()

    def _tell_suggesting(self, line: str) -> None:
        self.suggesting = line
        self.suggestions_changed.tell()


def fraction_told(line: str) -> Optional[float]:
    """`3 of 48 frames` -> 0.0625; None when the line counts nothing."""
    found = _COUNTED.search(line)
    return int(found[1]) / int(found[2]) if found and int(found[2]) else None
