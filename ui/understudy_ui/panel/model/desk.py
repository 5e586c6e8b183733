"""What the model needs of the outside: questions, and time. `ViewDesk` gives both with Qt, a test without."""

from __future__ import annotations

from typing import Callable, Dict, List, Mapping, Optional, Protocol

from understudy_ui.protocol import Json

Then = Callable[[Json], None]
Faults = Callable[[List[str]], None]
Told = Callable[[str], None]


class Pending(Protocol):
    """Something that is still to come."""

    def drop(self) -> None:
        """It shall not come any more; does nothing when it came already."""


class Desk(Protocol):
    """One view's questions and timers. When the view closes, all of them are dropped."""

    def ask(
        self,
        question: str,
        about: Mapping[str, Json],
        then: Then,
        faults: Optional[Faults] = None,
        told: Optional[Told] = None,
    ) -> Pending:
        """Ask (protocol.py); exactly one of `then` and `faults` is called later, unless dropped."""

    def after(self, milliseconds: int, call: Callable[[], None]) -> Pending:
        """Call once, later."""


def about_words(words: List[str]) -> Dict[str, Json]:
    """What a question about words of the command line is about."""
    said: List[Json] = [*words]
    return {"words": said}


class Newest:
    """Holds the newest pending thing of a kind; the one before it is dropped."""

    def __init__(self) -> None:
        self._pending: Optional[Pending] = None

    def put(self, pending: Pending) -> None:
        self.drop()
        self._pending = pending

    def drop(self) -> None:
        if self._pending is not None:
            self._pending.drop()
        self._pending = None
