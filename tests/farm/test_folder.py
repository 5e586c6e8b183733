"""Versions of a run's folder: every submission gets its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from understudy.errors import UnderstudyError
from understudy.versions import newest_version
from understudy_farm.folder import new_version, read_sent


def claimed(data_directory: Path) -> Path:
    with new_version(data_directory) as folder:
        return folder


def test_versions_rise_and_are_never_reused(tmp_path: Path) -> None:
    assert newest_version(tmp_path / "runs") == 0
    assert claimed(tmp_path / "runs").name == "v001"
    (tmp_path / "runs" / "v041").mkdir()
    (tmp_path / "runs" / "v9x").mkdir()
    assert claimed(tmp_path / "runs").name == "v042"


def test_submitters_at_once_get_versions_of_their_own(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as several:
        folders = list(several.map(lambda _: claimed(tmp_path), range(64)))
    assert len(set(folders)) == 64


def fail_in(data_directory: Path) -> None:
    with new_version(data_directory) as folder:
        (folder / "farm").mkdir()
        (folder / "farm" / "x").touch()
        raise KeyboardInterrupt


def test_a_version_that_was_not_sent_goes_with_every_folder_made_for_it(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    for data in (tmp_path / "kept", tmp_path / "new" / "runs"):
        with pytest.raises(KeyboardInterrupt):
            fail_in(data)
    assert [path.name for path in tmp_path.rglob("*")] == ["kept"]


def test_a_folder_without_a_job_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match=r"job\.json: cannot be read"):
        read_sent(tmp_path)
