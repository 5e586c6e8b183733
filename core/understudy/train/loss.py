"""How wrong an answer is: squared error of pixels and edges in transfer space, over valid pixels alone.

Squared, not absolute: where most pixels are right already, the median that absolute error seeks is "change nothing",
and a run stays there.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

EDGE_WEIGHT = 0.5


def reduce_pixels(image: Tensor, reduction: int) -> Tensor:
    """Average `reduction` x `reduction` pixels into one: N C H W -> N C H/r W/r."""
    return image if reduction == 1 else functional.avg_pool2d(image, reduction)


def reduce_valid(valid: Tensor, reduction: int) -> Tensor:
    """A reduced pixel is valid only when all behind it are: N 1 H W of 0 and 1."""
    return valid if reduction == 1 else -functional.max_pool2d(-valid, reduction)


def image_loss(answer: Tensor, truth: Tensor, valid: Tensor | None) -> Tensor:
    """Mean squared error plus EDGE_WEIGHT times that of the horizontal and vertical differences; a scalar.

    Every crop counts the same, however many of its pixels are valid: the loss of a batch is the mean of its parts'.
    answer, truth: N C H W in transfer space. valid: N 1 H W of 0 and 1, or None when all are.
    """
    error = answer - truth
    if valid is None:
        edges = _across(error).square().mean() + _down(error).square().mean()
        return error.square().mean() + EDGE_WEIGHT * edges
    error = error * valid
    beside, below = valid[..., 1:] * valid[..., :-1], valid[..., 1:, :] * valid[..., :-1, :]
    edges = _mean_over(_across(error).square(), beside) + _mean_over(_down(error).square(), below)
    return _mean_over(error.square(), valid) + EDGE_WEIGHT * edges


def _across(image: Tensor) -> Tensor:
    return image[..., 1:] - image[..., :-1]


def _down(image: Tensor) -> Tensor:
    return image[..., 1:, :] - image[..., :-1, :]


def _mean_over(values: Tensor, valid: Tensor) -> Tensor:
    """Each crop's mean over its own valid pixels, and the mean of those."""
    sums = (values * valid).flatten(1).sum(1)  # N
    counts = valid.flatten(1).sum(1) * values.shape[1]  # N
    return (sums / counts.clamp_min(1)).mean()
