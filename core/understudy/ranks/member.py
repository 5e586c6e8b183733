"""A rank's place at the desk: it signs in, comes back when the line breaks, and waits for what all agree on."""

from __future__ import annotations

import os
import platform
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from understudy.errors import EXIT_RANKS, RanksMissing, UnderstudyError
from understudy.ranks.desk import Patience
from understudy.ranks.lines import (
    Line,
    LineClosed,
    Message,
    NotUnderstudy,
    WrongSecret,
    greet_as_member,
    number,
    text,
)
from understudy.ranks.roster import Generation, Go

SECONDS_BETWEEN_TRIES = 0.25
SECONDS_BETWEEN_REMINDERS = 15.0


class RunOver(UnderstudyError):
    """Rank 0 ended the run, as it should, before this rank had any part in it."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(f"the run is over without this rank: {ended.reason}")
        self.exit_code = ended.code


class StoppedWaiting(Exception):
    """This process was asked to stop; says by what."""


class GenerationOver(Exception):
    """Somebody came or went: all must meet again. Says why."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where the desk of a run is, and what it takes to be let in."""

    address: str
    port: int
    secret: bytes
    told_by: str
    """Where this was read, for messages."""
    is_fixed: bool
    """The run was told to meet there and nowhere else."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """The run is over."""

    code: int
    """Exit code for every rank."""
    reason: str

    @property
    def is_failure(self) -> bool:
        """Rank 0 failed, or ranks did not come; else the run was trained or stopped as it should be."""
        return self.code == EXIT_RANKS


class Member:
    """One rank, from signing in to leaving. The caller is one thread; the line has its own."""

    def __init__(
        self,
        *,
        rank: int,
        world_size: int,
        local_address: str,
        facts: Mapping[str, str],
        find_desk: Callable[[], Endpoint | str],
        patience: Patience,
        tell: Callable[[str], None],
    ) -> None:
        """`find_desk` gives the desk's place, or in words what keeps it from being known; asked before every try.

        `local_address`: what the line goes out from. `facts`: settings and versions, which must be those of rank 0.
        """
        self._rank = rank
        self._hello = {
            "kind": "hello",
            "rank": rank,
            "world_size": world_size,
            "token": secrets.token_hex(16),
            "host": platform.node(),
            "pid": str(os.getpid()),
            "facts": dict(facts),
        }
        self._local_address = local_address
        self._find_desk = find_desk
        self._patience = patience
        self._tell = tell
        self._change = threading.Condition()
        self._line: Line | None = None
        self._secret = b""
        self._run_name = ""
        self._batch_size = 0
        self._pair_facts: dict[str, str] = {}
        self._standing: dict[str, Message] = {}
        """What is said again whenever the line is new, by kind."""
        self._generation: Generation | None = None
        """The newest that the desk told of."""
        self._taken: Generation | None = None
        """The one that the caller knows."""
        self._over = ""
        """Why the newest ended; empty while it lasts."""
        self._gos: dict[int, Go] = {}
        self._values: dict[str, str] = {}
        self._ended: Ended | None = None
        self._failure: UnderstudyError | None = None
        self._on_over: Callable[[], None] = lambda: None
        self._leaving = threading.Event()
        self._has_joined = False
        self._alone_since = time.monotonic()
        self._thread = threading.Thread(target=self._stay_connected, name="member", daemon=True)
        self._thread.start()

    @property
    def secret(self) -> bytes:
        return self._secret

    def join(self) -> str:
        """Wait for the desk; gives the run's name.

        Raises RanksMissing when rank 0 does not come in time, UnderstudyError when it turns this rank away, and RunOver
        when the run has ended; so do the methods below that wait.
        """
        self._wait_for(lambda: self._has_joined)
        return self._run_name

    def batch_size(self) -> int:
        """Wait until rank 0 has looked at everything; gives the crops a step over all ranks."""
        self._wait_for(lambda: self._batch_size > 0)
        return self._batch_size

    def fix_terms(self, batch_size: int) -> None:
        """Rank 0 alone: what the others wait for in `batch_size`, and the pair facts that they must share."""
        self._say_until_told({"kind": "terms", "batch_size": batch_size, "facts": self._pair_facts})
        self._batch_size = batch_size

    def hold_pairs(self, facts: Mapping[str, str]) -> None:
        """What this rank's decoded pairs are."""
        self._pair_facts = dict(facts)

    def next_generation(self, step: int, trouble: str, stop_waiting: Callable[[], str]) -> Generation:
        """Wait until all who can be there are ready too.

        `step`: done by this rank's state; -1: it has none. `trouble`: how the last process group failed, if it did.
        Raises GenerationOver when the generation ended as soon as it was formed.
        """
        former = self._taken
        after = former.nonce if former else ""
        about = {"kind": "ready", "step": step, "after": after, "trouble": trouble, "facts": self._pair_facts}
        self._say_until_told(about)
        self._wait_for(lambda: self._generation is not former, stop_waiting)
        with self._change:
            del self._standing["ready"]
            self._gos.clear()
            self._taken = self._generation
        return self._lasting()

    def when_over(self, act: Callable[[], None]) -> None:
        """Call `act`, on the line's thread, as soon as the generation is over; at once if it is already."""
        with self._change:
            self._on_over = act
            is_over = bool(self._why_over())
        if is_over:
            act()

    def arrive(self, point: int, *, stop: str, elapsed_seconds: float) -> None:
        """Say that this rank has come to `point`; `agreed` gives the answer. Raises GenerationOver."""
        generation = self._lasting()
        about = {"kind": "arrive", "nonce": generation.nonce, "point": point}
        self._send({**about, "stop": stop, "elapsed_seconds": elapsed_seconds})

    def agreed(self, point: int) -> Go:
        """What all decided at `point`, once all have arrived there. Raises GenerationOver when they will not."""
        self._wait_for(lambda: point in self._gos or bool(self._why_over()))
        with self._change:
            if point not in self._gos:
                raise GenerationOver(self._why_over())
            return self._gos.pop(point)  # the others do as it says, whatever happened since

    def put(self, key: str, value: str) -> None:
        """A word for the others of the generation. Raises GenerationOver."""
        self._send({"kind": "put", "key": f"{self._lasting().nonce}/{key}", "value": value})

    def get(self, key: str) -> str:
        """Another's word, once it is there. Raises GenerationOver."""
        full_key = f"{self._lasting().nonce}/{key}"
        self._send({"kind": "get", "key": full_key})
        self._wait_for(lambda: full_key in self._values or bool(self._why_over()))
        with self._change:
            self._lasting()
            return self._values[full_key]

    def has(self, key: str) -> bool:
        """True when `get` would not have to wait: this rank was told already. Raises GenerationOver."""
        with self._change:
            return f"{self._lasting().nonce}/{key}" in self._values

    def await_over(self) -> None:
        """Wait as long as a rank may be silent for the desk to say that the generation is over.

        For who sees a transfer fail before the desk misses anybody. Raises GenerationOver, which says who is gone.
        """
        deadline = time.monotonic() + self._patience.silence_seconds + self._patience.beat_seconds
        self._wait_for(lambda: bool(self._why_over()) or time.monotonic() >= deadline)
        self._lasting()

    def await_end(self) -> Ended:
        """Wait for rank 0 to say that everything is written.

        Raises GenerationOver when it is lost before, RanksMissing when it failed.
        """
        self._wait_for(lambda: not self._ended.is_failure if self._ended else bool(self._why_over()))
        with self._change:
            if self._ended and not self._ended.is_failure:
                return self._ended
            raise GenerationOver(self._why_over())

    def leave(self, reason: str) -> None:
        """Sign off, so that the others need not find out. May be called at any time, and twice."""
        if self._leaving.is_set():
            return
        self._leaving.set()
        with self._change:
            line = self._line
        if line:
            with suppress(LineClosed):
                line.send({"kind": "leave", "reason": reason})
            line.close()
        self._thread.join()

    def _lasting(self) -> Generation:
        with self._change:
            if self._taken is None or self._why_over():
                raise GenerationOver(self._why_over() or "there is none")
            return self._taken

    def _why_over(self) -> str:
        """Why the generation that the caller knows has ended; empty while it lasts."""
        return self._over or ("" if self._generation is self._taken else "the others met again")

    def _wait_for(self, is_so: Callable[[], bool], stop_waiting: Callable[[], str] = lambda: "") -> None:
        """Until `is_so`, or until this rank is turned away, the run ended, or patience with an absent desk."""
        reminded = time.monotonic()
        with self._change:
            while not is_so():
                if self._failure:
                    raise self._failure
                if self._ended:
                    raise RanksMissing(self._ended.reason) if self._ended.is_failure else RunOver(self._ended)
                if reason := stop_waiting():
                    raise StoppedWaiting(reason)
                self._change.wait(self._patience.beat_seconds)
                if self._line is None and time.monotonic() - reminded >= SECONDS_BETWEEN_REMINDERS:
                    reminded = time.monotonic()
                    self._tell(f"rank {self._rank} waits for rank 0, {self._seconds_left() / 60:.1f} min left")

    def _seconds_left(self) -> float:
        allowed = self._patience.hold_seconds if self._has_joined else self._patience.join_seconds
        return self._alone_since + allowed - time.monotonic()

    def _say_until_told(self, message: Message) -> None:
        """Now, and again whenever the line is new."""
        with self._change:
            self._standing[text(message, "kind")] = message
        self._send(message)

    def _send(self, message: Message) -> None:
        """Whether it arrives shows in what comes back: a lost line ends the generation."""
        with self._change:
            line = self._line
        if line:
            with suppress(LineClosed):
                line.send(message)

    def _stay_connected(self) -> None:
        obstructed_since = 0.0
        said = ""
        while not self._leaving.is_set() and not self._failure and not self._ended:
            try:
                line = self._sign_in()
            except _MayPass as obstruction:
                obstructed_since = obstructed_since or time.monotonic()
                if time.monotonic() - obstructed_since > self._patience.silence_seconds + 1:
                    self._fail(UnderstudyError(str(obstruction)))
            except UnderstudyError as error:
                self._fail(error)
            except _NotYet as obstacle:
                if str(obstacle) != said:
                    said = str(obstacle)
                    self._tell(f"rank {self._rank} waits for rank 0: {said}")
                obstructed_since = 0.0
                if self._seconds_left() < 0:
                    self._fail(RanksMissing(f"rank 0 did not come in time: {said}"))
            else:
                obstructed_since, said = 0.0, ""
                if line:
                    self._listen(line)
            self._leaving.wait(SECONDS_BETWEEN_TRIES)

    def _sign_in(self) -> Line | None:
        """A line on which this rank takes part; None when the run is over."""
        endpoint = self._find_desk()
        if isinstance(endpoint, str):
            raise _NotYet(endpoint)
        connection = self._connect(endpoint)
        try:
            line = greet_as_member(connection, endpoint.secret, silence_seconds=self._patience.silence_seconds)
            line.send({**self._hello, "run_name": self._run_name})
            return self._welcomed(line, line.receive(), endpoint)
        except LineClosed as closed:
            connection.close()
            raise self._obstacle(closed, endpoint) from closed
        except BaseException:
            connection.close()
            raise

    def _connect(self, endpoint: Endpoint) -> socket.socket:
        try:
            return socket.create_connection(
                (endpoint.address, endpoint.port),
                timeout=self._patience.silence_seconds,
                source_address=(self._local_address, 0) if self._local_address else None,
            )
        except OSError as error:
            reason = "no answer at all" if isinstance(error, TimeoutError) else error.strerror or str(error)
            raise _NotYet(f"{_place(endpoint)}: {reason}") from error

    def _welcomed(self, line: Line, welcome: Message, endpoint: Endpoint) -> Line | None:
        kind = text(welcome, "kind")
        if kind == "refused":
            refusal = self._turned_away(text(welcome, "reason"))
            raise _MayPass(refusal) if welcome.get("is_taken") else UnderstudyError(refusal)
        with self._change:
            self._change.notify_all()
            if kind == "ended":
                self._ended = _ended_of(welcome)
                line.close()
                return None
            self._run_name, self._secret = text(welcome, "run_name"), endpoint.secret
            self._line, self._has_joined = line, True
            standing = list(self._standing.values())
        for message in standing:
            self._send(message)
        return line

    def _obstacle(self, closed: LineClosed, endpoint: Endpoint) -> Exception:
        """What a failed greeting means: another run, another program, or rank 0 on its way."""
        place = _place(endpoint)
        if isinstance(closed, WrongSecret) and endpoint.is_fixed:  # a new rank 0 may be about to publish its secret
            reason = f"{place} is the rank 0 of another run, or this rank has the wrong secret"
            return _MayPass(
                self._turned_away(f"{reason}; give each run a port of its own, and all its ranks one secret")
            )
        foreign = f"{place} is another program, not understudy"
        if isinstance(closed, NotUnderstudy) and endpoint.is_fixed:
            return UnderstudyError(f"{foreign}: {closed}; give this run a free port")
        if closed.is_silence and endpoint.is_fixed and not self._has_joined:  # its machine may stand still for a while
            return _MayPass(f"{foreign}: it takes connections and stays silent; give this run a free port")
        return _NotYet(f"{place} hung up: {closed}")

    def _turned_away(self, reason: str) -> str:
        return f"rank {self._rank} was turned away: {reason}"

    def _listen(self, line: Line) -> None:
        """Take messages until the line is lost."""
        is_lost = threading.Event()
        beating = threading.Thread(target=self._beat, args=(line, is_lost), name="member beat", daemon=True)
        beating.start()
        reason = ""
        if self._leaving.is_set():  # since before the line was there to sign off on
            line.close()
        try:
            while True:
                self._take(line.receive())
        except LineClosed as closed:
            reason = f"rank 0 is gone: {closed}"
        finally:
            line.close()
            with self._change:
                self._line = None
                self._alone_since = time.monotonic()
            self._end_generation(reason)
            is_lost.set()
            beating.join()

    def _beat(self, line: Line, is_lost: threading.Event) -> None:
        with suppress(LineClosed):
            while not is_lost.wait(self._patience.beat_seconds):
                line.send({"kind": "beat"})

    def _take(self, message: Message) -> None:
        kind = text(message, "kind")
        if kind == "over":
            if self._generation and text(message, "nonce") == self._generation.nonce:
                self._end_generation(text(message, "reason"))
            return
        with self._change:
            if kind == "generation":
                self._generation, self._over = _generation_of(message), ""
                self._on_over = lambda: None
                self._values.clear()
            elif kind == "go" and self._generation and text(message, "nonce") == self._generation.nonce:
                self._gos[int(number(message, "point"))] = _go_of(message)
            elif kind == "value":
                self._values[text(message, "key")] = text(message, "value")
            elif kind == "terms":
                self._batch_size = int(number(message, "batch_size"))
            elif kind == "ended":
                self._ended = _ended_of(message)
            elif kind == "refused":
                self._failure = UnderstudyError(self._turned_away(text(message, "reason")))
            self._change.notify_all()

    def _end_generation(self, reason: str) -> None:
        with self._change:
            self._over = self._over or reason
            act, self._on_over = self._on_over, lambda: None
            self._change.notify_all()
        act()

    def _fail(self, failure: UnderstudyError) -> None:
        with self._change:
            self._failure = failure
            self._change.notify_all()


class _NotYet(Exception):
    """The desk cannot be reached now; it may be later."""


class _MayPass(Exception):
    """An obstacle that may pass within the time after which silence counts as gone: a process that died unnoticed,
    a rank 0 that is being replaced, a machine that stands still. Says in full what it means if it does not.
    """


def _place(endpoint: Endpoint) -> str:
    return f"{endpoint.address} port {endpoint.port} ({endpoint.told_by})"


def _ended_of(message: Message) -> Ended:
    return Ended(code=int(number(message, "code")), reason=text(message, "reason"))


def _go_of(message: Message) -> Go:
    return Go(
        stop=text(message, "stop"),
        elapsed_seconds=number(message, "elapsed_seconds"),
        regroup=bool(message.get("regroup")),
    )


def _generation_of(message: Message) -> Generation:
    members, changes = message.get("members"), message.get("changes")
    if not isinstance(members, list) or not isinstance(changes, list):
        raise LineClosed("a generation names no members")
    return Generation(
        number=int(number(message, "number")),
        members=tuple(int(member) for member in members),
        donor=int(number(message, "donor")),
        donor_step=int(number(message, "donor_step")),
        nonce=text(message, "nonce"),
        changes=tuple(str(change) for change in changes),
    )
