"""How a run is asked to end early: SIGTERM, SIGINT, or a file called `stop` in its data directory."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType, TracebackType

from understudy.errors import EXIT_DONE, EXIT_STOPPED
from understudy.settings import Eviction

SECONDS_BETWEEN_LOOKS = 0.5
"""For stop files: a look is a question to the file server."""


CANCEL = "cancel"
"""Content of a stop file: the run is given up, not finished early."""
_BY_FILE = "stop file"


def exit_code_after(reason: str, eviction: Eviction) -> int:
    """Of a run that ended for this reason; empty: it was trained to its end.

    Where a farm starts again what did not end well (`eviction` leave), a stop that somebody wished for ends well.
    """
    is_wished = eviction == "leave" and reason.startswith(_BY_FILE)
    return EXIT_STOPPED if reason and not is_wished else EXIT_DONE


class StopRequests:
    """Listens while its `with` block runs. The first signal asks, a second one of SIGINT ends at once."""

    def __init__(self, stop_files: tuple[Path, ...]) -> None:
        self._files = stop_files
        self._reason = ""
        self._next_look = 0.0
        self._previous: dict[int, signal._HANDLER] = {}

    def reason(self) -> str:
        """Why the run should end, for a message; empty to go on. Cheap enough to ask after every step."""
        if not self._reason and time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + SECONDS_BETWEEN_LOOKS
            self._reason = next(filter(None, map(_request_in, self._files)), "")
        return self._reason

    @property
    def is_signal(self) -> bool:
        """True when it was a signal to this process, not a file for the whole run."""
        return self._reason.startswith("SIG")

    def consume(self) -> None:
        """Remove the stop files, so that they do not end the next session of the run too."""
        for path in self._files:
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def __enter__(self) -> StopRequests:
        self.consume()  # a request made before the run began was meant for another
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                self._previous[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self._reason and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._reason = signal.Signals(number).name


def _request_in(path: Path) -> str:
    """What a stop file asks for; empty when there is none."""
    try:
        content = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    except OSError:  # it is there, whatever it says
        content = ""
    return CANCEL if content.strip() == CANCEL else f"{_BY_FILE} {path.name}"
