"""Muon: momentum, and of it for every layer the step that moves in all its directions alike.

Gradients of a layer point mostly into a few directions, and AdamW, which weighs number by number, goes there too. Muon
takes the layer's matrix apart: the directions of the momentum are kept, their lengths are made the same (K. Jordan
2024, https://kellerjordan.github.io/posts/muon).

Layers are drawn as long in each direction however many inputs they have, so each step turns all by the same share
(arXiv 2310.17813). With steps of AdamW's size, which grow with the root of the inputs, deep layers moved three times as
far as those at full resolution; mattes at a high rate shut them off, and had to do without.

No layer's steps become smaller when its gradients do. Without an end weights would grow, and with them the features,
level by level, until units die: each layer is held to about the size that it was drawn with. And one crop that is a
million times as wrong as others would be all of the momentum for dozens of steps, each as long as ever: so to momentum
the gradients of all steps are alike long.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain

import torch
from torch import Tensor, nn

KEPT_SHARE = 0.95
"""Of the momentum, each step."""
WEIGHT_DECAY = 0.01
LARGEST_NORM = 1.1 * math.sqrt(2)
"""Of a convolution's weights, over the root of its outputs: a tenth above what is drawn after He (arXiv 1502.01852),
by which features neither grow nor shrink from layer to layer."""
ADAMS_SIZE = 0.2
"""Root mean square of AdamW's steps, in learning rates: that of steps of biases (arXiv 2502.16982, 2.2)."""
TURN = 3.4
"""Length of a convolution's step in each direction, in learning rates. It is AdamW's size in layers of 32 x 32 x 3 x 3,
by which rates mean what they do elsewhere."""
POLYNOMIALS = (
    (8.28721201814563, -23.595886519098837, 17.300387312530933),
    (4.107059111542203, -2.9478499167379106, 0.5448431082926601),
    (3.9486908534822946, -2.908902115962949, 0.5518191394370137),
    (3.3184196573706015, -2.488488024314874, 0.51004894012372),
    (2.300652019954817, -1.6689039845747493, 0.4188073119525673),
)
"""a x + b x^3 + c x^5, one after the other: what is between 0.001 and 1 comes to about 1 (arXiv 2505.16932)."""
ROOM = 1.01
"""By which the first of them wants its numbers smaller than 1."""
JOINED_SIDE = 128
"""Gram matrices of up to so many rows are taken together, in the corners of such as large: nothing to a GPU."""
CPU_JOINED_SIDE = 32
"""The same on a CPU, which up to there takes longer to begin a product than to do it."""


class Muon:
    """Moves convolutions' weights, O I k k, as matrices of O rows; and biases, as matrices of one row.

    What it keeps of all weights lies in rows of numbers, those of one shape together: an operation on each of them, few
    as their numbers are, would take longer to begin than to do. Weights and their number must stay what they are.

    No torch.optim.Optimizer: to make one of those imports a compiler, which takes a second.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], *, learning_rate: float = 0.0) -> None:
        self.weights = list(parameters)
        self.learning_rate: float | Tensor = learning_rate
        """Of the next step; a number on the device where the steps are recorded (recordings.py)."""
        self._momenta, self._directions, self._turns = (Row(self.weights) for _ in range(3))
        self._lengths = [step_length(some[0]) for some in _of_one_shape(self.weights)]
        self.momentum: dict[Tensor, Tensor] = dict(zip(self.weights, self._momenta.parts, strict=True))
        """Of every weight, shaped and laid out as it: all that is kept from step to step. Written, not replaced."""

    @torch.no_grad()
    def step(self) -> None:
        """Every weight must have its gradient."""
        weights: list[Tensor] = [*self.weights]
        directions, turns = self._directions, self._turns
        torch._foreach_copy_(directions.parts, [weight.grad for weight in weights if weight.grad is not None])
        make_one_long(directions.numbers)
        self._momenta.numbers.lerp_(directions.numbers, 1 - KEPT_SHARE)
        directions.numbers.lerp_(self._momenta.numbers, KEPT_SHARE)
        equalise(directions.stacks, turns.stacks)
        torch._foreach_mul_(turns.stacks, self._lengths)
        turns.numbers.mul_(self.learning_rate)
        torch._foreach_mul_(weights, 1 - self.learning_rate * WEIGHT_DECAY)
        torch._foreach_sub_(weights, turns.parts)
        if convolutions := [weight for weight in weights if weight.dim() == 4]:
            hold(convolutions, may_look=convolutions[0].device.type == "cpu")

    def zero_grad(self) -> None:
        for parameter in self.weights:
            parameter.grad = None


class Row:
    """As many numbers as all weights have, one after the other."""

    def __init__(self, weights: Sequence[Tensor]) -> None:
        groups = _of_one_shape(weights)
        self.numbers = weights[0].detach().new_zeros(sum(weight.numel() for weight in weights))
        rooms = torch.split(self.numbers, [sum(weight.numel() for weight in group) for group in groups])
        self.stacks = [room.view(-1, *_matrix_shape(group[0])) for room, group in zip(rooms, groups, strict=True)]
        """L rows columns: the matrices of all weights of one shape."""
        matrices = (matrix for stack in self.stacks for matrix in stack)
        each = zip(chain(*groups), matrices, strict=True)
        parts = {weight: matrix.as_strided(weight.shape, weight.stride()) for weight, matrix in each}
        self.parts = [parts[weight] for weight in weights]
        """Of each weight, in the order in which they were given, shaped and laid out as it.

        What a row of its matrix has in which order is nothing to Muon.
        """


def step_length(weights: Tensor) -> float:
    """In each direction of a layer, or of its biases in their one, in learning rates."""
    return TURN if weights.dim() == 4 else ADAMS_SIZE * math.sqrt(weights.numel())


def make_one_long(gradients: Tensor) -> None:
    """In place: all of a step's together come to a length of 1; where all are nothing, they stay."""
    length = torch.linalg.vector_norm(gradients)
    gradients.mul_(1 / length.clamp_min(torch.finfo(length.dtype).tiny))


def equalise(stacks: Sequence[Tensor], places: Sequence[Tensor]) -> None:
    """Matrices, L m n of one shape each, with their singular values made the same: 0.88 to 1.12 where they were above a
    thousandth of the largest. `places`: where they are written, stack by stack.

    All but the first and the last product are of small Gram matrices, of several shapes together. They are in the
    matrices' own precision: ranks on unlike machines must not drift apart.
    """
    for some in _taken_together(stacks):
        counts, room = [len(stacks[number]) for number in some], max(_side(stacks[number]) for number in some)
        grams = stacks[some[0]].new_zeros(sum(counts), room, room)  # L m m
        for number, gram in zip(some, torch.split(grams, counts), strict=True):
            stack, side = _lying(stacks[number]), _side(stacks[number])
            gram[:, :side, :side] = torch.bmm(stack, stack.mT)
        for number, whole in zip(some, torch.split(_equalisers(grams), counts), strict=True):
            stack, side = _lying(stacks[number]), _side(stacks[number])
            torch.bmm(whole[:, :side, :side], stack, out=_lying(places[number]))


def _taken_together(stacks: Sequence[Tensor]) -> list[list[int]]:
    """Numbers of those whose Gram matrices are as large, or small enough not to matter; single rows by themselves."""
    groups: dict[int, list[int]] = {}
    for number, stack in enumerate(stacks):
        side, joined = _side(stack), CPU_JOINED_SIDE if stack.device.type == "cpu" else JOINED_SIDE
        groups.setdefault(joined if 1 < side <= joined else side, []).append(number)
    return list(groups.values())


def _side(stack: Tensor) -> int:
    return min(stack.shape[1:])


def _lying(stack: Tensor) -> Tensor:
    """A view, of no more rows than columns."""
    return stack if stack.shape[1] <= stack.shape[2] else stack.mT


def _equalisers(grams: Tensor) -> Tensor:
    """What equalises matrices, by their Gram matrices: L m m. A single row comes to a length of 1."""
    smallest = torch.finfo(grams.dtype).tiny
    if grams.shape[1] == 1:
        return grams.clamp_min(smallest).rsqrt()
    scales = ROOM * grams.diagonal(dim1=1, dim2=2).sum(dim=1).clamp_min(smallest**0.5)[:, None, None]  # L 1 1
    grams = grams / scales
    wholes = factors = _polynomial(grams, *POLYNOMIALS[0])
    for polynomial in POLYNOMIALS[1:]:
        grams = torch.bmm(torch.bmm(factors, grams), factors)
        factors = _polynomial(grams, *polynomial)
        wholes = torch.bmm(factors, wholes)
    return wholes / scales.sqrt()


def _polynomial(grams: Tensor, a: float, b: float, c: float) -> Tensor:
    """a + b G + c G^2"""
    factors = torch.baddbmm(grams, grams, grams, beta=b, alpha=c)
    factors.diagonal(dim1=1, dim2=2).add_(a)
    return factors


def hold(weights: list[Tensor], *, may_look: bool) -> None:
    """Shorten to LARGEST_NORM what is longer.

    `may_look`: see which are, and leave the others alone; on a GPU that would wait for it.
    """
    norms = torch._foreach_norm(weights)
    largest = [LARGEST_NORM * math.sqrt(len(weight)) for weight in weights]
    if may_look:
        for weight, norm, limit in zip(weights, torch.stack(norms).tolist(), largest, strict=True):
            if norm > limit:
                weight.mul_(limit / norm)
        return
    shares = torch._foreach_reciprocal(norms)
    torch._foreach_mul_(shares, largest)
    torch._foreach_clamp_max_(shares, 1.0)
    torch._foreach_mul_(weights, shares)


def _of_one_shape(weights: Sequence[Tensor]) -> list[list[Tensor]]:
    """As matrices."""
    groups: dict[tuple[int, int], list[Tensor]] = {}
    for weight in weights:
        groups.setdefault(_matrix_shape(weight), []).append(weight)
    return list(groups.values())


def _matrix_shape(weight: Tensor) -> tuple[int, int]:
    return (len(weight), weight[0].numel()) if weight.dim() == 4 else (1, weight.numel())
