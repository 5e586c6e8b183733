"""What bounds a step where arithmetic does not: the traffic of its operations, and their number.

An operation reads what it is given and writes what it gives; one that is bound by that computes meanwhile for nothing.
The time below which no operation comes, one after the other, is the larger of the two; no fusing and no cache is
reckoned with, so that a step of small crops, which stay in a cache, may be quicker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from benchmarks.throughput.bare import quickest
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from understudy.train.device import Machine

COPIED_BYTES = {"cpu": 2**27, "cuda": 2**30, "mps": 2**29}
"""More than any cache holds."""
LAUNCHES = 2000


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One call of the device."""

    flops: int
    bytes_moved: int
    """All that it is given and gives, once."""


@dataclass(frozen=True, kw_only=True)
class Speeds:
    """Measured on a device, or published for one that is not there."""

    flops: float
    """A second, of matrix products."""
    bytes_moved: float
    """A second, read and written together."""
    launch_seconds: float
    """Until the next operation can be begun."""


class _Listener(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations: list[Operation] = []

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload,
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        from torch.utils.flop_counter import flop_registry  # slow to import: not before a start is timed

        given = kwargs or {}
        out: object = func(*args, **given)
        if not _only_looks(func):
            tensors = [leaf for leaf in tree_leaves((args, given, out)) if isinstance(leaf, Tensor)]
            counted = flop_registry.get(func.overloadpacket)
            self.operations.append(
                Operation(
                    flops=counted(*args, **given, out_val=out) if counted else 0,
                    bytes_moved=sum(tensor.numel() * tensor.element_size() for tensor in tensors),
                )
            )
        return out


def _only_looks(func: torch._ops.OpOverload) -> bool:
    """Gives another view of what it is given, and moves nothing."""
    returned = [part.alias_info for part in func._schema.returns]
    return any(alias is not None and not alias.is_write for alias in returned)


def operations_of(act: Callable[[], object]) -> list[Operation]:
    """In order; those of a backward pass that it makes, too."""
    listener = _Listener()
    with listener:
        act()
    return listener.operations


def least_seconds(operations: Sequence[Operation], speeds: Speeds) -> float:
    """Below which the device does not come: each operation computes or moves, whichever takes longer."""
    return sum(max(one.flops / speeds.flops, one.bytes_moved / speeds.bytes_moved) for one in operations)


def measured_speeds(machine: Machine, peak_flops: float) -> Speeds:
    """Of a copy, and of next to nothing done again and again."""
    source = torch.zeros(COPIED_BYTES[machine.device.type], dtype=torch.uint8, device=machine.device)
    copy, one = torch.empty_like(source), torch.zeros(1, device=machine.device)

    def launch() -> None:
        for _ in range(LAUNCHES):
            one.add_(1)

    return Speeds(
        flops=peak_flops,
        bytes_moved=2 * len(source) / quickest(lambda: copy.copy_(source), machine),
        launch_seconds=quickest(launch, machine) / LAUNCHES,
    )
