"""Steps that a GPU plays again from a recording (CUDA graphs), in place of being told each operation anew.

A step has several hundred operations, most of them on a few numbers: a program takes longer to begin one than a GPU to
do it (docs/speed.md). A recording begins all of them at once. What differs from step to step, crops and learning rate,
lies in places that it reads.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from understudy.train.device import Machine
from understudy.train.drawn import Drawn
from understudy.train.grain import Grain
from understudy.train.loss import ErrorMeasure, loss_and_error
from understudy.train.schedule import StepPlan
from understudy.train.sharing import Sharing
from understudy.train.state import TrainingState
from understudy.train.step import Learn, learn

_LOG = logging.getLogger("understudy")

STEPS_BEFORE = 3
"""Of a kind, done one operation after the other: what is made but once is no part of it."""


def learn_for(
    state: TrainingState, machine: Machine, sharing: Sharing, measure: ErrorMeasure, grain: Grain | None = None
) -> Learn:
    """The quickest way there, good as long as the sharing."""
    of_answers = partial(loss_and_error, measure=measure, ends=state.model.target_transfer.ends())
    one_by_one = partial(learn, state, machine, sharing, of_answers, grain)
    if machine.device.type == "cuda" and sharing.is_recordable:
        return Recordings(one_by_one, state, machine).learn
    return one_by_one


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Of a step: those of one kind are the same operations."""

    reduction: int
    are_units_woken: bool
    given: frozenset[tuple[str, torch.dtype]]
    """What there is of a batch, and as what: pairs in half and in float32 may come together."""


def kind_of(state: TrainingState, drawn: Drawn, plan: StepPlan) -> Kind:
    """Of the step that the state's waking has been told of."""
    return Kind(
        reduction=plan.reduction,
        are_units_woken=state.waking is not None and state.waking.is_loud_heard,
        given=frozenset((name, part.dtype) for name, part in drawn.tensors().items()),
    )


@dataclass(frozen=True, kw_only=True)
class Recording:
    """One kind of step, and the places that it reads and writes."""

    graph: torch.cuda.CUDAGraph
    drawn: Drawn
    loss: Tensor
    errors: Tensor

    def play(self, drawn: Drawn) -> tuple[Tensor, Tensor]:
        """As `Learn`; the next one that is played writes into the same places."""
        given = drawn.tensors()
        for name, place in self.drawn.tensors().items():
            place.copy_(given[name], non_blocking=True)
        self.graph.replay()
        return self.loss.clone(), self.errors.clone()


class Tape:
    """Where a GPU's operations are recorded."""

    def __init__(self, machine: Machine) -> None:
        self._device = machine.device
        self._stream = torch.cuda.Stream(machine.device)  # type: ignore[no-untyped-call]
        self._pool = torch.cuda.graph_pool_handle()
        """Memory that all its recordings use, one after the other."""

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Operations are done there: what libraries keep for each stream must be there before they are recorded."""
        here = torch.cuda.current_stream(self._device)
        self._stream.wait_stream(here)
        with torch.cuda.stream(self._stream):
            yield
        here.wait_stream(self._stream)

    @contextmanager
    def recording(self) -> Iterator[torch.cuda.CUDAGraph]:
        """Nothing is computed meanwhile. Other threads may use the device."""
        graph = torch.cuda.CUDAGraph()
        with (
            torch.cuda.device(self._device),  # else it would wait for the first GPU
            torch.cuda.graph(graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"),
        ):
            yield graph


class Recordings:
    """Each kind of step is recorded when it has been done STEPS_BEFORE times. A device that cannot goes on without.

    Weights and momentum must stay where they are.
    """

    def __init__(self, one_by_one: Learn, state: TrainingState, machine: Machine) -> None:
        self._learn = one_by_one
        self._state = state
        self._machine = machine
        self._tape = Tape(machine)
        self._learning_rate = torch.zeros((), device=machine.device, dtype=machine.dtype)
        self._num_done: dict[Kind, int] = {}
        self._recordings: dict[Kind, Recording] = {}
        self._can_record = True

    def learn(self, drawn: Drawn, plan: StepPlan) -> tuple[Tensor, Tensor]:
        kind = kind_of(self._state, drawn, plan)
        if kind not in self._recordings and self._can_record and self._num_done.get(kind, 0) >= STEPS_BEFORE:
            self._record(kind, drawn, plan)
        if recording := self._recordings.get(kind):
            self._learning_rate.fill_(plan.learning_rate)
            return recording.play(drawn)
        self._num_done[kind] = self._num_done.get(kind, 0) + 1
        return self._learn_aside(drawn, plan)

    def _learn_aside(self, drawn: Drawn, plan: StepPlan) -> tuple[Tensor, Tensor]:
        with self._tape.aside():
            return self._learn(drawn, plan)

    def _record(self, kind: Kind, drawn: Drawn, plan: StepPlan) -> None:
        held = drawn.sent(self._machine)
        optimizer = self._state.optimizer
        optimizer.learning_rate = self._learning_rate
        try:
            with self._tape.recording() as graph:
                loss, errors = self._learn(held, plan)
        except RuntimeError as error:  # out of memory is one too: a recording keeps what it uses
            _LOG.info("steps are not recorded, and take longer: %s", str(error).splitlines()[0])
            self._can_record = False
            optimizer.zero_grad()
            optimizer.learning_rate = plan.learning_rate
        else:
            self._recordings[kind] = Recording(graph=graph, drawn=held, loss=loss, errors=errors)


def played(act: Callable[[], Tensor], machine: Machine) -> Callable[[], Tensor]:
    """On a GPU: `act` done a few times and then recorded, which gives the same tensor each time it is played.

    Where it cannot be recorded, `act` as it is.
    """
    tape = Tape(machine)
    for _ in range(STEPS_BEFORE):
        with tape.aside():
            act()
    try:
        with tape.recording() as graph:
            found = act()
    except RuntimeError:
        return act

    def play() -> Tensor:
        graph.replay()
        return found

    return play
