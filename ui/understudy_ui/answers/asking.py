"""One question while it is answered: what it is about, a voice on the way, and whether anybody still wants to know."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from understudy.errors import UnderstudyError
from understudy_ui.protocol import Json


class GivenUp(Exception):
    """Nobody wants the answer any more."""


class Asking:
    """Handed to the function that answers."""

    def __init__(self, about: Mapping[str, Json], say: Callable[[str], None] = lambda _: None) -> None:
        self._about = about
        self._say = say
        self._said = ""
        self._lock = threading.Lock()
        self._is_given_up = False
        self._end: Callable[[], None] = _nothing

    def tell(self, line: str) -> None:
        """How far it is, each line once. Raises GivenUp when nobody listens any more."""
        with self._lock:
            if self._is_given_up:
                raise GivenUp
            is_news, self._said = line != self._said, line
        if is_news:
            self._say(line)

    def give_up(self) -> None:
        """From another thread: the function hears of it when it tells something, or by what it does `ending_with`."""
        with self._lock:
            self._is_given_up = True
            end = self._end
        end()

    @contextmanager
    def ending_with(self, end: Callable[[], None]) -> Iterator[None]:
        """A block during which giving up calls `end`. Raises GivenUp when that came before, or has come meanwhile."""
        with self._lock:
            if self._is_given_up:
                raise GivenUp
            self._end = end
        try:
            yield
        finally:
            with self._lock:
                self._end = _nothing
        if self._is_given_up:
            raise GivenUp

    def text(self, name: str) -> str:
        value = self._about.get(name, "")
        if not isinstance(value, str):
            raise UnderstudyError(f"about {name}: {value!r} is no text; the panel is of another version")
        return value

    def whole(self, name: str, otherwise: int = 0) -> int:
        value = self._about.get(name, otherwise)
        if isinstance(value, bool) or not isinstance(value, int):
            raise UnderstudyError(f"about {name}: {value!r} is no whole number; the panel is of another version")
        return value

    def whole_or_none(self, name: str) -> int | None:
        return None if self._about.get(name) is None else self.whole(name)

    def number(self, name: str, otherwise: float = 0.0) -> float:
        value = self._about.get(name, otherwise)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UnderstudyError(f"about {name}: {value!r} is no number; the panel is of another version")
        return float(value)

    def words(self) -> list[str]:
        """What would follow `understudy submit`."""
        value = self._about.get("words")
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise UnderstudyError(f"about words: {value!r} is no list of words; the panel is of another version")
        return [str(word) for word in value]


def _nothing() -> None: ...
