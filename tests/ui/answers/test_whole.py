"""A whole life of a run, asked for through the pipes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest
from tests.core.cli.command import end_of, start
from tests.core.train.shots import SmallShot
from tests.ui.answers.panel import Panel, wait_until

from understudy.report.run_record import read_record
from understudy.runs import find_run
from understudy_farm.folder import JobFolder
from understudy_farm.tasks import read_job_record
from understudy_farm.watcher import TASKS
from understudy_ui.protocol import CurveShown, Json, RunRow, RunShown, SuggestionShown

FOR_EVER = 10**6


def row_of(panel: Panel, shot: SmallShot) -> RunRow:
    rows = cast("list[RunRow]", panel.answer("runs", folder=str(shot.data)))
    assert len(rows) == 1
    return rows[0]


def states_of_ranks(panel: Panel, place: str) -> set[str]:
    return {rank["state"] for rank in cast(RunShown, panel.answer("run", place=place))["ranks"]}


def words_of(shot: SmallShot, *more: str, steps: int = FOR_EVER) -> list[Json]:
    return [*shot.train_words("--ranks", "2", "--silence-seconds", "2", *more, steps=steps)[1:]]


@pytest.mark.slow
def test_two_ranks_are_sent_watched_stopped_resumed_and_applied(panel: Panel, shot: SmallShot) -> None:
    number = panel.ask("submit", words=words_of(shot))
    sent = cast(Mapping[str, Json], panel.outcome(number)["answer"])
    assert (sent["run_directory"], sent["farm"]) == (str(shot.data / "v001"), "local")
    assert panel.told(number) == ["Looking at 2 pairs"]
    place = str(find_run(shot.data).record)

    wait_until(lambda: row_of(panel, shot)["step"] > 20)
    row = row_of(panel, shot)
    assert (row["version"], row["state"], row["farm"], row["fault"]) == ("v001", "training", "local", "")
    wait_until(lambda: (row_of(panel, shot)["seconds_left"] or 0) > 0)

    assert states_of_ranks(panel, place) == {"running"}
    curve = cast(CurveShown, panel.answer("curve", place=place, num_points=100, smoothness=0.6, first=0, last=0))
    assert (curve["steps"][0], curve["stages"]) == (1, [1])
    assert "rank" in curve["events"][0]
    for rank in (0, 1):
        log = panel.table("log", place=place, rank=rank, offset=0)
        assert f"rank {rank} of 2" in str(log["text"])
    wait_until(lambda: bool(panel.table("run", place=place)["sheets"]))
    sheets = cast(RunShown, panel.answer("run", place=place))["sheets"]
    assert Path(str(panel.table("sheet", place=place, step=sheets[0])["path"])).is_file()
    assert panel.table("estimate", words=words_of(shot, steps=100))["seconds"] is not None
    assert "still has tasks on local; cancel it first" in str(panel.faults("trash", place=place))

    assert "asked to write a checkpoint" in str(panel.table("stop", place=place)["said"])
    wait_until(lambda: row_of(panel, shot)["state"] == "stopped")
    wait_until(lambda: states_of_ranks(panel, place) == {"done"})
    stopped_at = row_of(panel, shot)["step"]
    assert "will start again" in str(panel.table("resume", place=place)["said"])
    wait_until(lambda: row_of(panel, shot)["step"] > stopped_at + 20)
    assert "is cancelled" in str(panel.table("cancel", place=place)["said"])
    wait_until(lambda: row_of(panel, shot)["state"] == "stopped")

    result = shot.folder / "result" / "r.####.exr"
    number = panel.ask("apply", place=place, input="", output=str(result), frames="1001-1002", checkpoint=None)
    assert "2 frames were made" in str(panel.outcome(number).get("answer")), panel.outcome(number)
    assert [path.name for path in sorted(result.parent.iterdir())] == ["r.1001.exr", "r.1002.exr"]
    view = panel.table("view", place=place, frame=1001, exposure=0.0, gamma=1.0, result=str(result))
    assert isinstance(view["psnr"], float)
    assert Path(str(view["difference"])).is_file()

    suggested = panel.answer("suggest", place=place, input="", count=1)
    assert isinstance(suggested, list)
    assert {cast(SuggestionShown, one)["frame"] for one in suggested} <= {1002, 1004}

    panel.answer("rename", place=place, name="wires")
    place = str(shot.data / "v001" / "wires.run.json")
    assert cast(RunShown, panel.answer("run", place=place))["row"]["name"] == "wires"
    panel.answer("trash", place=place)
    assert panel.answer("runs", folder=str(shot.data)) == []


@pytest.mark.slow
def test_a_bake_that_failed_is_started_again_with_its_run(panel: Panel, shot: SmallShot) -> None:
    licence = shot.folder / "licence"
    words = words_of(shot, "--bake", f"test -e {licence}", steps=12)
    panel.answer("submit", words=words)
    place = str(find_run(shot.data).record)
    wait_until(lambda: row_of(panel, shot)["state"] == "failed")
    shown = cast(RunShown, panel.answer("run", place=place))
    assert [(task["state"], task["note"]) for task in shown["tasks"]] == [("failed", "bake: exit code 1")]
    assert {rank["state"] for rank in shown["ranks"]} == {"cancelled"}
    licence.touch()
    assert str(panel.table("resume", place=place)["said"]).endswith("will start again on its farm, with its bake.")
    wait_until(lambda: row_of(panel, shot)["state"] == "finished")


@pytest.mark.slow
def test_a_job_goes_on_when_the_panel_goes_away(shot: SmallShot) -> None:
    with Panel() as panel:
        panel.answer("submit", words=words_of(shot, "--skip-check"))
    folder = JobFolder(shot.data / "v001")
    record = read_job_record(folder.farm / TASKS)
    assert record is not None
    assert record.watcher.alive()
    wait_until(lambda: read_record(find_run(shot.data).record).state == "training")
    with Panel() as panel:
        assert row_of(panel, shot)["state"] == "training"
        panel.answer("cancel", place=row_of(panel, shot)["place"])
        assert row_of(panel, shot)["state"] == "stopped"


@pytest.mark.slow
def test_a_run_of_no_farm_is_resumed_here_and_outlives_the_panel(shot: SmallShot) -> None:
    training = start(*shot.train_words(steps=FOR_EVER))
    wait_until(lambda: bool(list(shot.data.glob("*.6.safetensors"))))
    place = str(find_run(shot.data).record)
    with Panel() as panel:
        assert row_of(panel, shot)["state"] == "training"
        assert panel.faults("rename", place=place, name="other")
        panel.answer("stop", place=place)
        assert end_of(training).code == 3
        stopped = row_of(panel, shot)
        assert stopped["state"] == "stopped"
        assert "on this machine" in str(panel.table("resume", place=place)["said"])
    with Panel() as panel:
        wait_until(lambda: row_of(panel, shot)["step"] > stopped["step"] + 10)
        panel.answer("stop", place=place)
        wait_until(lambda: row_of(panel, shot)["state"] == "stopped")
