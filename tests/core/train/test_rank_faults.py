"""Ranks that must be turned away, each as a process of its own: every message seen, and the healthy run undisturbed."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from tests.core.cli.command import Command, Ending
from tests.core.ranks.tables import laid_table
from tests.core.ranks.wires import LOOPBACK, saying
from tests.core.train.shots import SmallShot, make_shot, write_picture

from understudy.errors import EXIT_DONE, EXIT_RANKS, EXIT_USER
from understudy.ranks.lines import LineClosed, greet_as_member
from understudy.ranks.notice import Notice, notice_path, write_notice

DEADLINE = 120.0
"""Seconds, on a busy machine: whatever takes longer hangs."""
SECRET = "a secret of this farm's run 1"
OTHER_SECRET = "a secret of this farm's run 2"
SHORT_SILENCE = ("--silence-seconds", "1")


class Rank:
    """A process that is one rank, and what it printed."""

    def __init__(self, folder: Path, words: list[str], environment: Mapping[str, str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        number = len(list(folder.iterdir()))
        self._out, self._faults = folder / f"{number}.out", folder / f"{number}.faults"
        with self._out.open("w") as out, self._faults.open("w") as faults:
            self._process = subprocess.Popen(
                [sys.executable, "-u", "-m", "understudy.cli.main", *words],
                stdout=out,
                stderr=faults,
                env={**os.environ, **environment},
            )

    def has_said(self, words: str) -> bool:
        return words in self._out.read_text()

    def says(self, words: str) -> None:
        """Wait until it has."""
        begin = time.monotonic()
        while not self.has_said(words):
            assert self._process.poll() is None, (words, self.ending())
            assert time.monotonic() - begin < DEADLINE, (words, self._out.read_text())
            time.sleep(0.05)

    def ending(self) -> Ending:
        code = self._process.wait(DEADLINE)
        return Ending(code, self._out.read_text(), self._faults.read_text().splitlines())

    def is_refused(self, words: str, *, code: int = EXIT_USER) -> None:
        """Wait until it has ended with that code, for one reason that holds `words`."""
        ending = self.ending()
        assert ending.code == code, ending
        assert len(ending.faults) == 1, ending
        assert words in ending.faults[0]

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


class Farm:
    """Starts ranks that must have ended when the test has."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()
        self._ranks: list[Rank] = []

    def rank(
        self,
        number: int,
        shot: SmallShot,
        *words: str,
        world_size: int,
        main: str = "",
        secret: str = "",
        steps: int = 12,
    ) -> Rank:
        """`main`: address and port of rank 0; empty: auto."""
        environment = {
            "COPYCAT_MAIN_ADDR": main.split()[0] if main else "auto",
            "COPYCAT_MAIN_PORT": main.split()[1] if main else "auto",
            "COPYCAT_LOCAL_ADDR": LOOPBACK,
            "COPYCAT_RANK": str(number),
            "COPYCAT_WORLD_SIZE": str(world_size),
            "UNDERSTUDY_SECRET": secret,
        }
        command = shot.train_words("--contact-sheet-interval", "1000", "--sync-interval", "1", *words, steps=steps)
        rank = Rank(self._folder / "printed", command, environment)
        self._ranks.append(rank)
        return rank

    @property
    def fixed(self) -> str:
        return f"{LOOPBACK} {self.port}"

    def kill_all(self) -> None:
        for rank in self._ranks:
            rank.kill()


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Farm]:
    farm = Farm(tmp_path)
    try:
        yield farm
    finally:
        farm.kill_all()


@pytest.fixture
def shot(tmp_path: Path) -> SmallShot:
    return make_shot(tmp_path / "shot")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """In this process, which must not listen to the environment of another test."""
    for name in list(os.environ):
        if name.startswith(("COPYCAT_", "UNDERSTUDY_")):
            monkeypatch.delenv(name)
    return Command(capsys)


def free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as listener:
        return int(listener.getsockname()[1])


def copied(shot: SmallShot, name: str) -> SmallShot:
    """The same frames on another machine's disk, with the same data directory."""
    copy = SmallShot(shot.folder.with_name(name))
    shutil.copytree(shot.folder, copy.folder, ignore=shutil.ignore_patterns("data"))
    return copy


def data_of(shot: SmallShot) -> tuple[str, str]:
    return "--data-directory", str(shot.data)


def left_behind(shot: SmallShot, port: int) -> None:
    """The notice of a rank 0 that was killed."""
    shot.data.mkdir()
    notice = Notice(run_name="lost", secret="l" * 64, address=LOOPBACK, port=port, written_by="render09, pid 7")
    write_notice(notice_path(shot.data, ""), notice)


def ranks_events(data: Path) -> list[str]:
    """Who trained, in each generation of the only run in that folder."""
    [metrics] = data.glob("*.metrics.jsonl")
    events = [json.loads(line) for line in metrics.read_text().splitlines()]
    return [str(event["ranks"]) for event in events if event.get("event") == "ranks"]


@contextmanager
def strangers(port: int) -> Iterator[None]:
    """All the while, somebody tries that port: says nothing, says something else, or knows another secret."""
    done = threading.Event()

    def try_all() -> None:
        with socket.socket() as silent:
            silent.connect((LOOPBACK, port))
            while not done.wait(0.1):
                with suppress(OSError), socket.create_connection((LOOPBACK, port)) as browser:
                    browser.sendall(b"GET / HTTP/1.1\r\nHost: render01\r\n\r\n")
                with suppress(OSError, LineClosed), socket.create_connection((LOOPBACK, port)) as thief:
                    greet_as_member(thief, b"a guess of the secret", silence_seconds=5.0)

    trying = threading.Thread(target=try_all)
    trying.start()
    try:
        yield
    finally:
        done.set()
        trying.join()


def test_a_healthy_run_is_not_disturbed_by_those_it_turns_away(farm: Farm, shot: SmallShot) -> None:
    other_run = make_shot(shot.folder.with_name("other_run"))
    fewer_frames = make_shot(shot.folder.with_name("fewer_frames"), painted=(1001,))
    other_pixels, damaged = copied(shot, "other_pixels"), copied(shot, "damaged")
    write_picture(other_pixels.folder / "paint.1003.exr", np.full((64, 96, 3), 0.25, np.float32))
    os.truncate(damaged.folder / "paint.1003.exr", 200)

    def member(number: int, frames: SmallShot, *words: str) -> Rank:
        return farm.rank(
            number, frames, *data_of(shot), *SHORT_SILENCE, *words, world_size=3, main=farm.fixed, secret=SECRET
        )

    leader, other = member(0, shot), member(1, shot)
    leader.says("rank 1 of 3 is here")
    with strangers(farm.port):
        same_port, other_secret = (
            farm.rank(number, other_run, *SHORT_SILENCE, world_size=3, main=farm.fixed, secret=OTHER_SECRET)
            for number in (0, 1)
        )
        second_leader = member(0, shot)
        second_other = member(1, shot)
        other_settings = member(2, shot, "--crop-size", "48", "--learning-rate", "0.01")
        leader.says("Pairs: 2 to train on")

        member(2, fewer_frames).is_refused("frame 1003 train is absent, rank 0 has ")
        leader.says("rank 2 is gone: it differs from rank 0: frame 1003 train is absent")
        member(2, other_pixels).is_refused("it differs from rank 0: frame 1003 train is ")
        member(2, damaged).is_refused("paint.1003.exr: ")
        leader.says(f"rank 2 is gone: {damaged.folder / 'paint.1003.exr'}: ")

        in_use = f"rank 0 cannot listen on 127.0.0.1 port {farm.port}: the port is in use"
        same_port.is_refused(in_use)
        other_secret.is_refused(
            f"127.0.0.1 port {farm.port} (the COPYCAT_* variables) is the rank 0 of another run, or this rank has the "
            "wrong secret"
        )
        second_leader.is_refused("is running already (")
        second_other.is_refused(" is that rank already; give each process a rank of its own")
        differences = "--crop-size is 48, rank 0 has 32; --learning-rate is 0.01, rank 0 has 0.0"
        other_settings.is_refused(f"rank 2 was turned away: it differs from rank 0: {differences}")
        leader.says(f"was turned away: it differs from rank 0: {differences}")
        leader.says("warning: processes at 127.0.0.1 without this run's secret are turned away")

        shutil.copy(shot.folder / "paint.1003.exr", damaged.folder)
        endings = [rank.ending() for rank in (member(2, damaged), leader, other)]
    assert [ending.code for ending in endings] == [EXIT_DONE] * 3, endings
    assert [ending.faults for ending in endings] == [[], [], []]
    assert "[Step:12/12]" in endings[1].out
    assert ranks_events(shot.data) == ["0 1 2"]
    assert not list(shot.data.glob("*meeting*"))


def test_a_wait_for_what_will_not_come_names_it_and_ends(farm: Farm, shot: SmallShot) -> None:
    soon = (*SHORT_SILENCE, "--join-minutes", "0.05")
    later = (*SHORT_SILENCE, "--join-minutes", "0.25")
    nobody, another = copied(shot, "nobody"), copied(shot, "another")
    left_behind(nobody, farm.port)
    left_behind(shot, farm.port)
    with saying(b"") as silent_port, saying(b"SSH-2.0-OpenSSH_9.6\r\n") as ssh_port, laid_table() as stranger:
        left_behind(another, stranger.port)
        leader, follower = (farm.rank(number, shot, *later, world_size=3) for number in (0, 1))
        leader.says("rank 1 of 3 is here")
        silent = farm.rank(1, nobody, *soon, world_size=2, main=f"{LOOPBACK} {silent_port}", secret=SECRET)
        ssh = farm.rank(1, nobody, *soon, world_size=2, main=f"{LOOPBACK} {ssh_port}", secret=SECRET)
        unanswered = farm.rank(1, nobody, *soon, world_size=2)
        misled = farm.rank(1, another, *soon, world_size=2)

        foreign = "(the COPYCAT_* variables) is another program, not understudy: "
        silent.is_refused(f"127.0.0.1 port {silent_port} {foreign}it takes connections and stays silent")
        ssh.is_refused(f"127.0.0.1 port {ssh_port} {foreign}it says 'SSH-2.0-OpenSSH_9.6'")
        lost = "(ranks.meeting.json by render09, pid 7)"
        unanswered.is_refused(f"rank 0 did not come in time: 127.0.0.1 port {farm.port} {lost}: ", code=EXIT_RANKS)
        misled.is_refused(f"127.0.0.1 port {stranger.port} {lost} hung up: it has another secret", code=EXIT_RANKS)
        for rank in (leader, follower):
            rank.is_refused("ranks [2] of 3 (2: host unknown) did not come within 0.25 min", code=EXIT_RANKS)
        waited = r"waiting for ranks \[.*2\] of 3 \(.*2: host unknown\), 0\.\d min left"
        assert re.search(waited, leader.ending().out)
        assert [line for line in stranger.told if "secret" in line] == [
            "warning: processes at 127.0.0.1 without this run's secret are turned away"
        ]


ONE_RANK = {
    "COPYCAT_MAIN_ADDR": "127.0.0.1",
    "COPYCAT_MAIN_PORT": "30000",
    "COPYCAT_RANK": "0",
    "COPYCAT_WORLD_SIZE": "3",
}

WRONG_WORDS: dict[str, tuple[dict[str, str], tuple[str, ...], str]] = {
    "rank out of range": (
        {},
        ("--rank", "3"),
        "--rank 3 is not smaller than COPYCAT_WORLD_SIZE 3; ranks are numbered 0",
    ),
    "no ranks": ({"COPYCAT_WORLD_SIZE": "0"}, (), "COPYCAT_WORLD_SIZE 0 is out of range"),
    "no interval": ({"COPYCAT_SYNC_INTERVAL": "0"}, (), "COPYCAT_SYNC_INTERVAL 0 is out of range"),
    "some missing": (
        {"COPYCAT_RANK": "", "COPYCAT_MAIN_PORT": ""},
        (),
        "COPYCAT_MAIN_PORT and COPYCAT_RANK are not set, but COPYCAT_MAIN_ADDR and COPYCAT_WORLD_SIZE are; set them, "
        "or give --allow-single to train alone",
    ),
    "unknown host": ({"COPYCAT_MAIN_ADDR": "render01.invalid"}, (), "host render01.invalid is unknown to this machine"),
    "address of another machine": (
        {"COPYCAT_LOCAL_ADDR": "192.0.2.1"},
        (),
        "local address 192.0.2.1, from the COPYCAT_* variables, is neither an address nor an interface of this machine",
    ),
    "main address of another machine": (
        {"COPYCAT_MAIN_ADDR": "192.0.2.1"},
        (),
        "main address 192.0.2.1 is not on this machine",
    ),
    "interval of gradients": (
        {"COPYCAT_SYNC_INTERVAL": "4"},
        ("--sync-mode", "gradients"),
        "sync_mode: gradients are shared every step, but sync_interval is 4; choose accumulate or average",
    ),
    "compression of weights": (
        {},
        ("--sync-mode", "average", "--compress", "powersgd"),
        "compress: powersgd is for gradients, but sync_mode is average; choose fp16, or --sync-mode gradients",
    ),
    "short secret": ({"UNDERSTUDY_SECRET": "secret"}, (), "UNDERSTUDY_SECRET: is too short"),
}


@pytest.mark.parametrize(("changes", "words", "fault"), WRONG_WORDS.values(), ids=WRONG_WORDS)
def test_words_that_make_no_rank_are_named(
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    shot: SmallShot,
    changes: dict[str, str],
    words: tuple[str, ...],
    fault: str,
) -> None:
    for name, text in {**ONE_RANK, **changes}.items():
        monkeypatch.setenv(name, text)
    assert fault in command.refused(*shot.train_words(*words))
    assert not shot.data.exists()


def test_who_allows_it_trains_alone_when_some_words_are_missing(
    command: Command, monkeypatch: pytest.MonkeyPatch, shot: SmallShot
) -> None:
    monkeypatch.setenv("COPYCAT_RANK", "0")
    ending = command(*shot.train_words("--allow-single", steps=2))
    assert ending.code == EXIT_DONE, ending
    assert len(ending.faults) == 1
    assert re.search(r"COPYCAT_MAIN_ADDR, .* are not set.*; training alone, as --allow-single says", ending.faults[0])
    assert "[Step:2/2]" in ending.out
