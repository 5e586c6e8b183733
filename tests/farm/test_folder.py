"""Versions of a run's folder: every submission gets its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from understudy.errors import UnderstudyError
from understudy_farm.folder import claim_version, discard_version, newest_version, read_sent


def test_versions_rise_and_are_never_reused(tmp_path: Path) -> None:
    assert newest_version(tmp_path / "runs") == 0
    assert claim_version(tmp_path / "runs").name == "v001"
    (tmp_path / "runs" / "v041").mkdir()
    (tmp_path / "runs" / "v9x").mkdir()
    assert claim_version(tmp_path / "runs").name == "v042"


def test_submitters_at_once_get_versions_of_their_own(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as several:
        claimed = list(several.map(lambda _: claim_version(tmp_path), range(64)))
    assert len(set(claimed)) == 64


def test_a_version_that_was_not_sent_goes(tmp_path: Path) -> None:
    folder = claim_version(tmp_path)
    (folder / "farm").mkdir()
    (folder / "farm" / "x").touch()
    discard_version(folder)
    assert not any(tmp_path.iterdir())


def test_a_folder_without_a_job_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match=r"job\.json: cannot be read"):
        read_sent(tmp_path)
