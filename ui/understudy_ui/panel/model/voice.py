"""How the model speaks to the person: in one line under everything, never in a box that wants an answer."""

from __future__ import annotations

from typing import List, Protocol


class Voice(Protocol):
    """Implemented by the message line."""

    def say(self, line: str) -> None:
        """Something went as wished, or is under way; empty: nothing is to be said any more."""

    def complain(self, lines: List[str]) -> None:
        """Something is to be mended. The same complaint is shown once, however often it comes."""

    def withdraw(self, lines: List[str]) -> None:
        """That complaint was seen to; another that came since stays."""
