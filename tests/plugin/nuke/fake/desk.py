"""What lies behind the fake `nuke`: who sits at it, what was said to them, and what they answer."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.plugin.nuke.fake.api import Group, Node
    from tests.plugin.nuke.fake.windows import Menu


@dataclass
class Desk:
    """One session of the fake."""

    messages: list[str] = field(default_factory=list)
    """What nuke.message showed."""
    terminal: list[str] = field(default_factory=list)
    """What nuke.tprint printed."""
    chosen: int | None = 0
    """In nuke.choice; None: it is cancelled."""
    asked: list[str] = field(default_factory=list)
    fields: dict[str, str] | None = field(default_factory=dict)
    """What is typed into the fields of a nuke.Panel, over what stands there; None: it is cancelled."""
    file_chosen: str = ""
    text_typed: str = ""
    has_nukex: bool = True
    cancels: bool = False
    """The progress window."""
    undone: list[str] = field(default_factory=list)
    rendered: list[tuple[str, int]] = field(default_factory=list)
    viewer: Node | None = None
    frame: int = 1
    contexts: list[Group] = field(default_factory=list)
    """The groups that are open for new nodes, the innermost last."""
    menus: dict[str, Menu] = field(default_factory=dict)
    pending: queue.Queue[Callable[[], object]] = field(default_factory=queue.Queue)
    """Calls that threads left for the main thread."""

    def wait_for_message(self, seconds: float = 240.0) -> str:
        """Until something is said."""
        known = len(self.messages)
        self.wait_until(lambda: len(self.messages) > known, seconds)
        return self.messages[-1]

    def wait_until(self, holds: Callable[[], bool], seconds: float = 240.0) -> None:
        """Run what threads leave for the main thread."""
        limit = time.monotonic() + seconds
        while not holds():
            left = limit - time.monotonic()
            assert left > 0, f"not in time; said was {self.messages}"
            try:
                self.pending.get(timeout=min(left, 0.1))()
            except queue.Empty:
                continue


DESK = Desk()


def clean() -> None:
    """A new session at the same place, which other modules hold."""
    DESK.__dict__.update(Desk().__dict__)


def on_main_thread() -> None:
    """As Nuke: a graph that is touched from another thread may crash at any time."""
    if threading.current_thread() is not threading.main_thread():
        raise AssertionError("nuke was touched from another thread")
