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
from collections.abc import Iterable

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


class Muon:
    """Moves convolutions' weights, O I k k, as matrices of O rows; and biases, as matrices of one row.

    No torch.optim.Optimizer: to make one of those imports a compiler, which takes a second.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], *, learning_rate: float = 0.0) -> None:
        self.weights = list(parameters)
        self.learning_rate = learning_rate
        """Of the next step."""
        self.momentum: dict[nn.Parameter, Tensor] = {}
        """Of every weight that has been moved, shaped and laid out as it: all that is kept from step to step."""

    @torch.no_grad()
    def step(self) -> None:
        make_one_long([weight.grad for weight in self.weights if weight.grad is not None])
        for parameter in self.weights:
            if parameter.grad is not None:
                self._move(parameter, parameter.grad)

    def zero_grad(self) -> None:
        for parameter in self.weights:
            parameter.grad = None

    def _move(self, parameter: nn.Parameter, gradient: Tensor) -> None:
        if parameter not in self.momentum:
            self.momentum[parameter] = torch.zeros_like(parameter)
        momentum = self.momentum[parameter].lerp_(gradient, 1 - KEPT_SHARE)
        direction = _as_matrix(gradient.lerp(momentum, KEPT_SHARE))  # O I*k*k
        step = _as_weights(equalised(direction), parameter)
        length = self.learning_rate * step_length(parameter)
        parameter.mul_(1 - self.learning_rate * WEIGHT_DECAY).add_(step, alpha=-length)
        if parameter.dim() == 4:
            _hold(parameter)


def step_length(weights: Tensor) -> float:
    """In each direction of a layer, or of its biases in their one, in learning rates."""
    return TURN if weights.dim() == 4 else ADAMS_SIZE * math.sqrt(weights.numel())


def make_one_long(gradients: list[Tensor]) -> None:
    """In place: all of a step's together come to a length of 1; where all are nothing, they stay."""
    length = torch.nn.utils.get_total_norm(gradients)
    torch._foreach_mul_(gradients, 1 / length.clamp_min(torch.finfo(length.dtype).tiny))


def equalised(matrix: Tensor) -> Tensor:
    """The matrix, any shape, with its singular values made the same: 0.88 to 1.12 where they were above a thousandth.

    All but the first and the last product are of the small Gram matrix, in the matrix's own precision: ranks on
    unlike machines must not drift apart.
    """
    if matrix.shape[0] > matrix.shape[1]:
        return equalised(matrix.mT).mT
    smallest = torch.finfo(matrix.dtype).tiny ** 0.5
    if len(matrix) == 1:  # its one length
        length: Tensor = torch.linalg.vector_norm(matrix)
        return matrix / length.clamp_min(smallest)
    gram = matrix @ matrix.mT  # m m
    scale = ROOM * gram.diagonal().sum().clamp_min(smallest)
    gram = gram / scale
    whole = factor = _polynomial(gram, *POLYNOMIALS[0])
    for polynomial in POLYNOMIALS[1:]:
        gram = factor @ gram @ factor
        factor = _polynomial(gram, *polynomial)
        whole = factor @ whole
    return (whole / scale.sqrt()) @ matrix


def _polynomial(gram: Tensor, a: float, b: float, c: float) -> Tensor:
    """a + b G + c G^2"""
    factor = torch.addmm(gram, gram, gram, beta=b, alpha=c)
    factor.diagonal().add_(a)
    return factor


def _hold(weights: Tensor) -> None:
    """Shorten to LARGEST_NORM what is longer; where looking costs no wait, the others are not multiplied by 1."""
    share = LARGEST_NORM * math.sqrt(len(weights)) / torch.linalg.vector_norm(weights)
    if weights.device.type != "cpu" or float(share) < 1:
        weights.mul_(share.clamp(max=1))


def _as_matrix(weights: Tensor) -> Tensor:
    """In the order of memory of weights that lie channels last, so that nothing is copied."""
    return weights.permute(0, 2, 3, 1).flatten(1) if weights.dim() == 4 else weights[None]


def _as_weights(matrix: Tensor, like: Tensor) -> Tensor:
    if like.dim() != 4:
        return matrix[0]
    outputs, inputs, rows, columns = like.shape
    return matrix.view(outputs, rows, columns, inputs).permute(0, 3, 1, 2)
