from __future__ import annotations

from pathlib import Path

import pytest
from tests.core.records import lay_run
from tests.ui.answers.conftest import Answer
from tests.ui.answers.test_rows import DEAD, in_state, silent_for, submitted, watched

from understudy.errors import UnderstudyError
from understudy.report.run_record import read_record
from understudy.runs import RunFiles
from understudy_farm.folder import read_sent
from understudy_ui.answers.condition import SECONDS_OF_SILENCE


def act(answer: Answer, question: str, files: RunFiles, **more: str | int | None) -> str:
    done = answer(question, place=str(files.record), **more)
    assert isinstance(done, dict)
    return str(done["said"])


def test_stop_leaves_the_file_that_a_run_listens_to(answer: Answer, tmp_path: Path) -> None:
    files = lay_run(tmp_path, "run", in_state("training"))
    assert act(answer, "stop", files) == "run was asked to write a checkpoint and end."
    assert files.stop_requests()[0].exists()
    over = lay_run(tmp_path, "over")
    with pytest.raises(UnderstudyError, match="is finished, not training"):
        act(answer, "stop", over)


@pytest.mark.parametrize("name", ["requeue", "cancel"])
def test_a_run_without_a_job_is_no_farms_business(answer: Answer, tmp_path: Path, name: str) -> None:
    with pytest.raises(UnderstudyError, match="no farm has this run; stop or resume it instead"):
        act(answer, name, lay_run(tmp_path, "run"))


@pytest.mark.parametrize("state", ["submitted", "training", "finished"])
def test_what_goes_on_already_or_is_done_is_not_resumed(answer: Answer, tmp_path: Path, state: str) -> None:
    files = lay_run(tmp_path, "run", in_state(state))  # type: ignore[arg-type]
    with pytest.raises(UnderstudyError, match=f"is {state}; there is nothing to resume"):
        act(answer, "resume", files)


def test_a_resume_that_cannot_begin_tells_why(answer: Answer, tmp_path: Path) -> None:
    files = lay_run(tmp_path, "run", in_state("stopped"))
    with pytest.raises(UnderstudyError) as refused:
        act(answer, "resume", files)
    assert str(files.record) in str(refused.value)
    assert read_record(files.record).state == "stopped"


def test_a_job_is_found_under_its_runs_new_name(answer: Answer, tmp_path: Path) -> None:
    files = watched(tmp_path / "v001", in_state("finished"), DEAD, "done", "done")
    assert act(answer, "rename", files, name="wires") == "run is called wires now."
    renamed = RunFiles(files.directory, "wires")
    assert read_sent(files.directory).job.run_name == "wires"
    assert read_record(renamed.record).settings["run_name"] == "wires"
    assert not files.record.exists()
    with pytest.raises(UnderstudyError, match="cannot begin a file name"):
        act(answer, "rename", renamed, name="a/b")


def test_a_name_that_the_job_cannot_take_is_taken_back(
    answer: Answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = watched(tmp_path / "v001", in_state("finished"), DEAD, "done", "done")

    def refuse(path: Path, _: str) -> None:
        raise UnderstudyError(f"{path}: cannot be written (disk full)")

    monkeypatch.setattr("understudy_ui.answers.actions.write_text", refuse)
    with pytest.raises(UnderstudyError, match="disk full"):
        act(answer, "rename", files, name="wires")
    assert files.record.exists()
    assert read_record(files.record).settings["run_name"] == "run"


def test_a_version_goes_to_the_trash_with_its_folder_and_a_plain_run_alone(answer: Answer, tmp_path: Path) -> None:
    version = watched(tmp_path / "v001", in_state("finished"), DEAD, "done")
    plain, other = lay_run(tmp_path, "plain"), lay_run(tmp_path, "other")
    act(answer, "trash", version)
    act(answer, "trash", plain)
    assert sorted(path.name for path in (tmp_path / ".trash").iterdir()) == ["plain", "v001"]
    assert not version.directory.exists()
    assert other.record.exists()


def test_a_lost_run_may_be_thrown_away_and_a_living_one_not(answer: Answer, tmp_path: Path) -> None:
    files = lay_run(tmp_path, "run", in_state("training"))
    with pytest.raises(UnderstudyError, match="is training; stop it first"):
        act(answer, "trash", files)
    silent_for(files, 2 * SECONDS_OF_SILENCE)
    assert "lies in" in act(answer, "trash", files)


def test_a_version_into_which_another_run_was_trained_keeps_that(answer: Answer, tmp_path: Path) -> None:
    files = watched(tmp_path / "v001", in_state("finished"), DEAD, "done")
    guest = lay_run(files.directory, "guest")
    act(answer, "trash", files)
    assert guest.record.exists()
    assert not files.record.exists()


def test_a_job_that_is_broken_is_told_of(answer: Answer, tmp_path: Path) -> None:
    files, _ = submitted(tmp_path / "v001", in_state("finished"))
    files.directory.joinpath("farm/sent.json").write_text("{}")
    with pytest.raises(UnderstudyError, match=r"sent\.json: is damaged"):
        act(answer, "cancel", files)
