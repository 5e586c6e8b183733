"""Crops gathered into tensors, one step ahead of the loop, on a thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from understudy.dataset import DecodedPair
from understudy.train.crops import CropPlan
from understudy.train.device import Machine


@dataclass(frozen=True, kw_only=True)
class Share:
    """Which crops of a step are one rank's: a run of them, as many as any other's or one less."""

    index: int = 0
    """Of the rank among those that train together."""
    size: int = 1
    """How many they are."""

    def of(self, samples: range) -> range:
        """This rank's among the samples of a step; empty when there are fewer than ranks."""
        each, more = divmod(len(samples), self.size)
        start = self.index * each + min(self.index, more)
        return samples[start : start + each + (self.index < more)]

    def weight(self, batch_size: int) -> float:
        """Its part of a step, 0 to 1."""
        return len(self.of(range(batch_size))) / batch_size


@dataclass(frozen=True)
class Batch:
    """One step's crops at full resolution, scene-linear."""

    input: Tensor
    """N Cin H W float32, channels last."""
    target: Tensor
    """N Cout H W float32, channels last."""
    valid: Tensor | None
    """N 1 H W float32, 0 where a pixel of either side was not finite; None when all were."""
    pairs: tuple[int, ...]
    """Index of the training pair behind each crop."""

    def to(self, machine: Machine) -> Batch:
        """The batch on the machine's device; from pinned memory the copies run beside the computation."""

        def moved(tensor: Tensor) -> Tensor:
            return tensor.to(machine.device, machine.dtype, non_blocking=True)

        return Batch(
            moved(self.input), moved(self.target), None if self.valid is None else moved(self.valid), self.pairs
        )


def gather(pairs: tuple[DecodedPair, ...], plan: CropPlan, samples: range, *, pin: bool = False) -> Batch:
    """Cut the crops of `samples` out of the decoded pairs."""
    crops = [plan.draw(sample) for sample in samples]
    shape = (len(crops), plan.height, plan.width)
    any_invalid = any(pairs[crop.pair].valid is not None for crop in crops)
    inputs = np.empty((*shape, pairs[0].input.shape[2]), np.float32)  # N H W Cin
    targets = np.empty((*shape, pairs[0].target.shape[2]), np.float32)  # N H W Cout
    valid = np.ones((*shape, 1), np.float32) if any_invalid else None  # N H W 1
    for n, crop in enumerate(crops):
        pair = pairs[crop.pair]
        rows, columns = slice(crop.y, crop.y + plan.height), slice(crop.x, crop.x + plan.width)
        mirror = slice(None, None, -1 if crop.mirrored else 1)
        inputs[n] = pair.input[rows, columns][:, mirror]
        targets[n] = pair.target[rows, columns][:, mirror]
        if valid is not None and pair.valid is not None:
            valid[n, ..., 0] = pair.valid[rows, columns][:, mirror]

    def as_tensor(array: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> Tensor:
        tensor = torch.from_numpy(array)
        return (tensor.pin_memory() if pin else tensor).permute(0, 3, 1, 2)  # N C H W, channels last in memory

    return Batch(
        as_tensor(inputs),
        as_tensor(targets),
        None if valid is None else as_tensor(valid),
        tuple(crop.pair for crop in crops),
    )


class Prefetch:
    """Iterates over the batches of steps first, first+1, ...; the next is being gathered while one is in use."""

    def __init__(
        self,
        pairs: tuple[DecodedPair, ...],
        plan: CropPlan,
        *,
        batch_size: int,
        share: Share,
        first_step: int,
        pin: bool,
    ) -> None:
        """`batch_size`: crops a step over all ranks, of which `share` are gathered here."""
        self._ready: queue.Queue[Batch | BaseException] = queue.Queue(maxsize=2)
        self._closing = threading.Event()
        arguments = (pairs, plan, batch_size, share, first_step, pin)
        self._thread = threading.Thread(target=self._work, args=arguments, name="prefetch", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[Batch]:
        while True:
            item = self._ready.get()
            if isinstance(item, BaseException):
                raise item
            yield item

    def close(self) -> None:
        """Stop the thread; returns when it has ended."""
        self._closing.set()
        while self._thread.is_alive():
            try:
                self._ready.get_nowait()  # it may be waiting for room
            except queue.Empty:
                self._thread.join(timeout=0.01)

    def _work(
        self,
        pairs: tuple[DecodedPair, ...],
        plan: CropPlan,
        batch_size: int,
        share: Share,
        first_step: int,
        pin: bool,
    ) -> None:
        step = first_step
        while not self._closing.is_set():
            samples = range((step - 1) * batch_size, step * batch_size)
            try:
                own = share.of(samples) or samples[:1]  # a rank without crops of its own computes one, for nothing
                self._ready.put(gather(pairs, plan, own, pin=pin))
            except BaseException as error:
                self._ready.put(error)  # raised in the loop's thread, which owns the run
                return
            step += 1
