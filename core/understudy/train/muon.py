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
SMALL_SIDE = 128
"""Of Gram matrices whose products are nothing to a GPU."""


class Muon:
    """Moves convolutions' weights, O I k k, as matrices of O rows; and biases, as matrices of one row.

    No torch.optim.Optimizer: to make one of those imports a compiler, which takes a second.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], *, learning_rate: float = 0.0) -> None:
        self.weights = list(parameters)
        self.learning_rate: float | Tensor = learning_rate
        """Of the next step; a number on the device where the steps are recorded (recordings.py)."""
        self.momentum: dict[Tensor, Tensor] = {}
        """Of every weight that has been moved, shaped and laid out as it: all that is kept from step to step."""

    @torch.no_grad()
    def step(self) -> None:
        weights: list[Tensor] = [weight for weight in self.weights if weight.grad is not None]
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        make_one_long(gradients)
        momenta = [self._momentum_of(weight) for weight in weights]
        torch._foreach_lerp_(momenta, gradients, 1 - KEPT_SHARE)
        directions = torch._foreach_lerp(gradients, momenta, KEPT_SHARE)
        turns = equalised([_as_matrix(direction) for direction in directions])  # O I*k*k each
        torch._foreach_mul_(turns, [step_length(weight) for weight in weights])
        torch._foreach_mul_(turns, self.learning_rate)
        torch._foreach_mul_(weights, 1 - self.learning_rate * WEIGHT_DECAY)
        torch._foreach_sub_(weights, [_as_weights(*pair) for pair in zip(turns, weights, strict=True)])
        if convolutions := [weight for weight in weights if weight.dim() == 4]:
            hold(convolutions, may_look=convolutions[0].device.type == "cpu")

    def zero_grad(self) -> None:
        for parameter in self.weights:
            parameter.grad = None

    def _momentum_of(self, weight: Tensor) -> Tensor:
        if weight not in self.momentum:
            self.momentum[weight] = torch.zeros_like(weight)
        return self.momentum[weight]


def step_length(weights: Tensor) -> float:
    """In each direction of a layer, or of its biases in their one, in learning rates."""
    return TURN if weights.dim() == 4 else ADAMS_SIZE * math.sqrt(weights.numel())


def make_one_long(gradients: list[Tensor]) -> None:
    """In place: all of a step's together come to a length of 1; where all are nothing, they stay."""
    length = torch.nn.utils.get_total_norm(gradients)
    torch._foreach_mul_(gradients, 1 / length.clamp_min(torch.finfo(length.dtype).tiny))


def equalised(matrices: Sequence[Tensor]) -> list[Tensor]:
    """Each, of any shape, with its singular values made the same: 0.88 to 1.12 where they were above a thousandth.

    All but the first and the last product are of small Gram matrices, of several layers together. They are in the
    matrices' own precision: ranks on unlike machines must not drift apart.
    """
    answers = list(matrices)
    for places in _taken_together(matrices):
        room = max(min(matrices[place].shape) for place in places)
        grams = matrices[places[0]].new_zeros(len(places), room, room)  # L m m
        for place, gram in zip(places, grams, strict=True):
            matrix = matrices[place]
            side = min(matrix.shape)
            torch.mm(*((matrix, matrix.mT) if _lies(matrix) else (matrix.mT, matrix)), out=gram[:side, :side])
        for place, whole in zip(places, _equalisers(grams), strict=True):
            matrix = matrices[place]
            side = min(matrix.shape)
            own = whole[:side, :side]
            answers[place] = own @ matrix if _lies(matrix) else matrix @ own
    return answers


def _taken_together(matrices: Sequence[Tensor]) -> list[list[int]]:
    """Places of those whose Gram matrices are as large; on a GPU, of all small ones, in the corners of larger ones.

    There a step is mostly waiting for each product to begin.
    """
    groups: dict[int, list[int]] = {}
    for place, matrix in enumerate(matrices):
        side = min(matrix.shape)
        is_joined = matrix.device.type != "cpu" and 1 < side < SMALL_SIDE
        groups.setdefault(SMALL_SIDE if is_joined else side, []).append(place)
    return list(groups.values())


def _lies(matrix: Tensor) -> bool:
    return matrix.shape[0] <= matrix.shape[1]


def _equalisers(grams: Tensor) -> Tensor:
    """What equalises matrices, by their Gram matrices: L m m. A single row comes to a length of 1."""
    smallest = torch.finfo(grams.dtype).tiny
    if grams.shape[1] == 1:
        return grams.clamp_min(smallest).rsqrt()
    scales = ROOM * grams.diagonal(dim1=1, dim2=2).sum(dim=1).clamp_min(smallest**0.5)[:, None, None]  # L 1 1
    grams = grams / scales
    wholes = factors = _polynomial(grams, *POLYNOMIALS[0])
    for polynomial in POLYNOMIALS[1:]:
        grams = factors @ grams @ factors
        factors = _polynomial(grams, *polynomial)
        wholes = factors @ wholes
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


def _as_matrix(weights: Tensor) -> Tensor:
    """In the order of memory of weights that lie channels last, so that nothing is copied."""
    return weights.permute(0, 2, 3, 1).flatten(1) if weights.dim() == 4 else weights[None]


def _as_weights(matrix: Tensor, like: Tensor) -> Tensor:
    if like.dim() != 4:
        return matrix[0]
    outputs, inputs, rows, columns = like.shape
    return matrix.view(outputs, rows, columns, inputs).permute(0, 3, 1, 2)
