"""Blender's window under a display of its own, with real clicks: the tab is opened, Train and Apply are pressed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.plugin.blender.conftest import FIRST, HERE, LAST
from tests.screens import Screen, needs_screen, open_screen

STEPS = 120
"""Enough for a contact sheet; test_headless.py looks at what was learnt."""
TAB, TRAIN, APPLY = (1587, 249), (1535, 597), (1532, 623)
"""Where they lie in a window of 1600 x 900 with factory settings."""

pytestmark = [needs_screen, pytest.mark.skipif(not shutil.which("blender"), reason="no command blender")]


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    with open_screen(tmp_path, 1600, 900) as opened:
        yield opened


class Window:
    """Blender in the middle of an artist's work; window.py says what goes on in it."""

    def __init__(self, screen: Screen, shot: Path, folder: Path) -> None:
        self.screen, self.folder = screen, folder
        (folder / "home").mkdir()
        understudy = Path(sys.executable).with_name("understudy")
        words = [shot, FIRST, LAST, folder, understudy, STEPS]
        self._log = (folder / "blender.log").open("w")
        command = ["blender", "--factory-startup", "--window-geometry", *["0", "0", "1600", "900"]]
        self._process = subprocess.Popen(
            [*command, "-P", str(HERE / "window.py"), "--", *map(str, words)],
            env={**screen.environment, "LIBGL_ALWAYS_SOFTWARE": "1", "HOME": str(folder / "home")},
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )

    def told(self) -> dict[str, object]:
        """The newest look; empty before the first."""
        path = self.folder / "told.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
        whole = [line for line in lines if line.endswith("\n")]
        return dict(json.loads(whole[-1])) if whole else {}

    def until(self, is_seen: Callable[[dict[str, object]], bool], seconds: float = 120) -> dict[str, object]:
        end = time.monotonic() + seconds
        while not is_seen(told := self.told()):
            assert self._process.poll() is None, self.log()
            assert time.monotonic() < end, (told, self.log())
            time.sleep(0.2)
        time.sleep(1)  # until the panel is drawn anew
        return told

    def click(self, place: tuple[int, int]) -> None:
        self.screen.point(*place)
        time.sleep(0.5)  # until Blender has seen the mouse there
        self.screen.click(*place)
        time.sleep(0.5)

    def log(self) -> str:
        return (self.folder / "blender.log").read_text(errors="replace")

    def close(self) -> None:
        (self.folder / "quit").touch()
        try:
            self._process.wait(20)
        finally:
            self._process.kill()
            self._log.close()


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_an_artist_opens_the_tab_trains_and_applies(screen: Screen, shot: Path, tmp_path: Path) -> None:
    window = Window(screen, shot, tmp_path)
    try:
        window.until(bool)
        window.click(TAB)
        window.click(TRAIN)
        window.until(lambda told: told["stage"] == "Training" and told["step"] != 0)
        told = window.until(lambda told: not told["stage"] and told["state"] == "done")
        assert told["problem"] == []
        assert str(told["sheet"]).startswith(str(told["run"]))
        window.click(APPLY)
        told = window.until(lambda told: ["Understudy Result", "Alpha", "Viewer"] in told["links"])  # type: ignore[operator]
        assert told["problem"] == []
    finally:
        window.close()
    assert "Traceback" not in window.log(), window.log()
    assert len([*Path(str(told["run"]), "result").glob("result.*.exr")]) == LAST - FIRST + 1
