"""Somebody before the panel: sees what is on the screen, clicks, types, and waits until something is seen."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tests.screens import Pixels, Screen, save_picture

TELLING_PANEL = Path(__file__).with_name("telling_panel.py")
SECONDS_BETWEEN_LOOKS = 0.05
SECONDS_OF_PATIENCE = 120
CLICKS_TO_OPEN, SECONDS_TO_OPEN = 3, 5
SECONDS_TO_CLOSE = 30

Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Something on view, as telling_panel.py tells it."""

    kind: str
    """Class of the widget; or Tab, or Item of a list or table."""
    name: str
    """What is written beside it."""
    text: str
    """What is written in it."""
    is_on: bool
    """Can be used."""
    has_focus: bool
    """Of an item or tab: it is the current one of what has the focus."""
    place: tuple[int, int, int, int]
    """x, y, width, height of what is visible of it, in pixels of the screen."""
    is_whole: bool
    """Nothing of its height is hidden."""
    facts: Mapping[str, list[int]]
    """Of what is painted, what it was painted from."""

    @property
    def middle(self) -> tuple[int, int]:
        x, y, width, height = self.place
        return x + width // 2, y + height // 2

    def is_called(self, name: str, kind: str) -> bool:
        return name in (self.name, self.text) and kind in ("", self.kind)


class Artist:
    """Works at `understudy panel`, a process of its own."""

    def __init__(self, screen: Screen, folder: Path, environment: Mapping[str, str]) -> None:
        self.screen, self._folder = screen, folder
        self._told, self._log = folder / "told.json", folder / "panel.log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(TELLING_PANEL), str(self._told)],
                env={**screen.environment, "QT_QPA_PLATFORM": "xcb", **environment},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def look(self) -> list[Seen]:
        """Everything on view, told after this call began."""
        start = time.monotonic()
        while True:
            told = json.loads(self._told.read_text(encoding="utf-8")) if self._told.exists() else {}
            if told and told["at"] > start:
                everything = [Seen(**{**one, "place": tuple(one["place"])}) for one in told["seen"]]
                return [one for one in everything if one.place[2] > 0]
            assert self._process.poll() is None, f"the panel ended\n{self._log.read_text()}"
            assert time.monotonic() < start + SECONDS_OF_PATIENCE, f"the panel is dead\n{self._log.read_text()}"
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def until(self, find: Callable[[list[Seen]], Found], what: str) -> Found:
        """What is sought, as soon as there is something of it."""
        found = self._wait(find, SECONDS_OF_PATIENCE)
        if not found:
            self.keep("given_up")
            lines = [f"{one.kind} {one.name}: {one.text}" for one in self.look() if one.name or one.text]
            raise AssertionError("\n".join([f"{what}: not seen in {self._folder}", *lines, self._log.read_text()]))
        return found

    def find(self, name: str, kind: str = "") -> Seen:
        """The first of that name or text."""
        return self.until(lambda seen: _called(seen, name, kind), f"{kind} {name}")[0]

    def read(self, words: str) -> Seen:
        """The first text with these words in it."""
        return self.until(lambda seen: [one for one in seen if words in one.text], words)[0]

    def click(self, name: str, kind: str = "") -> None:
        """As soon as it is there, whole, at rest, and can be used."""
        before: list[Seen] = []

        def is_ready(seen: list[Seen]) -> list[Seen]:
            nonlocal before
            last, before = before, [one for one in _called(seen, name, kind) if one.is_whole and one.is_on]
            return before if [one.place for one in before] == [one.place for one in last] else []

        self.screen.click(*self.until(is_ready, f"{kind} {name}, to be clicked")[0].middle)

    def choose(self, name: str, item: str) -> None:
        """From the list that a box opens, by two clicks.

        On a machine that is very slow the first one seems to last long, and its end closes the list again. Between the
        two the mouse goes over another item: Qt takes them for one double click where it does not move.
        """
        for _ in range(CLICKS_TO_OPEN):
            self.click(name, "QuietBox")
            if self._wait(lambda seen: _called(seen, item, "Item"), SECONDS_TO_OPEN):
                break
        left = self.find(item, "Item").place[0]
        other = next(one for one in self.look() if one.kind == "Item" and one.place[0] == left and one.text != item)
        self.screen.point(*other.middle)
        self.until(lambda seen: [one for one in _called(seen, other.text, "Item") if one.has_focus], other.text)
        self.click(item, "Item")
        self.until(
            lambda seen: [one for one in seen if (one.name, one.text) == (name, item) and one.has_focus],
            f"{name}: {item}",
        )

    def enter(self, name: str, text: str, kind: str = "QLineEdit") -> None:
        """Into the line of that name, which is left by Tab."""
        self.click(name, kind)
        self.until(lambda seen: [one for one in _called(seen, name, kind) if one.has_focus], f"the focus in {name}")
        self.screen.press("ctrl+a")
        self.screen.write(text)
        self.screen.press("Tab")
        self.until(
            lambda seen: [one for one in seen if (one.name, one.text) == (name, text) and not one.has_focus],
            f"{name}: {text}",
        )

    def pixels(self, name: str, kind: str = "") -> Pixels:
        """What the screen shows there."""
        x, y, width, height = self.find(name, kind).place
        return self.screen.grab()[y : y + height, x : x + width]

    def keep(self, stage: str) -> None:
        """A picture of the screen."""
        save_picture(self.screen.grab(), self._folder / f"{stage}.png")

    def wait(self) -> None:
        """Until the panel, which was closed, has ended as it should."""
        assert self._process.wait(SECONDS_TO_CLOSE) == 0, self._log.read_text()
        assert not self._log.read_text()

    def _wait(self, find: Callable[[list[Seen]], Found], seconds: float) -> Found:
        """What is found by then, even if it is nothing."""
        end = time.monotonic() + seconds
        while not (found := find(self.look())) and time.monotonic() < end:
            pass
        return found

    def give_up(self) -> None:
        """End what is left of the panel; its answers process goes with it."""
        self._process.kill()
        self._process.wait(SECONDS_TO_CLOSE)


def _called(seen: list[Seen], name: str, kind: str) -> list[Seen]:
    return [one for one in seen if one.is_called(name, kind)]
