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


@dataclass(frozen=True, kw_only=True)
class Grain:
    """Of a run's plates, as it is laid over crops in transfer space.

    Variance is `floor` + `slope` x light there, by the square of how steep the curve is; light is the hyperbolic sine
    of what the curve gave over its scale.
    """

    field: Tensor
    """H W Cin, of deviation 1: FIELD_SIDE pixels a side that go on without a seam, and as many more as a crop has."""
    inverse_scale: Tensor
    """Cin: 1 / `Transfer.scale`; 0 in channels that have no grain."""
    floor: Tensor
    """Cin: of the strongest that is laid, as `slope`."""
    slope: Tensor
    """Cin"""
    origins: tuple[int | None, ...] | None
    """Of the target's channels the plate's whose grain they have, which is laid over them, too; None in it: none."""
    at_grey: float
    """The plates' own: deviation at 18 % grey, scene-linear, mean of the colours."""
    strongest: float
    """That is laid, in `at_grey`; over a crop it is as often of any strength up to that."""

    def on(self, machine: Machine) -> Grain:
        field, inverse_scale, floor, slope = (
            part.to(machine.device, machine.dtype) for part in (self.field, self.inverse_scale, self.floor, self.slope)
        )
        return replace(self, field=field, inverse_scale=inverse_scale, floor=floor, slope=slope)

    def over(self, batch: Batch, reduction: int) -> Batch:
        """`batch`: in transfer space, `reduction` x `reduction` pixels averaged into one.

        What is laid over a target is its plate's, so that what is to be painted stays as it is. Of what it gives
        `grain` is None: it has been laid.
        """
        assert batch.grain is not None
        laid = self._over_plates(batch.input, batch.grain, reduction)
        target = batch.target + self._over_targets(laid) if self.origins else batch.target
        return replace(batch, input=batch.input + laid, target=target, grain=None)

    def _over_plates(self, pixels: Tensor, places: Tensor, reduction: int) -> Tensor:
        """N Cin h w, channels last. `places`: Drawn.grain."""
        height, width = pixels.shape[2:]
        cut = sliced if places.device.type == "cpu" else looked_up
        grain = reduce_pixels(cut(self.field, places, height * reduction, width * reduction), reduction)  # N Cin h w
        # row by row, for arithmetic on pixels of three numbers takes five times as long
        rows, grain_rows = (some.permute(0, 2, 3, 1).flatten(2) for some in (pixels, grain))  # N h w*Cin
        laid = self._deviations(rows, width).mul_(places[:, 2, None, None]).mul_(grain_rows)
        return laid.view(len(rows), height, width, -1).permute(0, 3, 1, 2)

    def _over_targets(self, laid: Tensor) -> Tensor:
        """Of that over plates, N Cout h w, channels last."""
        assert self.origins is not None
        if self.origins == tuple(range(laid.shape[1])):
            return laid
        none = torch.zeros_like(laid[:, 0])
        channels = [none if origin is None else laid[:, origin] for origin in self.origins]
        return torch.stack(channels, dim=-1).permute(0, 3, 1, 2)

    def _deviations(self, rows: Tensor, width: int) -> Tensor:
        """Of the strongest grain over each of these pixels: N h w*Cin."""
        inverse_scale, floor, slope = (
            part.repeat(width) for part in (self.inverse_scale, 4 * self.floor, 2 * self.slope)
        )
        # the sine and cosine by what they are made of, twice as large: a CPU takes seventeen times as long for a sine
        rising = (rows * inverse_scale).exp_()
        falling = rising.reciprocal()
        deviations = torch.addcmul(floor, rising - falling, slope).clamp_(min=0).sqrt_()
        return deviations.div_(rising.add_(falling))

    def __str__(self) -> str:
        where = "plates and targets" if self.origins else "plates"
        return f"laid over {where}, up to {self.strongest:g} times their own ({self.at_grey:.2%} at 18 % grey)"


def sliced(field: Tensor, places: Tensor, height: int, width: int) -> Tensor:
    """Crops of the field at places, N 3: N Cin H W, channels last. For a CPU."""
    firsts = [(int(row), int(column)) for row, column, _ in places.tolist()]
    return torch.stack([field[y : y + height, x : x + width] for y, x in firsts]).permute(0, 3, 1, 2)


def looked_up(field: Tensor, places: Tensor, height: int, width: int) -> Tensor:
    """The same for a GPU, which is not waited for."""
    rows = places[:, :1].long() + torch.arange(height, device=places.device)  # N H
    columns = places[:, 1:2].long() + torch.arange(width, device=places.device)  # N W
    return field[rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)
