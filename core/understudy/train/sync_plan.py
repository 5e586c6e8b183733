"""How often the ranks exchange what: as asked, or chosen for the link and the speed that were measured."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import get_args

import torch
from torch import Tensor

from understudy.errors import UnderstudyError
from understudy.settings import Compression, Settings, SyncMode
from understudy.train.crops import Share
from understudy.train.device import Machine
from understudy.train.drawn import Batch
from understudy.train.gather import gather
from understudy.train.group import Group
from understudy.train.loss import loss_and_error
from understudy.train.network import Understudy
from understudy.train.recordings import played
from understudy.train.run import Run
from understudy.train.schedule import STAGES
from understudy.train.sharing import Alone, Averaging, Gradients, Meet, Outer, Overlap, Sharing
from understudy.train.state import TrainingState

AFFORDABLE_SHARE = 0.05
"""Of the time of training that averaging may cost. Half as often, a step teaches about 0.1 dB less in a short run."""
AFFORDABLE_SHARE_OF_GRADIENTS = 0.1
"""More, as it buys the very model of one process."""
LONGEST_INTERVAL = 64
MOST_SECONDS_BETWEEN = 10.0
"""Between meetings that were chosen here: stops, late comers and the clock wait for them."""
LARGEST_WAITED_SHARE = 0.3
"""Of that time for an exchange that is waited for. A slower one runs beside the steps, which teaches less."""
OVERLAPPED_SHARE = 0.8
"""Of the time between meetings that an exchange beside them may take."""
TRIES = 3
"""Of an exchange."""
SECONDS_OF_TRYING = 0.5
"""A resolution's step; a process's first steps are slow."""
OF_GRADIENTS: tuple[SyncMode, ...] = ("gradients", "accumulate")
MODES: tuple[SyncMode, ...] = get_args(SyncMode)
COMPRESSIONS: tuple[Compression, ...] = get_args(Compression)


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What a step and an exchange take, the slowest rank counting."""

    step_seconds: dict[int, float]
    """Of computing one rank's share by itself, by reduction (4, 2, 1); a GPU plays it from a recording."""
    told_step_seconds: dict[int, float]
    """The same where every operation is told anew, as it is while gradients are exchanged."""
    exchange_seconds: float
    """To average all weights, sent in 16 bits."""

    def share_of_gradients(self, seconds: float, *, multi_resolution: bool) -> float:
        """What part of a run would not have been spent by ranks left to themselves, 0 to 1.

        `seconds`: that an exchange of gradients adds to each step.
        """
        begins = [0.0, *(end for end, _ in STAGES)]
        lengths = {r: end - begin for begin, (end, r) in zip(begins, STAGES, strict=False)}
        stages = lengths if multi_resolution else {1: 1.0}
        return sum(
            length * (1 - self.step_seconds[r] / (self.told_step_seconds[r] + seconds)) for r, length in stages.items()
        )


@dataclass(frozen=True, kw_only=True)
class SyncPlan:
    """What the ranks exchange, and when."""

    mode: SyncMode
    """Never auto."""
    intervals: dict[int, int]
    """Steps between exchanges, by reduction (4, 2, 1)."""
    compression: Compression
    """Never auto."""
    why: str = field(default="", compare=False)
    """The measurements, when it was chosen by them."""

    def describe(self) -> str:
        numbers = list(dict.fromkeys(self.intervals.values()))
        often = "every step" if numbers == [1] else f"every {', then '.join(map(str, numbers))} steps"
        what = {
            "gradients": "gradients",
            "accumulate": "gradients summed over the interval",
            "average": "weights averaged",
            "overlap": "weights averaged while training goes on",
            "outer": "weights averaged by an outer optimizer",
        }[self.mode]
        return f"{what} {often}, {self.compression} compression" + (f" ({self.why})" if self.why else "")


def plan_for_link(run: Run, state: TrainingState, group: Group, known: SyncPlan | None) -> SyncPlan:
    """The plan, the same on every rank of `group`: what the settings fix, what rank 0 still knows, or what is measured.

    Raises GroupBroken, or UnderstudyError when settings contradict each other.
    """
    device = run.machine.device.type
    literal = asked_plan(run.settings)
    if literal and literal.mode in OF_GRADIENTS and device == "mps":
        raise UnderstudyError("sync_mode: gradients on Apple's GPU cannot be shared; choose --sync-mode average")
    if literal:
        return literal
    code = _as_numbers(known)
    group.broadcast(code, 0)
    if code.any():
        return _from_numbers(code)
    share = Share(index=group.index, size=group.size)
    batch = gather(run.training, run.crops, state.misses, share.computed(run.batch.samples(1))).to(run.machine)
    return choose(measured_costs(state, batch, run.machine, group, run.batch.size), run.settings, device)


def asked_plan(settings: Settings) -> SyncPlan | None:
    """What the settings fix without a look at the link; None when something is left to choose.

    Raises UnderstudyError when they contradict each other.
    """
    mode, interval, compression = _asked_mode(settings), settings.sync_interval, settings.compress
    if mode == "gradients" and interval > 1:
        raise UnderstudyError(
            f"sync_mode: gradients are shared every step, but sync_interval is {interval}; choose accumulate or average"
        )
    if compression == "powersgd" and mode not in OF_GRADIENTS:
        raise UnderstudyError(
            f"compress: powersgd is for gradients, but sync_mode is {mode}; choose fp16, or --sync-mode gradients"
        )
    if mode == "auto" and interval:
        mode = "gradients" if interval == 1 else "average"
    if mode == "gradients":
        interval = 1
    if mode == "auto" or not interval:
        return None
    return SyncPlan(mode=mode, intervals=_everywhere(interval), compression=_compression(settings, mode))


def choose(costs: Costs, settings: Settings, device: str) -> SyncPlan:
    """The plan for what was measured. Pure."""
    why = (
        f"a step takes {1000 * costs.step_seconds[1]:.0f} ms, averaging all weights "
        f"{1000 * costs.exchange_seconds:.0f} ms"
    )
    mode = _asked_mode(settings)
    can_share_gradients = mode in ("auto", "accumulate") and device != "mps"  # gloo takes no tensor of Apple's GPU
    in_32_bits = 2 * costs.exchange_seconds
    share_of_gradients = costs.share_of_gradients(in_32_bits, multi_resolution=settings.multi_resolution)
    if can_share_gradients and share_of_gradients <= AFFORDABLE_SHARE_OF_GRADIENTS:
        compression = _compression(settings, "gradients")
        return SyncPlan(mode="gradients", intervals=_everywhere(1), compression=compression, why=why)
    if mode == "auto":
        can_wait = costs.exchange_seconds <= LARGEST_WAITED_SHARE * MOST_SECONDS_BETWEEN
        mode = "average" if can_wait else "overlap"
    # what overlaps needs only be done by the next meeting
    shares = {"overlap": OVERLAPPED_SHARE, "accumulate": AFFORDABLE_SHARE_OF_GRADIENTS}
    share = shares.get(mode, AFFORDABLE_SHARE)
    steps = costs.told_step_seconds if mode == "accumulate" else costs.step_seconds
    intervals = {reduction: _interval(costs.exchange_seconds / share, seconds) for reduction, seconds in steps.items()}
    return SyncPlan(mode=mode, intervals=intervals, compression=_compression(settings, mode), why=why)


def measured_costs(state: TrainingState, batch: Batch, machine: Machine, group: Group, batch_size: int) -> Costs:
    """With one rank's share of a step; nothing is learnt from it. Raises GroupBroken."""
    told, quickest = step_seconds(state.model, batch, machine, group)
    exchange = exchange_seconds(state, group, batch_size)
    return Costs(step_seconds=quickest, told_step_seconds=told, exchange_seconds=exchange)


def step_seconds(
    model: Understudy, batch: Batch, machine: Machine, group: Group
) -> tuple[dict[int, float], dict[int, float]]:
    """Forward and backward at each reduction, the slowest rank's: told one by one, and as quickly as they can be done.

    Raises GroupBroken.
    """
    reductions = [reduction for _, reduction in STAGES]
    seconds = torch.zeros(2, len(reductions), dtype=torch.float64)
    learner = Alone(model, bfloat16=machine.bfloat16)
    for place, reduction in enumerate(reductions):

        def compute(reduction: int = reduction) -> Tensor:
            encoded = batch.encoded(model, reduction)
            with machine.autocast():
                answer = learner.answer(encoded.input)
            loss, _ = loss_and_error(answer, encoded.target, None)
            learner.backward(loss, 0)
            model.zero_grad(set_to_none=True)
            return loss.detach()

        seconds[:, place] = _quickest(compute, at_least_seconds=SECONDS_OF_TRYING)
        if machine.device.type == "cuda":
            seconds[1, place] = _quickest(played(compute, machine))
    group.all_reduce_max(seconds)
    told, quickest = (dict(zip(reductions, row, strict=True)) for row in seconds.tolist())
    return told, quickest


def exchange_seconds(state: TrainingState, group: Group, batch_size: int) -> float:
    """To average weights that have not changed, which leaves them as they are. Raises GroupBroken."""
    state = replace(state, averaged=copy.deepcopy(state.averaged))
    trial = Averaging(
        state, group, batch_size=batch_size, intervals=_everywhere(1), compression="fp16", meet=lambda _: None
    )

    def exchange() -> Tensor:
        trial.begin_step(state.step, 1, is_last=True)
        trial.settle(state)
        return next(state.model.parameters()).detach().flatten()[0]

    seconds = torch.tensor([_quickest(exchange)], dtype=torch.float64)
    group.all_reduce_max(seconds)
    return float(seconds)


def sharing_for(plan: SyncPlan, run: Run, state: TrainingState, group: Group, meet: Meet) -> Sharing:
    """The plan at work among the members of `group`. Raises GroupBroken."""
    batch_size, compression = run.batch.size, plan.compression
    if plan.mode in OF_GRADIENTS:
        interval = plan.intervals[1]
        return Gradients(state, group, batch_size=batch_size, interval=interval, compression=compression, meet=meet)
    kind = {"average": Averaging, "overlap": Overlap, "outer": Outer}[plan.mode]
    return kind(
        state,
        group,
        batch_size=batch_size,
        intervals=plan.intervals,
        compression=compression,
        meet=meet,
        bfloat16=run.machine.bfloat16,
    )


def _asked_mode(settings: Settings) -> SyncMode:
    """powersgd leaves only gradients to choose."""
    is_for_gradients = settings.sync_mode == "auto" and settings.compress == "powersgd"
    return "accumulate" if is_for_gradients else settings.sync_mode


def _everywhere(interval: int) -> dict[int, int]:
    return {reduction: interval for _, reduction in STAGES}


def _interval(wanted_seconds: float, step_seconds: float) -> int:
    most = max(1, min(LONGEST_INTERVAL, int(MOST_SECONDS_BETWEEN / step_seconds)))
    return max(1, min(most, math.ceil(wanted_seconds / step_seconds)))


def _compression(settings: Settings, mode: SyncMode) -> Compression:
    """Gradients of every step travel whole, so that the model is that of one process; changes of weights need not."""
    if settings.compress != "auto":
        return settings.compress
    return "none" if mode in OF_GRADIENTS or settings.precision == "float64" else "fp16"


def _quickest(act: Callable[[], Tensor], at_least_seconds: float = 0.0) -> float:
    """Of a few tries until the number that it gives is there: the first pay for memory and connections."""
    seconds: list[float] = []
    while len(seconds) < TRIES or sum(seconds) < at_least_seconds:
        begin = time.monotonic()
        act().item()  # waits for the device
        seconds.append(time.monotonic() - begin)
    return min(seconds)


def _as_numbers(plan: SyncPlan | None) -> Tensor:
    """So that it can be sent; zeros: none."""
    if plan is None:
        return torch.zeros(2 + len(STAGES), dtype=torch.float64)
    places = [MODES.index(plan.mode) + 1, COMPRESSIONS.index(plan.compression)]
    return torch.tensor([*places, *(plan.intervals[reduction] for _, reduction in STAGES)], dtype=torch.float64)


def _from_numbers(numbers: Tensor) -> SyncPlan:
    mode, compression, *intervals = (int(number) for number in numbers)
    return SyncPlan(
        mode=MODES[mode - 1],
        intervals={reduction: interval for (_, reduction), interval in zip(STAGES, intervals, strict=True)},
        compression=COMPRESSIONS[compression],
    )
