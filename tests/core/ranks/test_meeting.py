"""A rank's way into its run: how rank 0 publishes where it is, is lost, is replaced, and turns others away."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.core.ranks.tables import (
    DEADLINE,
    FACTS,
    line_threads,
    nobody,
    patience,
    ready,
    train_alone,
    wait_until,
)
from tests.core.ranks.wires import LOOPBACK, saying

from understudy.errors import EXIT_RANKS, RanksMissing, UnderstudyError
from understudy.ranks import notice as notice_module
from understudy.ranks.desk import Patience
from understudy.ranks.meeting import Invitation, Meeting
from understudy.ranks.member import GenerationOver
from understudy.ranks.notice import Notice, listen, notice_path, publish_failure, read_notice, write_notice
from understudy.ranks.place import RankPlace

SECRET = {"UNDERSTUDY_SECRET": "a secret of the farm"}

FROZEN_RANK_0 = """
import json, sys
from pathlib import Path
from understudy.errors import UnderstudyError
from tests.core.ranks.tables import ready
from tests.core.ranks.test_meeting import meeting_of

with meeting_of(0, Path(sys.argv[1])) as meeting:
    meeting.join()
    meeting.member.fix_terms(2)
    print("here", flush=True)
    try:
        ready(meeting.member)
    except UnderstudyError as error:
        print(json.dumps([error.exit_code, str(error)]), flush=True)
"""


@contextmanager
def meeting_of(
    rank: int,
    folder: Path,
    *,
    world_size: int = 2,
    main: tuple[str, int] = ("", 0),
    local_address: str = LOOPBACK,
    may_go_on: Callable[[str], bool] = lambda _: True,
    new_name: str = "shot",
    limits: Patience | None = None,
    min_ranks: int = 0,
    has_begun: bool = False,
    environment: dict[str, str] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Iterator[Meeting]:
    """That rank's, left at the end of the block without an end of the run."""
    place = RankPlace(
        rank=rank,
        world_size=world_size,
        main_address=main[0],
        main_port=main[1],
        local_address=local_address,
        given_by="the test",
    )
    invitation = Invitation(
        data_directory=folder,
        given_name="",
        new_name=new_name,
        may_go_on=may_go_on,
        has_begun=has_begun,
        facts=FACTS,
        patience=limits or patience(silence=1.0),
        min_ranks=min_ranks,
        environment=environment or {},
    )
    meeting = Meeting(place, invitation, tell)
    try:
        yield meeting
    finally:
        meeting.leave("the test is over")


@pytest.fixture(autouse=True)
def no_thread_left() -> Iterator[None]:
    yield
    wait_until(lambda: not line_threads(), line_threads())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


def left_behind(folder: Path, *, port: int = 1, run_name: str = "lost") -> Notice:
    """The notice of a rank 0 that was killed."""
    notice = Notice(run_name=run_name, secret="l" * 64, address=LOOPBACK, port=port, written_by="render01, pid 7")
    folder.mkdir(exist_ok=True)
    write_notice(notice_path(folder, ""), notice)
    return notice


@pytest.mark.parametrize("environment", [{}, SECRET], ids=["secret in the notice", "secret in the environment"])
def test_ranks_meet_by_the_notice_and_rank_0_takes_it_down(folder: Path, environment: dict[str, str]) -> None:
    with (
        meeting_of(1, folder, environment=environment) as other,
        meeting_of(0, folder, environment=environment) as leader,
    ):
        leader.join()
        other.join()
        assert (leader.run_name, other.run_name) == ("shot", "shot")
        assert (leader.leads, other.leads, leader.is_taking_over) == (True, False, False)
        notice = read_notice(notice_path(folder, ""))
        assert notice is not None
        assert notice.secret.encode() == leader.member.secret == other.member.secret
        other.end(EXIT_RANKS, "rank 1 cannot end the run")
        leader.end(0, "finished")
        assert other.member.await_end().reason == "finished"
    assert list(folder.iterdir()) == []


def test_ranks_meet_at_a_fixed_place(folder: Path, tmp_path: Path) -> None:
    with listen(LOOPBACK, 0) as listener:
        main = (LOOPBACK, int(listener.getsockname()[1]))
    with (
        meeting_of(1, tmp_path / "elsewhere", main=main, environment=SECRET, local_address="") as other,
        meeting_of(0, folder, main=main, environment=SECRET, local_address="") as leader,
    ):
        leader.join()
        other.join()
        assert other.local_address == leader.local_address == LOOPBACK
        assert not (tmp_path / "elsewhere").exists()


def test_a_second_rank_0_is_refused_and_the_first_undisturbed(folder: Path) -> None:
    with meeting_of(0, folder) as leader, meeting_of(1, folder) as other:
        leader.join()
        other.join()
        before = read_notice(notice_path(folder, ""))
        with pytest.raises(
            UnderstudyError, match=r"rank 0 of shot is running already .*give this run another --run-name"
        ):
            meeting_of(0, folder).__enter__()
        assert read_notice(notice_path(folder, "")) == before
        leader.member.fix_terms(2)
        assert other.member.batch_size() == 2


def test_a_rank_0_that_is_started_again_goes_on_with_the_lost_run(folder: Path) -> None:
    lost = left_behind(folder)
    asked: list[str] = []

    def may_go_on(run_name: str) -> bool:
        asked.append(run_name)
        return True

    with meeting_of(0, folder, may_go_on=may_go_on) as leader:
        leader.join()
        assert (leader.run_name, leader.is_taking_over, asked) == ("lost", True, ["lost"])
        assert leader.member.secret.decode() == lost.secret
        notice = read_notice(notice_path(folder, ""))
        assert notice is not None
        assert notice.port != lost.port


def test_a_rank_0_that_asks_for_another_run_begins_it(folder: Path) -> None:
    lost = left_behind(folder)
    with meeting_of(0, folder, may_go_on=lambda _: False) as leader:
        leader.join()
        assert (leader.run_name, leader.is_taking_over) == ("shot", False)
        assert leader.member.secret.decode() != lost.secret


@pytest.mark.parametrize("said", [None, b"", b"SSH-2.0-9\r\n"], ids=["nobody", "silent", "ssh"])
def test_a_stale_notice_is_told_of_and_waited_out(
    monkeypatch: pytest.MonkeyPatch, folder: Path, said: bytes | None
) -> None:
    monkeypatch.setattr(notice_module, "PROBE_SECONDS", 0.3)
    told: list[str] = []
    with saying(said or b"") as port:
        left_behind(folder, port=1 if said is None else port)
        with meeting_of(1, folder, tell=told.append, limits=patience(silence=0.5)) as other:
            wait_until(lambda: bool(told))
            with meeting_of(0, folder, limits=patience(silence=0.5)) as leader:
                leader.join()
                other.join()
    assert f"port {1 if said is None else port} (ranks.meeting.json by render01, pid 7)" in told[0]


def test_a_stale_notice_that_leads_to_another_run_is_waited_out(folder: Path, tmp_path: Path) -> None:
    told: list[str] = []
    with meeting_of(0, tmp_path / "of another run") as stranger:
        notice = read_notice(notice_path(tmp_path / "of another run", ""))
        assert notice is not None
        left_behind(folder, port=notice.port)
        with meeting_of(1, folder, tell=told.append) as other:
            wait_until(lambda: bool(told))
            with meeting_of(0, folder) as leader:
                leader.join()
                other.join()
        stranger.join()
    assert "(ranks.meeting.json by render01, pid 7) hung up: " in told[0]


def test_why_rank_0_cannot_begin_reaches_who_waits_for_it(folder: Path) -> None:
    with listen(LOOPBACK, 0) as listener:
        main = (LOOPBACK, int(listener.getsockname()[1]))
        words = f"cannot listen on 127.0.0.1 port {main[1]}: the port is in use"
        told: list[str] = []
        with meeting_of(1, folder, tell=told.append) as other:
            wait_until(lambda: bool(told))
            with pytest.raises(UnderstudyError, match=words):
                meeting_of(0, folder, main=main).__enter__()
            with pytest.raises(UnderstudyError, match=f"rank 0 .* could not begin: rank 0 {words}"):
                other.join()


def test_that_an_earlier_rank_0_could_not_begin_does_not_keep_the_next_from_it(folder: Path) -> None:
    folder.mkdir()
    publish_failure(notice_path(folder, ""), run_name="lost", reason="the port is in use")
    with meeting_of(1, folder) as other, meeting_of(0, folder) as leader:
        leader.join()
        other.join()
        assert (leader.run_name, leader.is_taking_over) == ("shot", False)


def test_survivors_hold_until_rank_0_is_back_which_goes_on_from_their_state(folder: Path) -> None:
    with meeting_of(1, folder) as other:
        with meeting_of(0, folder) as first:
            first.member.fix_terms(2)
            other.member.batch_size()
            first.member.join()
            say_ready(first)
            ready(other.member)
        with pytest.raises(GenerationOver, match=r"rank 0 left|rank 0 is gone"):
            train_alone(other.member, 0)
        with meeting_of(0, folder) as second:
            second.join()
            second.member.fix_terms(2)
            say_ready(second)
            generation = ready(other.member, 7)
            assert (generation.members, generation.donor, generation.donor_step) == ((0, 1), 1, 7)
            assert second.is_taking_over


def say_ready(meeting: Meeting) -> None:
    """Without waiting for the others, as another thread would."""
    with pytest.raises(Waited):
        meeting.member.next_generation(0, "", raise_waited)


class Waited(Exception):
    """The wait began."""


def raise_waited() -> str:
    raise Waited


def test_survivors_of_one_run_do_not_join_another(folder: Path) -> None:
    with meeting_of(1, folder) as other:
        with meeting_of(0, folder) as first:
            first.join()
            other.join()
        with (
            meeting_of(0, folder, may_go_on=lambda _: False, new_name="next", environment=same_secret(folder)),
            pytest.raises(UnderstudyError, match="rank 1 was turned away: it trains shot, this is next"),
        ):
            other.member.batch_size()


def same_secret(folder: Path) -> dict[str, str]:
    notice = read_notice(notice_path(folder, ""))
    assert notice is not None
    return {"UNDERSTUDY_SECRET": notice.secret}


@pytest.mark.parametrize("has_begun", [False, True])
def test_a_rank_0_that_was_lost_before_the_first_step_waits_for_all(folder: Path, has_begun: bool) -> None:
    left_behind(folder)
    limits = patience(join=3.0, hold=DEADLINE, silence=0.5)
    with meeting_of(0, folder, limits=limits) as leader:
        leader.join()
        leader.member.fix_terms(2)
        if has_begun:
            assert ready(leader.member, 7).members == (0,)
        else:
            with pytest.raises(RanksMissing, match=r"ranks \[1\] of 2"):
                ready(leader.member, 0)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_frozen_rank_0_gives_way_to_the_one_that_replaced_it(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(notice_module, "PROBE_SECONDS", 0.3)
    frozen = subprocess.Popen(
        [sys.executable, "-c", FROZEN_RANK_0, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],  # where the tests are found
    )
    assert frozen.stdout is not None
    try:
        assert frozen.stdout.readline() == "here\n"
        frozen.send_signal(signal.SIGSTOP)
        with meeting_of(0, folder) as leader, meeting_of(1, folder) as other:
            leader.join()
            other.join()
            assert leader.is_taking_over
            frozen.send_signal(signal.SIGCONT)
            code, reason = json.loads(frozen.stdout.readline())
            assert code == EXIT_RANKS
            assert reason.startswith("another rank 0 (")
            assert reason.endswith(f"pid {os.getpid()}) has taken this run over")
            assert frozen.wait(DEADLINE) == 0
            leader.member.fix_terms(2)
            assert other.member.batch_size() == 2
    finally:
        frozen.kill()
        frozen.communicate()


def test_rank_0_on_the_wrong_machine_or_without_a_folder_leaves_no_thread(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match=r"192\.0\.2\.1 is not on this machine"):
        meeting_of(0, folder, main=("192.0.2.1", 30000), local_address="").__enter__()
    (tmp_path / "file").touch()
    with pytest.raises(UnderstudyError, match="file"):
        meeting_of(0, tmp_path / "file").__enter__()


def test_a_wait_for_rank_0_has_an_end(folder: Path) -> None:
    folder.mkdir()
    with (
        meeting_of(1, folder, limits=patience(join=0.5)) as other,
        pytest.raises(RanksMissing, match=r"rank 0 did not come in time: .*ranks\.meeting\.json is not there yet"),
    ):
        other.member.next_generation(0, "", nobody)
