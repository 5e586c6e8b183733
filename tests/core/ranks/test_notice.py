"""What rank 0 leaves in the data directory, and how the others find it by that."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.core.ranks.wires import LOOPBACK, saying

from understudy.errors import UnderstudyError
from understudy.ranks import notice as notice_module
from understudy.ranks.lines import greet_as_desk
from understudy.ranks.member import Endpoint
from understudy.ranks.notice import (
    Notice,
    desk_finder,
    is_answered,
    listen,
    new_secret,
    notice_path,
    publish,
    publish_failure,
    read_notice,
    secret_given,
    this_process,
    withdraw,
    write_notice,
)
from understudy.ranks.place import RankPlace

NOTICE = Notice(run_name="shot", secret="s" * 64, address="10.1.0.1", port=4000, written_by="render01, pid 7")
AUTO = RankPlace(rank=1, world_size=2, main_address="", main_port=0, given_by="the test")
FIXED = dataclasses.replace(AUTO, main_address="10.9.0.1", main_port=30000)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return notice_path(tmp_path, "")


def place_found(find_desk: Callable[[], Endpoint | str]) -> tuple[str, int, str, bool]:
    endpoint = find_desk()
    assert isinstance(endpoint, Endpoint), endpoint
    return endpoint.address, endpoint.port, endpoint.secret.decode(), endpoint.is_fixed


def test_the_notice_is_called_after_the_run_where_all_know_its_name(tmp_path: Path) -> None:
    assert notice_path(tmp_path, "").name == "ranks.meeting.json"
    assert notice_path(tmp_path, "paint_v3").name == "paint_v3.meeting.json"


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_only_the_owner_can_read_the_secret(path: Path) -> None:
    before = os.umask(0)
    try:
        write_notice(path, NOTICE)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_notice(path) == NOTICE
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("content", [None, b"", b"{", b"null", b"[]", b'{"run_name": "shot"}', b"\xff\xfe"])
def test_what_is_no_notice_counts_as_none(path: Path, content: bytes | None) -> None:
    if content is not None:
        path.write_bytes(content)
    assert read_notice(path) is None


def test_another_notice_is_not_withdrawn(path: Path) -> None:
    write_notice(path, dataclasses.replace(NOTICE, written_by="render02, pid 8"))
    withdraw(path, NOTICE)
    assert path.exists()
    write_notice(path, NOTICE)
    withdraw(path, NOTICE)
    withdraw(path, NOTICE)
    assert not path.exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UnderstudyError, match=r"ranks\.meeting\.json: cannot be written"):
        write_notice(notice_path(tmp_path / "file", ""), NOTICE)
    publish_failure(notice_path(tmp_path / "file", ""), run_name="shot", reason="the port is in use")


def test_what_rank_0_publishes_is_where_it_listens(path: Path) -> None:
    with listen(LOOPBACK, 0) as listener:
        notice = publish(path, run_name="shot", secret="s" * 64, listener=listener)
        socket.create_connection((notice.address, notice.port)).close()
    assert (notice.address, notice.written_by, notice.gave_up) == (LOOPBACK, this_process(), "")
    assert read_notice(path) == notice


def test_a_port_in_use_is_named() -> None:
    with listen(LOOPBACK, 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(UnderstudyError, match=f"rank 0 cannot listen on 127.0.0.1 port {port}: the port is in use"):
            listen(LOOPBACK, port)


def test_an_address_of_another_machine_is_named() -> None:
    with pytest.raises(
        UnderstudyError, match=r"cannot listen on 192\.0\.2\.1 port 0: that is no address of this machine"
    ):
        listen("192.0.2.1", 0)


def test_the_secret_of_the_environment_must_be_long_enough() -> None:
    assert secret_given({}) == secret_given({"UNDERSTUDY_SECRET": ""}) == ""
    assert secret_given({"UNDERSTUDY_SECRET": "x" * 16}) == "x" * 16
    with pytest.raises(UnderstudyError, match="UNDERSTUDY_SECRET: is too short; give at least 16 characters"):
        secret_given({"UNDERSTUDY_SECRET": "x" * 15})
    assert len({new_secret(), new_secret()}) == 2
    assert len(new_secret()) >= 32


@pytest.mark.parametrize("knows_secret", [True, False])
def test_a_notice_is_answered_by_who_knows_its_secret(knows_secret: bool) -> None:
    secret = NOTICE.secret if knows_secret else "another"
    with listen(LOOPBACK, 0) as listener, ThreadPoolExecutor() as pool:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                greet_as_desk(connection, secret.encode(), silence_seconds=20.0)

        answering = pool.submit(answer)
        notice = dataclasses.replace(NOTICE, address=LOOPBACK, port=listener.getsockname()[1])
        assert is_answered(notice) is knows_secret
        assert (answering.exception(20.0) is None) is knows_secret


@pytest.mark.parametrize("said", [b"", b"SSH-2.0-OpenSSH_9.6\r\n"], ids=["silent", "ssh"])
def test_a_notice_is_not_answered_by_another_program(monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    monkeypatch.setattr(notice_module, "PROBE_SECONDS", 0.3)
    with saying(said) as port:
        notice = dataclasses.replace(NOTICE, address=LOOPBACK, port=port)
        assert not is_answered(notice)
    assert not is_answered(notice)


def test_a_rank_that_was_told_nothing_goes_by_the_notice(path: Path) -> None:
    find = desk_finder(AUTO, path, "")
    assert find() == f"{path} is not there yet"
    write_notice(path, NOTICE)
    assert place_found(find) == ("10.1.0.1", 4000, NOTICE.secret, False)
    write_notice(path, dataclasses.replace(NOTICE, port=5000))
    assert place_found(find) == ("10.1.0.1", 5000, NOTICE.secret, False)
    assert place_found(desk_finder(AUTO, path, "e" * 16)) == ("10.1.0.1", 5000, "e" * 16, False)


def test_a_rank_that_was_told_everything_needs_no_notice(path: Path) -> None:
    write_notice(path, NOTICE)
    assert place_found(desk_finder(FIXED, path, "e" * 16)) == ("10.9.0.1", 30000, "e" * 16, True)


def test_a_rank_that_was_told_the_place_takes_the_secret_of_the_notice(path: Path) -> None:
    find = desk_finder(FIXED, path, "")
    assert find() == f"{path} is not there yet, and UNDERSTUDY_SECRET is not set"
    write_notice(path, NOTICE)
    assert find() == f"{path} is of another attempt (port 4000, by render01, pid 7)"
    write_notice(path, dataclasses.replace(NOTICE, port=30000))
    assert place_found(find) == ("10.9.0.1", 30000, NOTICE.secret, True)


def test_that_rank_0_could_not_begin_ends_the_wait_unless_it_was_an_earlier_one(path: Path) -> None:
    publish_failure(path, run_name="shot", reason="the port is in use")
    words = f"{this_process()}.* could not begin: the port is in use"
    find = desk_finder(AUTO, path, "")
    told = find()
    assert isinstance(told, str)
    assert told.startswith("an earlier rank 0 (")
    write_notice(path, NOTICE)
    assert place_found(find)[1] == 4000
    path.unlink()
    waiting = desk_finder(AUTO, path, "")
    publish_failure(path, run_name="shot", reason="the port is in use")
    with pytest.raises(UnderstudyError, match=words):
        waiting()


@pytest.mark.parametrize(
    ("name", "value"), [("port", "x"), ("port", 65536), ("port", -1), ("address", 5), ("secret", [])]
)
def test_a_notice_of_other_kinds_of_values_counts_as_none(path: Path, name: str, value: object) -> None:
    path.write_text(json.dumps({**dataclasses.asdict(NOTICE), name: value}))
    assert read_notice(path) is None
    assert "is not there yet" in str(desk_finder(AUTO, path, "")())
