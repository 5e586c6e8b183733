"""The ranks of one run, each a process of its own on this machine, to be started, killed and listened to."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.core.train.shots import SmallShot

from understudy.report.metrics import JsonLine, read_metrics
from understudy.runs import RunFiles

DEADLINE_SECONDS = 90.0
"""For what should have happened long ago: a test fails instead of hanging."""
PROGRAM = "import sys\nfrom understudy.cli.main import run\nsys.argv[0] = 'understudy'\nrun()"
FOR_EVER = 10**6
"""Steps."""

Variables = Callable[[int, int], dict[str, str]]
"""From rank and world size to the environment that tells a process of them."""


def copycat_variables(rank: int, world_size: int) -> dict[str, str]:
    return {
        "COPYCAT_MAIN_ADDR": "127.0.0.1",
        "COPYCAT_MAIN_PORT": "auto",
        "COPYCAT_RANK": str(rank),
        "COPYCAT_WORLD_SIZE": str(world_size),
    }


class Crew:
    """Each rank's lines go to a file of its own, those of its successors behind them."""

    def __init__(
        self,
        shot: SmallShot,
        *flags: str,
        world_size: int,
        steps: int = FOR_EVER,
        variables: Variables = copycat_variables,
    ) -> None:
        self.shot = shot
        self.words = shot.train_words("--run-name", "r", *OFTEN_ENOUGH, *flags, steps=steps)
        self._world_size = world_size
        self._variables = variables
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    def start(self, *ranks: int, python: str = "") -> None:
        """Begin these ranks, or begin them again; each runs the Python lines `python` first."""
        for rank in ranks:
            variables = self._variables(rank, self._world_size)
            if rank in self._processes:
                self.code(rank)
            with self._path(rank).open("ab") as out:
                self._processes[rank] = subprocess.Popen(
                    [sys.executable, "-u", "-c", f"{python}\n{PROGRAM}", *self.words],
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **self._scratch(), **variables},
                )

    def kill(self, rank: int, number: signal.Signals) -> None:
        self._processes[rank].send_signal(number)

    def said(self, rank: int) -> str:
        """All that the processes of that rank have said so far."""
        return self._path(rank).read_text(encoding="utf-8")

    def wait_for(self, rank: int, words: str, *, times: int = 1) -> None:
        """Until that rank has said it so many times."""
        wait_until(lambda: self.said(rank).count(words) >= times, lambda: f"{words!r} in: {self.said(rank)[-3000:]}")

    def code(self, rank: int) -> int:
        """The exit code, once it has ended."""
        wait_until(lambda: self._processes[rank].poll() is not None, lambda: f"its end: {self.said(rank)[-3000:]}")
        return self._processes[rank].wait()

    def close(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()

    def left_behind(self) -> list[Path]:
        """What should be gone when no rank is left: the frames that all of them mapped."""
        return list(self._scratch_folder.glob("understudy-*"))

    @property
    def _scratch_folder(self) -> Path:
        folder = self.shot.folder / "scratch"
        folder.mkdir(exist_ok=True)
        return folder

    def _scratch(self) -> dict[str, str]:
        return {"TMPDIR": str(self._scratch_folder)}

    def _path(self, rank: int) -> Path:
        return self.shot.folder / f"rank{rank}.out"


OFTEN_ENOUGH = ("--checkpoint-interval", "100000", "--contact-sheet-interval", "100000", "--silence-seconds", "2")
"""Nothing is written before the end, and a rank that is gone is soon gone for the others."""


@contextlib.contextmanager
def crew(
    shot: SmallShot, *flags: str, world_size: int, steps: int = FOR_EVER, variables: Variables = copycat_variables
) -> Iterator[Crew]:
    """No process of it outlives the block."""
    made = Crew(shot, *flags, world_size=world_size, steps=steps, variables=variables)
    try:
        yield made
    finally:
        made.close()


def wait_until(is_so: Callable[[], bool], what: Callable[[], str]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, f"waited in vain for {what()}"
        time.sleep(0.05)


def rank_events(data: Path) -> list[JsonLine]:
    """Who trained from which step on, as the metrics of run `r` tell so far."""
    return [event for event in read_metrics(RunFiles(data, "r").metrics).events if event["event"] == "ranks"]
