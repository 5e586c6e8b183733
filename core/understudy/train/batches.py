"""Crops gathered into tensors, between the steps or ahead of the loop, on a thread."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from understudy.dataset import DecodedPair, StoredPixels
from understudy.frames.window import Window
from understudy.train.crops import Crop, CropPlan, Share
from understudy.train.device import Machine
from understudy.train.ends import part_of
from understudy.train.misses import Misses
from understudy.train.run import Run
from understudy.train.shifts import shifted, still_valid

STEPS_AT_ONCE = 4
"""Whose crops are gathered one after the other: those after the first find Python's code still in the cache.

Up to three ahead, as Prefetch has them; Misses allows for that (STEPS_AHEAD).
"""

Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True)
class Batch:
    """One step's crops at full resolution, scene-linear: as the frames are held, or as the machine wants them."""

    input: Tensor
    """N Cin H W, channels last."""
    target: Tensor
    """N Cout H W, channels last."""
    valid: Tensor | None
    """N 1 H W, 0 where a pixel does not count (DecodedPair.valid); None when all do."""
    crops: tuple[Crop, ...]
    """Where each comes from."""
    shifts: Tensor | None = None
    """N 2, `Crop.shift` of each, by which they are moved on their way to the device; None when none is to be."""

    def to(self, machine: Machine) -> Batch:
        """The batch as it is learnt, on the machine's device; from pinned memory copies run beside the computation.

        Half that is not shifted stays half on the CPU, where Transfer.encode is quick at it.
        """
        ready = self if machine.device.type == "cuda" else self._shifted()  # MPS has no cubics before torch 2.12
        return Batch(
            _sent(ready.input, machine),
            _sent(ready.target, machine),
            None if ready.valid is None else _sent(ready.valid, machine),
            ready.crops,
            None if ready.shifts is None else _sent(ready.shifts, machine),
        )._shifted()

    def _shifted(self) -> Batch:
        if self.shifts is None:
            return self
        return Batch(
            shifted(self.input, self.shifts),
            shifted(self.target, self.shifts),
            None if self.valid is None else still_valid(self.valid, self.shifts),
            self.crops,
        )


def _sent(tensor: Tensor, machine: Machine) -> Tensor:
    there = tensor.to(machine.device, non_blocking=True)
    stays = there.dtype == torch.float16 and machine.device.type == "cpu"
    return there if stays else there.to(machine.dtype)


def gather(
    pairs: tuple[DecodedPair, ...], plan: CropPlan, misses: Misses, samples: range, *, pin: bool = False
) -> Batch:
    """Cut the crops of `samples` out of the decoded pairs."""
    crops = [plan.draw(sample, misses.focus(sample)) for sample in samples]
    shape = (len(crops), plan.height, plan.width)
    places = [Window.of_size(plan.width, plan.height, crop.x, crop.y) for crop in crops]
    masks = [_mask(pairs[crop.pair], place, plan) for crop, place in zip(crops, places, strict=True)]
    inputs = _room(shape, [pairs[crop.pair].input for crop in crops])  # N H W Cin
    targets = _room(shape, [pairs[crop.pair].target for crop in crops])  # N H W Cout
    valid = None if all(mask is None for mask in masks) else np.ones((*shape, 1), np.bool_)  # N H W 1
    for n, crop in enumerate(crops):
        pair, place = pairs[crop.pair], places[n]
        _lay(part_of(pair.input, place), inputs[n], crop.mirrored)
        _lay(part_of(pair.target, place), targets[n], crop.mirrored)
        if valid is not None and (mask := masks[n]) is not None:
            _lay(mask[..., None], valid[n], crop.mirrored)

    def as_tensor(array: NDArray[Number]) -> Tensor:
        tensor = torch.from_numpy(array)
        return tensor.pin_memory() if pin else tensor

    def as_pictures(array: NDArray[Number]) -> Tensor:
        return as_tensor(array).permute(0, 3, 1, 2)  # N C H W, channels last in memory

    shifts = np.array([crop.shift for crop in crops], np.float32)  # N 2
    return Batch(
        as_pictures(inputs),
        as_pictures(targets),
        None if valid is None else as_pictures(valid),
        tuple(crops),
        as_tensor(shifts) if shifts.any() else None,
    )


def _mask(pair: DecodedPair, place: Window, plan: CropPlan) -> NDArray[np.bool_] | None:
    """H W: which of the crop's pixels count; None when all do.

    Past the end of a frame none does where channels may hold directions, which a mirror image has wrong.
    """
    mask = None if pair.valid is None else part_of(pair.valid, place)
    frame = Window.of_size(pair.window.width, pair.window.height)
    if not plan.may_mirror and not frame.contains(place):
        inside = frame.intersect(place).moved(-place.x0, -place.y0)
        counts = np.zeros((place.height, place.width), np.bool_)
        rows, columns = slice(inside.y0, inside.y1), slice(inside.x0, inside.x1)
        counts[rows, columns] = True if mask is None else mask[rows, columns]
        return counts
    return None if mask is None or mask.all() else mask


def _room(shape: tuple[int, int, int], frames: list[StoredPixels]) -> StoredPixels:
    """For N H W pixels as these frames hold them; float32 if one of them does."""
    return np.empty((*shape, frames[0].shape[2]), np.result_type(*(frame.dtype for frame in frames)))


def _lay(pixels: NDArray[Number], room: NDArray[Number], mirrored: bool) -> None:
    """H W C into H W C. Channel by channel when mirrored: NumPy is slow at turning over a few numbers at a time."""
    if not mirrored:
        room[...] = pixels
        return
    for channel in range(pixels.shape[2]):
        room[..., channel] = pixels[:, ::-1, channel]


@contextmanager
def batches_from(step: int, run: Run, misses: Misses, share: Share) -> Iterator[Iterator[Batch]]:
    """Those of step, step + 1, and so on, this rank's `share` of each.

    A thread gathers them ahead where that costs the loop nothing, for a GPU; or spares it a disk, as what is mapped
    may lie there. Else a few are gathered when one is asked for: on a CPU the thread would take a core and Python's
    lock away from the step.
    """
    is_cpu = run.machine.device.type == "cpu"
    pin = run.machine.device.type == "cuda"
    gathered = (
        gather(run.training, run.crops, misses, share.of_step(each, run.batch_size), pin=pin)
        for each in itertools.count(step)
    )
    if is_cpu and all(pair.is_in_memory for pair in run.training):
        yield _several_at_once(gathered)
        return
    prefetch = Prefetch(gathered)
    try:
        yield iter(prefetch)
    finally:
        prefetch.close()


def _several_at_once(batches: Iterator[Batch]) -> Iterator[Batch]:
    while some := list(itertools.islice(batches, STEPS_AT_ONCE)):
        yield from some


class Prefetch:
    """Iterates over what another iterator makes, on a thread, up to three ahead."""

    def __init__(self, batches: Iterator[Batch]) -> None:
        self._ready: queue.Queue[Batch | BaseException] = queue.Queue(maxsize=2)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, args=(batches,), name="prefetch", daemon=True)
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

    def _work(self, batches: Iterator[Batch]) -> None:
        try:
            for batch in batches:
                self._ready.put(batch)
                if self._closing.is_set():
                    return
        except BaseException as error:
            self._ready.put(error)  # raised in the loop's thread, which owns the run
