"""Following runs without a window: what is asked when, and what a late answer may not do."""

from __future__ import annotations

from tests.ui.panel.fake_desk import FakeDesk, FakeVoice
from tests.ui.panel.stand_in_answers import StandIn, parse

from understudy_ui.panel.model.log_tail import LogTail
from understudy_ui.panel.model.run_view import RunView
from understudy_ui.panel.model.runs import Runs
from understudy_ui.panel.model.sheets import Sheets


def play(desk: FakeDesk, played: StandIn, question: str) -> None:
    asked = desk.open(question)[0]
    desk.answer(question, played.answer(question, asked.about))


def make_runs() -> tuple[Runs, FakeDesk, StandIn]:
    desk, played = FakeDesk(), StandIn(parse([]))
    runs = Runs(desk, FakeVoice())
    runs.open("/show/runs")
    runs.watch()
    return runs, desk, played


def test_looks_never_overlap_and_end_when_nobody_watches() -> None:
    runs, desk, played = make_runs()
    assert len(desk.open("runs")) == 1
    play(desk, played, "runs")
    assert len(runs.rows) == 6
    desk.pass_time()
    assert len(desk.open("runs")) == 1
    runs.rest()
    assert desk.open("runs") == []


def test_the_newest_run_is_selected_first() -> None:
    runs, desk, played = make_runs()
    play(desk, played, "runs")
    assert runs.selected == [runs.rows[0]["place"]]


def test_a_folder_that_cannot_be_read_is_said_and_looked_at_again() -> None:
    runs, desk, played = make_runs()
    desk.fail("runs", "/show/runs: there is no such folder")
    assert runs.fault == "/show/runs: there is no such folder"
    desk.pass_time()
    play(desk, played, "runs")
    assert runs.fault == ""


def test_what_was_seen_of_a_deleted_run_stays_with_the_fault() -> None:
    desk, played = FakeDesk(), StandIn(parse([]))
    view = RunView(desk)
    view.watch()
    view.show(["/show/runs/v006/0"])
    play(desk, played, "run")
    desk.pass_time()
    desk.fail("run", "the run's record is gone")
    assert view.run is not None
    assert view.fault == "the run's record is gone"


def test_a_curve_of_a_run_that_is_no_longer_selected_is_dropped() -> None:
    desk, played = FakeDesk(), StandIn(parse([]))
    view = RunView(desk)
    view.watch()
    view.show(["/show/runs/v006/0"])
    late = desk.open("curve")[0]
    view.show(["/show/runs/v005/1"])
    late.then(played.answer("curve", late.about))
    assert "/show/runs/v006/0" not in view.curves


def test_a_log_goes_on_where_it_ended_and_begins_anew_when_it_shrank() -> None:
    desk = FakeDesk()
    tail = LogTail(desk)
    tail.follow("run", 1)
    tail.watch()
    desk.answer("log", {"text": "one\n", "offset": 4})
    desk.pass_time()
    assert desk.open("log")[0].about == {"place": "run", "rank": 1, "offset": 4}
    began: list[None] = []
    tail.began_anew.subscribe(lambda: began.append(None))
    desk.answer("log", {"text": "new\n", "offset": 3})
    assert (len(began), tail.take()) == (1, "new\n")


def test_sheets_follow_the_newest_until_another_is_taken() -> None:
    desk = FakeDesk()
    sheets = Sheets(desk)
    sheets.show("run", [100, 200])
    desk.answer("sheet", {"path": "200.png"})
    sheets.choose(100)
    desk.answer("sheet", {"path": "100.png"})
    sheets.show("run", [100, 200, 300])
    assert (sheets.path, desk.open("sheet")) == ("100.png", [])
    sheets.choose(300)
    desk.answer("sheet", {"path": "300.png"})
    sheets.show("run", [100, 200, 300, 400])
    assert desk.open("sheet")[0].about == {"place": "run", "step": 400}
