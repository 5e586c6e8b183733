from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from tests.core.records import lay_run
from tests.ui.answers.conftest import Answer

from understudy.errors import UnderstudyError
from understudy.runs import RunFiles
from understudy_farm.folder import JobFolder
from understudy_ui.answers.logs import MOST_BYTES
from understudy_ui.protocol import LogShown


@pytest.fixture
def run(tmp_path: Path) -> RunFiles:
    return lay_run(tmp_path, "run")


def log_of(answer: Answer, run: RunFiles, offset: int = 0, rank: int = 0) -> LogShown:
    return cast(LogShown, answer("log", place=str(run.record), rank=rank, offset=offset))


def test_whole_lines_from_where_the_last_answer_ended(answer: Answer, run: RunFiles) -> None:
    run.log(1).write_text("first ä\nsecond\nhal", encoding="utf-8")
    said = log_of(answer, run, rank=1)
    assert said == {"text": "first ä\nsecond\n", "offset": 16}
    assert log_of(answer, run, said["offset"], 1) == {"text": "", "offset": 16}
    with run.log(1).open("a") as file:
        file.write("f\nlast\n")
    assert log_of(answer, run, said["offset"], 1)["text"] == "half\nlast\n"


def test_a_long_log_comes_in_pieces_without_a_gap(answer: Answer, run: RunFiles) -> None:
    whole = "".join(f"{number}: {'x' * (number % 200)}\n" for number in range(8000))
    run.log().write_text(whole)
    text, offset = "", 0
    while piece := log_of(answer, run, offset)["text"]:
        assert len(piece) <= MOST_BYTES
        text, offset = text + piece, offset + len(piece.encode())
    assert text == whole


@pytest.mark.parametrize("after", ["shorter\n", "longer, and no line begins where the other one ended\n"])
def test_a_log_that_began_anew_is_told_from_its_beginning(answer: Answer, run: RunFiles, after: str) -> None:
    run.log().write_text("one line of some length\n")
    offset = log_of(answer, run)["offset"]
    run.log().write_text(after)
    assert log_of(answer, run, offset) == {"text": after, "offset": len(after)}


def test_a_line_longer_than_an_answer_does_not_stop_it(answer: Answer, run: RunFiles) -> None:
    run.log().write_text("x" * (MOST_BYTES + 10) + "\nlast\n")
    said = log_of(answer, run)
    assert len(said["text"]) == MOST_BYTES


def test_a_rank_that_never_came_so_far_is_heard_through_its_task(answer: Answer, run: RunFiles) -> None:
    assert log_of(answer, run) == {"text": "", "offset": 0}
    folder = JobFolder(run.directory)
    folder.farm.mkdir()
    folder.task_log("train", 0).write_text("understudy: plate.1.exr: no such file\n")
    assert "no such file" in log_of(answer, run)["text"]


def test_a_place_that_is_no_run_is_told_of(answer: Answer, tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match="is no record of a run"):
        answer("log", place=str(tmp_path), rank=0, offset=0)
