"""Work that another process does for us: `understudy apply`, `export`, `suggest`, `resume`, as on the command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import IO

from understudy.errors import EXIT_BUG, EXIT_DONE, Problems
from understudy.ranks.launch import PROGRAM
from understudy.ranks.place import LAUNCHED
from understudy_farm.tasks import kill_tree, name_of
from understudy_ui.answers.asking import Asking, GivenUp

OURS = "understudy: "
"""Begins a fault as the command line tells it."""
SECONDS_TO_END = 5.0
SECONDS_BETWEEN_LOOKS = 0.1


def output_of(asking: Asking, words: Sequence[str], *, tells_stdout: bool) -> str:
    """What `understudy WORDS` prints; the rest of what it says is told on the way.

    It ends when it is given up, and with this process. `tells_stdout`: that is told, too.
    Raises Problems with the faults that it names.
    """
    with subprocess.Popen(
        [*PROGRAM, *words],
        stdin=subprocess.PIPE,  # its life line
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**_environment(), LAUNCHED: "1"},
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        complaints: list[str] = []
        ear = threading.Thread(target=_hear, args=(process.stderr, complaints, asking), daemon=True)
        ear.start()
        try:
            with asking.ending_with(threading.Thread(target=_end, args=(process,), daemon=True).start):
                printed = "".join(_told(process.stdout, asking) if tells_stdout else process.stdout)
                process.wait()
        except BaseException:
            _end(process)
            raise
        finally:
            ear.join()  # the pipe that it reads is closed next
    if process.returncode != EXIT_DONE:
        raise Problems(_faults(complaints, process.returncode))
    return printed


def detach(words: Sequence[str], has_begun: Callable[[], bool], asking: Asking) -> None:
    """Start `understudy WORDS` for good: it outlives this process, once it has begun.

    Raises Problems with its faults when it ends before, and GivenUp when nobody wants it any more.
    """
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            [*PROGRAM, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
            env=_environment(),
            start_new_session=True,
            creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
        )
        try:
            while process.poll() is None and not has_begun():
                asking.tell("starting")
                time.sleep(SECONDS_BETWEEN_LOOKS)
        except GivenUp:
            kill_tree(name_of(process.pid))
            raise
        if process.poll() not in (None, EXIT_DONE):
            complaints.seek(0)
            lines = complaints.read().decode("utf-8", errors="replace").splitlines()
            raise Problems(_faults(lines, process.returncode))
    threading.Thread(target=process.wait, daemon=True).start()  # so that no zombie stays


def _environment() -> dict[str, str]:
    """Without what would make the child a rank of somebody's."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COPYCAT_") and name != LAUNCHED}


def _told(lines: IO[str], asking: Asking) -> Iterator[str]:
    for line in lines:
        asking.tell(line.rstrip())
        yield line


def _hear(lines: IO[str], complaints: list[str], asking: Asking) -> None:
    for line in lines:
        complaints.append(line.rstrip())
        if not line.startswith(OURS):
            with suppress(GivenUp):
                asking.tell(line.rstrip())


def _end(process: subprocess.Popen[str]) -> None:
    """Like Ctrl-C, which lets it finish the file at hand."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM if os.name == "nt" else signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS_TO_END)
    if process.poll() is None:
        kill_tree(name_of(process.pid))


def _faults(lines: Sequence[str], code: int) -> list[str]:
    """As the command line told them; of a fault of ours the last line, and all of it on stderr."""
    told = [line.removeprefix(OURS) for line in lines if line.startswith(OURS)]
    if told and code != EXIT_BUG:
        return told
    sys.stderr.write("\n".join(lines) + "\n")
    return [f"it ended with exit code {code}: {lines[-1] if lines else 'it said nothing'}"]
