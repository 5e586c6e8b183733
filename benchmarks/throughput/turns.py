"""Two bare loops in turns, which differ in one choice."""

from __future__ import annotations

import argparse
import multiprocessing
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import torch
from benchmarks.quality.altered import ALTERATIONS
from benchmarks.throughput.asked import CPU_ROUNDS, CPU_STEPS, bare_loop, settings_of, spread
from benchmarks.throughput.bare import BareLoop, Clock
from benchmarks.throughput.whole import WARM_UP_STEPS

from understudy.allocator import grow_in_large_pages
from understudy.settings import Settings
from understudy.train.device import choose_machine
from understudy.train.elbow_room import threads_beside

NETWORKS = ("last layer of 3 x 3", "narrow at full resolution", "more layers")
"""Of the choices that can be undone, those of how a network is built."""

Steps = Callable[[int], Clock]
"""So many of a bare loop: what they take."""


def otherwise(folder: Path, arguments: argparse.Namespace) -> None:
    machine = choose_machine(settings_of(arguments, folder, 1), print)
    as_it_is = bare_loop(machine, arguments)
    with ALTERATIONS[arguments.way]():
        built_otherwise = bare_loop(machine, arguments)
    ratios = _ratios(as_it_is.steps, built_otherwise.steps, arguments)
    print(f"\n{machine}: a bare step as it is over one with {arguments.way}: {spread(ratios)}")


def casts(folder: Path, arguments: argparse.Namespace) -> None:
    machine = choose_machine(settings_of(arguments, folder, 1), print)
    if not machine.bfloat16:
        print(f"\n{machine}: no weights are cast")
        return
    once, each = (bare_loop(machine, arguments, casts_once=casts_once) for casts_once in (True, False))
    ratios = _ratios(once.steps, each.steps, arguments)
    print(f"\n{machine}: a bare step with weights cast at once over one that casts each: {spread(ratios)}")


def pages(folder: Path, arguments: argparse.Namespace) -> None:
    settings = replace(settings_of(arguments, folder, 1), device="cpu")
    make_large, make_small = (partial(_loop_in_pages, settings, arguments, are_large=large) for large in (True, False))
    with _loop_elsewhere(make_large) as in_large, _loop_elsewhere(make_small) as in_small:
        ratios = _ratios(in_large, in_small, arguments)
    print(f"\n{arguments.model_size}: a bare step in large pages over one in small ones: {spread(ratios)}")


def beside(folder: Path, arguments: argparse.Namespace) -> None:
    machine = choose_machine(settings_of(arguments, folder, 1), print)
    loop, cores = bare_loop(machine, arguments), torch.get_num_threads()
    fewer = threads_beside(cores, 1)
    with _busy_program():
        ratios = _ratios(partial(_with_threads, loop, fewer), partial(_with_threads, loop, cores), arguments)
    print(f"\nbeside a busy program a bare step of {fewer} threads over one of {cores}: {spread(ratios)}")


def _with_threads(loop: BareLoop, threads: int, count: int) -> Clock:
    torch.set_num_threads(threads)
    return loop.steps(count)


@contextmanager
def _busy_program() -> Iterator[None]:
    """It keeps a core busy, as far as others leave it one."""
    program = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        program.kill()
        program.wait()


def _ratios(one: Steps, other: Steps, arguments: argparse.Namespace) -> list[float]:
    """What the one takes over what the other takes, round by round; which of them begins changes."""
    ratios = []
    for steps in (one, other):
        steps(WARM_UP_STEPS)
    for number in range(arguments.rounds or CPU_ROUNDS):
        order = (one, other) if number % 2 else (other, one)
        seconds = {steps: steps(arguments.steps or CPU_STEPS).seconds for steps in order}
        ratios.append(seconds[one] / seconds[other])
    return ratios


def _loop_in_pages(settings: Settings, arguments: argparse.Namespace, *, are_large: bool) -> BareLoop:
    machine = choose_machine(settings, print)
    if are_large:
        grow_in_large_pages()
    return bare_loop(machine, arguments)


@contextmanager
def _loop_elsewhere(make_loop: Callable[[], BareLoop]) -> Iterator[Steps]:
    """In a process of its own. `make_loop`: a function of a module, or a partial of one."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(there, make_loop))
    process.start()
    there.close()  # its alone: when it fails nobody waits for its answer

    def steps(count: int) -> Clock:
        here.send(count)
        clock: Clock = here.recv()
        return clock

    try:
        yield steps
    finally:
        here.close()
        process.join()


def _serve(asked: Connection, make_loop: Callable[[], BareLoop]) -> None:
    """Until nobody asks any more."""
    loop = make_loop()
    with suppress(EOFError):
        while True:
            asked.send(loop.steps(asked.recv()))
