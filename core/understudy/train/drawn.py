"""What one step learns from, on its way to the machine: crops, or where a GPU finds them in its own memory."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TypeVar

import torch
from torch import Tensor

from understudy.train.crops import Crop
from understudy.train.device import Machine
from understudy.train.device_frames import DeviceFrames
from understudy.train.loss import reduce_pixels, reduce_valid
from understudy.train.network import Understudy
from understudy.train.shifts import REACH, moved

Self = TypeVar("Self", bound="Drawn")


@dataclass(frozen=True, kw_only=True)
class Drawn(ABC):
    """One step's crops."""

    crops: tuple[Crop, ...]
    """Where each comes from."""
    valid: Tensor | None = None
    """N 1 H W, 0 where a pixel does not count (DecodedPair.valid); None when all do."""
    grain: Tensor | None = None
    """N 3: of each crop its `Crop.grain`, to be laid over it; None when none is, or it has been."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Of a crop, in pixels."""

    @abstractmethod
    def to(self, machine: Machine) -> Batch:
        """As they are learnt, on the machine's device; from pinned memory copies run beside the computation."""

    def tensors(self) -> dict[str, Tensor]:
        """All that differs from step to step, by name; where names are the same, shapes are."""
        return {name: part for name, part in vars(self).items() if isinstance(part, Tensor)}

    def each(self: Self, change: Callable[[Tensor], Tensor]) -> Self:
        """The same with all tensors changed."""
        other = copy(self)
        vars(other).update({name: change(part) for name, part in self.tensors().items()})
        return other

    def sent(self: Self, machine: Machine) -> Self:
        """The same with all tensors on the machine's device."""
        return self.each(lambda tensor: tensor.to(machine.device, non_blocking=True))


@dataclass(frozen=True, kw_only=True)
class Batch(Drawn):
    """Crops at full resolution: as the frames are held, scene-linear or encoded, or as the machine wants them."""

    input: Tensor
    """N Cin H W, channels last."""
    target: Tensor
    """N Cout H W, channels last."""
    is_encoded: bool = False
    """In transfer space already."""

    @property
    def width(self) -> int:
        return self.input.shape[-1]

    def split(self, sizes: Sequence[int]) -> list[Batch]:
        """Those of as many steps, which have so many crops, one after the other."""
        ends = itertools.accumulate(sizes)
        return [self._of(slice(end - size, end)) for size, end in zip(sizes, ends, strict=True)]

    def _of(self, crops: slice) -> Batch:
        part = self.each(lambda tensor: tensor[crops])
        all_count = part.valid is None or bool(part.valid.all())
        return replace(part, crops=self.crops[crops], valid=None if all_count else part.valid)

    def to(self, machine: Machine) -> Batch:
        """Half stays half on the CPU, where Transfer.encode is quick at it."""
        if self.is_encoded and self.valid is None:  # float32 on a CPU: nothing is to be done
            return self

        def arrived(tensor: Tensor) -> Tensor:
            stays = tensor.dtype == torch.float16 and machine.device.type == "cpu"
            there = tensor.to(machine.device, non_blocking=True)  # as it is held, which is less to send
            return there if stays else there.to(machine.dtype)

        return self.each(arrived)

    def encoded(self, model: Understudy, reduction: int) -> Batch:
        """In transfer space, `reduction` x `reduction` pixels averaged into one before: of what was encoded, 1."""
        if self.is_encoded:
            assert reduction == 1
            return self
        target = model.target_transfer.encode(reduce_pixels(self.target, reduction))  # N Cout h w
        # the truth before the plate: what is encoded last is in the cache when the network asks for it
        plate = model.input_transfer.encode(reduce_pixels(self.input, reduction))  # N Cin h w
        valid = None if self.valid is None else reduce_valid(self.valid, reduction)  # N 1 h w
        return replace(self, input=plate, target=target, valid=valid, is_encoded=True)


@dataclass(frozen=True, kw_only=True)
class Places(Drawn):
    """Crops that are still to be cut out."""

    frames: DeviceFrames
    table: Tensor
    """`DeviceFrames.table` of them."""
    size: tuple[int, int]
    """Of a crop, rows and columns in pixels."""
    weights: Tensor | None = None
    """`cubics` of the crops' shifts, by which they are moved when they are cut out; None when none is to be."""
    ends: Tensor | None = None
    """2 N 2, where there are `weights`: of plates and of truths what `moved` takes."""

    @property
    def width(self) -> int:
        return self.size[1]

    def to(self, machine: Machine) -> Batch:
        there = self.sent(machine)
        margin = 0 if there.weights is None else REACH
        plates, truths = self.frames.cut(there.table, *self.size, margin)
        if there.weights is not None and there.ends is not None:
            plate_ends, truth_ends = there.ends.unbind()
            plates, truths = moved(plates, there.weights, plate_ends), moved(truths, there.weights, truth_ends)
        return Batch(input=plates, target=truths, crops=self.crops, valid=there.valid, grain=there.grain).to(machine)
