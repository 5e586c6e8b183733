"""What the ranks do together in a step: nothing, share gradients, or share weights now and then.

All of these leave every rank with the same weights whenever they meet, which is what a checkpoint, a late comer and
the end of a run rely on.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

import torch
import torch.distributed as dist
from torch import Tensor, nn

# torch.distributed exports it too, but not to type checkers
from torch._C._distributed_c10d import GradBucket
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.nn.parallel import DistributedDataParallel

from understudy.settings import Compression
from understudy.train.cast_once import CastOnce
from understudy.train.crops import Share
from understudy.train.group import Group, GroupBroken, breaking
from understudy.train.network import Understudy
from understudy.train.state import TrainingState, follow, update_average

POWERSGD_RANK = 4
"""Of the matrices that stand for a layer's gradient."""
POWERSGD_FIRST_STEP = 10
"""Gradients of earlier steps travel whole: they change too fast to be guessed."""
HALF_SCALE = 4096.0
"""By which gradients are multiplied in fp16: a tenth of them would otherwise be too small for it and become zero."""
OUTER_LEARNING_RATE = 1.0
OUTER_MOMENTUM = 0.5
REPLACED_SHARE = 0.5
"""Of what a late mean differs by: with 1, PSNR after the same time was 1.4 dB lower."""

Meet = Callable[[int], object]
"""Waits until every rank has come to that step. Raises GenerationOver."""


class Sharing(Protocol):
    """Used by one step after another, in this order of methods."""

    share: Share
    is_recordable: bool
    """Forward, backward and optimizer are this process's alone, and the same operations in each step."""

    def begin_step(self, step: int, reduction: int, *, is_last: bool) -> bool:
        """Whether the ranks exchange something at the end of `step`, which trains at 1/`reduction`.

        `is_last`: the run is expected to be over then. All ranks must be told the same.
        """

    def answer(self, encoded: Tensor) -> Tensor:
        """The model's `encoded_answer`, in transfer space: N Cin H W -> N Cout H W."""

    def backward(self, loss: Tensor, step: int) -> None:
        """Gradients of this rank's mean loss. May raise GroupBroken or GenerationOver, as `settle` and `flush` may."""

    def is_update(self) -> bool:
        """Whether the optimizer moves the weights in this step."""

    def settle(self, state: TrainingState) -> None:
        """After the optimizer: exchange weights if it is time, and move their running average."""

    def pool(self, rows: Tensor) -> Tensor:
        """Rows of this rank's crops, step by step -> of all ranks' where these are to draw the same crops.

        At a meeting point. May raise GroupBroken.
        """

    def flush(self, state: TrainingState) -> None:
        """Bring every rank to the same weights, at a meeting point."""

    def close(self) -> None:
        """Let go of the model; the group may be broken."""


class _OwnSteps:
    """What a rank does whose gradients are nobody else's."""

    is_recordable = True

    def __init__(self, model: Understudy, *, bfloat16: bool) -> None:
        """`bfloat16`: what convolutions run in, inside autocast."""
        self._model = model
        self._cast = CastOnce(model) if bfloat16 else None

    def answer(self, encoded: Tensor) -> Tensor:
        return (self._cast or self._model).encoded_answer(encoded)

    def backward(self, loss: Tensor, step: int) -> None:  # noqa: ARG002
        if self._cast:
            self._cast.backward(loss)
        else:
            loss.backward()  # type: ignore[no-untyped-call]

    def is_update(self) -> bool:
        return True


class Alone(_OwnSteps):
    """One process: every step is its own."""

    share = Share()

    def __init__(self, model: Understudy, *, bfloat16: bool = False) -> None:
        """`bfloat16`: what convolutions run in, inside autocast."""
        super().__init__(model, bfloat16=bfloat16)
        self._weights = list(model.parameters())

    def begin_step(self, step: int, reduction: int, *, is_last: bool) -> bool:  # noqa: ARG002
        return True

    def settle(self, state: TrainingState) -> None:
        follow(state.averaged, self._weights, state.step)

    def pool(self, rows: Tensor) -> Tensor:
        return rows

    def flush(self, state: TrainingState) -> None:
        """There is nobody to differ from."""

    def close(self) -> None:
        """Nothing is held."""


class Gradients:
    """Gradients are summed over `interval` steps and over all ranks, by PyTorch's DistributedDataParallel.

    With an interval of 1 the ranks compute what one process would. The exchange of one layer's gradients runs beside
    the computation of the next.
    """

    is_recordable = False

    def __init__(
        self,
        state: TrainingState,
        group: Group,
        *,
        batch_size: int,
        interval: int,
        compression: Compression,
        meet: Meet,
    ) -> None:
        self.share = Share(index=group.index, size=group.size)
        state.model.zero_grad(set_to_none=True)  # of a step that was broken off
        self._interval = interval
        self._last_meeting = state.step
        self._meets = False
        self._meet = meet
        self._group = group
        self._batch_size = batch_size
        self._weight = self.share.weight(batch_size) * group.size / interval  # the exchange divides by the group's size
        _ignore_harmless_warnings()
        with breaking():
            self._learner = DistributedDataParallel(
                _Learner(state.model),
                process_group=group.process_group,
                init_sync=False,
                broadcast_buffers=False,
                gradient_as_bucket_view=True,
            )
        self._exchange = _Exchange(group, compression)
        self._learner.register_comm_hook(None, self._exchange.hook())

    def begin_step(self, step: int, reduction: int, *, is_last: bool) -> bool:  # noqa: ARG002
        self._meets = step - self._last_meeting >= self._interval or is_last
        self._learner.require_backward_grad_sync = self._meets
        return self._meets

    def answer(self, encoded: Tensor) -> Tensor:
        with breaking():  # once, after the first exchange, the ranks agree on what travels together
            self._learner.reducer._rebuild_buckets()
        answer: Tensor = self._learner(encoded)
        return answer

    def backward(self, loss: Tensor, step: int) -> None:
        if self._meets:
            self._meet(step)
        with self._exchange.telling_failures():
            (loss * self._weight).backward()  # type: ignore[no-untyped-call]

    def is_update(self) -> bool:
        return self._meets

    def settle(self, state: TrainingState) -> None:
        if not self._meets:
            return
        weights = list(state.model.parameters())
        num_steps, self._last_meeting = state.step - self._last_meeting, state.step
        if num_steps == 1:
            follow(state.averaged, weights, state.step)
        else:
            update_average(state.averaged, weights, state.step, num_steps)

    def pool(self, rows: Tensor) -> Tensor:
        own = self.share.of(range(self._batch_size))
        steps = rows.view(-1, max(1, len(own)), rows.shape[1])  # S n D: where it has none, one was for nothing
        table = rows.new_zeros(len(steps), self._batch_size, rows.shape[1])
        table[:, own.start : own.stop] = steps[:, : len(own)]
        self._group.all_reduce_sum(table)
        return table.flatten(0, 1)

    def flush(self, state: TrainingState) -> None:
        """Every rank has made the same steps."""

    def close(self) -> None:
        del self._learner


class Averaging(_OwnSteps):
    """Every rank trains by itself; at meeting points all take the mean of their weights, by their shares of the batch.

    What travels is the change since the last meeting. What rounding to 16 bits takes from it is added to the next.
    """

    def __init__(
        self,
        state: TrainingState,
        group: Group,
        *,
        batch_size: int,
        intervals: dict[int, int],
        compression: Compression,
        meet: Meet,
        bfloat16: bool = False,
    ) -> None:
        """`intervals`: steps between meetings by reduction (4, 2, 1). `bfloat16`: what convolutions run in."""
        super().__init__(state.model, bfloat16=bfloat16)
        self.share = Share(index=group.index, size=group.size)
        state.model.zero_grad(set_to_none=True)
        self._group = group
        self._weight = self.share.weight(batch_size)
        self._intervals = intervals
        self._meet = meet
        self._sent_as = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(compression)
        self._parameters = list(state.model.parameters())
        self._common = self._flat_weights()
        """Weights as of the last meeting, the same on all ranks; on the CPU unless the group speaks CUDA."""
        self._rest = torch.zeros_like(self._common)
        """What rounding has kept back."""
        self._last_meeting = state.step
        self._meets = False

    def begin_step(self, step: int, reduction: int, *, is_last: bool) -> bool:
        self._meets = step - self._last_meeting >= self._intervals[reduction] or is_last
        return self._meets

    @torch.no_grad()
    def settle(self, state: TrainingState) -> None:
        if not self._meets:
            return
        self._meet(state.step)
        part = self._as_sent(self._own_change())
        self._group.all_reduce_sum(part)
        self._take(self._outer(part.to(self._common.dtype)))
        self._end_interval(state)

    def pool(self, rows: Tensor) -> Tensor:
        return rows  # each looks where it was wrong itself

    def flush(self, state: TrainingState) -> None:
        """They are the same whenever the ranks have met."""

    def close(self) -> None:
        """The model is left as it is."""

    def _own_change(self) -> Tensor:
        """Since the common weights."""
        return self._flat_weights().sub_(self._common)

    def _as_sent(self, change: Tensor) -> Tensor:
        """Its part of the mean, rounded; what rounding took goes with the next."""
        part = torch.add(self._rest, change, alpha=self._weight)
        if self._sent_as is None:
            return part
        rounded = part.to(self._sent_as)
        self._rest = part.sub_(rounded)
        return rounded

    def _outer(self, mean_change: Tensor) -> Tensor:
        """What is made of the mean change."""
        return mean_change

    def _take(self, change: Tensor) -> None:
        """All go on from the common weights, moved."""
        self._common += change
        self._set_weights(self._common)

    def _end_interval(self, state: TrainingState) -> None:
        num_steps = state.step - self._last_meeting
        self._last_meeting = state.step
        update_average(state.averaged, self._unflattened(self._common), state.step, num_steps)

    def _flat_weights(self) -> Tensor:
        """In the order of memory, which is the same on all ranks and quicker to copy than any other."""
        flat = torch.cat([parameter.detach().as_strided((parameter.numel(),), (1,)) for parameter in self._parameters])
        return flat if flat.is_cuda else flat.cpu()

    def _set_weights(self, flat: Tensor) -> None:
        for parameter, values in zip(self._parameters, self._unflattened(flat), strict=True):
            parameter.data.copy_(values)

    def _unflattened(self, flat: Tensor) -> list[Tensor]:
        sizes = [parameter.numel() for parameter in self._parameters]
        parts = torch.split(flat.to(self._parameters[0].device), sizes)
        each = zip(parts, self._parameters, strict=True)
        return [part.as_strided(parameter.shape, parameter.stride()) for part, parameter in each]


class Outer(Averaging):
    """As Averaging, but the mean change is a step of an outer optimizer with Nesterov's momentum.

    The momentum starts anew when ranks come or go.
    """

    _momentum: Tensor | None = None

    def _outer(self, mean_change: Tensor) -> Tensor:
        former = torch.zeros_like(mean_change) if self._momentum is None else self._momentum
        self._momentum = OUTER_MOMENTUM * former + mean_change
        return OUTER_LEARNING_RATE * (mean_change + OUTER_MOMENTUM * self._momentum)


class Overlap(Averaging):
    """As Averaging, but the exchange runs beside the steps up to the next meeting, for links that are slow.

    When the mean of a change comes in, it takes the place of the own one, half of it; what was trained since stays. By
    then a rank has mended much of what was odd in its own change: undone whole, that would be mended twice, and the
    ranks would drift apart, swinging.
    """

    _under_way: tuple[dist.Work, Tensor, Tensor] | None = None
    """The exchange; what was sent and becomes the sum; this rank's change that it is about."""

    @torch.no_grad()
    def settle(self, state: TrainingState) -> None:
        if not self._meets:
            return
        self._meet(state.step)
        self._take_in()
        change = self._own_change()
        part = self._as_sent(change)
        self._under_way = (self._group.start_all_reduce(part), part, change)
        self._end_interval(state)

    @torch.no_grad()
    def flush(self, state: TrainingState) -> None:
        self._take_in()
        part = self._own_change() * self._weight + self._rest
        self._group.all_reduce_sum(part)
        self._rest.zero_()
        self._take(part)
        update_average(state.averaged, self._unflattened(self._common), state.step)

    def close(self) -> None:
        if self._under_way:  # its buffers must outlive it; the exchange of a broken group ends with an error
            with suppress(RuntimeError):
                self._under_way[0].wait()

    def _take_in(self) -> None:
        """Wait for the exchange under way, if there is one."""
        if self._under_way is None:
            return
        work, part, change = self._under_way
        self._group.finish(work)
        self._under_way = None
        mean_change = part.to(self._common.dtype)
        self._common += mean_change
        self._set_weights(self._flat_weights() + REPLACED_SHARE * (mean_change - change))


class _Learner(nn.Module):
    """What DistributedDataParallel differentiates."""

    def __init__(self, model: Understudy) -> None:
        super().__init__()
        self.model = model

    def forward(self, encoded: Tensor) -> Tensor:
        return self.model.encoded_answer(encoded)


def _ignore_harmless_warnings() -> None:
    """Of DDP: an argument that has no replacement yet, and the layout of 1x1 convolutions, which costs nothing."""
    warnings.filterwarnings("ignore", message="`broadcast_buffers` is deprecated", category=FutureWarning)
    warnings.filterwarnings("ignore", message="Grad strides do not match bucket view strides")


Exchanged = torch.futures.Future[Tensor]


class _Exchange:
    """How DDP's gradients travel, and whether that failed: backward raises the same error for that and for any other.

    Without that, a rank that is out of memory would take the others for gone.
    """

    def __init__(self, group: Group, compression: Compression) -> None:
        self._failures: list[str] = []
        self._send = _way_of_sending(group, compression)

    def hook(self) -> Callable[[object, GradBucket], Exchanged]:
        # gloo's threads let go of `look` late: it must not hold the group, which cannot end on a thread of its own
        failures = self._failures

        def look(exchanged: Exchanged) -> Tensor:
            with _noting(failures):
                return exchanged.value()

        @functools.wraps(default_hooks.allreduce_hook)  # DDP looks at its signature
        def send(_: object, bucket: GradBucket) -> Exchanged:
            with _noting(failures):
                return self._send(bucket).then(look)

        return send

    @contextmanager
    def telling_failures(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            if not self._failures:
                raise
            raise GroupBroken(self._failures[0].splitlines()[0][:200]) from error


@contextmanager
def _noting(failures: list[str]) -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        failures.append(str(error))
        raise


def _way_of_sending(group: Group, compression: Compression) -> Callable[[GradBucket], Exchanged]:
    """From a bucket of gradients to their mean, in as few bytes as wanted."""
    among = group.process_group
    if compression == "powersgd":
        state = powerSGD_hook.PowerSGDState(
            process_group=among,
            matrix_approximation_rank=POWERSGD_RANK,
            start_powerSGD_iter=POWERSGD_FIRST_STEP,
        )
        return functools.partial(_send_factors, state)
    if compression == "fp16":
        return functools.partial(_send_scaled, among)
    hook = default_hooks.bf16_compress_hook if compression == "bf16" else default_hooks.allreduce_hook
    return functools.partial(hook, among)


def _send_factors(state: powerSGD_hook.PowerSGDState, bucket: GradBucket) -> Exchanged:
    """One bucket after the other: each takes three exchanges, which over gloo would mix, differently on every rank."""
    sent: Exchanged = powerSGD_hook.powerSGD_hook(state, bucket)
    sent.wait()
    return sent


def _send_scaled(among: dist.ProcessGroup, bucket: GradBucket) -> Exchanged:
    """As fp16 with small values kept; large ones are held where the sum is still a number."""
    largest = torch.finfo(torch.float16).max
    bucket.buffer().mul_(HALF_SCALE).clamp_(-largest, largest)
    return default_hooks.fp16_compress_hook(among, bucket).then(lambda sent: sent.value().div_(HALF_SCALE))
