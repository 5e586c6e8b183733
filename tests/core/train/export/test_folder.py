"""An export's folder is whole or as it was, and never in the place of something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.errors import UnderstudyError
from understudy.train.export.folder import RECORD, whole_folder


def _filled(folder: Path, name: str, fault: str = "") -> None:
    with whole_folder(folder) as aside:
        (aside / name).write_text(name)
        if fault:
            raise ValueError(fault)
        (aside / RECORD).write_text("{}")


def test_a_new_export_takes_the_place_of_an_old_one_as_a_whole(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "export"
    _filled(folder, "first")
    _filled(folder, "second")
    assert sorted(path.name for path in folder.iterdir()) == [RECORD, "second"]
    assert [path.name for path in folder.parent.iterdir()] == ["export"]


def test_after_a_fault_everything_is_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    _filled(folder, "first")
    with pytest.raises(ValueError, match="half-way"):
        _filled(folder, "second", fault="half-way")
    assert sorted(path.name for path in folder.iterdir()) == [RECORD, "first"]
    assert [path.name for path in tmp_path.iterdir()] == ["export"]


def test_other_things_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "plates").mkdir()
    _filled(tmp_path / "plates", "an empty folder is taken")
    (tmp_path / "comp").mkdir()
    (tmp_path / "comp" / "shot.nk").touch()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "plates")
    for name, said in (
        ("comp", "holds something else than an export"),
        ("file", "is no folder"),
        ("link", "is no fol"),
    ):
        with pytest.raises(UnderstudyError, match=f"{name}: {said}.*choose another --folder"):
            _filled(tmp_path / name, "x")
    with pytest.raises(UnderstudyError, match=r"file: a file is in the way of this folder"):
        _filled(tmp_path / "file" / "export", "x")
