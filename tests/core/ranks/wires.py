"""TCP connections that a test holds in its hands: two ends, a listener that says what it is told, a wire to cut."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

LOOPBACK = "127.0.0.1"
SECONDS_BETWEEN_LOOKS = 0.02


@contextmanager
def connected() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two ends of one connection."""
    with socket.create_server((LOOPBACK, 0)) as listener, socket.create_connection(listener.getsockname()) as one:
        other, _ = listener.accept()
        with other:
            yield one, other


@contextmanager
def saying(words: bytes, *, then_close: bool = False) -> Iterator[int]:
    """A program that takes connections on the port given, says `words` to each, and then nothing more."""
    taken: list[socket.socket] = []
    with socket.create_server((LOOPBACK, 0)) as listener:
        listener.settimeout(SECONDS_BETWEEN_LOOKS)
        done = threading.Event()

        def serve() -> None:
            while not done.is_set():
                with suppress(TimeoutError):
                    connection, _ = listener.accept()
                    taken.append(connection)
                    connection.sendall(words)
                    if then_close:
                        connection.close()

        serving = threading.Thread(target=serve)
        serving.start()
        try:
            yield int(listener.getsockname()[1])
        finally:
            done.set()
            serving.join()
            for connection in taken:
                connection.close()


class Wire:
    """Carries connections to a port and back, until it is cut or told to hold what comes."""

    def __init__(self, port: int) -> None:
        self._target = (LOOPBACK, port)
        self._listener = socket.create_server((LOOPBACK, 0))
        self._listener.settimeout(SECONDS_BETWEEN_LOOKS)
        self.port = int(self._listener.getsockname()[1])
        self._ends: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._carries_up, self._carries_down = threading.Event(), threading.Event()
        self._closing = threading.Event()
        self.release()
        self._start(self._serve)

    def hold(self, *, up: bool = True, down: bool = True) -> None:
        """Carry nothing on, though all connections stay open; `down` is towards those who connected."""
        if up:
            self._carries_up.clear()
        if down:
            self._carries_down.clear()

    def release(self) -> None:
        self._carries_up.set()
        self._carries_down.set()

    def cut(self) -> None:
        """Break all connections; what was held is lost. New ones are carried."""
        ends, self._ends = self._ends, []
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._closing.set()
        serving, *carrying = self._threads
        serving.join()
        self.cut()
        self.release()
        for thread in carrying:
            thread.join()
        self._listener.close()

    def _start(self, act: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=act, args=arguments)
        self._threads.append(thread)
        thread.start()

    def _serve(self) -> None:
        while not self._closing.is_set():
            try:
                near, _ = self._listener.accept()
            except TimeoutError:
                continue
            try:
                far = socket.create_connection(self._target)
            except OSError:
                near.close()
                continue
            up, down = (near, far, self._carries_up), (far.dup(), near.dup(), self._carries_down)
            self._ends += [near, far]
            self._start(self._carry, *up)
            self._start(self._carry, *down)

    def _carry(self, source: socket.socket, target: socket.socket, may_carry: threading.Event) -> None:
        with source, target, suppress(OSError):
            while content := source.recv(65536):
                may_carry.wait()
                if select.select([source], [], [], 0.0)[0]:  # what came meanwhile goes with it, at once
                    content += source.recv(65536)
                target.sendall(content)
            target.shutdown(socket.SHUT_RDWR)
