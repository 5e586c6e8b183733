"""A run that was told no number of threads leaves cores to others that keep them busy, and takes them back."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.core.train.lessons import machine
from tests.core.train.shots import SmallShot, make_shot

from understudy.cli.main import main
from understudy.cores import cores_given
from understudy.errors import EXIT_DONE
from understudy.ranks.place import RankPlace
from understudy.settings import Settings
from understudy.train import elbow_room
from understudy.train.admission import fitted_to
from understudy.train.elbow_room import LEFT_ALONE, ElbowRoom, Usage, others_between, threads_beside, usage

several_cores = pytest.mark.skipif(cores_given() < 2, reason="there is one core, of which none can be left to others")
CORES = 8


@pytest.fixture
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Given to the process, and all of them in use."""
    usual = torch.get_num_threads()
    monkeypatch.setattr(elbow_room, "cores_given", lambda: CORES)
    monkeypatch.setattr(elbow_room, "cores_seen", lambda: tuple(range(CORES)))
    torch.set_num_threads(CORES)
    yield
    torch.set_num_threads(usual)


@contextmanager
def busy_programs(number: int) -> Iterator[None]:
    """Each keeps a core busy, as far as others leave it one."""
    busy = "print(flush=True)\nwhile True: pass"
    with ExitStack() as programs:
        for _ in range(number):
            program = subprocess.Popen([sys.executable, "-c", busy], stdout=subprocess.PIPE)
            programs.enter_context(program)
            programs.callback(program.kill)
            assert program.stdout
            program.stdout.readline()
        yield


@pytest.mark.parametrize(
    ("others", "expected"), [(0.0, 8), (LEFT_ALONE, 8), (0.5, 7), (1.3, 7), (1.5, 6), (7.0, 1), (8.0, 1), (30.0, 1)]
)
def test_whole_cores_are_left_to_others_but_for_the_last(others: float, expected: int) -> None:
    assert threads_beside(CORES, others) == expected


def test_what_the_process_does_itself_is_not_others() -> None:
    before = Usage(clock=100.0, busy=50.0, own=20.0)
    assert others_between(before, Usage(clock=104.0, busy=58.0, own=28.0)) == 0
    assert others_between(before, Usage(clock=104.0, busy=64.0, own=28.0)) == 1.5
    assert others_between(before, Usage(clock=104.0, busy=54.0, own=28.0)) == 0, "clocks that tick apart"


@pytest.mark.usefixtures("eight_cores")
def test_threads_change_when_two_looks_agree_and_change_back() -> None:
    assert threads_while_busy(0, 3, 0, 3, 3, 3, 0, 2, 2, 0, 0) == [8, 8, 8, 8, 5, 5, 5, 5, 6, 6, 8]


@pytest.mark.usefixtures("eight_cores")
def test_cores_that_a_container_sees_and_has_not_the_time_of_are_anyone_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elbow_room, "cores_seen", lambda: tuple(range(64)))
    assert threads_while_busy(50, 50, 58, 58) == [8, 8, 8, 6]


def threads_while_busy(*others: float) -> list[int]:
    """After each look, between which others keep so many cores busy."""
    room = ElbowRoom(replace(machine(torch.float32), leaves_cores=True))
    at = usage()
    used = []
    for cores in others:
        at = Usage(clock=at.clock + 5, busy=at.busy + 5 * (cores + 1), own=at.own + 5)
        room.take(at)
        used.append(torch.get_num_threads())
    return used


def test_a_busy_program_is_seen() -> None:
    with busy_programs(1):
        before = usage()
        time.sleep(2)
        assert others_between(before, usage()) > LEFT_ALONE


@several_cores
@pytest.mark.parametrize(("threads", "leaves"), [(0, True), (cores_given(), False)])
def test_a_run_has_fewer_threads_beside_busy_programs_unless_it_was_told_how_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int, *, leaves: bool
) -> None:
    monkeypatch.setattr(elbow_room, "SECONDS_BETWEEN_LOOKS", 0.1)
    shot = make_shot(tmp_path / "shot")
    with busy_programs(cores_given()):
        assert main(shot.train_words("--run-name", "r", "--threads", str(threads), steps=40)) == EXIT_DONE
    assert ("cores busy: going on with" in log_of(shot)) == leaves
    assert (torch.get_num_threads() < cores_given()) == leaves


def log_of(shot: SmallShot) -> str:
    return (shot.data / "r.rank0.log").read_text(encoding="utf-8")


def test_a_rank_leaves_cores_to_others_where_it_is_the_only_one() -> None:
    place = RankPlace(rank=1, world_size=4, main_address="10.0.0.1", main_port=3000, given_by="a test")
    assert fitted_to(place, Settings()).threads == 0
    assert fitted_to(replace(place, ranks_here=2), Settings()).threads == max(1, cores_given() // 2)
    assert fitted_to(place, Settings(threads=3)).threads == 3
