"""Ranks of one machine that decode the same pairs: real processes, started and killed one by one."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from understudy.dataset import decode_once_per_host, pair_digests
from understudy.errors import UnderstudyError
from understudy.frames.image import Image
from understudy.pairs import FrameSource, Media, Pair

PATIENCE_SECONDS = 60
"""Whatever takes longer will never come."""


@dataclass(frozen=True)
class Noted:
    """A FrameSource that notes who reads it, and can be made to wait there."""

    source: FrameSource
    diary: Path
    """Gets a line at every read: the process."""
    gate: Path
    """Reading goes on once this exists."""

    @property
    def label(self) -> str:
        return self.source.label

    @property
    def media(self) -> Media:
        return self.source.media

    def read(self) -> Image:
        with self.diary.open("a") as diary:
            diary.write(f"{os.getpid()}\n")
        wait_until(self.gate.exists)
        return self.source.read()


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a rank asks for."""

    pairs: tuple[Pair, ...]
    cache_folder: Path
    key: str = "run"
    crop_size: int = 16
    skip_unreadable: bool = False
    largest_file: int = 0
    """Bytes that the process can write into a file; 0: as many as there is room for."""


class Rank:
    """A process that decodes, and uses the data until it is told to leave."""

    def __init__(self, asked: Asked) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._pipe, its_end = spawn.Pipe()
        self.process = spawn.Process(target=_live, args=(asked, its_end))
        self.process.start()
        its_end.close()

    def says(self) -> tuple[str, object]:
        """The next thing that it says: waiting, warning, refused or has, and what."""
        assert self._pipe.poll(PATIENCE_SECONDS), "the rank says nothing"
        word, what = self._pipe.recv()
        return str(word), what

    def kill(self) -> None:
        self.process.kill()
        self.process.join()
        self._pipe.close()

    def leave(self) -> None:
        """Let it end, and see that it ends well."""
        self._pipe.send("leave")
        self.process.join(PATIENCE_SECONDS)
        assert self.process.exitcode == 0
        self._pipe.close()


@contextmanager
def ranks(*all_asked: Asked) -> Iterator[list[Rank]]:
    """Ranks that start together; those still there at the end are killed."""
    started = [Rank(asked) for asked in all_asked]
    try:
        yield started
    finally:
        for rank in started:
            rank.kill()


def noted(pairs: Sequence[Pair], folder: Path, *, gate_open: bool = True) -> tuple[Pair, ...]:
    """The pairs, noting in `folder/diary` who reads their inputs; with a closed gate, until `folder/gate` exists."""
    (folder / "diary").touch()
    if gate_open:
        (folder / "gate").touch()
    return tuple(replace(pair, input=Noted(pair.input, folder / "diary", folder / "gate")) for pair in pairs)


def readers(folder: Path) -> list[int]:
    """The process of every read so far."""
    return [int(line) for line in (folder / "diary").read_text().splitlines()]


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it never comes"
        time.sleep(0.01)


def _live(asked: Asked, pipe: Connection) -> None:
    if asked.largest_file:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (asked.largest_file, asked.largest_file))
    try:
        with decode_once_per_host(
            asked.pairs,
            key=asked.key,
            crop_size=asked.crop_size,
            cache_folder=asked.cache_folder,
            skip_unreadable=asked.skip_unreadable,
            warn=lambda line: pipe.send(("warning", line)),
            tell=lambda line: pipe.send(("waiting", line)),
        ) as dataset:
            pipe.send(("has", pair_digests(dataset)))
            pipe.recv()
    except UnderstudyError as error:
        pipe.send(("refused", str(error)))
