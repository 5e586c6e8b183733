"""Several processes of this machine in one process group, for what ranks do together."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from pathlib import Path
from typing import Concatenate, Generic, ParamSpec, TypeVar

import torch
from torch._C._distributed_c10d import Store

from understudy.train.group import Group

DEADLINE_SECONDS = 200.0
"""For processes that should have ended long ago: a test fails instead of hanging."""
GROUP_TIMEOUT = timedelta(seconds=120)
"""Longer than anything here takes: nothing may depend on it."""

Given = ParamSpec("Given")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Ended(Generic[Result]):
    """How one process ended."""

    exit_code: int
    """Minus the signal's number when a signal ended it."""
    results: tuple[Result, ...]
    """What it returned; nothing when it was killed."""

    @property
    def result(self) -> Result:
        assert self.exit_code == 0
        return self.results[0]


class FolderStore(Store):
    """A store in Python with no more than a group may need, as that over the desk's line."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def set(self, key: str, value: str | bytes) -> None:
        path = self._path(key)
        aside = path.with_suffix(".part")
        aside.write_bytes(value.encode() if isinstance(value, str) else bytes(value))
        aside.replace(path)

    def get(self, key: str) -> bytes:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not self._path(key).exists():
            if time.monotonic() > deadline:
                raise RuntimeError(f"{key} never came")
            time.sleep(0.002)
        return self._path(key).read_bytes()

    def wait(self, keys: list[str], timeout: timedelta | None = None) -> None:  # noqa: ARG002
        for key in keys:
            self.get(key)

    def check(self, keys: list[str]) -> bool:
        return all(self._path(key).exists() for key in keys)

    def has_extended_api(self) -> bool:
        return False

    def clone(self) -> FolderStore:
        return FolderStore(self._folder)

    def _path(self, key: str) -> Path:
        return self._folder / key.replace("/", "_")


def make_group(folder: Path, index: int, size: int) -> Group:
    """The group of those who name the same folder."""
    folder.mkdir(exist_ok=True)
    return Group(
        FolderStore(folder),
        index=index,
        size=size,
        local_address="127.0.0.1",
        device=torch.device("cpu"),
        timeout=GROUP_TIMEOUT,
    )


def together(
    folder: Path,
    size: int,
    act: Callable[Concatenate[Group, Given], Result],
    *words: Given.args,
    **named: Given.kwargs,
) -> list[Ended[Result]]:
    """Run `act(group, ...)` in `size` processes, one member of a group each; how each of them ended, by index.

    The process ends by itself after `act`, with the group as `act` left it.
    """
    processes = _processes()
    members, lines = [], []
    for index in range(size):
        line, far_end = processes.Pipe()
        member = processes.Process(target=_member, args=(far_end, folder / "store", index, size, act, words, named))
        member.start()
        far_end.close()  # so that the line ends when the process does
        members.append(member)
        lines.append(line)
    deadline = time.monotonic() + DEADLINE_SECONDS
    try:
        results: list[tuple[Result, ...]] = [_received(line, deadline) for line in lines]
        for member in members:
            member.join(max(0.0, deadline - time.monotonic()))
            assert member.exitcode is not None, "a process did not end by itself"
        return [Ended(member.exitcode or 0, got) for member, got in zip(members, results, strict=True)]
    finally:
        for member in members:
            member.kill()
            member.join()


def _processes() -> SpawnContext | ForkServerContext:
    """What processes are begun by: where there is a fork each is one of a process that has imported PyTorch already."""
    if os.name == "nt":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["understudy.train.sharing"])
    return context


def _received(line: Connection, deadline: float) -> tuple[Result, ...]:
    assert line.poll(max(0.0, deadline - time.monotonic())), "a process did not answer"
    try:
        is_well, answer = pickle.loads(line.recv_bytes())
    except EOFError:
        return ()
    assert is_well, answer
    return (answer,)


def _member(
    line: Connection,
    folder: Path,
    index: int,
    size: int,
    act: Callable[..., object],
    words: tuple[object, ...],
    named: dict[str, object],
) -> None:
    torch.set_num_threads(1)
    answer: tuple[bool, object]
    try:
        answer = (True, act(make_group(folder, index, size), *words, **named))
    except BaseException:
        answer = (False, traceback.format_exc())
    line.send_bytes(pickle.dumps(answer))  # plainly: tensors sent by torch's own way end with the process
