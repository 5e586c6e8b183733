"""Letting the event loop run, and measuring how late it is."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import cast

from understudy_ui.panel.qt import QtCore, QtWidgets

SECONDS_BETWEEN_BARKS = 0.005


def settle(seconds: float) -> None:
    """Let events be handled for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        QtCore.QCoreApplication.processEvents(QtCore.QEventLoop.ProcessEventsFlag.AllEvents, 10)
        time.sleep(0.002)


def row(table: QtWidgets.QTreeWidget, number: int) -> QtWidgets.QTreeWidgetItem:
    """One that must be there."""
    item = table.topLevelItem(number)
    assert item is not None
    return item


class Watchdog(QtCore.QObject):
    """A thread posts an event, waits until the main thread handled it, and notes how long that took.

    On a machine that others work on, too, a thread that is ready may wait for a processor; no program can do anything
    about that. So what counts is how long the main thread worked before it came to the event, or slept.
    """

    _bark = QtCore.Signal()

    def __init__(self) -> None:
        super().__init__()
        self.milliseconds: list[float] = []
        """From the post to the handling: the main thread's own work, or its sleep, whichever was longer."""
        self.milliseconds_by_the_clock: list[float] = []
        self._heard, self._ends = threading.Event(), threading.Event()
        self._bark.connect(self._heard.set, QtCore.Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ends.set()
        self._heard.set()
        if self._thread.is_alive():
            self._thread.join()

    def worst(self) -> float:
        return max(self.milliseconds)

    def said(self) -> str:
        usual = sorted(self.milliseconds)[int(len(self.milliseconds) * 0.99)]
        own = f"{len(self.milliseconds)} looks: worst {self.worst():.0f} ms, 99 of 100 within {usual:.0f} ms"
        return (
            f"{own}; by the clock, with the waits for a processor, worst {max(self.milliseconds_by_the_clock):.0f} ms"
        )

    def _watch(self) -> None:
        main, own = threading.main_thread().native_id, threading.get_native_id()
        clock = time.pthread_getcpuclockid(cast(int, threading.main_thread().ident))
        while True:
            self._heard.clear()
            if self._ends.is_set():  # asked after the clearing, which may have wiped out the end's own set
                return
            start, waited = time.perf_counter(), _seconds_ready(main) + _seconds_ready(own)
            work_start = time.clock_gettime(clock)
            self._bark.emit()
            self._heard.wait()
            seconds = time.perf_counter() - start
            waited = _seconds_ready(main) + _seconds_ready(own) - waited
            self.milliseconds_by_the_clock.append(seconds * 1000)
            work = time.clock_gettime(clock) - work_start
            self.milliseconds.append(max(work, seconds - waited - work) * 1000)
            time.sleep(SECONDS_BETWEEN_BARKS)


def _seconds_ready(thread: int | None) -> float:
    """How long a thread was ready, but had no processor; 0 where the system does not say."""
    try:
        return int(Path(f"/proc/self/task/{thread}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0
