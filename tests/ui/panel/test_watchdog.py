"""The window stays awake: no event waits longer than 100 ms, however long runs and logs are."""

from __future__ import annotations

import logging

import pytest
from pytestqt.qtbot import QtBot
from tests.ui.panel.conftest import OpenPanel
from tests.ui.panel.waiting import Watchdog, settle

from understudy_ui.panel.model.source import Source

LONGEST_MILLISECONDS = 100
LONG = ("--num-steps", "100000", "--num-sheets", "2000", "--num-runs", "1000", "--steps-a-second", "2000")


@pytest.mark.slow
def test_a_long_run_is_followed_without_a_pause(qtbot: QtBot, open_panel: OpenPanel, watchdog: Watchdog) -> None:
    panel = open_panel(*LONG)
    page = panel.runs_page
    panel.training.choose(Source(script="/show/sh010.nk", node="CopyCat1"))
    panel.runs.open("/show/runs")
    panel.places.setCurrentWidget(page)
    qtbot.waitUntil(lambda: bool(panel.run_view.curves) and len(page.sheet._sheets.steps) > 1000, timeout=30000)
    settle(1)
    watchdog.begin()
    for tab in (page.log, page.frame, page.ranks, page.sheet):
        page.tabs.setCurrentWidget(tab)
        settle(2.5)
    graph = page.graph.graph
    for turn in range(30):
        graph.zoom(60000, 0.8 if turn % 10 < 6 else 1.3)
        page.sheet.scrubber.setValue(turn * 40)
        settle(0.05)
    panel.runs.select([row["place"] for row in panel.runs.rows[:6]])
    settle(2.5)
    watchdog.end()
    logging.getLogger(__name__).info("%s", watchdog.said())  # --log-cli-level=INFO shows it
    assert watchdog.worst() < LONGEST_MILLISECONDS, watchdog.said()
