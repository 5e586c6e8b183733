"""Versions of a run's folder: every submission gets its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.farm.jobs import RANKS, job_for

from understudy.errors import UnderstudyError
from understudy.versions import newest_version
from understudy_farm.backend import Capabilities, Receipt
from understudy_farm.commands import COMMANDS, read_commands
from understudy_farm.folder import Sent, new_version, read_sent, write_job, write_sent
from understudy_farm.following import tasks_of
from understudy_farm.tasks import read_job_record
from understudy_farm.watcher import TASKS


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


@pytest.fixture
def sent(tmp_path: Path) -> Sent:
    job = job_for(RANKS, Capabilities(), tmp_path)
    sent = Sent(job=job, farm="local", options={"gpus": "1"}, receipt=Receipt(ids={"train": "7"}, link="x"))
    write_job(sent.folder, job, {})
    write_sent(sent)
    return sent


def test_a_job_that_was_sent_is_found_as_it_was(sent: Sent) -> None:
    assert read_sent(sent.job.run_directory) == sent


@pytest.mark.parametrize("content", [b"", b"[]", b'{"farm": 5}', b"[" * 100_000, b"\xff\xfe", b"{}"])
def test_damaged_files_of_a_job_are_named(sent: Sent, content: bytes) -> None:
    sent.folder.sent.write_bytes(content)
    with pytest.raises(UnderstudyError, match=r"sent\.json: is damaged"):
        read_sent(sent.job.run_directory)
    sent.folder.job.write_bytes(content)
    with pytest.raises(UnderstudyError, match=r"job\.json: is (damaged|no job of this version)"):
        read_sent(sent.job.run_directory)
    tasks, commands = (sent.folder.farm / name for name in (TASKS, COMMANDS))
    for path in (tasks, commands):
        path.write_bytes(content)
    assert read_job_record(tasks) is None
    with pytest.raises(UnderstudyError, match=r"commands\.json: cannot be read"):
        read_commands(commands)


def test_a_farm_that_is_not_here_is_named_with_who_stated_it(sent: Sent) -> None:
    with pytest.raises(UnderstudyError, match=r"sent\.json: farm nowhere: no such farm"):
        tasks_of(replace(sent, farm="nowhere"))


def test_options_that_an_older_version_did_not_know_have_their_defaults(sent: Sent) -> None:
    older = replace(sent, options={})
    assert [task.state for task in tasks_of(older)] == ["waiting"] * 3
