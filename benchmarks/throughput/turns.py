"""Two bare loops in turns, which differ in one choice."""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.quality.altered import ALTERATIONS
from benchmarks.throughput.asked import CPU_ROUNDS, CPU_STEPS, bare_loop, settings_of, spread
from benchmarks.throughput.bare import BareLoop, Clock

from understudy.allocator import grow_in_large_pages
from understudy.train.device import choose_machine

NETWORKS = ("last layer of 3 x 3", "narrow at full resolution")
"""Of the choices that can be undone, those of how a network is built."""
WARM_UP_STEPS = 6
_OVER = 0

MakeLoop = Callable[[], BareLoop]
Steps = Callable[[int], Clock]
"""So many of that loop: what they take."""


def otherwise(folder: Path, arguments: argparse.Namespace) -> None:
    machine = choose_machine(settings_of(arguments, folder, 1), print)
    loops = [bare_loop(machine, arguments)]
    with ALTERATIONS[arguments.way]():
        loops.append(bare_loop(machine, arguments))
    rounds = []
    for _ in range(1 + (arguments.rounds or CPU_ROUNDS)):  # the first makes room for momentum
        as_it_is, built_otherwise = (loop.steps(arguments.steps or CPU_STEPS) for loop in loops)
        rounds.append(as_it_is.seconds / built_otherwise.seconds)
    print(f"\n{machine}: a bare step as it is over one with {arguments.way}: {spread(rounds[1:])}")


def pages(folder: Path, arguments: argparse.Namespace) -> None:
    make_loops = [partial(_loop_in_pages, arguments, folder, are_large=are_large) for are_large in (True, False)]
    rounds = []
    with loop_elsewhere(make_loops[0]) as in_large, loop_elsewhere(make_loops[1]) as in_small:
        for number in range(arguments.rounds or CPU_ROUNDS):
            turns = (in_large, in_small) if number % 2 else (in_small, in_large)
            seconds = {steps: steps(arguments.steps or CPU_STEPS).seconds for steps in turns}
            rounds.append(seconds[in_large] / seconds[in_small])
    print(f"\n{arguments.model_size}: a bare step in large pages over one in small ones: {spread(rounds)}")


def _loop_in_pages(arguments: argparse.Namespace, folder: Path, *, are_large: bool) -> BareLoop:
    machine = choose_machine(settings_of(arguments, folder, 1), print)
    if are_large:
        grow_in_large_pages()
    return bare_loop(machine, arguments)


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
