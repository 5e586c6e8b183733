"""A desk without Qt: questions wait until a test answers them, time passes when a test says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from understudy_ui.panel.model.desk import Faults, Then, Told
from understudy_ui.protocol import Json


@dataclass
class Asked:
    """A question that waits."""

    question: str
    about: Mapping[str, Json]
    then: Then
    faults: Faults | None
    told: Told | None
    is_open: bool = True

    def drop(self) -> None:
        self.is_open = False


@dataclass
class Timer:
    """A call that waits."""

    milliseconds: int
    call: Callable[[], None]
    is_open: bool = True

    def drop(self) -> None:
        self.is_open = False


@dataclass
class FakeDesk:
    """Implements `Desk`."""

    asked: list[Asked] = field(default_factory=list)
    timers: list[Timer] = field(default_factory=list)

    def ask(
        self,
        question: str,
        about: Mapping[str, Json],
        then: Then,
        faults: Faults | None = None,
        told: Told | None = None,
    ) -> Asked:
        self.asked.append(Asked(question, about, then, faults, told))
        return self.asked[-1]

    def after(self, milliseconds: int, call: Callable[[], None]) -> Timer:
        self.timers.append(Timer(milliseconds, call))
        return self.timers[-1]

    def open(self, question: str) -> list[Asked]:
        return [asked for asked in self.asked if asked.question == question and asked.is_open]

    def pass_time(self) -> None:
        """Everything that waits for time happens once."""
        waiting, self.timers = [timer for timer in self.timers if timer.is_open], []
        for timer in waiting:
            timer.call()

    def answer(self, question: str, answer: Json) -> None:
        """The oldest open question of that kind."""
        asked = self.open(question)[0]
        asked.is_open = False
        asked.then(answer)

    def fail(self, question: str, *lines: str) -> None:
        asked = self.open(question)[0]
        asked.is_open = False
        assert asked.faults is not None
        asked.faults(list(lines))


@dataclass
class FakeVoice:
    """Implements `Voice`."""

    said: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def say(self, line: str) -> None:
        self.said.append(line)

    def complain(self, lines: list[str]) -> None:
        self.complaints += lines

    def withdraw(self, lines: list[str]) -> None:
        self.complaints = [line for line in self.complaints if line not in lines]
