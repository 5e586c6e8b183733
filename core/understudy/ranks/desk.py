"""The desk: rank 0's server, where ranks sign in, wait for each other, and learn who trains with whom."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from understudy.errors import EXIT_RANKS
from understudy.ranks.lines import (
    Line,
    LineClosed,
    Message,
    WrongSecret,
    greet_as_desk,
    number,
    text,
    words,
)
from understudy.ranks.roster import Letter, Presence, Roster, Terms

SECONDS_BETWEEN_REMINDERS = 15.0
SECONDS_BETWEEN_LOOKS = 2.0
"""For a successor: a look is a question to the file server."""
LONGEST_SECONDS_BETWEEN_BEATS = 1.0
"""However long the silence that is allowed: closing waits for one."""
BEATS_PER_SILENCE = 5
"""Signs of life sent in the time after which silence counts as gone."""
MOST_FRUITLESS = 3
"""Generations in a row whose process group failed at once: something stands between the ranks."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long to wait for whom."""

    join_seconds: float
    """For ranks that never came, at the beginning."""
    hold_seconds: float
    """For rank 0, or for enough ranks, once training has begun."""
    silence_seconds: float
    """A rank not heard of for so long is gone."""

    @property
    def beat_seconds(self) -> float:
        return min(self.silence_seconds / BEATS_PER_SILENCE, LONGEST_SECONDS_BETWEEN_BEATS)


class Desk:
    """Serves until closed. `tell` gets a line for everything a wrangler should know."""

    def __init__(
        self,
        listener: socket.socket,
        *,
        run_name: str,
        secret: bytes,
        roster: Roster,
        patience: Patience,
        successor: Callable[[], str],
        tell: Callable[[str], None],
    ) -> None:
        """`successor`: who has taken the run over from this desk, thought dead; asked now and then."""
        self._successor = successor
        self._listener = listener
        self._run_name = run_name
        self._secret = secret
        self._roster = roster
        self._patience = patience
        self._tell = tell
        self._lock = threading.RLock()
        self._lines: dict[int, Line] = {}
        self._early: dict[int, Message] = {}
        """Of ranks that were ready before rank 0 had its pairs to compare theirs with."""
        self._told: set[str] = set()
        """Warnings that were given already: who is turned away tries again."""
        self._ended: Message | None = None
        self._waiting_since = self._reminded = time.monotonic()
        self._closing = threading.Event()
        listener.settimeout(patience.beat_seconds)
        self._thread = threading.Thread(target=self._serve, name="desk", daemon=True)
        self._thread.start()

    def end(self, code: int, reason: str) -> None:
        """Tell every rank that the run is over, and with which exit code."""
        with self._lock:
            self._ended = {"kind": "ended", "code": code, "reason": reason}
            for rank in list(self._lines):
                self._send((rank, self._ended))

    def close(self) -> None:
        """Hang up on everybody."""
        self._closing.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread at once, where the system has it so
        self._thread.join()
        self._listener.close()
        with self._lock:
            for line in self._lines.values():
                line.close()

    def _serve(self) -> None:
        looked = time.monotonic()
        while not self._closing.is_set():
            try:
                connection, peer = self._listener.accept()
            except TimeoutError:
                pass
            except OSError:
                if not self._closing.is_set():  # out of file handles, or the like: the next may do
                    self._closing.wait(self._patience.beat_seconds)
            else:
                arguments = (connection, str(peer[0]))
                threading.Thread(target=self._receive_rank, args=arguments, name="desk line", daemon=True).start()
            self._keep_time()
            if time.monotonic() - looked >= SECONDS_BETWEEN_LOOKS:
                looked = time.monotonic()
                self._give_way()

    def _keep_time(self) -> None:
        """Signs of life, reminders, and the end of patience."""
        with self._lock:
            now = time.monotonic()
            for rank in list(self._lines):
                self._send((rank, {"kind": "beat"}))
            self._deliver(self._roster.form(now))
            if not self._roster.is_waiting:
                self._waiting_since = self._reminded = now
                return
            allowed = self._patience.hold_seconds if self._roster.has_begun else self._patience.join_seconds
            seconds_left = self._waiting_since + allowed - now
            if seconds_left <= 0 and self._ended is None:
                self.end(EXIT_RANKS, f"{self._missing_in_words()} did not come within {allowed / 60:g} min")
            elif now - self._reminded >= SECONDS_BETWEEN_REMINDERS or self._reminded == self._waiting_since:
                self._reminded = now
                self._tell(f"waiting for {self._missing_in_words()}, {seconds_left / 60:.1f} min left")

    def _give_way(self) -> None:
        """This process may have been frozen, and replaced by the farm."""
        successor = self._successor()
        if successor and self._ended is None:
            self.end(EXIT_RANKS, f"another rank 0 ({successor}) has taken this run over")

    def _missing_in_words(self) -> str:
        missing = self._roster.missing()
        known = "; ".join(f"{rank}: {known}" for rank, known in missing.items())
        return f"ranks {list(missing)} of {self._roster.world_size} ({known})"

    def _receive_rank(self, connection: socket.socket, address: str) -> None:
        """One line, from its greeting to its end."""
        with connection:
            try:
                line = greet_as_desk(connection, self._secret, silence_seconds=self._patience.silence_seconds)
                hello = line.receive()
                rank = int(number(hello, "rank"))
                if not self._admit(rank, hello, line, address):
                    return
            except WrongSecret:
                self._warn(f"processes at {address} without this run's secret are turned away")
                return
            except LineClosed:
                return  # a port scan, a health check, a rank that gave up
            try:
                while True:
                    self._take(rank, line, line.receive())
            except LineClosed as closed:
                self._lose(rank, line, str(closed))

    def _admit(self, rank: int, hello: Message, line: Line, address: str) -> bool:
        """True when that rank now takes part; otherwise it has been told why not."""
        token, where = text(hello, "token"), f"{text(hello, 'host')} ({address}, pid {text(hello, 'pid')})"
        with self._lock:
            if self._closing.is_set():
                return False
            if self._ended:
                line.send(self._ended)
                return False
            refusal = self._refusal(rank, hello)
            holder = None if refusal else self._roster.holder(rank, token)
            if holder:
                refusal = f"{holder.where} is that rank already; give each process a rank of its own"
            if refusal:
                self._warn(f"rank {rank} on {where} was turned away: {refusal}")
                line.send({"kind": "refused", "reason": refusal, "is_taken": holder is not None})
                return False
            line.send({"kind": "welcome", "run_name": self._run_name})
            former = self._lines.pop(rank, None)
            if former:
                former.close()
            letters = self._roster.admit(rank, Presence(token=token, where=where), time.monotonic())
            self._lines[rank] = line
            self._tell(f"rank {rank} of {self._roster.world_size} is here: {where}")
            self._deliver(letters)
            return True

    def _warn(self, warning: str) -> None:
        if warning not in self._told:
            self._told.add(warning)
            self._tell(f"warning: {warning}")

    def _refusal(self, rank: int, hello: Message) -> str:
        run_name = text(hello, "run_name")
        if run_name and run_name != self._run_name:
            return f"it trains {run_name}, this is {self._run_name}"
        return self._roster.refusal(rank, int(number(hello, "world_size")), words(hello, "facts"))

    def _lose(self, rank: int, line: Line, reason: str) -> None:
        with self._lock:
            if self._lines.get(rank) is not line:
                return  # that rank has a newer line
            del self._lines[rank]
            self._early.pop(rank, None)
            if not self._ended and not self._closing.is_set():
                self._tell(f"rank {rank} is gone: {reason}")
            now = time.monotonic()
            self._deliver(self._roster.lose(rank, reason, now))
            self._deliver(self._roster.form(now))

    def _take(self, rank: int, line: Line, message: Message) -> None:
        """One message of a rank that takes part."""
        kind = text(message, "kind")
        with self._lock:
            if self._lines.get(rank) is not line:
                raise LineClosed("that rank has a newer line")
            if kind == "arrive":
                self._deliver(
                    self._roster.arrive(
                        rank,
                        text(message, "nonce"),
                        point=int(number(message, "point")),
                        stop=text(message, "stop"),
                        elapsed_seconds=number(message, "elapsed_seconds"),
                    )
                )
            elif kind == "put":
                self._deliver(self._roster.put(text(message, "key"), text(message, "value")))
            elif kind == "get":
                self._deliver(self._roster.get(rank, text(message, "key")))
            elif kind == "terms" and rank == 0:
                terms = Terms(batch_size=int(number(message, "batch_size")), facts=words(message, "facts"))
                self._deliver(self._roster.fix_terms(terms))
                self._take_early()
            elif kind == "ready" and not self._roster.has_terms:
                self._early[rank] = message
            elif kind == "ready":
                self._take_ready(rank, line, message)
            elif kind == "leave":
                raise LineClosed(text(message, "reason"))

    def _take_early(self) -> None:
        """Ranks that waited before this rank 0 had looked at its pairs: those that lost the one before it."""
        early, self._early = self._early, {}
        for rank, message in early.items():
            self._take_ready(rank, self._lines[rank], message)

    def _take_ready(self, rank: int, line: Line, message: Message) -> None:
        if refusal := self._roster.pair_refusal(words(message, "facts")):
            self._send((rank, {"kind": "refused", "reason": refusal, "is_taken": False}))
            self._lose(rank, line, refusal)
            line.close()
            return
        now = time.monotonic()
        trouble, step = text(message, "trouble"), int(number(message, "step"))
        self._deliver(self._roster.ready(rank, step, after=text(message, "after"), trouble=trouble, now=now))
        if trouble and self._roster.num_fruitless >= MOST_FRUITLESS:
            self.end(EXIT_RANKS, f"the ranks cannot exchange data ({self._roster.trouble}); try understudy netcheck")
        self._deliver(self._roster.form(now))

    def _deliver(self, letters: list[Letter]) -> None:
        for letter in letters:
            self._send(letter)

    def _send(self, letter: Letter) -> None:
        rank, message = letter
        line = self._lines.get(rank)
        if line:
            with suppress(LineClosed):  # its own thread finds out, and says so
                line.send(message)
