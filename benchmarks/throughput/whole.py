"""The whole program trains on a shot made for it, and now and then makes room for the bare loop: two clocks of each."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import ParamSpec
from unittest.mock import patch

from benchmarks.throughput.bare import BareLoop, Clock, clock
from torch import Tensor

from understudy.frames.colour import ColourRules
from understudy.orders import Order
from understudy.report.contact_sheet import Sheet
from understudy.report.reporter import Reporter
from understudy.settings import Settings
from understudy.sources.sequences import SequenceSource
from understudy.train import batches, loop, sitting
from understudy.train.batches import batches_from
from understudy.train.crops import Share
from understudy.train.device import Machine
from understudy.train.drawn import Batch, Drawn
from understudy.train.gather import gather
from understudy.train.misses import Misses
from understudy.train.recorder import Recorder
from understudy.train.run import Run
from understudy.train.schedule import StepPlan
from understudy.train.session import train_new
from understudy.train.sharing import Sharing
from understudy.train.sitting import Manner
from understudy.train.state import TrainingState
from understudy.train.step import Learn, train_step

Given = ParamSpec("Given")

WARM_UP_STEPS = 20
"""A GPU has recorded by then how each kind of step is done."""


@dataclass(frozen=True, kw_only=True)
class Round:
    """As many steps of the whole program as of the bare loop, one after the other."""

    whole: Clock
    bare: Clock


@dataclass(kw_only=True)
class Watch:
    """Sees a run from inside."""

    steps_a_round: int = 0
    """0: the bare loop is left out."""
    make_bare: Callable[[Machine], BareLoop] | None = None
    rounds: list[Round] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    """Seconds that the loop waited for each batch."""
    insides: list[float] = field(default_factory=list)
    """Seconds in train_step, after the warm-up; a GPU, which works ahead, is not waited for."""
    sheet_cpu_seconds: list[float] = field(default_factory=list)
    """To draw each contact sheet, beside the training."""
    checkpoint_seconds: list[float] = field(default_factory=list)
    """That training waited for each."""
    first_step_at: float = 0.0
    """By time.perf_counter, when the first step was done."""
    machine: Machine | None = None
    _bare: BareLoop | None = None
    _reporter: Reporter | None = None
    _begin: Clock | None = None
    _gathering: threading.Lock = field(default_factory=threading.Lock)
    """Held by whoever gathers crops, and by the bare loop while it has its turn."""

    def step(self, state: TrainingState, drawn: Drawn, plan: StepPlan, sharing: Sharing, learn: Learn) -> Tensor:
        """train_step, timed."""
        assert self.machine
        begin = time.perf_counter()
        loss = train_step(state, drawn, plan, sharing, learn)
        self.first_step_at = self.first_step_at or clock(self.machine).seconds
        if state.step > WARM_UP_STEPS:
            self.insides.append(time.perf_counter() - begin)
        return loss

    def waited(self, ready: Iterator[Drawn]) -> Iterator[Drawn]:
        """The batches, timed; where a round ends, the bare loop has its turn, with nothing gathered beside it."""
        while True:
            self._between_steps()
            begin = time.perf_counter()
            batch = next(ready)
            self.waits.append(time.perf_counter() - begin)
            yield batch

    def _between_steps(self) -> None:
        done = len(self.waits) - WARM_UP_STEPS
        if self.machine and self.steps_a_round and done >= 0 and done % self.steps_a_round == 0:
            with self._gathering:
                self._turn(self.machine)

    def _locked(self, gather: Callable[Given, Batch]) -> Callable[Given, Batch]:
        """The same, but not in the bare loop's turn."""

        def locked(*given: Given.args, **named: Given.kwargs) -> Batch:
            with self._gathering:
                return gather(*given, **named)

        return locked

    def _turn(self, machine: Machine) -> None:
        """What the program still draws belongs to the round that is over."""
        if self._bare is None:
            assert self.make_bare
            self._bare = self.make_bare(machine)
            self._bare.steps(WARM_UP_STEPS)
        if self._begin:
            assert self._reporter
            self._reporter.flush()
            whole = clock(machine) - self._begin
            self.rounds.append(Round(whole=whole, bare=self._bare.steps(self.steps_a_round)))
        self._begin = clock(machine)

    def installed(self) -> ExitStack:
        """Inside the `with` block a training is seen."""
        watch = self

        @contextmanager
        def seen_batches(step: int, run: Run, misses: Misses, share: Share) -> Iterator[Iterator[Drawn]]:
            watch.machine = run.machine
            with batches_from(step, run, misses, share) as ready:
                yield watch.waited(ready)

        class SeenReporter(Reporter):
            def __enter__(self) -> Reporter:
                watch._reporter = self
                return super().__enter__()

            def _draw_sheet(self, sheet: Sheet) -> None:
                begin = time.thread_time()
                super()._draw_sheet(sheet)
                watch.sheet_cpu_seconds.append(time.thread_time() - begin)

        class SeenRecorder(Recorder):
            def checkpoint(self) -> None:
                begin = time.perf_counter()
                super().checkpoint()
                watch.checkpoint_seconds.append(time.perf_counter() - begin)

        stack = ExitStack()
        stack.enter_context(patch.object(loop, "train_step", self.step))
        stack.enter_context(patch.object(loop, "batches_from", seen_batches))
        stack.enter_context(patch.object(batches, "gather", self._locked(gather)))
        stack.enter_context(patch.object(sitting, "Reporter", SeenReporter))
        stack.enter_context(patch.object(sitting, "Recorder", SeenRecorder))
        return stack


def train_seen(watch: Watch, source: SequenceSource, settings: Settings) -> None:
    """A whole run in this process."""
    order = Order(settings=settings, source=source, colour=ColourRules())
    with watch.installed():
        train_new(order, Manner(progress_style="plain", verbosity=0, command="benchmark"))
