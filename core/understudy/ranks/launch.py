"""One command, several ranks on this machine: none outlives the command, and the command ends as they did."""

from __future__ import annotations

import math
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import FrameType
from typing import IO

from understudy.errors import EXIT_BUG, EXIT_DONE, EXIT_RANKS, EXIT_STOPPED
from understudy.ranks.contract import HOSTS, variables_of
from understudy.ranks.place import LAUNCHED, RankPlace

SECRET = "UNDERSTUDY_SECRET"
PROGRAM = (sys.executable, "-m", "understudy.cli.main")
MOST_RESTARTS = 3
"""Of one rank that a signal killed."""
SECONDS_TO_END = 30.0
"""From being asked to being killed: time for a checkpoint."""
SECONDS_TO_END_AS_ORPHAN = 10.0
SECONDS_BETWEEN_LOOKS = 0.1
SECONDS_FOR_LAST_LINES = 2.0
"""A process of the rank's own may hold its stderr open for longer."""

_ORDINARY_CODES = (EXIT_DONE, EXIT_STOPPED, EXIT_RANKS)
_OF_SEVERAL_RANKS = ("--hosts", "--ranks")


def run_ranks(
    places: Sequence[RankPlace],
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    program: Sequence[str] = PROGRAM,
    seconds_to_end: float = SECONDS_TO_END,
) -> int:
    """Run `program` with `words` once for each place; returns the exit code for all of them.

    A rank that fails (any code but 0, 3 and 4) ends the others, and its code is returned; one that a signal killed is
    started again. SIGTERM and SIGINT are passed on. To be called in the main thread.
    """
    command = [*program, *words_of_one_rank(words)]
    shared = dict(environment)
    if len(places) == places[0].world_size:  # all are here: nobody else needs to know it
        shared[SECRET] = environment.get(SECRET) or secrets.token_hex(32)
    ranks = [_Rank(place.rank, command, environment_of(place, shared)) for place in places]
    return _Launch(ranks, seconds_to_end).run()


def words_of_one_rank(words: Sequence[str]) -> list[str]:
    """The command line without --hosts and --ranks and their values."""
    kept: list[str] = []
    is_value = False
    for word in words:
        if not is_value and word.partition("=")[0] not in _OF_SEVERAL_RANKS:
            kept.append(word)
        is_value = not is_value and word in _OF_SEVERAL_RANKS
    return kept


def environment_of(place: RankPlace, environment: Mapping[str, str]) -> dict[str, str]:
    """What a child needs to know that it is this rank, and nothing that says otherwise."""
    own = variables_of(place)
    kept = {name: value for name, value in environment.items() if name not in own and name != HOSTS}
    return {**kept, **{name: value for name, value in own.items() if value}, LAUNCHED: "1"}


def end_with_parent() -> None:
    """Watch stdin, whose other end only the launcher holds: when it closes, end as by SIGTERM, or 10 s later anyway."""
    line = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # nobody else may read the line; and Windows blocks whoever asks about a file being read
    os.close(nothing)
    threading.Thread(target=_end_at_end_of, args=(line,), name="launcher watch", daemon=True).start()


def _end_at_end_of(line: int) -> None:
    with suppress(OSError):
        while os.read(line, 4096):
            pass
    if os.name == "nt":
        signal.raise_signal(signal.SIGTERM)  # os.kill would end the process at once there
    else:
        os.kill(os.getpid(), signal.SIGTERM)  # wakes the main thread, which raise_signal would not
    time.sleep(SECONDS_TO_END_AS_ORPHAN)
    os._exit(EXIT_STOPPED)


class _Launch:
    """Starts the ranks and stays until none is left."""

    def __init__(self, ranks: Sequence[_Rank], seconds_to_end: float) -> None:
        self._running = list(ranks)
        self._seconds_to_end = seconds_to_end
        self._signals: list[int] = []
        self._deadline = math.inf
        self._codes: list[int] = []
        self._is_over = False
        """Rank 0 came to an end: the run needs no other rank any more."""

    def run(self) -> int:
        previous = {number: signal.signal(number, self._on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            for rank in self._running:
                rank.start()
            while self._running:
                self._pass_signals_on()
                self._look_after_ranks()
                time.sleep(SECONDS_BETWEEN_LOOKS)
            return self._code()
        finally:
            for rank in self._running:
                rank.kill()
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self._signals.append(number)

    def _pass_signals_on(self) -> None:
        while self._signals:
            self._ask_to_end(self._signals.pop(0))
        if time.monotonic() > self._deadline:
            for rank in self._running:
                rank.kill()

    def _ask_to_end(self, number: int) -> None:
        self._deadline = min(self._deadline, time.monotonic() + self._seconds_to_end)
        for rank in self._running:
            rank.ask_to_end(number)

    def _look_after_ranks(self) -> None:
        for rank in list(self._running):
            code = rank.code()
            if code is None:
                continue
            if code < 0 and not self._is_over and self._deadline == math.inf and rank.start_again(-code):
                continue
            self._running.remove(rank)
            if code >= 0:
                self._note_end(rank, code)

    def _note_end(self, rank: _Rank, code: int) -> None:
        self._codes.append(code)
        self._is_over = self._is_over or rank.number == 0
        if code not in _ORDINARY_CODES and self._deadline == math.inf:
            _say(f"rank {rank.number} failed with exit code {code}; the other ranks are told to stop")
            self._ask_to_end(signal.SIGTERM)

    def _code(self) -> int:
        """That of the first rank that failed, else the gravest; ranks that were killed have none."""
        failures = [code for code in self._codes if code not in _ORDINARY_CODES]
        killed = EXIT_BUG if self._deadline == math.inf else EXIT_STOPPED
        return failures[0] if failures else max(self._codes, default=killed)


class _Rank:
    """One rank's process, and the next one when it was killed."""

    def __init__(self, number: int, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.number = number
        self._command = command
        self._environment = environment
        self._num_restarts = 0
        self._process: subprocess.Popen[str] | None = None
        self._forwarding: threading.Thread | None = None

    def start(self) -> None:
        """In a group of its own, so that Ctrl-C in a terminal reaches it once, through us. Rank 0 speaks for all."""
        speaks = self.number == 0
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=None if speaks else subprocess.DEVNULL,
            stderr=None if speaks else subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=self._environment,
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        if self._process.stderr is not None:
            arguments = (self._process.stderr, f"[rank {self.number}] ")
            self._forwarding = threading.Thread(target=_forward, args=arguments, daemon=True)
            self._forwarding.start()

    def start_again(self, killed_by: int) -> bool:
        """After a signal killed it; False when that happened too often."""
        how = f"rank {self.number} was killed ({signal.strsignal(killed_by) or f'signal {killed_by}'})"
        if self._num_restarts == MOST_RESTARTS:
            _say(f"{how} again; it stays away")
            return False
        self._num_restarts += 1
        _say(f"{how}; it is started again ({self._num_restarts} of at most {MOST_RESTARTS} times)")
        self.start()
        return True

    def code(self) -> int | None:
        """The exit code, negative for the signal that killed it; None while it runs."""
        code = self._process.poll() if self._process else None
        if code is not None:
            self._close()
        return code

    def ask_to_end(self, number: int) -> None:
        if self._process is None:
            return
        if os.name == "nt" and self._process.stdin is not None:
            self._process.stdin.close()  # a signal would leave no time for a checkpoint there; see end_with_parent
        else:
            self._process.send_signal(number)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._close()

    def _close(self) -> None:
        """Say the last lines, which may be the reason of the end, before anybody speaks about it."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        if self._forwarding is not None:
            self._forwarding.join(SECONDS_FOR_LAST_LINES)


def _forward(lines: IO[str], prefix: str) -> None:
    with lines:
        for line in lines:
            with suppress(OSError, ValueError):  # nobody may be there to read it
                sys.stderr.write(f"{prefix}{line.rstrip()}\n")
                sys.stderr.flush()


def _say(line: str) -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write(f"understudy: {line}\n")
        sys.stderr.flush()
