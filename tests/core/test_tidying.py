from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from tests.core.records import RECORD, lay_run

from understudy.errors import UnderstudyError
from understudy.report.run_record import read_record, write_record
from understudy.runs import RunFiles
from understudy.tidying import TRASH, files_of, rename, throw_away


@pytest.fixture
def run(tmp_path: Path) -> RunFiles:
    """A finished run, and beside it one whose name begins alike."""
    lay_run(tmp_path, "first.b")
    return lay_run(tmp_path, "first")


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_all_files_of_a_run_get_its_new_name_and_no_others(run: RunFiles) -> None:
    before = {path.name: path.read_bytes() for path in files_of(run)}
    others = names_in(run.directory) - before.keys()
    renamed = rename(run, "wires_v2")
    own = {path.name for path in files_of(renamed)}
    assert own == {"wires_v2" + name.removeprefix("first") for name in before}
    assert names_in(run.directory) == own | others
    assert renamed.metrics.read_bytes() == before["first.metrics.jsonl"]
    record = read_record(renamed.record)
    assert record.settings["run_name"] == "wires_v2"
    assert dataclasses.replace(record, settings=RECORD.settings) == RECORD


@pytest.mark.parametrize("name", ["", "a/b", ".hidden", "first.b"])
def test_a_name_that_cannot_be_or_is_taken_changes_nothing(run: RunFiles, name: str) -> None:
    before = names_in(run.directory)
    with pytest.raises(UnderstudyError):
        rename(run, name)
    assert names_in(run.directory) == before
    assert read_record(run.record).settings["run_name"] == "first"


def test_a_run_that_trains_is_left_alone(run: RunFiles) -> None:
    write_record(run.record, dataclasses.replace(read_record(run.record), state="training"))
    with pytest.raises(UnderstudyError, match="is training; stop it first"):
        rename(run, "other")
    with pytest.raises(UnderstudyError, match="is training; stop it first"):
        throw_away(run, is_alone=False)
    assert rename(run, "other", has_ended=True).record.exists()


def test_a_renaming_that_fails_half_way_is_taken_back(run: RunFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {path.name: path.read_bytes() for path in run.directory.iterdir()}
    moving = Path.rename

    def refuse_the_record(path: Path, target: Path) -> Path:
        if path == run.record:
            raise OSError(13, "Permission denied")
        return moving(path, target)

    monkeypatch.setattr(Path, "rename", refuse_the_record)
    with pytest.raises(UnderstudyError, match="cannot be moved"):
        rename(run, "other")
    assert {path.name: path.read_bytes() for path in run.directory.iterdir()} == before


def test_a_renaming_that_was_killed_is_finished_by_another(run: RunFiles) -> None:
    run.metrics.rename(run.directory / "other.metrics.jsonl")
    assert rename(run, "other").metrics.exists()
    assert not [name for name in names_in(run.directory) if name.startswith("first.") and "first.b" not in name]


def test_the_trash_takes_a_run_among_others(run: RunFiles) -> None:
    own = {path.name for path in files_of(run)}
    place = throw_away(run, is_alone=False)
    assert (place, names_in(place)) == (run.directory / TRASH / "first", own)
    assert all(name.startswith("first.b.") for name in names_in(run.directory) - {TRASH})


def test_the_trash_takes_versions_of_one_name_one_after_the_other(tmp_path: Path) -> None:
    for number in (1, 2):
        run = lay_run(tmp_path / "v003", "run")
        place = throw_away(run, is_alone=True)
        assert place == tmp_path / TRASH / ("v003" if number == 1 else "v003.2")
        assert (place / run.record.name).exists()
        assert names_in(tmp_path) == {TRASH}
