"""A panel before a stand-in for the answers, and what no test may leave behind: threads, timers, processes, windows."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from pytestqt.qtbot import QtBot
from shiboken6 import Shiboken
from tests.ui.panel.waiting import Watchdog, settle

from understudy_ui.panel.host import Alone, Program
from understudy_ui.panel.qt import QtCore, QtWidgets
from understudy_ui.panel.window import Panel

STAND_IN = Path(__file__).with_name("stand_in_answers.py")

OpenPanel = Callable[..., Panel]
Thing = TypeVar("Thing")


class StandInHost(Alone):
    """A window of its own whose answers are played."""

    def __init__(self, *words: str) -> None:
        super().__init__(os.environ)
        self._words = words

    def answers(self) -> Program:
        return Program((sys.executable, str(STAND_IN), *self._words), os.environ)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nobody's own values are read or written."""
    monkeypatch.setenv("UNDERSTUDY_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def open_panel(qtbot: QtBot, home: Path) -> Iterator[OpenPanel]:
    """open_panel("--state", "finished") or open_panel(host=...): a shown panel, closed after the test."""
    panels: list[Panel] = []

    def build(*words: str, host: Alone | None = None) -> Panel:
        panel = Panel(host or StandInHost(*words), {"UNDERSTUDY_HOME": str(home)})
        panel.resize(1180, 820)
        panel.show()
        panels.append(panel)
        qtbot.waitUntil(lambda: bool(panel.training.form.fields) or not panel.message.isHidden(), timeout=20000)
        return panel

    yield build
    for panel in panels:
        panel.close()
        panel.deleteLater()
    settle(0.05)
    panels.clear()


@pytest.fixture
def watchdog() -> Iterator[Watchdog]:
    """Measures how late the event loop is."""
    dog = Watchdog()
    yield dog
    dog.end()


@pytest.fixture(autouse=True)
def _nothing_left(qapp: QtWidgets.QApplication) -> Iterator[None]:
    """Fails a test that leaves a thread, a timer, a process or a window."""
    threads, windows = set(threading.enumerate()), set(map(id, qapp.topLevelWidgets()))
    yield
    end = time.monotonic() + 10
    while (left := _left(qapp, threads, windows)) and time.monotonic() < end:
        settle(0.05)
    assert not left


def _left(qapp: QtWidgets.QApplication, threads: set[threading.Thread], windows: set[int]) -> list[str]:
    QtCore.QCoreApplication.sendPostedEvents(None, int(QtCore.QEvent.Type.DeferredDelete.value))
    gc.collect()
    left = [f"thread {thread.name}" for thread in threading.enumerate() if _is_other(thread, threads)]
    left += [
        f"window {window}" for window in qapp.topLevelWidgets() if id(window) not in windows and window.isVisible()
    ]
    for timer in _alive(QtCore.QTimer):
        left += [f"timer {timer.interval()} ms of {timer.parent()}"] if timer.isActive() else []
    for process in _alive(QtCore.QProcess):
        is_running = process.state() != QtCore.QProcess.ProcessState.NotRunning
        left += [f"process {process.program()}"] if is_running else []
    return left


def _alive(kind: type[Thing]) -> list[Thing]:
    """Asks for the type, not for `__class__`: some of torch's objects warn when they are looked at."""
    return [thing for thing in gc.get_objects() if issubclass(type(thing), kind) and Shiboken.isValid(thing)]


def _is_other(thread: threading.Thread, before: set[threading.Thread]) -> bool:
    return thread not in before and thread.is_alive() and not thread.name.startswith("Dummy")
