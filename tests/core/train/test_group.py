"""The process group: tensors arrive, strangers are told apart, and no death or farewell hangs or aborts a process."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
import torch
from tests.core.train.together import FolderStore, make_group, together

from understudy.errors import UnderstudyError
from understudy.train.group import OPEN_FILES, Group, GroupBroken

posix_only = pytest.mark.skipif(os.name == "nt", reason="kill -9 is a POSIX signal")
interruptible = pytest.mark.skipif(OPEN_FILES is None, reason="this system does not list a process's open files")
LONG_SECONDS = 0.5
"""In which a thread that was just started has surely come to wait."""


def test_sums_maxima_and_broadcasts_arrive_in_every_type_that_travels(tmp_path: Path) -> None:
    for ended in together(tmp_path, 3, exchange_everything):
        assert ended.result == {
            "float16": (6.0, 3.0, 2.0),
            "bfloat16": (6.0, 3.0, 2.0),
            "float32": (6.0, 3.0, 2.0),
            "float64": (6.0, 3.0, 2.0),
        }
    assert sorted(path.name for path in (tmp_path / "store").iterdir()) == ["0_0", "0_1", "0_2"]


def exchange_everything(group: Group) -> dict[str, tuple[float, float, float]]:
    """What each member's number, 1, 2 or 3, becomes."""
    found = {}
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        summed, largest, told = (torch.full((1000,), group.index + 1.0, dtype=dtype) for _ in range(3))
        group.all_reduce_sum(summed)
        group.all_reduce_max(largest)
        group.broadcast(told, 1)
        assert all(bool((tensor == tensor[0]).all()) for tensor in (summed, largest, told))
        found[str(dtype).removeprefix("torch.")] = (float(summed[0]), float(largest[0]), float(told[0]))
    group.close()
    return found


def test_members_that_know_the_secret_are_let_in_and_a_stranger_is_named(tmp_path: Path) -> None:
    ended = together(tmp_path, 3, prove_twice)
    assert "member 1 of the process group does not know" in ended[0].result
    assert ended[2].result == ended[0].result


def prove_twice(group: Group) -> str:
    group.prove(b"secret", "first")
    try:
        group.prove(b"guess" if group.index == 1 else b"secret", "second")
    except UnderstudyError as error:
        return str(error)
    finally:
        group.close()
    return "let in"


def test_a_proof_for_another_generation_is_worth_nothing(tmp_path: Path) -> None:
    for ended in together(tmp_path, 2, prove_by_another_nonce):
        assert "does not know this run's secret" in ended.result


def prove_by_another_nonce(group: Group) -> str:
    try:
        group.prove(b"secret", f"generation {group.index}")
    except UnderstudyError as error:
        return str(error)
    return "let in"


@posix_only
def test_a_killed_member_breaks_the_group_and_the_others_end_well(tmp_path: Path) -> None:
    ended = together(tmp_path, 3, be_killed_or_wait)
    assert [one.exit_code for one in ended] == [0, 0, -signal.SIGKILL]
    assert ended[0].result == ended[1].result == ["GroupBroken", "GroupBroken"]


def be_killed_or_wait(group: Group) -> list[str]:
    """The last member dies; the others wait for it, ask again, and leave without closing anything."""
    if group.index == 2:
        time.sleep(LONG_SECONDS)
        os.kill(os.getpid(), signal.SIGKILL)
    return [fate_of_an_all_reduce(group) for _ in range(2)]


def fate_of_an_all_reduce(group: Group) -> str:
    try:
        group.all_reduce_sum(torch.ones(100_000))
    except GroupBroken as broken:
        return type(broken).__name__
    return "done"


@interruptible
@pytest.mark.parametrize("closes", [True, False], ids=["closed", "left open"])
def test_an_interrupted_member_is_free_at_once_and_ends_well(tmp_path: Path, closes: bool) -> None:
    ended = together(tmp_path, 2, be_interrupted, closes)
    assert [one.result for one in ended] == ["GroupBroken", "GroupBroken"]


def be_interrupted(group: Group, closes: bool) -> str:
    """Member 0 waits in an all-reduce to which nobody comes, until another thread interrupts it."""
    if group.index == 1:
        time.sleep(3 * LONG_SECONDS)
        fate = fate_of_an_all_reduce(group)  # the other one's interruption is felt here too
        group.close()
        return fate
    threading.Timer(LONG_SECONDS, group.interrupt).start()
    fate = fate_of_waiting_for_nobody(group)
    group.interrupt()  # once more does no harm
    if closes:
        group.close()
    return fate


def fate_of_waiting_for_nobody(group: Group) -> str:
    """A broadcast that the other member does not give."""
    try:
        group.broadcast(torch.ones(100_000), 1)
    except GroupBroken as broken:
        return type(broken).__name__
    return "done"


@interruptible
def test_an_interruption_spares_every_other_connection_of_the_process(tmp_path: Path) -> None:
    for ended in together(tmp_path, 2, interrupt_among_strangers, tmp_path / "second"):
        opened, alive = ended.result
        assert opened > 0
        assert alive == opened


def interrupt_among_strangers(first: Group, folder: Path) -> tuple[int, int]:
    """How many connections another thread opened while a group was built, and how many outlived its interruption."""
    strangers = Strangers()
    group = make_group(folder, first.index, first.size)
    strangers.stop()
    group.interrupt()
    alive = strangers.num_alive()
    assert fate_of_an_all_reduce(group) == "GroupBroken"
    assert fate_of_an_all_reduce(first) == "done", "the other group is a stranger too"
    group.close()
    first.close()
    return len(strangers.pairs), alive


class Strangers:
    """Connections that a thread opens without a pause."""

    MOST = 200

    def __init__(self) -> None:
        self.pairs: list[tuple[socket.socket, socket.socket]] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._open)
        self._thread.start()
        while not self.pairs:
            time.sleep(0.001)

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()

    def num_alive(self) -> int:
        """Through how many a byte still goes."""
        return sum(map(self._is_alive, self.pairs))

    def _open(self) -> None:
        while not self._is_over.is_set() and len(self.pairs) < self.MOST:
            near = socket.create_connection(self._server.getsockname())
            self.pairs.append((near, self._server.accept()[0]))
            time.sleep(0.0005)

    @staticmethod
    def _is_alive(pair: tuple[socket.socket, socket.socket]) -> bool:
        near, far = pair
        try:
            near.sendall(b"x")
            return far.recv(1) == b"x"
        except OSError:
            return False


@posix_only
def test_a_member_that_dies_while_connecting_does_not_hold_the_others_for_the_timeout(tmp_path: Path) -> None:
    ended = together(tmp_path, 2, connect_to_a_frozen_member, tmp_path / "second")
    assert ended[0].result == "GroupBroken"


def connect_to_a_frozen_member(first: Group, folder: Path) -> str:
    """Member 1 says where it is and stops; the timeout is longer than the test may take."""
    folder.mkdir(exist_ok=True)
    process = torch.full((1,), os.getpid(), dtype=torch.int64)
    first.broadcast(process, 1)
    store = FrozenStore(folder) if first.index == 1 else FolderStore(folder)
    try:
        Group(
            store,
            index=first.index,
            size=2,
            local_address="127.0.0.1",
            device=torch.device("cpu"),
            timeout=timedelta(hours=1),
        )
    except GroupBroken as broken:
        os.kill(int(process), signal.SIGKILL)
        return type(broken).__name__
    return "connected"


class FrozenStore(FolderStore):
    """Its process is stopped once it has told its address."""

    def set(self, key: str, value: str | bytes) -> None:
        super().set(key, value)
        os.kill(os.getpid(), signal.SIGSTOP)


def test_members_may_come_to_an_exchange_later_than_connecting_may_take(tmp_path: Path) -> None:
    assert [one.result for one in together(tmp_path, 2, come_late)] == ["done", "done"]


def come_late(group: Group) -> str:
    if group.index == 1:
        time.sleep(4.0)
    return fate_of_an_all_reduce(group)
