"""How wrong an answer is: error of pixels and edges in transfer space, over valid pixels alone.

Squared: where most pixels are right already, the median that absolute error seeks is "change nothing", and a run stays
there. For mattes with a little of the absolute error, which makes them sharper. Beyond a channel's ends nothing is
wrong: what is below black comes back as black.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable
from torch.nn import functional

from understudy.train.transfer import HAIR, Ends

ErrorMeasure = Literal["squared", "sharp"]
LossAndError = Callable[[Tensor, Tensor, Tensor | None], tuple[Tensor, Tensor]]
"""`loss_and_error` of answer, truth and what is valid."""
Part = tuple[Tensor, Tensor | float]
"""Of what the loss is the sum: values of pixels or of their differences, N C H W, and how much each of them counts."""

EDGE_WEIGHT = 0.5
ABSOLUTE_SHARE = 0.05
"""Of the absolute error, that `sharp` adds to the squared one. Alone it was as good in the end, but late."""
ROUNDNESS = 1e-3
"""Absolute errors below it count as squared ones do, as Huber has it: there is no kink at zero."""


def reduce_pixels(image: Tensor, reduction: int) -> Tensor:
    """Average `reduction` x `reduction` pixels into one, half in float32: N C H W -> N C H/r W/r."""
    if reduction == 1:
        return image
    return functional.avg_pool2d(image.float() if image.dtype == torch.float16 else image, reduction)


def reduce_valid(valid: Tensor, reduction: int) -> Tensor:
    """A reduced pixel is valid only when all behind it are: N 1 H W of 0 and 1."""
    return valid if reduction == 1 else -functional.max_pool2d(-valid, reduction)


def loss_and_error(
    answer: Tensor,
    truth: Tensor,
    valid: Tensor | None,
    measure: ErrorMeasure = "squared",
    ends: Ends | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean error plus EDGE_WEIGHT times that of the horizontal and vertical differences, a scalar; and what it is of.

    That is answer - truth, N C H W, 0 where it does not count, as it is not valid or beyond an end; no gradient runs
    through it. Every crop counts the same, however many of its pixels are valid: the loss of a batch is the mean of its
    parts'.
    answer, truth: N C H W in transfer space. valid: N 1 H W of 0 and 1, or None when all are.
    ends: `Transfer.ends` of the target.
    """
    both: tuple[Tensor, Tensor] = _ImageLoss.apply(answer, truth, valid, measure, ends)  # type: ignore[no-untyped-call]
    return both


class _ImageLoss(torch.autograd.Function):
    """The loss with its gradient, which written out goes over the picture a third as often as autograd would."""

    @staticmethod
    def forward(
        ctx: FunctionCtx,
        answer: Tensor,
        truth: Tensor,
        valid: Tensor | None,
        measure: ErrorMeasure,
        ends: Ends | None,
    ) -> tuple[Tensor, Tensor]:
        if valid is None:
            beside = below = None
        else:
            valid = torch.ones_like(answer) * valid  # N C H W, as arithmetic between unlike shapes is slow
            beside, below = valid[..., 1:] * valid[..., :-1], valid[..., 1:, :] * valid[..., :-1, :]
        error = _masked(answer - truth, valid)
        ended = None if ends is None else _beyond_ends(error, truth, ends)
        if ended is not None:
            error.masked_fill_(ended, 0)
        across, down = _masked(error.diff(dim=3), beside), _masked(error.diff(dim=2), below)
        pixels = _weighted(error, valid, 1.0)
        parts = [pixels, _weighted(across, beside, EDGE_WEIGHT), _weighted(down, below, EDGE_WEIGHT)]
        parts, beyond = _sharp(parts) if measure == "sharp" else (parts, None)
        gradient = _gathered(parts)
        loss = torch.dot(_in_memory_order(error), _in_memory_order(gradient)) / 2  # as of every sum of squares
        if beyond is not None:
            loss += beyond
        if ended is not None:  # nor do errors beside it draw at it
            gradient.masked_fill_(ended, 0)
        ctx.save_for_backward(gradient)
        ctx.mark_non_differentiable(error)
        ctx.set_materialize_grads(False)
        return loss, error

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, slope: Tensor, _: None) -> tuple[Tensor, None, None, None, None]:
        (gradient,) = ctx.saved_tensors  # type: ignore[attr-defined]
        return gradient * slope, None, None, None, None


def _beyond_ends(error: Tensor, truth: Tensor, ends: Ends) -> Tensor:
    """Where black is wanted and the answer is darker, or white and it is brighter: N C H W of bool."""
    darker = (truth <= HAIR).logical_and_(error < 0).logical_and_(ends.black)
    return darker.logical_or_((truth >= 1 - HAIR).logical_and_(error > 0).logical_and_(ends.white))


def _masked(values: Tensor, valid: Tensor | None) -> Tensor:
    """Nothing where it is not valid, in place."""
    return values if valid is None else values.mul_(valid)


def _weighted(values: Tensor, valid: Tensor | None, share: float) -> Part:
    """For `share` of the mean over crops of each crop's mean over its own valid values. `values`: `_masked`."""
    if valid is None:
        return values, share / values.numel()
    counts = valid.sum(dim=(1, 2, 3), keepdim=True)  # N 1 1 1
    return values, share / (counts.clamp_min(1) * len(values))


def _sharp(parts: Sequence[Part]) -> tuple[list[Part], Tensor]:
    """Half of the slopes of the squared error and ABSOLUTE_SHARE of the absolute one, with weights.

    And how much that error is, a scalar, beyond the sum of values times these.
    """
    steeper = 1 + ABSOLUTE_SHARE / (2 * ROUNDNESS)
    """Below ROUNDNESS, than the squared error alone."""
    slopes, sums = [], []
    for values, weight in parts:
        large = functional.softshrink(values, ROUNDNESS)  # what is beyond ROUNDNESS
        slopes.append((torch.add(values, large, alpha=1 / steeper - 1), steeper * weight))
        size = large.abs_()
        sums.append((size * weight).sum() if isinstance(weight, Tensor) else size.sum() * weight)
    return slopes, ABSOLUTE_SHARE / 2 * (sums[0] + sums[1] + sums[2])


def _gathered(slopes: Sequence[Part]) -> Tensor:
    """The error's gradient, N C H W, by half the slopes of pixels and of differences to the one beside and below."""
    (own, weight), (across, across_weight), (down, down_weight) = [(half, 2 * weight) for half, weight in slopes]
    gradient = own * weight
    height, width = gradient.shape[2:]
    _add(gradient.narrow(3, 1, width - 1), across, across_weight)
    _add(gradient.narrow(3, 0, width - 1), across, -across_weight)
    _add(gradient.narrow(2, 1, height - 1), down, down_weight)
    _add(gradient.narrow(2, 0, height - 1), down, -down_weight)
    return gradient


def _add(place: Tensor, values: Tensor, weight: Tensor | float) -> None:
    if isinstance(weight, Tensor):
        place.addcmul_(values, weight)
    else:
        place.add_(values, alpha=weight)


def _in_memory_order(values: Tensor) -> Tensor:
    """N C H W, channels last -> N*H*W*C."""
    return values.permute(0, 2, 3, 1).flatten()
