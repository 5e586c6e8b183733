"""Crops gathered into tensors, between the steps or ahead of the loop on a thread, or cut out by a GPU."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from understudy.dataset import DecodedPair, StoredPixels
from understudy.frames.window import Window
from understudy.train.crops import Crop, CropPlan, Share
from understudy.train.device_frames import DeviceFrames, common_dtype, device_frames
from understudy.train.drawn import Batch, Drawn, Places
from understudy.train.ends import part_of
from understudy.train.misses import Misses
from understudy.train.run import Run
from understudy.train.shifts import REACH, all_count, moved

STEPS_AT_ONCE = 4
"""Whose crops are gathered one after the other: those after the first find Python's code still in the cache.

Up to three ahead, as Prefetch has them; Misses allows for that (STEPS_AHEAD).
"""

Number = TypeVar("Number", bound=np.generic)
Ended = tuple[StoredPixels, tuple[float, float]]
"""A frame, H W C, and the least and greatest value of its data window."""


def gather(
    pairs: tuple[DecodedPair, ...], plan: CropPlan, misses: Misses, samples: range, *, pin: bool = False
) -> Batch:
    """Cut the crops of `samples` out of the decoded pairs. `pin`: for a GPU."""
    crops = _draw(plan, misses, samples)
    of_crops = [pairs[crop.pair] for crop in crops]
    inputs = _cut([(pair.input, pair.facts.input_range) for pair in of_crops], crops, plan, pin=pin)
    targets = _cut([(pair.target, pair.facts.target_range) for pair in of_crops], crops, plan, pin=pin)
    valid = _valid([_mask(pairs[crop.pair], crop, plan) for crop in crops], crops, plan, pin=pin)
    return Batch(input=inputs, target=targets, crops=crops, valid=valid)


def locate(
    pairs: tuple[DecodedPair, ...], plan: CropPlan, misses: Misses, samples: range, frames: DeviceFrames
) -> Places:
    """As `gather`, of a GPU's `frames` of the same pairs."""
    crops = _draw(plan, misses, samples)
    masks = [_counts(pairs[crop.pair], plan.window(crop), plan) for crop in crops]
    valid = _valid(masks, crops, plan, pin=frames.wants_pinned)
    shifts = _shifts(crops, pin=frames.wants_pinned)
    table, size = frames.table(crops), (plan.height, plan.width)
    return Places(frames=frames, table=table, size=size, crops=crops, valid=valid, shifts=shifts)


def _draw(plan: CropPlan, misses: Misses, samples: range) -> tuple[Crop, ...]:
    return tuple(plan.draw(sample, misses.focus(sample)) for sample in samples)


def _cut(frames: Sequence[Ended], crops: Sequence[Crop], plan: CropPlan, *, pin: bool) -> Tensor:
    """Each crop out of its frame: N C H W, in half, or in float32 if one of them is held so, or moved."""
    cut = [_pixels(frame, crop, plan) for frame, crop in zip(frames, crops, strict=True)]
    room = _room(crops, plan, cut[0].shape[2], common_dtype(cut), pin=pin)
    for pixels, crop, place in zip(cut, crops, room.numpy(), strict=True):
        _lay(pixels, place, crop.mirrored)
    return room.permute(0, 3, 1, 2)


def _pixels(frame: Ended, crop: Crop, plan: CropPlan) -> StoredPixels:
    """H W C, not mirrored yet."""
    pixels, ends = frame
    if crop.is_moved:
        return moved(part_of(pixels, plan.window(crop, REACH)), crop.shift_in_frame, ends)
    return part_of(pixels, plan.window(crop))


def _mask(pair: DecodedPair, crop: Crop, plan: CropPlan) -> NDArray[np.bool_] | None:
    """H W: which of the crop's pixels count; None when all do."""
    if not crop.is_moved:
        return _counts(pair, plan.window(crop), plan)
    around = _counts(pair, plan.window(crop, REACH), plan)
    return None if around is None else all_count(around)


def _valid(
    masks: Sequence[NDArray[np.bool_] | None], crops: Sequence[Crop], plan: CropPlan, *, pin: bool
) -> Tensor | None:
    """N 1 H W: which pixels count; None when all do."""
    if all(mask is None for mask in masks):
        return None
    room = _room(crops, plan, 1, torch.bool, pin=pin)
    for mask, crop, counts in zip(masks, crops, room.numpy(), strict=True):
        if mask is None:
            counts.fill(True)
        else:
            _lay(mask[..., None], counts, crop.mirrored)
    return room.permute(0, 3, 1, 2)


def _room(crops: Sequence[Crop], plan: CropPlan, num_channels: int, dtype: torch.dtype, *, pin: bool) -> Tensor:
    """N H W C, of which a GPU can copy at its own time if it is pinned."""
    return torch.empty(len(crops), plan.height, plan.width, num_channels, dtype=dtype, pin_memory=pin)


def _shifts(crops: Sequence[Crop], *, pin: bool) -> Tensor | None:
    """N 2; None when none is to be moved."""
    if not any(crop.is_moved for crop in crops):
        return None
    shifts = torch.tensor([crop.shift for crop in crops])
    return shifts.pin_memory() if pin else shifts


def _counts(pair: DecodedPair, place: Window, plan: CropPlan) -> NDArray[np.bool_] | None:
    """H W: which pixels of the place count; None when all do.

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


def _lay(pixels: NDArray[Number], room: NDArray[Number], mirrored: bool) -> None:
    """H W C into H W C. Channel by channel when mirrored: NumPy is slow at turning over a few numbers at a time."""
    if not mirrored:
        room[...] = pixels
        return
    for channel in range(pixels.shape[2]):
        room[..., channel] = pixels[:, ::-1, channel]


@contextmanager
def batches_from(step: int, run: Run, misses: Misses, share: Share) -> Iterator[Iterator[Drawn]]:
    """Those of step, step + 1, and so on, this rank's `share` of each.

    A GPU cuts them out of frames in its own memory. Of others a thread gathers them ahead, where that costs the loop
    nothing, or spares it a disk, as what is mapped may lie there. For a CPU a few are gathered when one is asked for:
    the thread would take a core and Python's lock away from the step.
    """
    samples = (share.of_step(each, run.batch_size) for each in itertools.count(step))
    if frames := device_frames(run.training, run.machine):
        yield (locate(run.training, run.crops, misses, some, frames) for some in samples)
        return
    pin = run.machine.device.type == "cuda"
    gathered = (gather(run.encoded or run.training, run.crops, misses, some, pin=pin) for some in samples)
    if run.encoded:
        gathered = (replace(batch, is_encoded=True) for batch in gathered)
    if run.machine.device.type == "cpu" and all(pair.is_in_memory for pair in run.training):
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
