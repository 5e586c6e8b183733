"""Sealed lines over real sockets: what is said arrives, and nobody without the secret can say anything."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import pytest
from tests.core.ranks.wires import connected

from understudy.ranks.lines import (
    LONGEST_LINE,
    Line,
    LineClosed,
    NotUnderstudy,
    WrongSecret,
    greet_as_desk,
    greet_as_member,
    number,
    text,
    words,
)

SECRET = b"a secret of this run"
SILENCE = 20.0
SHORT_SILENCE = 0.3


@dataclass(frozen=True)
class Pair:
    """Both sides of a line, and the sockets below them."""

    member: Line
    desk: Line
    member_socket: socket.socket
    desk_socket: socket.socket


@contextmanager
def greeted(silence_seconds: float = SILENCE) -> Iterator[Pair]:
    with connected() as (near, far), ThreadPoolExecutor() as pool:
        desk = pool.submit(greet_as_desk, far, SECRET, silence_seconds=silence_seconds)
        member = greet_as_member(near, SECRET, silence_seconds=silence_seconds)
        yield Pair(member, desk.result(), near, far)


def overheard(pair: Pair, said: dict[str, object]) -> bytes:
    """The bytes with which the member says something; the desk has not heard them."""
    pair.member.send(said)
    return pair.desk_socket.recv(65536)


def test_what_is_said_arrives_in_order_both_ways() -> None:
    with greeted() as pair:
        for count in range(3):
            pair.member.send({"kind": "count", "count": count})
            pair.desk.send({"kind": "Zählung", "count": -count})
        assert [pair.desk.receive() for _ in range(3)] == [{"kind": "count", "count": count} for count in range(3)]
        assert [number(pair.member.receive(), "count") for _ in range(3)] == [0, -1, -2]


def test_messages_of_several_threads_arrive_whole() -> None:
    with greeted() as pair, ThreadPoolExecutor(4) as pool:
        sent = [{"thread": thread, "filling": "x" * 500 * thread} for thread in range(4)] * 50
        pool.map(pair.member.send, sent)
        received = [pair.desk.receive() for _ in sent]
    assert sorted(map(str, received)) == sorted(map(str, sent))


@pytest.mark.parametrize("desk_knows", [True, False])
def test_another_secret_is_noticed_on_both_sides(desk_knows: bool) -> None:
    secrets = (SECRET, b"another") if desk_knows else (b"another", SECRET)
    with connected() as (near, far), ThreadPoolExecutor() as pool:
        desk = pool.submit(greet_as_desk, far, secrets[0], silence_seconds=SILENCE)
        with pytest.raises(WrongSecret):
            greet_as_member(near, secrets[1], silence_seconds=SILENCE)
        with pytest.raises(WrongSecret):
            desk.result()


def test_words_cannot_be_said_twice() -> None:
    with greeted() as pair:
        raw = overheard(pair, {"kind": "leave"})
        pair.member_socket.sendall(raw + raw)
        assert pair.desk.receive() == {"kind": "leave"}
        with pytest.raises(LineClosed, match="not sealed"):
            pair.desk.receive()


def test_words_cannot_be_said_on_another_line() -> None:
    with greeted() as one, greeted() as other:
        other.member_socket.sendall(overheard(one, {"kind": "leave"}))
        with pytest.raises(LineClosed, match="not sealed"):
            other.desk.receive()


def test_a_side_does_not_take_its_own_words() -> None:
    with greeted() as pair:
        pair.desk_socket.sendall(overheard(pair, {"kind": "leave"}))
        with pytest.raises(LineClosed, match="not sealed"):
            pair.member.receive()


def test_a_changed_word_is_noticed() -> None:
    with greeted() as pair:
        pair.member_socket.sendall(overheard(pair, {"kind": "arrive", "point": 1}).replace(b"1}", b"2}"))
        with pytest.raises(LineClosed, match="not sealed"):
            pair.desk.receive()


FOREIGN_WORDS = {
    "ssh": b"SSH-2.0-OpenSSH_9.6\r\n",
    "mail": b"220 mail.example.com ESMTP ready\r\n",
    "endless": b"\x00" * 4096,
    "another version": b"understudy-ranks-0 0123456789abcdef\n",
}


@pytest.mark.parametrize("said", FOREIGN_WORDS.values(), ids=FOREIGN_WORDS)
def test_a_member_knows_a_foreign_service_and_says_how_it_greets(said: bytes) -> None:
    with connected() as (near, far):
        far.sendall(said)
        with pytest.raises(NotUnderstudy) as refused:
            greet_as_member(near, SECRET, silence_seconds=SILENCE)
    assert repr(said[:10].decode())[1:-1] in str(refused.value)


@pytest.mark.parametrize("said", [b"GET / HTTP/1.1\r\n", b"\n", b"x" * 4096], ids=["http", "nothing", "endless"])
def test_the_desk_knows_a_foreign_client(said: bytes) -> None:
    with connected() as (near, far):
        near.sendall(said)
        with pytest.raises(NotUnderstudy):
            greet_as_desk(far, SECRET, silence_seconds=SILENCE)


GREETINGS: dict[str, Callable[[socket.socket], Line]] = {
    "desk": lambda end: greet_as_desk(end, SECRET, silence_seconds=SHORT_SILENCE),
    "member": lambda end: greet_as_member(end, SECRET, silence_seconds=SHORT_SILENCE),
}


@pytest.mark.parametrize("greet", GREETINGS.values(), ids=GREETINGS)
@pytest.mark.parametrize("half", [b"", b"understudy-ra"], ids=["nothing", "half a line"])
def test_silence_in_the_greeting_is_told_from_a_closed_connection(
    greet: Callable[[socket.socket], Line], half: bytes
) -> None:
    with connected() as (near, far):
        near.sendall(half)
        with pytest.raises(LineClosed) as silent:
            greet(far)
    with connected() as (near, far):
        near.sendall(half)
        near.shutdown(socket.SHUT_WR)
        with pytest.raises(LineClosed, match="closed the connection") as closed:
            greet(far)
    assert silent.value.is_silence
    assert not closed.value.is_silence
    assert type(silent.value) is type(closed.value) is LineClosed


def test_silence_on_a_line_is_told_from_a_closed_connection() -> None:
    with greeted(SHORT_SILENCE) as pair:
        pair.member_socket.sendall(overheard(pair, {"kind": "beat"})[:20])
        with pytest.raises(LineClosed, match="silent for too long") as silent:
            pair.desk.receive()
    with greeted() as pair:
        pair.member_socket.sendall(overheard(pair, {"kind": "beat"})[:20])
        pair.member.close()
        with pytest.raises(LineClosed, match="closed the connection") as closed:
            pair.desk.receive()
    assert silent.value.is_silence
    assert not closed.value.is_silence


def test_an_endless_message_is_not_read_to_its_end() -> None:
    with greeted() as pair, ThreadPoolExecutor() as pool:
        sending = pool.submit(pair.member_socket.sendall, b"x" * (LONGEST_LINE + 1))
        with pytest.raises(LineClosed, match="too long"):
            pair.desk.receive()
        pair.desk.close()
        with suppress(OSError):
            sending.result()


def test_who_takes_nothing_is_not_waited_for() -> None:
    with greeted(SHORT_SILENCE) as pair, pytest.raises(LineClosed, match="silent for too long"):
        pair.member.send({"filling": "x" * 2**26})


def test_closing_frees_a_thread_that_listens() -> None:
    with greeted() as pair, ThreadPoolExecutor() as pool:
        listens = threading.Event()

        def listen() -> None:
            listens.set()
            pair.desk.receive()

        listening = pool.submit(listen)
        listens.wait()
        pair.desk.close()
        pair.desk.close()
        with pytest.raises(LineClosed):
            listening.result(timeout=SILENCE / 2)
        with pytest.raises(LineClosed):
            pair.desk.send({"kind": "beat"})


def test_only_objects_are_messages() -> None:
    with greeted() as pair:
        pair.member.send(["leave"])  # type: ignore[arg-type]
        with pytest.raises(LineClosed, match="no object"):
            pair.desk.receive()


def test_a_missing_or_wrong_word_is_named() -> None:
    message = {"kind": 5, "step": "5", "is": True, "facts": ["a"], "table": {"a": 1}, "word": "w", "figure": 1.5}
    for name in ("kind", "none"):
        with pytest.raises(LineClosed, match=f"no text '{name}'"):
            text(message, name)
    for name in ("step", "is", "none"):
        with pytest.raises(LineClosed, match=f"no number '{name}'"):
            number(message, name)
    for name in ("facts", "none"):
        with pytest.raises(LineClosed, match=f"no table '{name}'"):
            words(message, name)
    assert (text(message, "word"), number(message, "figure"), words(message, "table")) == ("w", 1.5, {"a": "1"})
