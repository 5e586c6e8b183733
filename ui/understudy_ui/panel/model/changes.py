"""How a view hears that what it shows is another."""

from __future__ import annotations

from typing import Callable, List


class Changes:
    """Calls whoever subscribed, in that order."""

    def __init__(self) -> None:
        self._calls: List[Callable[[], None]] = []

    def subscribe(self, call: Callable[[], None]) -> None:
        self._calls.append(call)

    def unsubscribe(self, call: Callable[[], None]) -> None:
        """For a view that goes before what it shows."""
        self._calls.remove(call)

    def tell(self) -> None:
        for call in list(self._calls):
            call()
