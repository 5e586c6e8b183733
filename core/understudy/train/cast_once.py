"""Weights and gradients of convolutions that run in bfloat16, cast all at once.

Autocast casts each by itself and notes that for the way back: seventy operations on a few numbers, which take longer to
begin than to do and are a sixtieth of a step on a CPU. What comes of it is the same to the bit.
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from understudy.train.network import Understudy
from understudy.train.waking import WakingReLU


class CastOnce:
    """Forward and backward of a model inside autocast, by a copy of its U-Net whose weights are bfloat16 already.

    The copy takes its weights from the model before each forward pass: whoever changes these need not know of it.
    """

    def __init__(self, model: Understudy) -> None:
        self._model = model
        shared: dict[int, nn.Module] = {id(part): part for part in model.modules() if isinstance(part, WakingReLU)}
        self._unet = copy.deepcopy(model.unet, shared).bfloat16()
        self._weights, self._twins = list(model.unet.parameters()), list(self._unet.parameters())
        """Those of the model, and of the copy."""
        self._gradients = [torch.empty_like(weight, requires_grad=False) for weight in self._weights]

    def encoded_answer(self, encoded: Tensor) -> Tensor:
        """The model's: N Cin H W -> N Cout H W."""
        with torch.no_grad():
            torch._foreach_copy_([*self._twins], [*self._weights])
        for twin in self._twins:
            twin.grad = None  # also what a step that was broken off has left
        return self._model.encoded_answer(encoded, self._unet)

    def backward(self, loss: Tensor) -> None:
        """Gradients of all the model's weights, which have none before."""
        loss.backward()  # type: ignore[no-untyped-call]
        torch._foreach_copy_(self._gradients, [twin.grad for twin in self._twins if twin.grad is not None])
        for weight, gradient in zip(self._weights, self._gradients, strict=True):
            weight.grad = gradient
