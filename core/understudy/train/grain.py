"""Grain like that of the plates, laid over crops once more: of another strength, and from another place, each time.

A painted frame's own grain is learnt by heart, for nothing tells its edges apart as surely; and no other frame has it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from understudy.train.device import Machine
from understudy.train.drawn import Batch
from understudy.train.loss import reduce_pixels

STRONGEST = 3.5
"""Deviation of what is laid over a crop, in that of the plates' own as it is measured. It is as often of any strength
up to that."""


@dataclass(frozen=True, kw_only=True)
class Grain:
    """Of a run's plates, as it is laid over them in transfer space. Variance is `floor` + `slope` x light there, by the
    square of how steep the curve is; light is the hyperbolic sine of what the curve gave over its scale."""

    field: Tensor
    """H W Cin, of deviation 1: FIELD_SIDE pixels a side that go on without a seam, and as many more as a crop has."""
    inverse_scale: Tensor
    """Cin: 1 / `Transfer.scale`; 0 in channels that have no grain."""
    floor: Tensor
    """Cin: of the strongest that is laid, as `slope`."""
    slope: Tensor
    """Cin"""
    at_grey: float
    """The plates' own: deviation at 18 % grey, scene-linear, mean of the colours."""

    def on(self, machine: Machine) -> Grain:
        there = (
            part.to(machine.device, machine.dtype) for part in (self.field, self.inverse_scale, self.floor, self.slope)
        )
        field, inverse_scale, floor, slope = there
        return replace(self, field=field, inverse_scale=inverse_scale, floor=floor, slope=slope)

    def over(self, batch: Batch, reduction: int) -> Batch:
        """`batch`: in transfer space, `reduction` x `reduction` pixels averaged into one."""
        assert batch.grain is not None
        height, width = batch.input.shape[2:]
        cut = sliced if batch.grain.device.type == "cpu" else looked_up
        whole = cut(self.field, batch.grain, height * reduction, width * reduction)
        grain = reduce_pixels(whole, reduction)  # N Cin h w
        # row by row, for arithmetic on pixels of three numbers takes five times as long
        rows, grain_rows = (pixels.permute(0, 2, 3, 1).flatten(2) for pixels in (batch.input, grain))  # N h w*Cin
        strengths = self._deviations(rows, width).mul_(batch.grain[:, 2, None, None])
        laid = strengths.mul_(grain_rows).add_(rows).view(len(rows), height, width, -1)  # N h w Cin
        return replace(batch, input=laid.permute(0, 3, 1, 2))

    def _deviations(self, rows: Tensor, width: int) -> Tensor:
        """Of the strongest grain over each of these pixels: N h w*Cin."""
        inverse_scale, floor, slope = (part.repeat(width) for part in (self.inverse_scale, self.floor, self.slope))
        light = (rows * inverse_scale).sinh_()
        variances = torch.addcmul(floor, light, slope).clamp_(min=0)
        return variances.div_(light.square_().add_(1)).sqrt_()

    def __str__(self) -> str:
        return f"laid over the crops, up to {STRONGEST:g} times that of the plates ({self.at_grey:.2%} at 18 % grey)"


def sliced(field: Tensor, places: Tensor, height: int, width: int) -> Tensor:
    """Crops of the field at places, N 3: N Cin H W, channels last. For a CPU."""
    firsts = [(int(row), int(column)) for row, column, _ in places.tolist()]
    return torch.stack([field[y : y + height, x : x + width] for y, x in firsts]).permute(0, 3, 1, 2)


def looked_up(field: Tensor, places: Tensor, height: int, width: int) -> Tensor:
    """The same for a GPU, which is not waited for."""
    rows = places[:, :1].long() + torch.arange(height, device=places.device)  # N H
    columns = places[:, 1:2].long() + torch.arange(width, device=places.device)  # N W
    return field[rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)
