"""The run on view in two lines: how far it is, by steps or by the clock, and where its farm shows it."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot
from tests.ui.panel.fake_desk import FakeDesk, FakeVoice

from understudy_ui.panel.model.runs import Runs
from understudy_ui.panel.model.speech import BETWEEN
from understudy_ui.panel.widgets.run_header import RunHeader
from understudy_ui.protocol import RunRow, RunShown

ROW: RunRow = {
    "place": "/runs/v001/a.run.json",
    "name": "a",
    "version": "v001",
    "state": "training",
    "step": 50,
    "total_steps": 200,
    "minutes": 0.0,
    "loss": 1e-3,
    "started": "2026-11-21T12:00:00+01:00",
    "seconds_left": 90.0,
    "farm": "local",
    "fault": "",
}


def run_of(row: RunRow, link: str) -> RunShown:
    return {
        "row": row,
        "ranks": [],
        "tasks": [],
        "link": link,
        "checkpoints": [],
        "models": [],
        "best_step": 0,
        "best_psnr": None,
        "is_settled": False,
        "good_enough_seconds": None,
        "sheets": [],
        "pairs": [],
        "settings": {},
        "command": "",
    }


@pytest.fixture
def header(qtbot: QtBot) -> RunHeader:
    shown = RunHeader(Runs(FakeDesk(), FakeVoice()), lambda: -1)
    qtbot.addWidget(shown)
    return shown


@pytest.mark.parametrize(
    ("minutes", "left", "state", "share", "said"),
    [
        (0.0, 90.0, "training", 0.25, "step 50 of 200"),
        (2.0, 90.0, "training", 0.25, "step 50"),
        (6.0, 90.0, "training", 0.75, "step 50"),
        (6.0, None, "training", 0.25, "step 50"),
        (6.0, None, "finished", 1.0, "step 50"),
    ],
)
def test_a_run_by_the_clock_is_as_far_as_its_time(
    header: RunHeader, minutes: float, left: float | None, state: str, share: float, said: str
) -> None:
    row: RunRow = {**ROW, "minutes": minutes, "seconds_left": left, "state": state}
    header.show_run(row, run_of(row, ""))
    assert header.progress.value() / header.progress.maximum() == share
    assert header.about.text().split("  ")[0] == said


@pytest.mark.parametrize(
    ("link", "is_shown"),
    [("https://farm.example/jobs/4711", True), ("understudy status /runs/v001", False), ("", False)],
)
def test_the_monitor_is_offered_where_the_farm_has_one(header: RunHeader, link: str, is_shown: bool) -> None:
    header.show_run(ROW, run_of(ROW, link))
    assert header.link.isHidden() != is_shown


def test_what_validation_says_stands_behind_the_rest(header: RunHeader) -> None:
    run: RunShown = {**run_of(ROW, ""), "best_psnr": 41.26, "is_settled": True, "good_enough_seconds": 80.0}
    header.show_run(ROW, run)
    assert header.about.text().split(BETWEEN)[-3:] == ["best 41.3 dB", "settled", "good enough after 1 min"]
    header.show_run(ROW, run_of(ROW, ""))
    assert header.about.text().split(BETWEEN)[-1] == "local"
