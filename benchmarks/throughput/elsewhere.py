"""A bare loop in a process of its own: for what is decided once for all of a process."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from benchmarks.throughput.bare import BareLoop, Clock

WARM_UP_STEPS = 6
_OVER = 0

MakeLoop = Callable[[], BareLoop]
Steps = Callable[[int], Clock]
"""So many of that loop: what they take."""


@contextmanager
def loop_elsewhere(make_loop: MakeLoop) -> Iterator[Steps]:
    """`make_loop`: a function of a module, or a partial of one. Nothing runs there but the steps that are asked for."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(there, make_loop))
    process.start()

    def steps(count: int) -> Clock:
        here.send(count)
        clock: Clock = here.recv()
        return clock

    try:
        yield steps
        here.send(_OVER)
    finally:
        here.close()
        process.join()


def _serve(asked: Connection, make_loop: MakeLoop) -> None:
    loop = make_loop()
    loop.steps(WARM_UP_STEPS)
    while (count := asked.recv()) != _OVER:
        asked.send(loop.steps(count))
